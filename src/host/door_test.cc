// What an answer is on the wire, and back.
#include "host/door.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace sluice::host {
namespace door_test {

TEST(DoorAnswers, AnAnswerComesBackAsItWas) {
  Answer answer{.action = "Traffic/set",
                .variant = "notReady",
                .fields = {{"message", "no"}, {"names", {"a", "b"}}},
                .code = Code::conflict,
                .maybe_done = true,
                .flow = Ulid::parse("01J0000000000000000000000A").value(),
                .position = 7,
                .generation = 3,
                .state = store::FlowStatus::settled_ok,
                .follow_ups_pending = 2};
  auto back = read_answer(to_json(answer));
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(write(to_json(*back)), write(to_json(answer)));
  EXPECT_EQ(back->code, Code::conflict);
  EXPECT_EQ(back->generation, 3);
  EXPECT_EQ(back->text("message"), "no");
  EXPECT_EQ(back->texts("names"), (std::vector<std::string>{"a", "b"}));
}

TEST(DoorAnswers, WhatHasNotEndedSaysWhatItWaitsFor) {
  Answer answer{.action = "Work/ask",
                .variant = "",
                .flow = Ulid::parse("01J0000000000000000000000A").value(),
                .state = store::FlowStatus::running,
                .waits_for = "Work/wait",
                .trouble = Error{.code = Code::limit, .message = "the disk is full"}};
  auto back = read_answer(to_json(answer));
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_FALSE(back->ended());
  EXPECT_EQ(back->waits_for, "Work/wait");
  EXPECT_EQ(back->trouble->code, Code::limit);
}

TEST(DoorAnswers, WhatIsNoAnswerIsAnError) {
  EXPECT_FALSE(read_answer(json::array()));
  EXPECT_FALSE(read_answer(json::object{{"action", "x"}}));
  EXPECT_FALSE(read_answer(json::object{{"action", "x"}, {"flow", "y"}}));
}

TEST(DoorAnswers, WaitsHaveNames) {
  for (WaitFor each : {WaitFor::start, WaitFor::answer, WaitFor::settled, WaitFor::all}) {
    EXPECT_EQ(wait_named(name_of(each)), each);
  }
  EXPECT_EQ(wait_named("soon"), std::nullopt);
}

}  // namespace door_test
}  // namespace sluice::host
