// A key that cannot be read is none.
#include "deploy/views/trusted_keys.h"

#include <algorithm>

#include "trust.gen.h"

namespace sluice::deploy::views {

std::vector<crypto::PublicKey> trusted_keys(const lang::Snapshot& snapshot) {
  lang::ReadOnlyRows rows(snapshot.rows_of("Trust"));
  const trust::State state(rows);
  std::vector<crypto::PublicKey> keys;
  for (const auto& each : state.all()) {
    auto bundles = state.bundles(each.id).values();
    if (each.record.revoked || std::ranges::find(bundles, "*") == bundles.end()) continue;
    if (auto key = crypto::PublicKey::from_pem(each.record.publicKey)) keys.push_back(*std::move(key));
  }
  return keys;
}

}  // namespace sluice::deploy::views
