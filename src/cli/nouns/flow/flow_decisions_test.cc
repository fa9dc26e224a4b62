// What the commands that decide say when there is nothing to decide; tests/engine/test_flow_decisions.py decides about
// flows that run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing_folder.h"
#include "base/testing_source.h"
#include "cli/testing_commands.h"
#include "cli/testing_flows.h"
#include "host/loaded_concepts.h"
#include "orders/orders_kit.h"

namespace sluice::cli {
namespace flow_decisions_test {

using testing::HasSubstr;

struct FlowDecisions : testing::Test {
  Ran run(const std::vector<std::string>& words) {
    return run_line(commands, words, {}, {{{"SLUICE_HOME", folder.path("home")}}, "", &loaded});
  }
  void add_tea() { ASSERT_EQ(run({"kit", "run", kKit, "Stock/add", "item=tea", "count=5"}).exit, 0); }

  const std::string kKit = std::string(kSourceDir) + "/examples/kits/orders";
  TestingFolder folder;
  host::LoadedConcepts loaded{.concepts = orders::concepts()};
  Commands commands = all_commands();
};

TEST_F(FlowDecisions, SayThatNothingHasRun) {
  auto done = run({"flow", "cancel", "latest"});
  EXPECT_EQ(done.exit, 5);
  EXPECT_THAT(done.err, HasSubstr("nothing has run here yet"));
}

TEST_F(FlowDecisions, LeaveASettledFlowAlone) {
  add_tea();
  auto cancelled = run({"flow", "cancel", "latest"});
  EXPECT_EQ(cancelled.exit, 6) << cancelled.err;
  EXPECT_THAT(cancelled.err, HasSubstr("sluice flow show"));
  EXPECT_EQ(run({"flow", "move", "latest"}).exit, 6);
  auto list = run({"flow", "list", "-o", "json"});
  EXPECT_THAT(list.out, HasSubstr("\"settled\""));
}

TEST_F(FlowDecisions, ListNoDeadLetters) {
  EXPECT_EQ(run({"flow", "dead", "list"}).out, "No dead letters.\n");
  add_tea();
  EXPECT_EQ(run({"flow", "dead", "list"}).out, "No dead letters.\n");
  EXPECT_EQ(run({"flow", "dead", "drop", "latest"}).exit, 6);
  EXPECT_EQ(run({"flow", "dead", "drop"}).exit, 2);
  EXPECT_EQ(run({"flow", "dead", "list", "latest"}).exit, 2);
}

TEST(DeadLetters, ADryRunOfDropSaysWhatIsLostAndDropsNothing) {
  TestingHome home;
  home.write([](store::Store& store) {
    engine::TestingJournal journal(store);
    journal.add(order_steps()[0], store::FlowStatus::running);
    store::FlowRow row = *(*store.read())->flow(id(1)).value();
    row.summary = R"({"action":"Order/place","caller":"uid:7","sync":"ShipPaid","dead":"tried 20 times: no post"})";
    ASSERT_TRUE(store.commit({.flows = {row}}));
  });
  auto told = home.run({"flow", "dead", "drop", "latest", "--dry-run"});
  EXPECT_EQ(told.exit, 0) << told.err;
  EXPECT_EQ(told.out, "would drop the follow-up " + to_string(id(1)) +
                          ", with what ShipPaid would have done, its error: tried 20 times: no post\n");
  auto data = home.run({"flow", "dead", "drop", "latest", "--dry-run", "-o", "json"});
  EXPECT_THAT(data.out, HasSubstr("\"loses\""));
  EXPECT_THAT(home.run({"flow", "dead", "list"}).out, HasSubstr("tried 20 times")) << "it is still there";
  auto retry = home.run({"flow", "dead", "retry", "latest", "--dry-run"});
  EXPECT_EQ(retry.exit, 2);
  EXPECT_THAT(retry.err, HasSubstr("a retry loses nothing"));
}

TEST_F(FlowDecisions, ADryRunOfDropNeedsADeadLetter) {
  add_tea();
  auto none = run({"flow", "dead", "drop", "latest", "--dry-run"});
  EXPECT_EQ(none.exit, 6);
  EXPECT_THAT(none.err, HasSubstr("is no dead letter"));
}

TEST_F(FlowDecisions, ResolveInExactlyOneWay) {
  add_tea();
  EXPECT_EQ(run({"flow", "resolve", "ABCDEF"}).exit, 2);
  EXPECT_EQ(run({"flow", "resolve", "ABCDEF", "--retry", "--as", "ok"}).exit, 2);
  EXPECT_EQ(run({"flow", "resolve", "ABCDEF", "--retry"}).exit, 5);
}

}  // namespace flow_decisions_test
}  // namespace sluice::cli
