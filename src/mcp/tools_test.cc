// The table of tools, and how a call is made of a tool's arguments.
#include "mcp/tools.h"

#include <gtest/gtest.h>

#include <set>

#include "host/testing_authority.h"

namespace sluice::mcp {
namespace tools_test {

// Answers what a test says, and remembers what was called.
class TestingDoor final : public host::Door {
 public:
  Result<host::Answer> call(const host::Call& call, const host::Waiting&) override {
    calls.push_back(call);
    host::Answer answer{.action = call.action, .variant = "ok", .fields = call.input};
    if (call.dry_run) {
      answer.seen = {{"Traffic/d1", generation}};
      answer.expect = generation;
    }
    return answer;
  }
  Result<host::Answer> answer_of(const Ulid&, host::WaitFor, const host::Waiting&) override { return Error{}; }
  Result<host::ViewAnswer> view(const std::string& name, const json::object&) override {
    if (name != "names") return host::ViewAnswer{.document = json::object{{"view", name}}};
    auto one = [](const char* id, const char* label) {
      return json::object{{"revision", id}, {"name", label}, {"deployment", "d1"}, {"lifecycle", "ready"}};
    };
    return host::ViewAnswer{.document = json::object{{"environment", "prod"},
                                                     {"warning", nullptr},
                                                     {"deployment", "d1"},
                                                     {"bundle", "shop"},
                                                     {"customer", "c"},
                                                     {"revisions", {one("r2", "shop@2"), one("r1", "shop@1")}},
                                                     {"secrets_provider", ""}}};
  }
  Result<host::Decided> decide(engine::Decision, const host::Waiting&) override { return Error{}; }
  Result<void> follow(uint64_t, const std::function<bool(const engine::Step&)>&,
                      const std::function<bool()>&) override {
    return {};
  }
  Result<std::string> put(File&, const std::string&) override { return Error{}; }
  Result<void> read_logs(const host::LogAsk&, const host::VisitLine& visit, const std::function<bool()>&) override {
    for (const char* each : {"one", "two: bad", "three"}) visit({"t", "r", "shop@2.0", "out", each});
    return {};
  }

  Result<int> exec(const host::ExecAsk&, const host::ExecEnds&) override { return Error{}; }

  uint64_t generation = 7;
  std::vector<host::Call> calls;
};

struct Tools : testing::Test {
  Result<json::object> run(const std::string& name, const json::object& given) {
    Turn turn{.door = door,
              .caller = "user:ann",
              .kit = host::deploy_kit(),
              .previews = previews,
              .clock = clock,
              .waiting = {}};
    return find_tool(name)->run(turn, given);
  }

  TestingDoor door;
  ManualClock clock;
  SeededRandom random{3};
  Previews previews{clock, random};
};

TEST_F(Tools, EachHasANameOfItsOwnAndTakesWhatItsSchemaSays) {
  std::set<std::string> names;
  for (const Tool& each : all_tools()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_EQ(each.input.at("type"), "object") << each.name;
    EXPECT_EQ(each.output.at("type"), "object") << each.name;
    EXPECT_EQ(each.effect >= lang::Impact::shifts, each.input.at("properties").as_object().contains("plan_id"));
  }
  EXPECT_EQ(find_tool("nothing"), nullptr);
  const Tool& set = *find_tool("traffic_set");
  EXPECT_EQ(check_arguments(set, {{"environment", "prod"}}).error().message, "traffic_set needs the argument shares");
  EXPECT_EQ(check_arguments(set, {{"enviroment", "prod"}}).error().message, "traffic_set takes no argument enviroment");
}

TEST_F(Tools, WhatShiftsIsPreviewedThenRunsOnWhatWasSeen) {
  const json::object given{{"environment", "prod"}, {"shares", {{"shop@2", "0.5%"}, {"shop@1", 99.5}}}};
  auto shown = run("traffic_set", given);
  ASSERT_TRUE(shown) << to_string(shown.error());
  EXPECT_EQ(shown->at("preview").at("effect"), "shifts");
  EXPECT_EQ(shown->at("preview").at("now").at("view"), "traffic");
  ASSERT_EQ(door.calls.size(), 1U);
  EXPECT_TRUE(door.calls[0].dry_run);
  json::object again = given;
  again["plan_id"] = shown->at("plan_id");
  auto done = run("traffic_set", again);
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_EQ(done->at("variant"), "ok");
  EXPECT_FALSE(door.calls.back().dry_run);
  EXPECT_EQ(door.calls.back().expect_generation, 7U);
  EXPECT_EQ(write(door.calls.back().input),
            R"({"deployment":"d1","entries":[{"revision":"r2","weightBps":50},{"revision":"r1","weightBps":9950}]})");
}

TEST_F(Tools, WhatHasChangedSinceThePreviewIsNotDone) {
  json::object given{{"environment", "prod"}, {"steps", 2}};
  given["plan_id"] = run("rollback", given)->at("plan_id");
  ++door.generation;
  auto done = run("rollback", given);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::conflict);
  EXPECT_EQ(
      done.error().message,
      R"(what the preview has shown has changed since, from {"Traffic/d1":7} to {"Traffic/d1":8}; nothing was changed)");
  EXPECT_TRUE(door.calls.back().dry_run);
}

TEST_F(Tools, WhatOnlyChangesRunsAtOnce) {
  auto done = run("call_action", {{"action", "Env/create"}, {"input", {{"environment", "prod"}}}, {"reason", "new"}});
  ASSERT_TRUE(done);
  ASSERT_EQ(door.calls.size(), 1U);
  EXPECT_FALSE(door.calls[0].dry_run);
  EXPECT_EQ(door.calls[0].reason, "new");
}

TEST_F(Tools, LogsAreSearchedAndTheLastLinesCount) {
  EXPECT_EQ(run("logs", {{"name", "shop"}, {"search", "bad"}})->at("lines").as_array().size(), 1U);
  auto last = run("logs", {{"name", "shop"}, {"limit", 1}});
  EXPECT_EQ(last->at("lines").at(0).at("text"), "three");
}

TEST_F(Tools, ActionsAndViewsAreFoundByWords) {
  auto found = run("find_action", {{"query", "rotate secret"}});
  ASSERT_TRUE(found);
  const json::value& first = found->at("actions").at(0);
  EXPECT_EQ(first.at("action"), "Secret/rotate");
  EXPECT_EQ(first.at("right"), "operate");
  EXPECT_TRUE(first.at("input").at("properties").as_object().contains("name"));
  EXPECT_EQ(run("find_action", {{"query", "traffic history"}})->at("views").at(0).at("view"), "traffic-history");
  EXPECT_TRUE(run("find_action", {{"query", "zzz"}})->at("actions").as_array().empty());
}

}  // namespace tools_test
}  // namespace sluice::mcp
