// Sets: membership, signers that change, versions that only grow.
#include "mesh/set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "mesh/testing_artifacts.h"

namespace sluice::mesh {
namespace set_test {

using testing::HasSubstr;

constexpr int64_t kNow = 1'790'000'000'000;

std::vector<json::object> examples() { return {example_agent(), example_link(), example_mesh(), example_ctrl()}; }

std::vector<Artifact> signed_all(const std::vector<json::object>& envelopes) {
  std::vector<Artifact> all;
  for (const json::object& each : envelopes) all.push_back(signed_artifact(each));
  return all;
}

std::string refusal(const std::vector<json::object>& envelopes, const std::string& node = "alpha") {
  auto set = assemble(signed_all(envelopes), node);
  return set ? "" : set.error().message;
}

Marks fresh() { return {.trust = example_trust()}; }

// The examples with another version of mgmt, which ctrl obeys.
std::vector<json::object> at_version(uint64_t version) {
  std::vector<json::object> all = examples();
  for (json::object& each : all) {
    if (each.at("plane").is_string()) {
      each["version"] = version;
    } else {
      each["plane"] = {{"ctrl", {{"obeys_mgmt_version", version}}}};
      each["version"] = version;
    }
  }
  return all;
}

// An agent of that version, whose signers are to be these.
json::object agent_with(uint64_t version, const std::vector<std::string>& signers) {
  json::object agent = example_agent();
  agent["version"] = version;
  json::array list;
  for (const std::string& each : signers)
    list.push_back({{"spiffe_id", "spiffe://acme/management-plane/" + each},
                    {"pubkey", json::string(example_pubkey("management-plane/" + each))}});
  agent["payload"].as_object()["trust"].as_object()["authorized_mgmt_signers"] = std::move(list);
  agent["payload"].as_object()["vertices"] = json::array();
  return agent;
}

Artifact signed_by(json::object agent, const std::string& signer) {
  return parse_artifact(write(sign(std::move(agent), "acme", SpiffeId("spiffe://acme/management-plane/" + signer),
                                   example_key("management-plane/" + signer))
                                  .value()))
      .value();
}

TEST(Set, TheExamplesAreOne) {
  auto set = assemble(signed_all(examples()), "alpha");
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->version(), 42U);
  EXPECT_NE(set->vertex("rete"), nullptr);
  EXPECT_NE(set->ctrl("rete"), nullptr);
  EXPECT_EQ(set->ctrl("public"), nullptr);
  auto marks = judge(*set, fresh(), kNow);
  ASSERT_TRUE(marks) << marks.error().message;
  EXPECT_EQ(marks->mgmt.version, 42U);
  EXPECT_EQ(marks->ctrl.at("rete").version, 17U);
  EXPECT_EQ(judge(*set, *marks, kNow).value(), *marks) << "the same again changes nothing";
}

TEST(Set, Florete06AReplayIsRefused) {
  auto marks = judge(assemble(signed_all(at_version(42)), "alpha").value(), fresh(), kNow).value();
  auto replay = judge(assemble(signed_all(at_version(41)), "alpha").value(), marks, kNow);
  ASSERT_FALSE(replay);
  EXPECT_EQ(replay.error().code, Code::conflict);
  EXPECT_EQ(replay.error().message,
            "the mgmt set of alpha version 41 is older than version 42, which was accepted before");
  std::vector<json::object> old_ctrl = at_version(43);
  old_ctrl[3]["version"] = 41;
  EXPECT_THAT(judge(assemble(signed_all(old_ctrl), "alpha").value(), marks, kNow).error().message,
              HasSubstr("alpha/ctrl/vertex/rete version 41 is older than version 42"));
}

TEST(Set, OneVersionWithTwoContentsIsNamed) {
  auto marks = judge(assemble(signed_all(examples()), "alpha").value(), fresh(), kNow).value();
  std::vector<json::object> other = examples();
  other[1]["generated_at"] = "2026-06-25T12:00:09Z";
  EXPECT_THAT(judge(assemble(signed_all(other), "alpha").value(), marks, kNow).error().message,
              HasSubstr("the mgmt set of alpha version 42 has two contents: sha256:"));
  other = examples();
  other[3]["generated_at"] = "2026-06-25T12:00:09Z";
  EXPECT_THAT(judge(assemble(signed_all(other), "alpha").value(), marks, kNow).error().message,
              HasSubstr("alpha/ctrl/vertex/rete version 17 has two contents: sha256:"));
}

TEST(Set, Florete07EveryMemberHasTheRootsVersion) {
  std::vector<json::object> all = examples();
  all[1]["version"] = 41;
  EXPECT_EQ(refusal(all), "alpha/mgmt/vertex/public has version 41, and the agent 42: a set has one version");
}

TEST(Set, Florete08EveryListedMemberIsThere) {
  std::vector<json::object> all = examples();
  all.erase(all.begin() + 1);
  EXPECT_EQ(refusal(all), "the agent lists the vertex public, and its artifact is missing");
  EXPECT_EQ(refusal({example_link()}), "the set of alpha has no agent.json, which is its root");
  EXPECT_EQ(refusal({}), "the set of alpha has no agent.json, which is its root");
}

TEST(Set, Florete09AnotherNodesArtifactIsRefused) {
  std::vector<json::object> all = examples();
  all[2]["node"] = "beta";
  EXPECT_EQ(refusal(all), "the artifact beta/mgmt/vertex/rete is not of the node alpha");
}

TEST(Set, NothingIsThereThatTheRootDoesNotList) {
  std::vector<json::object> all = examples();
  all.push_back(example_link());
  EXPECT_EQ(refusal(all), "the artifact alpha/mgmt/vertex/public is there twice");
  all.back()["name"] = "spare";
  EXPECT_EQ(refusal(all), "the agent does not list the vertex of alpha/mgmt/vertex/spare");
  all = examples();
  all[0]["payload"].as_object()["vertices"].as_array()[0].as_object()["kind"] = "mesh";
  EXPECT_EQ(refusal(all), "alpha/mgmt/vertex/public is of another kind than the agent says");
  all = examples();
  all[3]["name"] = "public";
  EXPECT_EQ(refusal(all), "alpha/mgmt/vertex/public is a link vertex, which has no ctrl artifact");
}

TEST(Set, JoinRulesAreSetRules) {
  std::vector<json::object> all = examples();
  all[3]["plane"] = {{"ctrl", {{"obeys_mgmt_version", 41}}}};
  auto set = assemble(signed_all(all), "alpha");
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, Code::gate_rejected);
  EXPECT_THAT(set.error().message, HasSubstr("rule 5"));
}

TEST(Set, Florete04SignersAreNotTheirOwnWitnesses) {
  auto set = assemble({signed_by(agent_with(43, {"k2"}), "k2")}, "alpha").value();
  Marks marks = fresh();
  auto refused = judge(set, marks, kNow);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::verification_failed);
  EXPECT_THAT(refused.error().message,
              HasSubstr("signed by spiffe://acme/management-plane/k2, which is no trusted mgmt signer"));
}

TEST(Set, Florete05AddSwitchRetire) {
  Marks marks = fresh();
  marks.trust.mgmt_signers = {
      {SpiffeId("spiffe://acme/management-plane/k1"), KeyText(example_pubkey("management-plane/k1"))}};
  const auto names = [&] {
    std::string all;
    for (const Signer& each : marks.trust.mgmt_signers) all += std::string(each.spiffe_id.name()) + " ";
    return all;
  };
  const auto step = [&](uint64_t version, const std::vector<std::string>& signers, const std::string& by) {
    auto next = judge(assemble({signed_by(agent_with(version, signers), by)}, "alpha").value(), marks, kNow);
    ASSERT_TRUE(next) << next.error().message;
    marks = *next;
  };
  EXPECT_EQ(names(), "k1 ");
  step(2, {"k1", "k2"}, "k1");
  EXPECT_EQ(names(), "k1 k2 ");
  step(3, {"k1", "k2"}, "k2");
  EXPECT_EQ(names(), "k1 k2 ");
  step(4, {"k2"}, "k2");
  EXPECT_EQ(names(), "k2 ");
  EXPECT_FALSE(judge(assemble({signed_by(agent_with(5, {"k1"}), "k1")}, "alpha").value(), marks, kNow));
}

TEST(Set, ANodeThatSleptFollowsTheChain) {
  Marks marks = fresh();
  marks.trust.mgmt_signers = {
      {SpiffeId("spiffe://acme/management-plane/k1"), KeyText(example_pubkey("management-plane/k1"))}};
  marks.mgmt.version = 1;
  const std::vector<Artifact> chain = {
      signed_by(agent_with(1, {"k9"}), "k9"),  // older than the mark: passed over
      signed_by(agent_with(2, {"k1", "k2"}), "k1"), signed_by(agent_with(4, {"k2"}), "k2"),
      signed_by(agent_with(6, {"k2", "k3"}), "k2"), signed_by(agent_with(8, {"k3"}), "k3")};
  auto set = assemble({signed_by(agent_with(9, {"k3"}), "k3")}, "alpha").value();
  EXPECT_FALSE(judge(set, marks, kNow));
  auto followed = follow(chain, "alpha", marks, kNow);
  ASSERT_TRUE(followed) << followed.error().message;
  EXPECT_EQ(followed->mgmt, marks.mgmt) << "following accepts nothing";
  EXPECT_TRUE(judge(set, *followed, kNow));
  // A chain with a link that its predecessor did not sign ends there.
  EXPECT_FALSE(follow({chain[1], chain[4]}, "alpha", marks, kNow));
  EXPECT_FALSE(follow({signed_artifact(example_link())}, "alpha", marks, kNow));
}

TEST(Set, CtrlSignersAreThoseOfTheNewRoot) {
  std::vector<json::object> all = at_version(43);
  all[0]["payload"].as_object()["trust"].as_object()["authorized_ctrl_signers"] =
      json::array{{{"spiffe_id", "spiffe://acme/control-plane/new"},
                   {"pubkey", json::string(example_pubkey("control-plane/new"))}}};
  std::vector<Artifact> artifacts = signed_all({all[0], all[1], all[2]});
  std::vector<Artifact> old_key = artifacts;
  old_key.push_back(signed_artifact(all[3]));
  EXPECT_THAT(judge(assemble(old_key, "alpha").value(), fresh(), kNow).error().message,
              HasSubstr("which is no trusted ctrl signer"));
  artifacts.push_back(parse_artifact(write(sign(all[3], "acme", SpiffeId("spiffe://acme/control-plane/new"),
                                                example_key("control-plane/new"))
                                               .value()))
                          .value());
  EXPECT_TRUE(judge(assemble(artifacts, "alpha").value(), fresh(), kNow));
}

TEST(Set, IsReadFromAFolder) {
  RealDisk disk;
  TestingFolder folder;
  ASSERT_TRUE(disk.make_folder(folder.path() + "/mgmt", 0755));
  ASSERT_TRUE(disk.open(folder.path() + "/mgmt/agent.json", {.write = true, .create = true})
                  .value()
                  ->write_at(0, signed_text(example_agent())));
  auto artifacts = read_artifacts(disk, folder.path());
  ASSERT_TRUE(artifacts);
  EXPECT_EQ(artifacts->size(), 1U);
  ASSERT_TRUE(disk.open(folder.path() + "/mgmt/bad.json", {.write = true, .create = true}).value()->write_at(0, "{}"));
  EXPECT_FALSE(read_artifacts(disk, folder.path()));
}

}  // namespace set_test
}  // namespace sluice::mesh
