// The conformance test of a concept as a GoogleTest source: one TEST a fixture and an invariant, which
// lang/run/conformance.h runs; and the list of all variants, of which each must be reached by some test.
#pragma once

#include <string>

#include "lang/syntax/ast.h"

namespace sluice::lang {

struct TestOptions {
  std::string ns;
  std::string stem;
  std::string source;  // the .concept, as the comment at the top names it
};

// `text` is that of the .concept. A concept with effects needs tools, so that its tests declare a function
// `void prepare(lang::Harness&)` which its hand-written test defines.
std::string generate_tests(const Concept& spec, const std::string& text, const TestOptions& options);

// One line a variant, `Rollout.begin.ok`, in the order of the .concept.
std::string generate_variants(const Concept& spec);

// `FirstStepIsOk`: a test's name for a fixture or an invariant.
std::string test_name(const Invariant& invariant, size_t index);

}  // namespace sluice::lang
