// Which signatures count, and that every leaf of an artifact is under them.
#include "mesh/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "mesh/testing_artifacts.h"

namespace sluice::mesh {
namespace signature_test {

using testing::HasSubstr;

constexpr int64_t kNow = 1'790'000'000'000;

std::string refusal(const Artifact& artifact, const Trust& trust, int64_t now_ms = kNow) {
  auto held = verify(artifact, trust, now_ms);
  if (held) return "";
  EXPECT_EQ(held.error().code, Code::verification_failed);
  return held.error().message;
}

Artifact parsed(const json::object& envelope) {
  auto artifact = parse_artifact(write(envelope));
  EXPECT_TRUE(artifact) << to_string(artifact.error());
  return *artifact;
}

json::object signed_by(json::object envelope, const std::string& name) {
  return sign(std::move(envelope), "acme", SpiffeId("spiffe://acme/" + name), example_key(name)).value();
}

void change_leaves(json::value& node, const std::function<void()>& changed) {
  if (auto* object = node.if_object()) {
    for (auto& each : *object) change_leaves(each.value(), changed);
  } else if (auto* list = node.if_array()) {
    for (json::value& each : *list) change_leaves(each, changed);
  } else {
    const json::value was = node;
    if (node.is_string()) {
      node.get_string().push_back('x');
    } else {
      node = node.to_number<int64_t>() + 1;
    }
    changed();
    node = was;
  }
}

TEST(Signature, HoldsAndEveryChangedLeafFails) {
  for (json::object example : {example_agent(), example_link(), example_mesh(), example_ctrl()}) {
    EXPECT_EQ(refusal(signed_artifact(example), example_trust()), "");
    json::value whole = parse_json_value(signed_text(example)).value();
    size_t leaves = 0;
    change_leaves(whole, [&] {
      ++leaves;
      auto artifact = parse_artifact(write(whole));
      EXPECT_TRUE(!artifact || !verify(*artifact, example_trust(), kNow)) << write(whole);
    });
    EXPECT_GT(leaves, 10U);
  }
}

TEST(Signature, IsOverTheDocumentedBytes) {
  const json::object envelope = {{"b", 1},
                                 {"a", "x"},
                                 {"signature", {{"alg", "ed25519"}, {"key_id", "k"}, {"value", "v"}}},
                                 {"cosignatures", json::array()}};
  EXPECT_EQ(
      signed_bytes(envelope, "acme", "k2").value(),
      "sluice.mesh.artifact.v1\nacme\n{\"a\":\"x\",\"b\":1,\"signature\":{\"alg\":\"ed25519\",\"key_id\":\"k2\"}}");
}

TEST(Signature, Florete03AnUnknownKeyIsRefused) {
  EXPECT_EQ(refusal(parsed(signed_by(example_agent(), "management-plane/other")), example_trust()),
            "alpha/mgmt/agent/agent version 42: signed by spiffe://acme/management-plane/other, which is no trusted "
            "mgmt signer");
}

TEST(Signature, Florete16PlanesHaveKeysOfTheirOwn) {
  EXPECT_THAT(refusal(parsed(signed_by(example_ctrl(), "management-plane/primary")), example_trust()),
              HasSubstr("which is no trusted ctrl signer"));
  EXPECT_THAT(refusal(parsed(signed_by(example_mesh(), "control-plane/primary")), example_trust()),
              HasSubstr("which is no trusted mgmt signer"));
  Trust none = example_trust();
  none.ctrl_signers.clear();
  EXPECT_THAT(refusal(signed_artifact(example_ctrl()), none), HasSubstr("which is no trusted ctrl signer"));
}

TEST(Signature, IsWorthNothingInAnotherMesh) {
  Trust other = example_trust();
  other.trust_domain = "umbrella";
  EXPECT_THAT(refusal(signed_artifact(example_agent()), other), HasSubstr("which is not of the trust domain umbrella"));
  const json::object for_other = sign(example_agent(), "umbrella", SpiffeId("spiffe://acme/management-plane/primary"),
                                      example_key("management-plane/primary"))
                                     .value();
  EXPECT_THAT(refusal(parsed(for_other), example_trust()), HasSubstr("does not hold"));
}

TEST(Signature, AThresholdCountsKeysOnce) {
  Trust two = example_trust();
  two.mgmt_signers.push_back(
      {SpiffeId("spiffe://acme/management-plane/second"), KeyText(example_pubkey("management-plane/second"))});
  two.mgmt_threshold = 2;
  json::object envelope = example_agent();
  envelope["schema_version"] = "1.1";
  const json::object once = signed_by(envelope, "management-plane/primary");
  EXPECT_THAT(refusal(parsed(once), two), HasSubstr("1 of 2 signatures that are needed"));
  json::object twice = signed_by(once, "management-plane/second");
  EXPECT_EQ(refusal(parsed(twice), two), "");
  EXPECT_EQ(write(signed_by(twice, "management-plane/second")), write(twice));
  twice["cosignatures"].as_array()[0] = twice["signature"];
  EXPECT_THAT(refusal(parsed(twice), two), HasSubstr("signed twice by spiffe://acme/management-plane/primary"));
  // One broken signature is not made good by enough others.
  json::object third = signed_by(signed_by(once, "management-plane/second"), "management-plane/third");
  EXPECT_THAT(refusal(parsed(third), two), HasSubstr("management-plane/third, which is no trusted mgmt signer"));
  auto first_schema = sign(signed_by(example_agent(), "management-plane/primary"), "acme",
                           SpiffeId("spiffe://acme/management-plane/second"), example_key("management-plane/second"));
  ASSERT_FALSE(first_schema);
  EXPECT_EQ(first_schema.error().code, Code::conflict);
}

TEST(Signature, Expires) {
  json::object envelope = example_agent();
  envelope["schema_version"] = "1.1";
  envelope["expires_at"] = "2026-07-01T00:00:00Z";
  const Artifact artifact = parsed(signed_by(envelope, "management-plane/primary"));
  EXPECT_EQ(refusal(artifact, example_trust(), UtcTime("2026-06-30T23:59:59Z").ms()), "");
  EXPECT_THAT(refusal(artifact, example_trust(), UtcTime("2026-07-01T00:00:00Z").ms()),
              HasSubstr("expired at 2026-07-01T00:00:00Z"));
}

TEST(Signature, TrustIsReadStrictly) {
  const std::string text = write(to_json(example_trust()));
  ASSERT_TRUE(parse_trust(text));
  EXPECT_EQ(*parse_trust(text), example_trust());
  const auto with = [&](std::string_view field, json::value value) {
    json::object changed = parse_json_value(text).value().as_object();
    changed[field] = std::move(value);
    return parse_trust(write(changed)).has_value();
  };
  EXPECT_FALSE(with("schema", "sluice.mesh.trust.v2"));
  EXPECT_FALSE(with("trust_domain", "ACME"));
  EXPECT_FALSE(with("mgmt_signers", json::array()));
  EXPECT_FALSE(with("mgmt_threshold", 2));
  EXPECT_FALSE(with("ctrl_threshold", 0));
}

}  // namespace signature_test
}  // namespace sluice::mesh
