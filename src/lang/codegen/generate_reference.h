// A concept's page in the reference, as Markdown: purpose, actions with their arguments and outcomes, state, examples.
#pragma once

#include <string>

#include "lang/syntax/ast.h"

namespace sluice::lang {

std::string generate_reference(const Concept& spec);

// A type as it is written in a .concept: `list { weight: Int, pauseSeconds: Int }`.
std::string type_text(const Type& type);

}  // namespace sluice::lang
