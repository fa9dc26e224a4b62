// Any bytes as a `suite.yaml`: a suite or errors with places, never a crash.
// covers: src/lang/syntax/suite_parser.cc
#include <cstdint>
#include <cstdlib>

#include "lang/syntax/suite_parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(bytes), size);
  sluice::lang::Diagnostics found;
  auto parsed = sluice::lang::parse_suite(text, "suite.yaml", found);
  if (!parsed && !found.failed()) std::abort();
  sluice::lang::render(found, text);
  return 0;
}
