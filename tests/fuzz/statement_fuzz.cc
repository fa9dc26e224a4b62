// Statements: any text gives a statement or an error; one that is read and can be written is read back equal.
// covers: src/bundle/trust/statement.cc
#include <cassert>
#include <cstdint>
#include <string_view>

#include "bundle/trust/statement.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace sluice::bundle;
  auto statement = read_statement(std::string_view(reinterpret_cast<const char*>(bytes), size));
  if (!statement) {
    assert(!statement.error().message.empty());
    return 0;
  }
  assert(!statement->bundle.empty() && !statement->version.empty());
  // Numbers beyond what canonical JSON can hold are refused when they are written.
  auto text = write_statement(*statement);
  if (!text) return 0;
  auto again = read_statement(*text);
  assert(again.has_value());
  assert(again->bundle == statement->bundle && again->tree == statement->tree && again->archive == statement->archive);
  assert(write_statement(*again).value() == *text);
  return 0;
}
