// What is exported needs no change; what differs is planned, sign by sign.
#include "deploy/views/environment_plan.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/yaml.h"
#include "config.gen.h"
#include "deploy/testing_views.h"
#include "deploy/views/documents.h"
#include "deploy/views/environment_file.h"

namespace sluice::deploy::views {
namespace environment_plan_test {

class EnvironmentPlanTest : public testing::Test {
 protected:
  EnvironmentPlanTest() {
    env::EnvRecord record{.name = "Local", .generation = 3};
    record.retention = {.archivedMaxAgeDays = 14, .stagedMaxCount = 5};
    rows.environment("local", record);
    env::State(rows.rows).packs(env::EnvId("local")).push({.slot = "state", .kind = "a.b@1.0.0", .packRef = "a.b"});
    config::State(rows.rows).values(config::ConfigId("local")).push({"region", "eu"});
    rows.deployment("d1");
  }
  std::string planned(const std::string& text, bool prune = false) {
    Document file = parse_yaml(text, "env.yaml").value();
    auto plan = plan_environment(states, file, prune);
    if (!plan) return to_string(plan.error());
    std::string changes;
    for (const PlannedChange& each : plan->changes) {
      changes += std::string(1, each.sign) + " " + each.what + " | " + each.action + "\n";
    }
    return changes;
  }
  env::EnvFound local() { return {env::EnvId("local"), *states.env().get(env::EnvId("local"))}; }
  static std::string head(const std::string& id = "local") {
    return "schema: sluice.environment.v1\nenvironment_id: " + id + "\n";
  }

  RowsInMemory rows;
  const States states{rows};
};

TEST_F(EnvironmentPlanTest, WhatIsExportedOrShownNeedsNoChange) {
  EXPECT_EQ(planned(write(to_json(exported_environment(states, local()))), true), "");
  EXPECT_EQ(planned(write(to_json(environment_document(states, local()))), true), "");
}

TEST_F(EnvironmentPlanTest, PlansWhatDiffers) {
  EXPECT_EQ(planned(head() + "name: Here\nretention: { staged_max_count: 2 }\nrevocation: { required: true }\n"
                             "host_config: { region: us }\npacks: [{ slot: state, kind: a.c@1.0.0 }, "
                             "{ slot: iac, kind: a.d@1.0.0 }]\n"),
            "~ name, revocationRequired, stagedMaxCount of local | Env/update\n"
            "~ a.b@1.0.0 -> a.c@1.0.0 for state | Env/rebind\n"
            "+ a.d@1.0.0 for iac | Env/bind\n"
            "~ region of local | Config/set\n");
}

TEST_F(EnvironmentPlanTest, RefusesWhatCannotHoldBeforeAnythingIsPlanned) {
  EXPECT_NE(planned(head("..")).find("an environment is named by 1 to 63"), std::string::npos);
  EXPECT_NE(planned(head("new") + "extends: nope\n").find("there is no environment nope"), std::string::npos);
  EXPECT_NE(planned(head() + "extends: prod\n").find("local was made after nothing, and that stays"),
            std::string::npos);
  EXPECT_EQ(planned(head() + "extends: null\n"), "");
  EXPECT_NE(planned(head("new") + "retention: { staged_max_count: 0 }\n").find("1 to 1000 staged revisions are kept"),
            std::string::npos);
  EXPECT_NE(planned(head("new") + "retention: { archived_max_age_days: -1 }\n").find("0 to 36500 days"),
            std::string::npos);
  EXPECT_NE(planned(head() + "host_config: { env_id: prod }\n").find("this is the host of prod, in the file of local"),
            std::string::npos);
  EXPECT_EQ(planned(head() + "host_config: { env_id: local }\n"), "");
  EXPECT_NE(planned(head("new") + "host_config: { listen_addr: nonsense }\n").find("listen_addr is an address"),
            std::string::npos);
  EXPECT_NE(planned(head("new") + "credentials_ref: secret://dev/x\n").find("secret://new/"), std::string::npos);
  const std::string bundle = "bundles: [{ bundle_id: b, customer_id: c, bundle_source_uri: b.bundle, ";
  EXPECT_NE(planned(head() + bundle + "revenue_share: [{ party_id: a, basis_points: 1 }] }]\n").find("sum to 1 bps"),
            std::string::npos);
  EXPECT_NE(planned(head() + bundle + "route_binding: { hosts: ['a b'] } }]\n").find("/bundles/0/route_binding"),
            std::string::npos);
}

TEST_F(EnvironmentPlanTest, TakesAwayOnRequestAlone) {
  EXPECT_EQ(planned(head() + "packs: []\nhost_config: {}\n"), "");
  EXPECT_EQ(planned(head() + "packs: []\nhost_config: {}\n", true),
            "- a.b@1.0.0 for state | Env/unbind\n- region of local | Config/set\n");
}

TEST_F(EnvironmentPlanTest, MakesWhatIsNotThere) {
  EXPECT_EQ(planned(head("new") + "packs: [{ slot: state, kind: a.b@1.0.0 }]\n"),
            "+ environment new | Env/create\n+ a.b@1.0.0 for state | Env/bind\n");
}

TEST_F(EnvironmentPlanTest, SaysWhereAFileIsWrong) {
  EXPECT_EQ(planned("schema: other\nenvironment_id: local\n"), "env.yaml:1:1: /schema: expected sluice.environment.v1");
  EXPECT_EQ(planned(head() + "nmae: x\n"), "env.yaml:3:1: /nmae: there is no such field");
  EXPECT_EQ(planned(head() + "packs: [{ slot: none, kind: a.b@1.0.0 }]\n").substr(0, 12), "env.yaml:3:1");
  EXPECT_NE(planned(head() + "retention: { staged_max_count: many }\n").find("expected a whole number"),
            std::string::npos);
}

}  // namespace environment_plan_test
}  // namespace sluice::deploy::views
