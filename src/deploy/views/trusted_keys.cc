// A key that cannot be read is none.
#include "deploy/views/trusted_keys.h"

#include <algorithm>
#include <boost/json.hpp>

#include "lang/run/binding.h"
#include "trust.gen.h"

namespace sluice::deploy {
// What the build registers (cmake/kit.cmake).
namespace trust {
const lang::ConceptBinding& trust_binding();
}

namespace views {

bundle::TrustRoot trust_root_in(const lang::Snapshot& snapshot) {
  const lang::ConceptBinding& concept_binding = trust::trust_binding();
  auto exported = concept_binding.action(trust::Export::kAction)->query({}, snapshot.rows_of(concept_binding.name));
  if (!exported) return {};
  auto root = bundle::parse_trust_root(std::string_view(exported->fields.at("root").as_string()));
  return root ? *std::move(root) : bundle::TrustRoot();
}

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

}  // namespace views
}  // namespace sluice::deploy
