// Trust through the harness: one test a variant. What verify can say is tested whole in bundle/trust/verdict_test.cc.
#include <gtest/gtest.h>

#include "bundle/trust/sidecar.h"
#include "bundle/trust/trust_root.h"
#include "lang/run/harness.h"
#include "trust.gen.h"

namespace sluice::deploy::trust {
namespace trust_test {

using ::testing::Test;

class TrustTest : public Test {
 protected:
  TrustTest() {
    for (int i = 0; i < 3; ++i) {
      keys.push_back(crypto::PrivateKey::generate());
      pems.push_back(keys.back().public_key().to_pem());
      ids.push_back(KeyId(keys.back().public_key().key_id()));
    }
  }

  Add add_of(size_t i) const {
    return {.publicKey = pems[i], .label = "ann", .environments = {"staging"}, .bundles = {"shop*"}};
  }
  Add in_group(size_t i, std::optional<int64_t> threshold = std::nullopt) const {
    return {.publicKey = pems[i],
            .label = "release",
            .environments = {"*"},
            .bundles = {"*"},
            .group = GroupId("release"),
            .threshold = threshold};
  }
  bundle::TrustRoot root() { return bundle::parse_trust_root(harness.invoke(Export{}).as<Export::Ok>().root).value(); }
  List::Ok listed() { return harness.invoke(List{}).as<List::Ok>(); }

  std::string sidecar(std::initializer_list<size_t> signers) const {
    crypto::Envelope envelope = sign_statement(statement, {&keys[*signers.begin()], 1}).value();
    for (size_t i : signers) EXPECT_TRUE(bundle::add_signature(envelope, keys[i]));
    return bundle::write_sidecar_text(envelope);
  }
  Verify verify_of(std::initializer_list<size_t> signers) const {
    return {.bundle = "shop",
            .environment = "staging",
            .tree = crypto::to_string(statement.tree),
            .archive = crypto::to_string(statement.archive),
            .sidecar = sidecar(signers)};
  }

  const bundle::Statement statement{
      .bundle = "shop", .version = "1", .tree = crypto::sha256("t"), .archive = crypto::sha256("a")};
  std::vector<crypto::PrivateKey> keys;
  std::vector<std::string> pems;
  std::vector<KeyId> ids;
  lang::Harness harness{trust_binding()};
};

// ------------------------------------------------------------------------------------------------------ bootstrap

TEST_F(TrustTest, BootstrapOkTrustsTheOperatorForAllBundles) {
  EXPECT_EQ(harness.invoke(Bootstrap{.publicKey = pems[0], .environments = {"local"}}).as<Bootstrap::Ok>(),
            (Bootstrap::Ok{.key = ids[0], .environments = {"local"}}));
  EXPECT_EQ(root().keys,
            (std::vector<bundle::TrustedKey>{
                {.key = keys[0].public_key(), .label = "operator", .environments = {"local"}, .bundles = {"*"}}}));
}

TEST_F(TrustTest, OpenOkTrustsTheOperatorOfANewHomeAlone) {
  EXPECT_EQ(harness.invoke(Open{.publicKey = pems[0]}).as<Open::Ok>(), (Open::Ok{.key = ids[0], .trusted = true}));
  EXPECT_EQ(root().keys,
            (std::vector<bundle::TrustedKey>{
                {.key = keys[0].public_key(), .label = "operator", .environments = {"local"}, .bundles = {"*"}}}));
  EXPECT_EQ(harness.invoke(Open{.publicKey = pems[1]}).as<Open::Ok>(), (Open::Ok{.key = ids[1], .trusted = false}));
}

TEST_F(TrustTest, OpenDoesNotBringBackWhatWasRemoved) {
  harness.invoke(Open{.publicKey = pems[0]}).as<Open::Ok>();
  harness.invoke(Remove{.key = ids[0]}).as<Remove::Ok>();
  EXPECT_FALSE(harness.invoke(Open{.publicKey = pems[0]}).as<Open::Ok>().trusted);
  EXPECT_TRUE(root().keys.empty());
}

TEST_F(TrustTest, OpenLeavesADecisionAlone) {
  harness.invoke(add_of(1)).as<Add::Ok>();
  harness.invoke(Remove{.key = ids[1]}).as<Remove::Ok>();
  EXPECT_FALSE(harness.invoke(Open{.publicKey = pems[0]}).as<Open::Ok>().trusted);
}

TEST_F(TrustTest, OpenInvalidSaysWhatIsNoKey) {
  EXPECT_EQ(harness.invoke(Open{.publicKey = "nobody"}).as<Open::Invalid>().message.substr(0, 30),
            "the public key cannot be read:");
}

TEST_F(TrustTest, BootstrapAgainAddsEnvironmentsAndKeepsTheRest) {
  harness.invoke(add_of(0)).as<Add::Ok>();
  Bootstrap again{.publicKey = pems[0], .environments = {"local", "staging"}};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(harness.invoke(again).as<Bootstrap::Ok>().environments, (std::vector<std::string>{"staging", "local"}));
  }
  EXPECT_EQ(root().keys[0].label, "ann");
  EXPECT_EQ(root().keys[0].bundles, std::vector<std::string>{"shop*"});
}

TEST_F(TrustTest, BootstrapInvalid) {
  EXPECT_TRUE(harness.invoke(Bootstrap{.publicKey = "no key", .environments = {"local"}})
                  .as<Bootstrap::Invalid>()
                  .message.starts_with("the public key cannot be read: "));
  EXPECT_EQ(harness.invoke(Bootstrap{.publicKey = pems[0]}).as<Bootstrap::Invalid>().message,
            "/environments: expected at least one pattern");
  EXPECT_TRUE(root().keys.empty());
}

TEST_F(TrustTest, BootstrapRevoked) {
  harness.invoke(add_of(0)).as<Add::Ok>();
  harness.invoke(Revoke{.key = ids[0], .reason = "lost"}).as<Revoke::Ok>();
  EXPECT_EQ(harness.invoke(Bootstrap{.publicKey = pems[0], .environments = {"local"}}).as<Bootstrap::Revoked>().reason,
            "lost");
}

// ------------------------------------------------------------------------------------------------------------ add

TEST_F(TrustTest, AddOkKeepsTheWholeScope) {
  Add ask = in_group(0, 2);
  ask.notBefore = lang::DateTime{1000};
  ask.expires = lang::DateTime{2000};
  EXPECT_EQ(harness.invoke(ask).as<Add::Ok>().key, ids[0]);
  EXPECT_EQ(root().keys, (std::vector<bundle::TrustedKey>{{.key = keys[0].public_key(),
                                                           .label = "release",
                                                           .environments = {"*"},
                                                           .bundles = {"*"},
                                                           .not_before_ms = 1000,
                                                           .expires_ms = 2000,
                                                           .group = "release"}}));
  EXPECT_EQ(root().groups, (std::vector<bundle::TrustGroup>{{"release", 2}}));
}

TEST_F(TrustTest, AddingTheSameAgainChangesNothing) {
  harness.invoke(add_of(0)).as<Add::Ok>();
  auto before = listed();
  harness.invoke(add_of(0)).as<Add::Ok>();
  EXPECT_EQ(listed(), before);
}

TEST_F(TrustTest, AddExists) {
  harness.invoke(add_of(0)).as<Add::Ok>();
  Add wider = add_of(0);
  wider.environments = {"*"};
  EXPECT_EQ(harness.invoke(wider).as<Add::Exists>().key, ids[0]);
  EXPECT_EQ(root().keys[0].environments, std::vector<std::string>{"staging"});
}

TEST_F(TrustTest, AddInvalid) {
  auto message = [&](const Add& ask) { return harness.invoke(ask).as<Add::Invalid>().message; };
  Add ask = add_of(0);
  ask.bundles = {"two words"};
  EXPECT_EQ(message(ask), "/bundles/0: expected a pattern of 1 to 128 visible ASCII characters");
  ask = add_of(0);
  ask.publicKey = std::string(keys[0].to_pem().reveal());
  EXPECT_TRUE(message(ask).starts_with("the public key cannot be read: ")) << message(ask);
  ask = add_of(0);
  ask.threshold = 2;
  EXPECT_EQ(message(ask), "only a group has a threshold");
  EXPECT_EQ(message(in_group(0, 0)), "/threshold: expected 1 to 16 keys, found 0");
  ask = in_group(0);
  ask.group = GroupId("");
  EXPECT_EQ(message(ask), "/name: expected a name of a-z, 0-9 and -");
  EXPECT_TRUE(root().keys.empty());
  EXPECT_TRUE(root().groups.empty());
}

TEST_F(TrustTest, AddRevoked) {
  harness.invoke(add_of(0)).as<Add::Ok>();
  harness.invoke(Revoke{.key = ids[0], .reason = "lost"}).as<Revoke::Ok>();
  EXPECT_EQ(harness.invoke(add_of(0)).as<Add::Revoked>(), (Add::Revoked{.key = ids[0], .reason = "lost"}));
}

TEST_F(TrustTest, AddOtherThreshold) {
  harness.invoke(in_group(0, 2)).as<Add::Ok>();
  EXPECT_EQ(harness.invoke(in_group(1, 1)).as<Add::OtherThreshold>().threshold, 2);
  harness.invoke(in_group(1)).as<Add::Ok>();  // without one it joins
  EXPECT_EQ(root().groups, (std::vector<bundle::TrustGroup>{{"release", 2}}));
}

TEST_F(TrustTest, AddFull) {
  for (size_t i = 0; i < bundle::kMaxTrustedKeys; ++i) {
    Add ask = add_of(0);
    ask.publicKey = crypto::PrivateKey::generate().public_key().to_pem();
    harness.invoke(ask).as<Add::Ok>();
  }
  EXPECT_EQ(harness.invoke(add_of(0)).as<Add::Full>().limit, 256);
}

// ---------------------------------------------------------------------------------------------- remove and revoke

TEST_F(TrustTest, RemoveOkForgetsTheKeyAndTheGroupWithItsLast) {
  harness.invoke(in_group(0, 2)).as<Add::Ok>();
  harness.invoke(in_group(1)).as<Add::Ok>();
  harness.invoke(Remove{.key = ids[0]}).as<Remove::Ok>();
  EXPECT_EQ(root().keys.size(), 1U);
  EXPECT_EQ(root().groups.size(), 1U);
  harness.invoke(Remove{.key = ids[1]}).as<Remove::Ok>();
  EXPECT_EQ(harness.invoke(Export{}).as<Export::Ok>().root,
            R"({"groups":[],"keys":[],"schema":"sluice.trust-root.v1"})");
  harness.invoke(add_of(0)).as<Add::Ok>();  // a scope that was there before does not come back
  EXPECT_EQ(root().keys[0].environments, std::vector<std::string>{"staging"});
}

TEST_F(TrustTest, RemoveNotFound) {
  EXPECT_EQ(harness.invoke(Remove{.key = KeyId("00")}).as<Remove::NotFound>().key, KeyId("00"));
  EXPECT_TRUE(harness.invoke(Remove{}).is<Remove::NotFound>());
}

TEST_F(TrustTest, RemoveRevoked) {
  harness.invoke(add_of(0)).as<Add::Ok>();
  harness.invoke(Revoke{.key = ids[0], .reason = "lost"}).as<Revoke::Ok>();
  EXPECT_EQ(harness.invoke(Remove{.key = ids[0]}).as<Remove::Revoked>().reason, "lost");
}

TEST_F(TrustTest, RevokeOkHoldsFromThenOnWithItsFirstReason) {
  harness.invoke(add_of(0)).as<Add::Ok>();
  auto at = harness.invoke(Revoke{.key = ids[0], .reason = "lost"}).as<Revoke::Ok>().at;
  EXPECT_EQ(harness.invoke(Revoke{.key = ids[0], .reason = "found"}).as<Revoke::Ok>().at, at);
  EXPECT_EQ(root().keys[0].revocation, (bundle::Revocation{.at_ms = at.ms, .reason = "lost"}));
}

TEST_F(TrustTest, RevokeNotFound) {
  EXPECT_TRUE(harness.invoke(Revoke{.key = ids[0], .reason = "lost"}).is<Revoke::NotFound>());
}

TEST_F(TrustTest, RevokeInvalid) {
  harness.invoke(add_of(0)).as<Add::Ok>();
  EXPECT_EQ(harness.invoke(Revoke{.key = ids[0], .reason = "two\nlines"}).as<Revoke::Invalid>().message,
            "expected one line of UTF-8 without control characters");
  EXPECT_FALSE(root().keys[0].revocation);
}

// ---------------------------------------------------------------------------------------------------- setThreshold

TEST_F(TrustTest, SetThresholdOk) {
  harness.invoke(in_group(0)).as<Add::Ok>();
  harness.invoke(SetThreshold{.group = GroupId("release"), .threshold = 3}).as<SetThreshold::Ok>();
  EXPECT_EQ(root().groups, (std::vector<bundle::TrustGroup>{{"release", 3}}));
}

TEST_F(TrustTest, SetThresholdNotFound) {
  EXPECT_TRUE(harness.invoke(SetThreshold{.group = GroupId("none"), .threshold = 1}).is<SetThreshold::NotFound>());
}

TEST_F(TrustTest, SetThresholdInvalid) {
  harness.invoke(in_group(0)).as<Add::Ok>();
  EXPECT_EQ(
      harness.invoke(SetThreshold{.group = GroupId("release"), .threshold = 17}).as<SetThreshold::Invalid>().message,
      "expected 1 to 16 keys, found 17");
}

// ------------------------------------------------------------------------------------------------ list and export

TEST_F(TrustTest, ListSaysWhatEachKeyIsGoodFor) {
  harness.invoke(in_group(0, 2)).as<Add::Ok>();
  Add old = add_of(1);
  old.expires = lang::DateTime{1};
  harness.invoke(old).as<Add::Ok>();
  Add later = add_of(2);
  later.notBefore = lang::DateTime{INT64_C(200'000'000'000'000)};
  harness.invoke(later).as<Add::Ok>();
  std::map<std::string, std::string> statuses;
  for (const TrustKey& key : listed().keys) statuses[key.key.text()] = key.status;
  EXPECT_EQ(statuses, (std::map<std::string, std::string>{
                          {ids[0].text(), "good"}, {ids[1].text(), "expired"}, {ids[2].text(), "not yet"}}));
  EXPECT_EQ(listed().groups, (std::vector<TrustGroup>{{.group = GroupId("release"), .threshold = 2, .keys = 1}}));
  harness.invoke(Revoke{.key = ids[0], .reason = "lost"}).as<Revoke::Ok>();
  for (const TrustKey& key : listed().keys) {
    EXPECT_EQ(key.status == "revoked", key.key == ids[0]);
    EXPECT_EQ(key.reason, key.key == ids[0] ? std::optional<std::string>("lost") : std::nullopt);
  }
}

// --------------------------------------------------------------------------------------------------------- verify

TEST_F(TrustTest, VerifyOkNamesTheKeysThatCounted) {
  harness.invoke(add_of(0)).as<Add::Ok>();
  EXPECT_EQ(harness.invoke(verify_of({1, 0})).as<Verify::Ok>().keys, std::vector{ids[0]});
  Verify folder = verify_of({0});
  folder.archive.reset();
  EXPECT_TRUE(harness.invoke(folder).is<Verify::Ok>());
}

TEST_F(TrustTest, VerifyInvalid) {
  Verify ask = verify_of({0});
  ask.tree = "sha1:00";
  EXPECT_TRUE(harness.invoke(ask).as<Verify::Invalid>().message.starts_with("the tree's digest: "));
  ask = verify_of({0});
  ask.archive = "";
  EXPECT_TRUE(harness.invoke(ask).as<Verify::Invalid>().message.starts_with("the archive's digest: "));
}

TEST_F(TrustTest, EachClauseIsAVariantOfItsOwn) {
  EXPECT_EQ(harness.invoke(verify_of({0})).as<Verify::UnknownKey>().message,
            "it is signed with key " + ids[0].text() + ", which is not in the trust root");
  harness.invoke(add_of(0)).as<Add::Ok>();
  harness.invoke(in_group(1, 2)).as<Add::Ok>();
  Add old = add_of(2);
  old.expires = lang::DateTime{1};
  harness.invoke(old).as<Add::Ok>();

  Verify ask = verify_of({0});
  ask.sidecar.reset();
  EXPECT_EQ(harness.invoke(ask).as<Verify::SidecarMissing>().message,
            "bundle shop has no sidecar, so nobody vouches for it");
  ask.sidecar = "{";
  EXPECT_TRUE(harness.invoke(ask).is<Verify::SidecarUnreadable>());
  crypto::Envelope envelope = bundle::parse_sidecar(sidecar({0})).value();
  envelope.signatures[0].key_id = ids[1].text();
  ask.sidecar = bundle::write_sidecar_text(envelope);
  EXPECT_TRUE(harness.invoke(ask).is<Verify::WrongKeyId>());
  envelope.signatures[0].signature[0] ^= 1;
  ask.sidecar = bundle::write_sidecar_text(envelope);
  EXPECT_TRUE(harness.invoke(ask).is<Verify::SignatureChanged>());
  EXPECT_TRUE(harness.invoke(verify_of({2})).is<Verify::ExpiredKey>());
  EXPECT_EQ(harness.invoke(verify_of({1})).as<Verify::ThresholdNotMet>().message,
            "2 keys of group release must sign, and 1 does: " + ids[1].text() + " (release)");
  ask = verify_of({0});
  ask.environment = "prod";
  EXPECT_TRUE(harness.invoke(ask).is<Verify::OutOfScope>());
  ask = verify_of({0});
  ask.tree = crypto::to_string(crypto::sha256("other"));
  EXPECT_TRUE(harness.invoke(ask).is<Verify::PayloadChanged>());
  harness.invoke(Revoke{.key = ids[0], .reason = "lost"}).as<Revoke::Ok>();
  EXPECT_TRUE(harness.invoke(verify_of({0})).is<Verify::RevokedKey>());
}

}  // namespace trust_test
}  // namespace sluice::deploy::trust
