// What a concept promises to those who call it and keeps for those who read it, a line each: its actions with their
// arguments, how they run and how they can end, and the components of its state. Handlers carry the contract that they
// were made from (lang/run/binding.h), so that they never run for a concept that only has the same name.
#pragma once

#include <string>
#include <vector>

#include "lang/syntax/ast.h"

namespace sluice::lang {

// In the order of the source. Prose, comments, fixtures, invariants and the places of things are no part of it.
std::vector<std::string> contract_of(const Concept& source);

}  // namespace sluice::lang
