// What a flow waits for, from its steps.
#include "host/running_flow.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "engine/testing_journal.h"
#include "host/testing_orders.h"
#include "host/testing_work.h"
#include "store/memory_store.h"

namespace sluice::host {
namespace running_flow_test {

using engine::Step;

TEST(RunningFlow, FollowsTheNewestThatIsOpen) {
  RunningFlow flow(id(1));
  EXPECT_EQ(flow.waits_for(kNoon_ms), "");
  std::vector<std::string> waits;
  for (const Step& step : order_steps()) {
    flow.take(step);
    waits.push_back(flow.waits_for(kNoon_ms));
  }
  EXPECT_EQ(waits, (std::vector<std::string>{"", "Till/pay", "Card/charge",
                                             "Card/charge, which is tried again: the bank is busy", "Till/pay", ""}));
}

TEST(RunningFlow, KnowsHowItsCallEnded) {
  RunningFlow flow(id(1));
  flow.take(order_steps()[0]);
  ASSERT_TRUE(flow.ended());
  EXPECT_EQ(flow.ended()->end.variant, "ok");
  EXPECT_EQ(flow.ended()->position, 1);
  RunningFlow other(id(2));
  for (const Step& step : order_steps()) other.take(step);
  ASSERT_TRUE(other.ended());
  EXPECT_EQ(other.ended()->end.variant, "declined");
  Step late{.seq = 9, .flow = id(1), .invocation = id(1), .kind = Step::Kind::late};
  late.end = engine::End{.variant = "engine.fault"};
  flow.take(late);
  EXPECT_EQ(flow.ended()->end.variant, "ok");
}

TEST(RunningFlow, CatchesUpWithTheJournal) {
  store::MemoryStore store;
  engine::TestingJournal journal(store);
  auto steps = order_steps();
  for (size_t i = 0; i < 4; ++i) journal.add(steps[i], store::FlowStatus::running);
  RunningFlow flow(id(1));
  auto next = flow.catch_up(store);
  ASSERT_TRUE(next) << to_string(next.error());
  EXPECT_EQ(*next, 5);
  EXPECT_EQ(flow.ended()->end.variant, "ok");
  EXPECT_EQ(flow.waits_for(kNoon_ms), "Card/charge, which is tried again: the bank is busy");
}

TEST(RunningFlow, NamesATimerAndTheTimeThatIsLeft) {
  RunningFlow flow(id(1));
  Step request{.seq = 1, .flow = id(1), .invocation = id(1), .kind = Step::Kind::begin, .action = "Order/place"};
  request.fired = {{.sync = "Pack", .rows = 1, .then = {invoke(2, "Timer/wait", R"({"name":"packing","seconds":2})")}}};
  flow.take(request);
  flow.take({.seq = 2,
             .flow = id(1),
             .invocation = id(2),
             .kind = Step::Kind::begin,
             .action = "Timer/wait",
             .due_ms = kNoon_ms + 1900});
  EXPECT_EQ(flow.waits_for(kNoon_ms), "the timer packing, 2 s more");
  EXPECT_EQ(flow.waits_for(kNoon_ms + 5000), "the timer packing, 0 s more");
}

struct Waits : testing::Test {
  bool idle(const Ulid& flow) {
    auto snapshot = served.store.read();
    auto found = is_idle(**snapshot, flow);
    EXPECT_TRUE(found);
    return *found;
  }

  TestingWork served;
  Result<Ulid> start(const std::string& action, const json::object& input = {}) {
    return served.engine->start({.action = action, .input = input, .caller = {served.owner, ""}});
  }
};

TEST_F(Waits, AnAnswerIsWaitedFor) {
  served.release = true;
  auto started = start("Work/ask", {{"n", 3}});
  ASSERT_TRUE(started) << to_string(started.error());
  RunningFlow flow(*started);
  ASSERT_TRUE(wait_for_answer(*served.engine, served.store, flow, [] { return false; }));
  ASSERT_TRUE(flow.ended());
  EXPECT_EQ(flow.ended()->end, (engine::End{"ok", {{"n", 3}}, false}));
}

TEST_F(Waits, AFlowIsIdleWhenOnlyPeopleCanMoveIt) {
  auto asked = start("Work/ask", {{"n", 3}});
  EXPECT_FALSE(idle(*asked));
  auto signing = start("Work/sign");
  EXPECT_TRUE(idle(*signing));
  auto gone = start("Work/go", {{"n", 3}});
  EXPECT_TRUE(idle(*gone));
  ASSERT_TRUE(served.store.commit({.timers = {{.invocation = *signing, .flow = *signing, .due_ms = 1}}}));
  EXPECT_FALSE(idle(*signing)) << "time moves it";
}

TEST_F(Waits, AFlowIsNotIdleWhileWhatFollowsFromItIsAtWork) {
  auto signing = start("Work/sign");
  ASSERT_TRUE(signing);
  const auto followed_by = [&](store::FlowStatus status) {
    const std::string summary = R"({"action":"Work/wait","parent":")" + to_string(*signing) + "\"}";
    EXPECT_TRUE(served.store.commit({.flows = {{.id = id(9), .status = status, .summary = summary}}}));
  };
  followed_by(store::FlowStatus::running);
  EXPECT_FALSE(idle(*signing));
  followed_by(store::FlowStatus::waiting);
  EXPECT_TRUE(idle(*signing)) << "it waits for people, too";
  ASSERT_TRUE(served.store.commit({.timers = {{.invocation = id(9), .flow = id(9), .due_ms = 1}}}));
  EXPECT_FALSE(idle(*signing)) << "time moves it";
}

TEST_F(Waits, WaitingCanBeStopped) {
  auto started = start("Work/ask", {{"n", 3}});
  RunningFlow flow(*started);
  ASSERT_TRUE(wait_for_answer(*served.engine, served.store, flow, [] { return true; }));
  EXPECT_FALSE(flow.ended());
}

}  // namespace running_flow_test
}  // namespace sluice::host
