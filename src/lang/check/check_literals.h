// The literals of a step and of a pattern, compared: what `Timer/wait: [ name: "soak" ]` starts is never matched by
// `Timer/wait: [ name: "soaking" ]`. For the checker's own files only.
//
// A field that only one side names, or that is given by anything but a literal, may agree.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lang/syntax/ast.h"

namespace sluice::lang {

// Fields with the literals that they are given or must have; JSON text, in which 1.0 is 1.
using Literals = std::map<std::string, std::string>;

Literals literals_of(const std::vector<Argument>& given);
Literals literals_of(const std::vector<FieldPattern>& wanted);

bool agree(const Literals& given, const Literals& wanted);

// For each of `given`, which of `wanted` agree with it. They are compared by way of the field that most of `wanted`
// name; nothing if that takes more comparisons than are left.
std::optional<std::vector<std::vector<uint32_t>>> agreeing(const std::vector<const Literals*>& given,
                                                           const std::vector<const Literals*>& wanted, size_t& left);

// ": [ name: "soak" ]", or nothing.
std::string to_string(const Literals& literals);

}  // namespace sluice::lang
