// What the views of rollouts tell, and how names lead to one.
#include "deploy/views/rollouts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "deploy/testing_rollouts.h"

namespace sluice::deploy::views {
namespace rollouts_test {

class RolloutViews : public testing::Test {
 protected:
  Result<json::value> read(const std::string& name, const json::object& query) {
    const auto views = rollout_views();
    return std::ranges::find(views, name, &lang::View::name)->read(reading, query);
  }
  std::string waits_for() { return std::string(read("rollout", {}).value().at("waits_for").as_string()); }
  void become(rollout::RolloutStatus status, const std::string& reason = "") {
    rollout::State(rows.rows).edit(rows.kRollout, [&](rollout::RolloutRecord& record) {
      record.status = status;
      record.reason = reason;
    });
  }

  RolloutRows rows;
  lang::Tools tools;
  lang::Reading reading{.rows = rows, .tools = tools, .now_ms = 1'000};
};

TEST_F(RolloutViews, TellWhereItIs) {
  json::value view = read("rollout", {{"rollout", "shop@2"}}).value();
  EXPECT_EQ(view.at("canary").at("name"), "shop@2");
  EXPECT_EQ(view.at("baseline").at("name"), "shop@1");
  EXPECT_EQ(view.at("weight_asked_bps"), 5'000);
  EXPECT_TRUE(view.at("weight_obeyed_bps").is_null()) << "nobody has looked";
  EXPECT_EQ(view.at("steps").at(0).at("state"), "current");
  EXPECT_EQ(view.at("steps").at(1).at("state"), "coming");
  EXPECT_EQ(view.at("routers").at(0).at("obeys"), true);
  EXPECT_EQ(view.at("seconds_left"), 2);
  EXPECT_EQ(read("rollouts", {{"environment", "local"}}).value().as_array().size(), 1U);
  EXPECT_EQ(read("rollouts", {{"environment", "prod"}}).value().as_array().size(), 0U);
}

TEST_F(RolloutViews, ARouterThatDoesNotAcknowledgeIsNamed) {
  rollout::State(rows.rows).edit(rows.kRollout, [](rollout::RolloutRecord& record) { record.judging.reset(); });
  EXPECT_EQ(waits_for(), "the routers are told at 50%");
  router::State state(rows.rows);
  state.edit(router::RouterId("local"), [](router::RouterRecord& record) { record.generation += 1; });
  EXPECT_EQ(waits_for(),
            "waits at 50% until these routers acknowledge: main; one that does not answer is left out after its lease: "
            "start it again or retire it");
}

TEST_F(RolloutViews, NamesLeadToTheNewest) {
  for (const char* name : {"", "shop", "shop@2", "r2", "d1", "01J2"}) {
    EXPECT_EQ(read("rollout", {{"rollout", name}}).value().at("rollout"), json::value(rows.kRollout.text())) << name;
  }
  EXPECT_EQ(read("rollout", {{"rollout", "shop@1"}}).error().message, "there is no rollout of shop@1");
}

TEST_F(RolloutViews, SayWhatItWaitsFor) {
  EXPECT_EQ(waits_for(), "stays at 50% for another 2s");
  reading.now_ms = 10'000;
  EXPECT_EQ(waits_for(), "the judge looks at 50%");
  become(rollout::RolloutStatus::paused, "lunch");
  EXPECT_EQ(waits_for(), "paused at 50%: lunch; resume, advance or abort it");
  become(rollout::RolloutStatus::queued);
  EXPECT_EQ(waits_for(), "waits until the rollout before it has ended");
  become(rollout::RolloutStatus::returning, "worse");
  EXPECT_EQ(waits_for(), "traffic is on its way back: worse");
  become(rollout::RolloutStatus::stuck, "no router");
  EXPECT_EQ(waits_for(), "no router; retry or abort it");
  become(rollout::RolloutStatus::due);
  EXPECT_EQ(waits_for(), "is about to begin");
  become(rollout::RolloutStatus::watching);
  EXPECT_EQ(waits_for(), "has all traffic; judging goes on for 0s");
  become(rollout::RolloutStatus::watching, "it fails");
  EXPECT_EQ(waits_for(), "has all traffic, and is worse: it fails; abort it to go back");
}

}  // namespace rollouts_test
}  // namespace sluice::deploy::views
