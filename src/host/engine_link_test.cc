// The engine in this process as a door, and when a flow is idle.
#include "host/engine_link.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "host/testing_work.h"

namespace sluice::host {
namespace engine_link_test {

struct Doors : testing::Test {
  bool idle(const Ulid& flow) {
    auto snapshot = served.store.read();
    auto found = is_idle(**snapshot, flow);
    EXPECT_TRUE(found);
    return *found;
  }

  TestingWork served;
  LocalLink door{*served.engine, served.store, served.kit};
};

TEST_F(Doors, AnAnswerIsWaitedFor) {
  served.release = true;
  auto started = door.start({.action = "Work/ask", .input = {{"n", 3}}, .caller = {served.owner, ""}});
  ASSERT_TRUE(started) << to_string(started.error());
  RunningFlow flow(started->flow);
  ASSERT_TRUE(wait_for_answer(door, flow, [] { return false; }));
  ASSERT_TRUE(flow.ended());
  EXPECT_EQ(flow.ended()->end, (engine::End{"ok", {{"n", 3}}, false}));
}

TEST_F(Doors, AFlowIsIdleWhenOnlyPeopleCanMoveIt) {
  engine::Caller caller{served.owner, ""};
  auto asked = door.start({.action = "Work/ask", .input = {{"n", 3}}, .caller = caller});
  EXPECT_FALSE(idle(asked->flow));
  auto signing = door.start({.action = "Work/sign", .caller = caller});
  EXPECT_TRUE(idle(signing->flow));
  auto gone = door.start({.action = "Work/go", .input = {{"n", 3}}, .caller = caller});
  EXPECT_TRUE(idle(gone->flow));
  ASSERT_TRUE(served.store.commit({.timers = {{.invocation = signing->flow, .flow = signing->flow, .due_ms = 1}}}));
  EXPECT_FALSE(idle(signing->flow)) << "time moves it";
}

TEST_F(Doors, KnowsTheCodesOfVariants) {
  EXPECT_EQ(door.code_of("Work/go", "late").value(), Code::conflict);
  EXPECT_EQ(door.code_of("Work/go", "engine.refused").value(), Code::gate_rejected);
  EXPECT_EQ(door.code_of("Work/went", "ok").error().message, "there is no action Work/went");
  EXPECT_EQ(door.code_of("Timer/wait", "ok").error().code, Code::not_found);
}

TEST_F(Doors, WaitingCanBeStopped) {
  auto started = door.start({.action = "Work/ask", .input = {{"n", 3}}, .caller = {served.owner, ""}});
  RunningFlow flow(started->flow);
  ASSERT_TRUE(wait_for_answer(door, flow, [] { return true; }));
  EXPECT_FALSE(flow.ended());
}

}  // namespace engine_link_test
}  // namespace sluice::host
