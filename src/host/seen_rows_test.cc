// What a call is about.
#include "host/seen_rows.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "host/testing_authority.h"

namespace sluice::host {
namespace seen_rows_test {

struct SeenRowsTest : AuthorityTest {
  SeenRows seen(const std::string& action, const json::object& input) {
    auto snapshot = store.read().value();
    return seen_rows(*snapshot, *deploy_kit(), action, input);
  }
};

TEST_F(SeenRowsTest, ACallOnTrafficIsAboutTheSplitAndTheDeployment) {
  SeenRows before = seen("Traffic/set", {{"deployment", "d-prod"}, {"entries", json::array()}});
  EXPECT_EQ(before.generations.size(), 2U) << write(before.generations);
  EXPECT_TRUE(before.generations.contains("Traffic/d-prod"));
  EXPECT_TRUE(before.generations.contains("Deployment/d-prod"));
  EXPECT_EQ(before.generations.at("Traffic/d-prod").to_number<uint64_t>(), *before.own);
  put("Traffic", "d-prod", {{"generation", 2}});
  SeenRows after = seen("Traffic/set", {{"deployment", "d-prod"}, {"entries", json::array()}});
  EXPECT_NE(before.generations, after.generations);
  EXPECT_EQ(before.generations.at("Deployment/d-prod"), after.generations.at("Deployment/d-prod"));
}

TEST_F(SeenRowsTest, WhatIsNotThereHasNoGenerationAndAnEnvironmentIsNobodysAlone) {
  SeenRows none = seen("Traffic/set", {{"deployment", "d-nowhere"}});
  EXPECT_TRUE(none.generations.empty());
  EXPECT_EQ(none.own, 0U);
  EXPECT_TRUE(seen("Deployment/up", {{"environment", "prod"}, {"archive", "sha256:0"}}).generations.empty());
  SeenRows own = seen("Env/destroy", {{"environment", "prod"}});
  EXPECT_TRUE(own.generations.contains("Env/prod"));
  EXPECT_TRUE(seen("No/thing", {}).generations.empty());
}

}  // namespace seen_rows_test
}  // namespace sluice::host
