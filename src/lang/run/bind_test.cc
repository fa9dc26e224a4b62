// From a typed handler to JSON and back, written as conceptc would.
#include "lang/run/bind.h"

#include <gtest/gtest.h>

#include "lang/run/memory_rows.h"

namespace sluice::lang {
namespace bind_test {

struct Open {
  std::string box;
  std::optional<Sealed> key;

  struct Ok {
    std::string box;
    int64_t times = 0;
    static constexpr std::string_view kVariant = "ok";
  };
  struct Stuck {
    static constexpr std::string_view kVariant = "stuck";
  };
  using Result = OneOf<Ok, Stuck>;
  using Begun = OneOf<Ok, Stuck, Opened>;
  using Outcome = OneOf<Ok, Stuck, EngineEnd>;
  static constexpr std::string_view kAction = "open";
  static constexpr std::array<std::string_view, 2> kVariants{"ok", "stuck"};
};
BOOST_DESCRIBE_STRUCT(Open, (), (box, key))
BOOST_DESCRIBE_STRUCT(Open::Ok, (), (box, times))
BOOST_DESCRIBE_STRUCT(Open::Stuck, (), ())

struct State {
  explicit State(Rows& rows) : rows(rows) {}
  Rows& rows;
};

Open::Result open(const Open& ask, State& state) {
  if (ask.box == "safe") return Open::Stuck{};
  state.rows.put("Box", ask.box, json::object());
  return Open::Ok{.box = ask.box, .times = 1};
}
Open::Result peek(const Open& ask, const State& state) {
  return state.rows.get("Box", ask.box) ? Open::Result(Open::Ok{.box = ask.box}) : Open::Result(Open::Stuck{});
}
Open::Begun begin(const Open& ask, State&) {
  if (ask.box == "safe") return Open::Stuck{};
  return Opened{};
}
Open::Outcome finish(const Open& ask, const Open::Outcome& outcome, State&) {
  const auto* given = get_if<Open::Ok>(&outcome);
  if (!given) return outcome;
  Open::Ok ok = *given;
  if (ok.box.empty()) ok.box = ask.box;
  return ok;
}

TEST(Bind, PureReadsItsArgumentsStrictlyAndNamesItsVariant) {
  MemoryRows rows;
  ActionBinding action = bind::pure<Open, State>(&open);
  EXPECT_EQ(action.name, "open");
  EXPECT_EQ(action.variants, (std::vector<std::string>{"ok", "stuck"}));
  EXPECT_EQ(action.sealed, std::vector<std::string>{"key"});
  EXPECT_EQ(*action.act({{"box", "b"}}, rows), (Completion{"ok", {{"box", "b"}, {"times", 1}}}));
  EXPECT_EQ(*action.act({{"box", "safe"}}, rows), (Completion{"stuck", {}}));
  EXPECT_EQ(to_string(action.act({{"bx", "b"}}, rows).error()), "/bx: unknown field, did you mean \"box\"?");
  EXPECT_EQ(to_string(action.check({{"box", 1}}).error()), "/box: expected a string, found an integer");
  EXPECT_TRUE(action.check({{"box", "b"}}));
}

TEST(Bind, QueryReads) {
  MemoryRows rows;
  rows.put("Box", "b", json::object());
  ActionBinding action = bind::query<Open, State>(&peek);
  EXPECT_EQ(action.query({{"box", "b"}}, rows)->variant, "ok");
  EXPECT_EQ(action.query({{"box", "c"}}, rows)->variant, "stuck");
}

TEST(Bind, AnsweredOpensOrEndsAtOnce) {
  MemoryRows rows;
  ActionBinding action = bind::answered<Open, State>(Runs::answered, 60, &begin, &finish);
  EXPECT_EQ(std::get<Started>(*action.begin({{"box", "b"}}, rows)), Started{});
  EXPECT_EQ(std::get<Completion>(*action.begin({{"box", "safe"}}, rows)).variant, "stuck");
}

TEST(Bind, FinishFillsWhatAnAnswerLeavesOut) {
  MemoryRows rows;
  ActionBinding action = bind::answered<Open, State>(Runs::answered, 60, &begin, &finish);
  auto ending = action.finish({{"box", "b"}}, Completion{"ok", {{"times", 3}}}, rows);
  EXPECT_EQ(std::get<Completion>(*ending), (Completion{"ok", {{"box", "b"}, {"times", 3}}}));
  EngineEnd end{.outcome = EngineOutcome::timeout, .message = "late"};
  EXPECT_EQ(std::get<EngineEnd>(*action.finish({{"box", "b"}}, end, rows)), end);
  EXPECT_EQ(to_string(action.finish({{"box", "b"}}, Completion{"burnt", {}}, rows).error()),
            "open has no variant \"burnt\"");
  EXPECT_EQ(to_string(action.finish({{"box", "b"}}, Completion{"ok", {{"times", "x"}}}, rows).error()),
            "/times: ok of open: expected an integer, found a string");
}

}  // namespace bind_test
}  // namespace sluice::lang
