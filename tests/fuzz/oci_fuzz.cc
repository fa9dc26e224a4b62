// Any bytes as what a registry or a person may say: a reference, a challenge, a manifest, an index, a file of logins.
// What is read can be written, and reads again as the same. covers: src/oci/reference.cc src/oci/auth.cc
// src/oci/manifest.cc
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "oci/auth.h"
#include "oci/manifest.h"
#include "oci/reference.h"

namespace {

void expect(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace sluice::oci;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  if (auto reference = parse_reference(text)) {
    auto again = parse_reference(to_string(*reference));
    expect(again && *again == *reference);
    expect(!reference->wanted().empty());
    expect(base_url(reference->host).starts_with(is_loopback(reference->host) ? "http://" : "https://"));
  }
  if (auto challenge = parse_challenge(text)) may_login_at("registry.example", challenge->realm);
  may_login_at("registry.example", std::string(text));
  if (auto manifest = parse_manifest(text)) {
    const std::string written = write_manifest(*manifest);
    auto again = parse_manifest(written);
    expect(again && write_manifest(*again) == written);
  }
  if (auto index = parse_index(text)) {
    auto again = parse_index(write_index(*index));
    expect(again && again->manifests == index->manifests);
  }
  if (auto login = login_in(text, "auth.json", "registry.example"); login && *login) {
    expect(parse_login(to_string(**login)).value() == **login);
  }
  return 0;
}
