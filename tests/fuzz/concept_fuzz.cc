// Any bytes as a `.concept` file: a tree or errors with places, never a crash.
// covers: src/lang/syntax/concept_parser.cc src/lang/syntax/invariant_parser.cc src/lang/syntax/expression_parser.cc
// src/lang/syntax/type_parser.cc covers: src/lang/syntax/lexer.cc src/lang/syntax/cursor.cc
#include <cstdint>
#include <cstdlib>

#include "lang/syntax/concept_parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(bytes), size);
  sluice::lang::Diagnostics found;
  auto parsed = sluice::lang::parse_concept(text, "x.concept", found);
  if (parsed.has_value() == found.failed()) std::abort();
  sluice::lang::render(found, text);
  return 0;
}
