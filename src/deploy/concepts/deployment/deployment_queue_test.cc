// Who waits for whom, of changes that were put into the queue by hand.
#include <gtest/gtest.h>

#include "deploy/concepts/deployment/deployment_rows.h"
#include "deploy/concepts/deployment/deployment_work.h"
#include "lang/run/harness.h"

namespace sluice::deploy::deployment {
namespace deployment_queue_test {

class QueueTest : public testing::Test {
 protected:
  DeploymentCId change(const std::string& ask, const std::string& bundle, const std::string& leader = "") {
    State state(harness.rows());
    DeploymentCRecord record{.target = {.environment = "local", .bundle = bundle, .customer = "acme"},
                             .ask = lang::Request(ask)};
    if (!leader.empty()) record.leader = lang::Request(leader);
    return enqueue(state, record);
  }
  DeploymentCRecord record(const DeploymentCId& id) { return *State(harness.rows()).get(id); }
  void end(const DeploymentCId& id, const std::string& outcome) {
    State state(harness.rows());
    dequeue(state, {id, record(id)}, outcome);
  }
  // Whether it may run at once. One that may not is left open, as it would be until somebody answers.
  bool runs(const DeploymentCId& id) {
    State state(harness.rows());
    auto begun = Deployment::begin_await_turn({.change = id}, state);
    return get_if<lang::Opened>(&begun) == nullptr;
  }

  lang::Harness harness{deployment_binding()};
};

TEST_F(QueueTest, ChangesOfOneDeploymentRunInTheirOrder) {
  auto first = change("r1", "shop"), second = change("r2", "shop"), third = change("r3", "shop"),
       other = change("r4", "notes");
  harness.invoke(AwaitTurn{.change = first}).as<AwaitTurn::Ok>();
  EXPECT_TRUE(record(first).running);
  EXPECT_FALSE(runs(third));
  EXPECT_FALSE(runs(second));
  EXPECT_TRUE(runs(other));
  end(first, "{}");
  EXPECT_TRUE(record(second).due);
  EXPECT_FALSE(record(third).due);
  end(second, "{}");
  EXPECT_TRUE(record(third).due);
}

TEST_F(QueueTest, OneOfWhichTheBundleIsNotKnownIsWaitedFor) {
  auto unread = change("r1", ""), later = change("r2", "shop");
  EXPECT_FALSE(runs(later));
  State state(harness.rows());
  state.edit(unread, [](DeploymentCRecord& row) { row.target.bundle = "notes"; });
  release(state);
  EXPECT_TRUE(record(later).due);
}

TEST_F(QueueTest, WhoAskedForTheSameHearsHowItEnded) {
  auto first = change("r1", "shop"), same = change("r2", "", "r1");
  EXPECT_FALSE(runs(same));
  end(first, "its end");
  EXPECT_EQ(record(same).outcome, "its end");
  EXPECT_TRUE(record(same).due);
  EXPECT_EQ(harness.invoke(AwaitTurn{.change = same}).as<AwaitTurn::Joined>().change, same);
  EXPECT_EQ(harness.invoke(AwaitTurn{.change = first}).as<AwaitTurn::Joined>().change, first) << "it is gone";
}

}  // namespace deployment_queue_test
}  // namespace sluice::deploy::deployment
