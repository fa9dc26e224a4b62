// Shares are whole, envelopes are the operator's.
#include "deploy/revenue_policy.h"

#include <gtest/gtest.h>

#include "crypto/dsse.h"

namespace sluice::deploy {
namespace revenue_policy_test {

TEST(RevenuePolicy, SharesSumToAll) {
  EXPECT_EQ(fault_of_shares({{"a", 3000}, {"b", 7000}}), "");
  EXPECT_EQ(fault_of_shares({}), "at least one party must have a share");
  EXPECT_EQ(fault_of_shares({{"a", 10'001}}), "a cannot have 10001 bps: a share is 1 to 10000");
  EXPECT_EQ(fault_of_shares({{"a", 0}, {"b", 10'000}}), "a cannot have 0 bps: a share is 1 to 10000");
  EXPECT_EQ(fault_of_shares({{"a", 5000}, {"a", 5000}}), "a is named twice");
  EXPECT_EQ(fault_of_shares({{"a b", 10'000}}), "'a b' is no party: letters, digits, -, _ and .");
  EXPECT_EQ(fault_of_shares(std::vector<RevenueParty>(101, {"a", 1})), "at most 100 parties share");
}

TEST(RevenuePolicy, OpensWhatItHasSealedAndNothingElse) {
  auto key = crypto::PrivateKey::generate();
  PolicySeal seal([&] { return crypto::PrivateKey::from_pem(key.to_pem().reveal()); });
  RevenuePolicy policy{.deployment_id = "d", .env_id = "e", .revenue_share = {{"sluice", 10'000}}};
  std::string envelope = seal.sign(policy).value();
  EXPECT_EQ(seal.open(envelope).value(), policy);
  EXPECT_EQ(policy_ref(envelope).substr(0, 7), "sha256:");
  auto other = crypto::PrivateKey::generate();
  PolicySeal foreign([&] { return crypto::PrivateKey::from_pem(other.to_pem().reveal()); });
  EXPECT_EQ(foreign.open(envelope).error().code, Code::verification_failed);
  EXPECT_EQ(foreign.open(envelope, {&key.public_key(), 1}).value(), policy);
  EXPECT_EQ(seal.open("{}").error().code, Code::verification_failed);
  auto something = crypto::sign_envelope("text/plain", "{}", {&key, 1}).value();
  EXPECT_EQ(seal.open(crypto::write_envelope(something)).error().message,
            "the revenue policy before cannot be verified: it is something else");
}

}  // namespace revenue_policy_test
}  // namespace sluice::deploy
