// What callers say of themselves, and what the engine says of them.
#include "engine/caller_words.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "engine/testing_machine.h"

namespace sluice::engine {
namespace caller_words_test {

TEST(CallerWords, AKeyIsShortAndPrintable) {
  EXPECT_TRUE(check_key(""));
  EXPECT_TRUE(check_key("order 17, süß"));
  EXPECT_TRUE(check_key(std::string(255, 'k')));
  auto late = check_key(std::string(256, 'k'));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::usage);
  EXPECT_EQ(late.error().message, "an idempotency key has at most 255 bytes; nothing was changed");
  EXPECT_EQ(late.error().next, "use a shorter --idempotency-key");
  for (const char* bad : {"a\nb", " a", "a ", "\x7f"}) {
    auto refused = check_key(bad);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().message,
              "an idempotency key is printable, without blanks at its ends; nothing was changed");
  }
}

const std::string kNote = R"(concept Note [N] {
  state {
    notes: set N
    by: N -> String
  }
  actions {
    action keep(note: N, caller: option String, callerKey: option String) {
      -> ok(note: N, caller: option String, callerKey: option String)
    }
    action sign(note: N, caller: String) {
      -> ok(note: N, caller: String)
    }
    action file(note: N) {
      callers: syncs
      -> ok(note: N)
    }
  }
}
)";

struct Told : World {
  Told() : World({kNote}, "sync File when { Note/sign: [ note: ?n ] => ok[] } then { Note/file: [ note: ?n ] }") {}
  Result<Outcome> call_with(const std::string& action, const std::string& input, const std::string& key) {
    std::optional<Result<Outcome>> ended;
    machine().call({.action = action,
                    .input = object(input),
                    .caller = {.name = "uid:7"},
                    .key = key,
                    .on_end = [&](const Result<Outcome>& end) { ended = end; }});
    settle();
    return *ended;
  }
};

TEST(CallerWords, TheEngineSaysWhoCallsAndUnderWhichKey) {
  Told world;
  auto kept = world.call_with("Note/keep", R"({"note":"n"})", "k1");
  ASSERT_TRUE(kept) << to_string(kept.error());
  EXPECT_EQ(kept->end.fields, object(R"({"note":"n","caller":"uid:7","callerKey":"k1"})"));
  auto again = world.call_with("Note/keep", R"({"note":"n"})", "k1");
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(again->flow, kept->flow) << "what the engine fills in does not make it another request";
}

TEST(CallerWords, NobodyElseSaysIt) {
  Told world;
  auto refused = world.call_with("Note/keep", R"({"note":"n","caller":"mallory"})", "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_EQ(refused.error().message, "Note/keep: caller is for the engine to fill in, with who calls");
  EXPECT_TRUE(world.call_with("Note/sign", R"({"note":"n","caller":"ann"})", "")) << "only options are filled in";
  EXPECT_FALSE(world.call_with("Note/keep", R"({"note":"n"})", "a\nb"));
}

TEST(CallerWords, WhatOnlySyncsCallIsDeniedToOthersAndRecorded) {
  Told world;
  auto denied = world.call_with("Note/file", R"({"note":"n"})", "k1");
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, Code::denied);
  EXPECT_EQ(denied.error().message, "Note/file is called by syncs alone; nothing was changed");
  std::vector<Step> steps = world.steps();
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(name_of(steps[0].kind), name_of(Step::Kind::denied));
  EXPECT_EQ(steps[0].action, "Note/file");
  ASSERT_TRUE(world.call_with("Note/sign", R"({"note":"n","caller":"ann"})", "k1"));
  steps = world.steps();
  EXPECT_EQ(steps.back().action, "Note/file") << "a sync calls it";
}

TEST(CallerWords, AnObserverOfTheKitCallsWhatOnlySyncsCall) {
  Told world;
  std::optional<Result<Outcome>> ended;
  world.machine().call({.action = "Note/file",
                        .input = object(R"({"note":"n"})"),
                        .caller = {.name = "sluice:observer"},
                        .of_kit = true,
                        .on_end = [&](const Result<Outcome>& end) { ended = end; }});
  world.settle();
  ASSERT_TRUE(ended && *ended);
  EXPECT_EQ((*ended)->end.variant, "ok");
}

}  // namespace caller_words_test
}  // namespace sluice::engine
