// Rows, flows and records that a caller may not see are not there.
#include "host/visible_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/testing_authority.h"

namespace sluice::host {
namespace visible_store_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class VisibleStoreTest : public AuthorityTest {};

TEST_F(VisibleStoreTest, RowsOfOtherEnvironmentsAreNotThere) {
  EXPECT_THAT(keys("user:viewer", "Env"), ElementsAre("staging"));
  EXPECT_THAT(keys("user:viewer", "Deployment"), ElementsAre("d-staging"));
  EXPECT_THAT(keys("user:viewer", "Revision"), ElementsAre("r-staging"));
  EXPECT_THAT(keys("user:viewer", "Traffic"), ElementsAre("d-staging"));
  EXPECT_THAT(keys("user:viewer", "Usage"), ElementsAre("r-staging"));
  EXPECT_THAT(keys("user:viewer", "Trust"), IsEmpty());
  EXPECT_THAT(keys("user:viewer", "Deployment.labels"), IsEmpty());
  EXPECT_THAT(keys("user:shop", "Deployment"), ElementsAre("d-prod"));
  EXPECT_THAT(keys("user:all-viewer", "Deployment"), ElementsAre("d-prod", "d-staging"));
  EXPECT_THAT(keys("user:all-viewer", "Trust"), ElementsAre("key"));
  EXPECT_THAT(keys("user:all-viewer", "Access[]"), IsEmpty());
  EXPECT_THAT(keys("user:all-admin", "Access[]"), ElementsAre("whole"));
  EXPECT_THAT(keys("user:nobody", "Deployment"), IsEmpty());
  VisibleStore visible(store, authority, {.name = "user:viewer"});
  auto snapshot = visible.read().value();
  EXPECT_FALSE(snapshot->get("Deployment", "d-prod").value());
  EXPECT_TRUE(snapshot->get("Deployment", "d-staging").value());
  EXPECT_EQ(visible.commit({}).error().code, Code::denied);
}

TEST_F(VisibleStoreTest, RowsThatAreKnownByMoreThanTheirEnvironmentBelongToIt) {
  for (const std::string env : {"staging", "prod"}) {
    put("Secret", env + "/shop/KEY", {{"environment", env}, {"name", "shop/KEY"}, {"provider", "store"}});
    put("Secret.known", lang::child_key(env + "/shop/KEY", "1"), {{"version", "1"}});
    put("DeployPlan", "dp-" + env, {{"environment", env}});
    put("DeployPlan[N]", "dp-" + env + "/0", {{"ofPlan", "dp-" + env}, {"place", 0}});
    put("DeployPlan[N].lastLines", lang::child_key("dp-" + env + "/0", "1"), "no");
    put("DeployPlan[R]", env + "-rule", {{"rule", "Again"}});
  }
  EXPECT_THAT(keys("user:viewer", "Secret"), ElementsAre("staging/shop/KEY"));
  EXPECT_THAT(keys("user:viewer", "Secret.known"), ElementsAre(lang::child_key("staging/shop/KEY", "1")));
  EXPECT_THAT(keys("user:viewer", "DeployPlan"), ElementsAre("dp-staging"));
  EXPECT_THAT(keys("user:viewer", "DeployPlan[N]"), ElementsAre("dp-staging/0"));
  EXPECT_THAT(keys("user:viewer", "DeployPlan[N].lastLines"), ElementsAre(lang::child_key("dp-staging/0", "1")));
  EXPECT_THAT(keys("user:viewer", "DeployPlan[R]"), IsEmpty()) << "they name no plan";
  EXPECT_THAT(keys("user:shop", "Secret"), IsEmpty());
  EXPECT_THAT(keys("user:all-viewer", "DeployPlan[N]"), ElementsAre("dp-prod/0", "dp-staging/0"));
}

TEST_F(VisibleStoreTest, FlowsOfOtherEnvironmentsAreNotThere) {
  auto flow = [&](uint8_t number, const std::string& caller, const std::string& deployment) {
    Ulid id = Ulid::parse("01K5Z00000000000000000000" + std::to_string(number)).value();
    engine::Step step{.seq = number, .at_ms = 1, .flow = id, .invocation = id, .action = "Traffic/set"};
    step.caller.name = caller;
    step.root = engine::Root{.input = {{"deployment", deployment}}};
    EXPECT_TRUE(store.commit({.journal = {{number, id, 0, engine::write_step(step, std::string(64, '0')), ""}},
                              .flows = {{.id = id, .head = number, .summary = "{}"}}}));
    return id;
  };
  flow(1, "user:all-admin", "d-staging");
  flow(2, "user:all-admin", "d-prod");
  flow(3, "user:viewer", "d-prod");
  auto seen = [&](const std::string& who) {
    VisibleStore visible(store, authority, {.name = who});
    auto snapshot = visible.read().value();
    std::vector<uint64_t> records, flows;
    EXPECT_TRUE(snapshot->journal_from(1, [&](const store::JournalRow& row) {
      EXPECT_TRUE(visible.sees(row));
      records.push_back(row.seq);
      return true;
    }));
    EXPECT_TRUE(snapshot->flows_oldest_first(std::nullopt, [&](const store::FlowRow& row) {
      flows.push_back(row.head);
      return true;
    }));
    EXPECT_EQ(records, flows);
    return flows;
  };
  EXPECT_THAT(seen("user:viewer"), ElementsAre(1U, 3U));  // and what they asked for themselves
  EXPECT_THAT(seen("user:deployer"), ElementsAre(1U));
  EXPECT_THAT(seen("user:all-viewer"), ElementsAre(1U, 2U, 3U));
  EXPECT_THAT(seen("user:nobody"), IsEmpty());
  EXPECT_TRUE(authority.may({.name = "user:operator"}, "Flow/decide", {{"flow", "01K5Z000000000000000000001"}}));
  EXPECT_FALSE(authority.may({.name = "user:operator"}, "Flow/decide", {{"flow", "01K5Z000000000000000000002"}}));
  EXPECT_FALSE(authority.may({.name = "user:deployer"}, "Flow/decide", {{"flow", "01K5Z000000000000000000001"}}));
}

}  // namespace visible_store_test
}  // namespace sluice::host
