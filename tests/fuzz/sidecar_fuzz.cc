// Sidecars: any text gives an envelope or an error; one that is read is written and read back equal. A trust root
// with a key that signed nothing refuses every one of them, in one line.
// covers: src/bundle/trust/sidecar.cc src/bundle/trust/verdict.cc
#include <array>
#include <cassert>
#include <cstdint>
#include <string>
#include <string_view>

#include "bundle/trust/sidecar.h"
#include "bundle/trust/verdict.h"

namespace {

using namespace sluice;
using namespace sluice::bundle;

// The key that signed the sidecars of the corpus, and the stranger.
TrustRoot root_of(char seed) {
  std::array<uint8_t, crypto::PrivateKey::kSeedBytes> bytes{};
  bytes.fill(static_cast<uint8_t>(seed));
  TrustRoot root;
  root.keys.push_back({.key = crypto::PrivateKey::from_seed(bytes).public_key(),
                       .label = "somebody",
                       .environments = {"local"},
                       .bundles = {"shop"}});
  return root;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static const TrustRoot signer = root_of('s'), stranger = root_of('x');
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  auto sidecar = parse_sidecar(text, "fuzz.json");
  if (sidecar) {
    assert(parse_sidecar(write_sidecar_text(*sidecar)).value() == *sidecar);
  } else {
    assert(!sidecar.error().message.empty());
  }
  Claim claim{
      .tree = crypto::sha256("tree"), .archive = crypto::sha256("archive"), .bundle = "shop", .environment = "local"};
  Verdict refused = verify(stranger, text, claim, 0);
  assert(std::holds_alternative<Refusal>(refused));
  assert(std::get<Refusal>(refused).message.find('\n') == std::string::npos);
  Verdict judged = verify(signer, text, claim, 0);
  if (const auto* verified = std::get_if<Verified>(&judged)) assert(verified->statement.bundle == "shop");
  return 0;
}
