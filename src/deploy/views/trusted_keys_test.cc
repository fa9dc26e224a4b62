// Keys of the trust root by what they may sign.
#include "deploy/views/trusted_keys.h"

#include <gtest/gtest.h>

#include "deploy/testing_views.h"
#include "trust.gen.h"

namespace sluice::deploy::views {
namespace trusted_keys_test {

TEST(TrustedKeys, AreThoseForAllBundlesThatWereNotRevoked) {
  RowsInMemory rows;
  trust::State state(rows.rows);
  auto put = [&](const std::string& name, const std::string& bundles, bool revoked) {
    auto key = crypto::PrivateKey::generate();
    trust::TrustRecord record{.publicKey = key.public_key().to_pem()};
    if (revoked) record.revoked = trust::TrustRevoked{.at = {1}, .reason = "stolen"};
    state.put(trust::KeyId(name), record);
    state.bundles(trust::KeyId(name)).push(bundles);
    return key.public_key();
  };
  auto good = put("a", "*", false);
  put("b", "shop", false);
  put("c", "*", true);
  EXPECT_EQ(trusted_keys(rows), std::vector<crypto::PublicKey>{good});
}

}  // namespace trusted_keys_test
}  // namespace sluice::deploy::views
