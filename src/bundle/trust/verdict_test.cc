// One clause after another: what a good sidecar passes, and the one line that each bad one gets.
#include "bundle/trust/verdict.h"

#include <gtest/gtest.h>

#include "bundle/trust/sidecar.h"

namespace sluice::bundle {
namespace verdict_test {

constexpr int64_t kNow_ms = 1'900'000'000'000;  // 2030-03-17T17:46:40Z
constexpr int64_t kDay_ms = 86'400'000;

class VerdictTest : public testing::Test {
 protected:
  VerdictTest() {
    for (int i = 0; i < 4; ++i) {
      keys.push_back(crypto::PrivateKey::generate());
      ids.push_back(keys.back().public_key().key_id());
    }
    root.keys.push_back(
        {.key = keys[0].public_key(), .label = "ann", .environments = {"local", "staging"}, .bundles = {"shop*"}});
  }

  TrustedKey& trusted(size_t i) { return root.keys[i]; }
  void trust_in_group(size_t i, const std::string& group) {
    root.keys.push_back({.key = keys[i].public_key(), .environments = {"*"}, .bundles = {"*"}, .group = group});
  }

  std::string sidecar(std::initializer_list<size_t> signers) const {
    crypto::Envelope envelope = sign_statement(statement, {&keys[*signers.begin()], 1}).value();
    for (size_t i : signers) EXPECT_TRUE(add_signature(envelope, keys[i]));
    return write_sidecar_text(envelope);
  }
  Verdict judge(const std::optional<std::string>& text) const { return verify(root, text, claim, kNow_ms); }
  std::vector<std::string> counted(const std::optional<std::string>& text) const {
    Verdict verdict = judge(text);
    if (const Refusal* no = std::get_if<Refusal>(&verdict)) return {"refused: " + no->message};
    return std::get<Verified>(verdict).keys;
  }
  Refusal refused(const std::optional<std::string>& text) const {
    Verdict verdict = judge(text);
    if (const Refusal* no = std::get_if<Refusal>(&verdict)) return *no;
    return {.message = "accepted"};
  }
  void expect(const std::optional<std::string>& text, Clause clause, const std::string& message) const {
    Refusal refusal = refused(text);
    EXPECT_EQ(name_of(refusal.clause), name_of(clause));
    EXPECT_EQ(refusal.message, message);
    EXPECT_EQ(refusal.message.find('\n'), std::string::npos);
    EXPECT_EQ(exit_code(to_error(refusal).code), 11);
  }

  const Statement statement{
      .bundle = "shop", .version = "1", .tree = crypto::sha256("tree"), .archive = crypto::sha256("archive")};
  Claim claim{.tree = statement.tree, .archive = statement.archive, .bundle = "shop", .environment = "staging"};
  std::vector<crypto::PrivateKey> keys;
  std::vector<std::string> ids;
  TrustRoot root;
};

TEST_F(VerdictTest, TheGoodOnePasses) {
  Verdict verdict = judge(sidecar({0}));
  ASSERT_TRUE(std::holds_alternative<Verified>(verdict)) << std::get<Refusal>(verdict).message;
  EXPECT_EQ(std::get<Verified>(verdict).keys, std::vector{ids[0]});
  EXPECT_EQ(std::get<Verified>(verdict).statement, statement);
  claim.archive.reset();  // a folder has no archive
  EXPECT_EQ(counted(sidecar({0})), std::vector{ids[0]});
}

TEST_F(VerdictTest, SidecarMissing) {
  expect(std::nullopt, Clause::sidecar_missing, "bundle shop has no sidecar, so nobody vouches for it");
}

TEST_F(VerdictTest, SidecarUnreadable) {
  expect("{}", Clause::sidecar_unreadable,
         "the sidecar cannot be read: 1:1: /payloadType: missing field, expected a string");
  crypto::Envelope other = crypto::sign_envelope(kStatementType, "{}", {keys.data(), 1}).value();
  expect(write_sidecar_text(other), Clause::sidecar_unreadable,
         "what the sidecar signs is not a statement of a bundle: /_type: expected https://in-toto.io/Statement/v1");
}

TEST_F(VerdictTest, UnknownKey) {
  expect(sidecar({1}), Clause::unknown_key, "it is signed with key " + ids[1] + ", which is not in the trust root");
  root = {};
  expect(sidecar({0}), Clause::unknown_key, "it is signed with key " + ids[0] + ", which is not in the trust root");
}

TEST_F(VerdictTest, WrongKeyId) {
  crypto::Envelope envelope = parse_sidecar(sidecar({0})).value();
  envelope.signatures[0].key_id = ids[1];
  expect(write_sidecar_text(envelope), Clause::wrong_key_id,
         "the signature says that key " + ids[1] + " made it, but key " + ids[0] + " (ann) did");
}

TEST_F(VerdictTest, SignatureChanged) {
  const std::string message =
      "the signature of key " + ids[0] + " (ann) does not hold: it, or what it signs, was changed";
  for (size_t byte : {size_t{0}, size_t{31}, size_t{32}, size_t{63}}) {
    crypto::Envelope envelope = parse_sidecar(sidecar({0})).value();
    envelope.signatures[0].signature[byte] ^= 1;
    expect(write_sidecar_text(envelope), Clause::signature_changed, message);
  }
  // The payload inside the sidecar was made to fit another archive.
  crypto::Envelope envelope = parse_sidecar(sidecar({0})).value();
  Statement forged = statement;
  forged.tree = claim.tree = crypto::sha256("evil");
  envelope.payload = write_statement(forged).value();
  expect(write_sidecar_text(envelope), Clause::signature_changed, message);
}

TEST_F(VerdictTest, RevokedKey) {
  trusted(0).revocation = Revocation{.at_ms = kNow_ms + kDay_ms, .reason = "lost"};  // a clock that is behind
  expect(sidecar({0}), Clause::revoked_key, "key " + ids[0] + " (ann) was revoked at 2030-03-18T17:46:40.000Z: lost");
  trusted(0).revocation->reason = "";
  expect(sidecar({0}), Clause::revoked_key, "key " + ids[0] + " (ann) was revoked at 2030-03-18T17:46:40.000Z");
}

TEST_F(VerdictTest, ExpiredKey) {
  trusted(0).expires_ms = kNow_ms;
  expect(sidecar({0}), Clause::expired_key, "key " + ids[0] + " (ann) expired at 2030-03-17T17:46:40.000Z");
  trusted(0).expires_ms = kNow_ms + 1;
  EXPECT_EQ(counted(sidecar({0})), std::vector{ids[0]});
  trusted(0).not_before_ms = kNow_ms;
  EXPECT_EQ(counted(sidecar({0})), std::vector{ids[0]});
  trusted(0).expires_ms.reset();
  trusted(0).not_before_ms = kNow_ms + 1;
  expect(sidecar({0}), Clause::expired_key, "key " + ids[0] + " (ann) is not valid before 2030-03-17T17:46:40.001Z");
}

TEST_F(VerdictTest, OutOfScope) {
  claim.environment = "prod";
  expect(sidecar({0}), Clause::out_of_scope,
         "key " + ids[0] + " (ann) may not sign bundle shop for environment prod, only shop* for local, staging");
  claim = {.tree = claim.tree, .archive = claim.archive, .bundle = "till", .environment = "staging"};
  expect(sidecar({0}), Clause::out_of_scope,
         "key " + ids[0] + " (ann) may not sign bundle till for environment staging, only shop* for local, staging");
}

TEST_F(VerdictTest, ThresholdNotMet) {
  root = {.groups = {{.name = "release", .threshold = 2}}};
  for (size_t i : {0, 1, 2}) trust_in_group(i, "release");
  expect(sidecar({0}), Clause::threshold_not_met, "2 keys of group release must sign, and 1 does: " + ids[0]);
  EXPECT_EQ(counted(sidecar({2, 0})), (std::vector{ids[2], ids[0]}));
  // One that does not count does not help, and is named.
  trusted(1).revocation = Revocation{.at_ms = kNow_ms, .reason = "lost"};
  expect(sidecar({0, 1}), Clause::threshold_not_met,
         "2 keys of group release must sign, and 1 does: " + ids[0] + "; another does not count: key " + ids[1] +
             " was revoked at 2030-03-17T17:46:40.000Z: lost");
  trusted(2).expires_ms = kNow_ms;
  expect(sidecar({0, 1, 2}), Clause::threshold_not_met,
         "2 keys of group release must sign, and 1 does: " + ids[0] + "; others do not count: key " + ids[1] +
             " was revoked at 2030-03-17T17:46:40.000Z: lost; key " + ids[2] + " expired at 2030-03-17T17:46:40.000Z");
}

TEST_F(VerdictTest, KeysOfDifferentGroupsDoNotAddUp) {
  root = {.groups = {{.name = "build", .threshold = 3}, {.name = "release", .threshold = 2}}};
  trust_in_group(0, "build");
  trust_in_group(1, "release");
  expect(sidecar({0, 1}), Clause::threshold_not_met, "2 keys of group release must sign, and 1 does: " + ids[1]);
  // A key that stands alone suffices, and only it counts.
  root.keys.push_back({.key = keys[2].public_key(), .environments = {"*"}, .bundles = {"*"}});
  EXPECT_EQ(counted(sidecar({0, 1, 2})), std::vector{ids[2]});
}

TEST_F(VerdictTest, PayloadChanged) {
  claim.tree = crypto::sha256("other");
  expect(sidecar({0}), Clause::payload_changed,
         "the bundle's tree is " + crypto::to_string(claim.tree) + ", but " + crypto::to_string(statement.tree) +
             " was signed");
  claim.tree = statement.tree;
  claim.archive = crypto::sha256("other");
  expect(sidecar({0}), Clause::payload_changed,
         "the archive is " + crypto::to_string(*claim.archive) + ", but " + crypto::to_string(statement.archive) +
             " was signed");
  claim.archive = statement.archive;
  claim.bundle = "shop2";
  expect(sidecar({0}), Clause::payload_changed, "the bundle is shop2, but shop was signed");
}

TEST_F(VerdictTest, OneGoodSignatureAmongBadOnesSuffices) {
  EXPECT_EQ(counted(sidecar({1, 0, 2})), std::vector{ids[0]});
}

TEST_F(VerdictTest, OfSeveralBadOnesTheNearestToGoodIsNamed) {
  claim.environment = "prod";
  expect(sidecar({1, 0}), Clause::out_of_scope,
         "key " + ids[0] + " (ann) may not sign bundle shop for environment prod, only shop* for local, staging");
}

TEST_F(VerdictTest, EveryClauseHasAName) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Clause::payload_changed); ++i) names.insert(name_of(static_cast<Clause>(i)));
  EXPECT_EQ(names.size(), 10U);
  EXPECT_FALSE(names.contains(""));
}

}  // namespace verdict_test
}  // namespace sluice::bundle
