// Trust roots: any text gives a root or an error; a root that is read is written, read back, and written the same.
// covers: src/bundle/trust/trust_root.cc src/bundle/trust/field_fault.cc
#include <cassert>
#include <cstdint>
#include <string_view>

#include "bundle/trust/trust_root.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace sluice::bundle;
  auto root = parse_trust_root(std::string_view(reinterpret_cast<const char*>(bytes), size), "fuzz.json");
  if (!root) {
    assert(!root.error().message.empty());
    return 0;
  }
  for (const TrustedKey& key : root->keys) {
    assert(check(key).has_value());
    assert(root->find(key.key.key_id()) != nullptr);
    assert(key.group.empty() || root->find_group(key.group) != nullptr);
  }
  const std::string text = write_trust_root(*root).value();
  assert(write_trust_root(parse_trust_root(text).value()).value() == text);
  return 0;
}
