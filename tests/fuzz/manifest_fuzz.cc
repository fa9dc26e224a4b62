// Manifests: any text gives a manifest or an error with a position; a manifest that is read is written and read back
// equal.
// covers: src/bundle/manifest/manifest.cc src/bundle/manifest/manifest_values.cc
#include <cassert>
#include <cstdint>
#include <string_view>

#include "base/json_writer.h"
#include "bundle/manifest/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace sluice;
  auto manifest = bundle::parse_manifest(std::string_view(reinterpret_cast<const char*>(bytes), size));
  if (!manifest) {
    assert(!manifest.error().message.empty());
    assert(manifest.error().position.has_value());
    return 0;
  }
  auto again = bundle::parse_manifest(json::serialize(to_json(*manifest)));
  assert(again.has_value() && *again == *manifest);
  return 0;
}
