// The C++ of a concept: a header with its types, its State and the handlers that somebody has to write, and a source
// with the State's functions and the binding (lang/run/binding.h). Equal input gives equal bytes.
//
// For `runs: effect` the action `ship` works on a `ShipWork`, which is not in the `.concept`: the handlers' author
// defines and describes it in the work header, as it is journaled.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "lang/syntax/ast.h"

namespace sluice::lang {

struct CppOptions {
  std::string ns;                     // "sluice::deploy::rollout"
  std::string stem;                   // "rollout": names of files and of the binding
  std::string source;                 // the .concept, as the comment at the top names it
  std::string work_header;            // to include where the Works are needed
  std::vector<std::string> handlers;  // texts of the hand-written sources, to see which look-ups they use
};

struct CppFiles {
  std::string header;
  std::string source;
};

// The concept must have passed check_concept (lang/check/check.h), and the options check_options.
Result<CppFiles> generate_cpp(const Concept& spec, const CppOptions& options);

// Whether C++ can have a namespace and a function of these names.
Result<void> check_options(const CppOptions& options);

}  // namespace sluice::lang
