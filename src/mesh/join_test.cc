// Each of the five rules, broken alone.
#include "mesh/join.h"

#include <gtest/gtest.h>

#include "mesh/testing_artifacts.h"

namespace sluice::mesh {
namespace join_test {

struct Join : testing::Test {
  Vertex mgmt = std::get<Vertex>(signed_artifact(example_mesh()).payload);
  Ctrl ctrl = std::get<Ctrl>(signed_artifact(example_ctrl()).payload);

  // "4: what breaks it", or nothing.
  std::string breach(uint64_t held = 42, uint64_t obeys = 42) {
    std::string all;
    for (const JoinRule& rule : judge_join(mgmt, held, ctrl, obeys)) {
      for (const std::string& each : rule.breaches)
        all += (all.empty() ? "" : "; ") + std::to_string(rule.rule) + ": " + each;
    }
    return all;
  }
};

TEST_F(Join, TheExamplesJoin) { EXPECT_EQ(breach(), ""); }

TEST_F(Join, Florete10AnActiveLinkIsTheOperators) {
  ctrl.active_links.push_back(Name("delta"));
  EXPECT_EQ(breach(), "1: the operator has no link \"delta\"");
}

TEST_F(Join, Florete11ARowUsesActiveLinks) {
  ctrl.active_links.pop_back();
  EXPECT_EQ(breach(),
            "2: the row beta/17 → gamma/42 uses the link \"gamma\", which is not active; 2: the row gamma/23 → beta/71 "
            "uses the link \"gamma\", which is not active");
}

TEST_F(Join, Florete12ABindingIsOfAnAllowedPair) {
  ctrl.label_bindings[0].initiator = SpiffeId("spiffe://acme/user/mallory");
  EXPECT_EQ(breach(), "3: the operator does not allow ingress spiffe://acme/user/mallory → spiffe://acme/service/api");
}

TEST_F(Join, APairIsAllowedInItsScopeAlone) {
  ctrl.label_bindings[0].scope = Scope::egress;
  ctrl.label_bindings[0].out = LinkLabel{Name("beta"), 5};
  EXPECT_EQ(breach(), "3: the operator does not allow egress spiffe://acme/user/alice → spiffe://acme/service/api");
}

TEST_F(Join, Florete13ALabelThatComesInIsUniqueOnItsLink) {
  ctrl.forwarding_table[0].in.label = 9;
  EXPECT_EQ(breach(),
            "4: label 9 of link \"beta\" is that of ingress spiffe://acme/user/alice → spiffe://acme/service/api and "
            "of the row beta/9 → gamma/42");
  ctrl.forwarding_table[0].in.link = Name("gamma");
  EXPECT_EQ(breach(), "");
}

TEST_F(Join, TheWayBackCountsForRuleFour) {
  ctrl.label_bindings[1].in = LinkLabel{Name("beta"), 17};
  EXPECT_EQ(breach(),
            "4: label 17 of link \"beta\" is that of egress spiffe://acme/service/api → spiffe://acme/service/mongodb "
            "and of the row beta/17 → gamma/42");
}

TEST_F(Join, Florete14LabelsThatGoOutAreTheNeighbours) {
  ctrl.forwarding_table[1].out = LinkLabel{Name("beta"), 11};
  ctrl.label_bindings[2].out = LinkLabel{Name("beta"), 11};
  EXPECT_EQ(breach(), "");
}

TEST_F(Join, Florete15CtrlHasSeenTheHeldMgmt) {
  EXPECT_EQ(breach(42, 41), "5: ctrl obeys mgmt version 41, and version 42 is held");
  EXPECT_EQ(breach(42, 43), "");
}

TEST_F(Join, IsOfOneVertex) {
  EXPECT_TRUE(check_join(signed_artifact(example_mesh()), signed_artifact(example_ctrl())));
  json::object other = example_ctrl();
  other["name"] = "public";
  auto refused = check_join(signed_artifact(example_mesh()), signed_artifact(other));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "alpha/mgmt/vertex/rete and alpha/ctrl/vertex/public are not of one vertex");
  EXPECT_EQ(check_join(signed_artifact(example_link()), signed_artifact(other)).error().message,
            "alpha/mgmt/vertex/public is a link vertex, which has no ctrl artifact");
  json::object stale = example_ctrl();
  stale["plane"] = {{"ctrl", {{"obeys_mgmt_version", 41}}}};
  EXPECT_EQ(check_join(signed_artifact(example_mesh()), signed_artifact(stale)).error().message,
            "alpha/ctrl/vertex/rete: rule 5: ctrl obeys mgmt version 41, and version 42 is held");
  EXPECT_FALSE(check_join(signed_artifact(example_ctrl()), signed_artifact(example_ctrl())));
}

}  // namespace join_test
}  // namespace sluice::mesh
