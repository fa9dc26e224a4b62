// The State class of a concept and the records of its rows: a part of lang/codegen/generate_cpp.h.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "lang/codegen/cpp_types.h"
#include "lang/syntax/ast.h"

namespace sluice::lang {

struct StateText {
  std::string records;      // structs of the rows
  std::string declaration;  // class State
  std::string definition;   // its functions
  std::string relations;    // initialisers of RelationBinding
};

Result<StateText> generate_state(const Concept& spec, CppTypes& types, const std::vector<std::string>& handlers);

}  // namespace sluice::lang
