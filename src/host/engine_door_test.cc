// The four verbs on an engine in this process.
#include "host/engine_door.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "host/testing_work.h"

namespace sluice::host {
namespace engine_door_test {

struct EngineDoors : testing::Test {
  TestingWork work;
  EngineDoor door{work.door_parts(), {.name = work.owner}};
};

TEST_F(EngineDoors, ACallIsAnsweredWithAllThatItsCallerNeeds) {
  auto answer = door.call({.action = "Work/go", .input = {{"n", 3}}, .reason = "tea"});
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->variant, "ok");
  EXPECT_EQ(answer->code, Code::ok);
  EXPECT_EQ(write(answer->fields), R"({"n":3})");
  EXPECT_EQ(answer->position, 1);
  EXPECT_EQ(answer->state, store::FlowStatus::settled_ok);
  auto late = door.call({.action = "Work/go", .input = {{"n", 101}}});
  EXPECT_EQ(late->code, Code::conflict);
  EXPECT_FALSE(late->text("message").empty());
  auto looked = door.call({.action = "Work/look"});
  EXPECT_EQ(looked->variant, "ok");
  EXPECT_FALSE(looked->flow);
}

TEST_F(EngineDoors, WhoMayNotIsDeniedAndWhatIsNotThereIsNotFound) {
  EngineDoor stranger{work.door_parts(), {.name = "uid:4711"}};
  EXPECT_EQ(stranger.call({.action = "Work/go", .input = {{"n", 3}}}).error().code, Code::denied);
  EXPECT_EQ(door.call({.action = "Work/went"}).error().message,
            "there is no action Work/went; did you mean Work/wait?");
  EXPECT_EQ(door.view("nothing").error().message, "there is no view nothing");
  EXPECT_EQ(door.answer_of(Ulid(), WaitFor::answer).error().code, Code::not_found);
}

TEST_F(EngineDoors, ACallThatIsNotWaitedForIsFoundAgain) {
  int told = 0;
  auto begun = door.call({.action = "Work/ask", .input = {{"n", 3}}},
                         {.stop = [] { return true; }, .waits_for = [&](const std::string&) { ++told; }});
  ASSERT_TRUE(begun) << to_string(begun.error());
  EXPECT_FALSE(begun->ended());
  EXPECT_EQ(begun->waits_for, "Work/wait");
  EXPECT_GT(told, 0);
  work.release = true;
  auto answer = door.answer_of(*begun->flow, WaitFor::all);
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->action, "Work/ask");
  EXPECT_EQ(answer->variant, "ok");
  EXPECT_EQ(answer->follow_ups_pending, 0);
}

TEST_F(EngineDoors, ADryRunDoesNothing) {
  auto would = door.call({.action = "Work/go", .input = {{"n", 101}}, .dry_run = true});
  ASSERT_TRUE(would) << to_string(would.error());
  EXPECT_EQ(would->variant, "late");
  EXPECT_EQ(would->code, Code::conflict);
  EXPECT_EQ(work.engine->position(), 0);
}

TEST_F(EngineDoors, StepsAreFollowed) {
  ASSERT_TRUE(door.call({.action = "Work/go", .input = {{"n", 3}}}));
  std::vector<std::string> seen;
  auto followed = door.follow(
      1,
      [&](const engine::Step& step) {
        seen.push_back(step.action);
        return false;
      },
      [] { return false; });
  ASSERT_TRUE(followed) << to_string(followed.error());
  EXPECT_EQ(seen, std::vector<std::string>{"Work/go"});
}

}  // namespace engine_door_test
}  // namespace sluice::host
