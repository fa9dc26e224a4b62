// Any bytes as a `.sync` file: a tree or errors with places, never a crash.
// covers: src/lang/syntax/sync_parser.cc src/lang/syntax/pattern_parser.cc src/lang/syntax/where_parser.cc
// covers: src/lang/syntax/expression_parser.cc src/lang/syntax/lexer.cc src/lang/syntax/cursor.cc
#include <cstdint>
#include <cstdlib>

#include "lang/syntax/sync_parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(bytes), size);
  sluice::lang::Diagnostics found;
  auto parsed = sluice::lang::parse_sync(text, "x.sync", found);
  if (parsed.has_value() == found.failed()) std::abort();
  sluice::lang::render(found, text);
  return 0;
}
