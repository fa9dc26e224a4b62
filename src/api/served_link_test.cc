// The engine in another process, asked like the one in this.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "api/testing_served.h"
#include "host/remote_link.h"

namespace sluice::api {
namespace served_link_test {

using Until = engine::Engine::Until;

struct RemoteDoors : testing::Test {
  RemoteDoors() { door = *host::RemoteLink::open(served.socket(), served.clock, "test"); }
  Result<store::FlowStatus> wait(const Ulid& flow, Until until) { return door->wait(flow, until, {}); }
  Result<host::Started> start(const std::string& action, const json::object& input, const std::string& key = "") {
    return door->start({.action = action, .input = input, .caller = {.reason = "tea"}, .key = key});
  }

  TestingServed served;
  std::unique_ptr<host::RemoteLink> door;
};

TEST_F(RemoteDoors, AQuickCallIsAnsweredAtOnce) {
  auto started = start("Work/go", {{"n", 1}});
  ASSERT_TRUE(started) << to_string(started.error());
  ASSERT_TRUE(started->ended);
  EXPECT_EQ(started->ended->end, (engine::End{"ok", {{"n", 1}}, false}));
  EXPECT_EQ(started->ended->position, 1U);
  started = start("Work/go", {{"n", 101}});
  ASSERT_TRUE(started) << "another variant is an answer too";
  EXPECT_EQ(started->ended->end.variant, "late");
  auto step = engine::read_step((*(*served.store.read())->journal(1))->record);
  EXPECT_EQ(step->caller, (engine::Caller{served.owner, "tea"}));
}

TEST_F(RemoteDoors, ASlowCallIsWaitedForLikeAnother) {
  auto started = start("Work/ask", {{"n", 5}});
  ASSERT_TRUE(started) << to_string(started.error());
  EXPECT_FALSE(started->ended);
  host::RunningFlow flow(started->flow);
  int asked = 0;
  ASSERT_TRUE(host::wait_for_answer(*door, flow, [&] { return ++asked > 2; }));
  EXPECT_FALSE(flow.ended());
  EXPECT_EQ(flow.waits_for(0), "Work/wait");
  EXPECT_EQ(door->wait(started->flow, Until::quiet, [] { return true; }).value(), store::FlowStatus::running);
  served.release = true;
  ASSERT_TRUE(host::wait_for_answer(*door, flow, [] { return false; }));
  ASSERT_TRUE(flow.ended());
  EXPECT_EQ(flow.ended()->end, (engine::End{"ok", {{"n", 5}}, false}));
  EXPECT_EQ(wait(started->flow, Until::all).value(), store::FlowStatus::settled_ok);
}

TEST_F(RemoteDoors, NobodyWaitsForPeople) {
  auto started = start("Work/sign", {});
  ASSERT_TRUE(started) << to_string(started.error());
  host::RunningFlow flow(started->flow);
  ASSERT_TRUE(host::wait_for_answer(*door, flow, [] { return false; }));
  EXPECT_FALSE(flow.ended());
  EXPECT_EQ(wait(started->flow, Until::quiet).value(), store::FlowStatus::waiting);
}

TEST_F(RemoteDoors, RefusalsAreThoseOfTheEngine) {
  EXPECT_EQ(start("Work/go", {}).error(), (Error{.code = Code::invalid, .message = "n is missing", .path = "/n"}));
  EXPECT_EQ(start("Work/went", {}).error().code, Code::not_found);
  EXPECT_EQ(start("Work", {}).error().code, Code::not_found);
  EXPECT_EQ(door->query("Work/went", {}, {}).error().code, Code::not_found);
  EXPECT_EQ(door->query("Work/look", {}, {}).value(), (lang::Completion{"ok", {{"n", 1}}}));
  ASSERT_TRUE(start("Work/go", {{"n", 1}}, "k"));
  EXPECT_EQ(start("Work/go", {{"n", 2}}, "k").error().message, "the key k was used for another request");
  EXPECT_EQ(start("Work/go", {{"n", 2}}, "a\r\nHost: b").error().code, Code::usage);
  auto generation = door->start({.action = "Work/go", .input = {{"n", 1}}, .expect_generation = 3});
  EXPECT_EQ(generation.error().message, "Work/go names no row of its own, so there is no generation to expect");
  EXPECT_EQ(wait(Ulid(), Until::quiet).error().code, Code::not_found);
}

TEST_F(RemoteDoors, KnowsTheCodesOfVariants) {
  EXPECT_EQ(door->code_of("Work/go", "ok").value(), Code::ok);
  EXPECT_EQ(door->code_of("Work/go", "late").value(), Code::conflict);
  EXPECT_EQ(door->code_of("Work/go", "engine.timeout").value(), Code::timeout);
  EXPECT_EQ(door->code_of("Work/went", "ok").error().code, Code::not_found);
  EXPECT_EQ(door->code_of("Work", "ok").error().code, Code::not_found);
}

TEST_F(RemoteDoors, DecisionsAreMade) {
  auto started = start("Work/sign", {});
  auto position = door->decide({.flow = started->flow, .caller = {.reason = "no"}});
  ASSERT_TRUE(position) << to_string(position.error());
  EXPECT_EQ(wait(started->flow, Until::settled).value(), store::FlowStatus::settled_failed);
  EXPECT_EQ(door->decide({.flow = started->flow}).error().code, Code::conflict);
  auto other = start("Work/sign", {});
  auto resolved = door->decide(
      {.kind = engine::Decision::Kind::resolve_as, .flow = other->flow, .invocation = other->flow, .as = {"ok", {}}});
  ASSERT_TRUE(resolved) << to_string(resolved.error());
  EXPECT_EQ(wait(other->flow, Until::settled).value(), store::FlowStatus::settled_ok);
}

TEST_F(RemoteDoors, KnowsThePositionAndTheStatus) {
  EXPECT_EQ(door->position(), 0U);
  ASSERT_TRUE(start("Work/go", {{"n", 1}}));
  EXPECT_EQ(door->wait_for(1, 60'000), 1U);
  EXPECT_FALSE(door->trouble());
  EXPECT_EQ(door->status().value().at("position"), 1);
  ASSERT_TRUE(door->stop("upgrade"));
  EXPECT_EQ(served.stops, 1);
}

TEST_F(RemoteDoors, WhatBreaksOffMayBeRepeatedUnderItsKey) {
  served.server->stop();
  auto started = start("Work/go", {{"n", 1}}, "k1");
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, Code::timeout);
  EXPECT_EQ(started.error().message,
            "it is not known whether Work/go was done: the connection broke before there was an answer");
  EXPECT_EQ(started.error().next, "run it again with --idempotency-key k1; what was done is not done twice");
  EXPECT_EQ(door->decide({.flow = Ulid()}).error().code, Code::unavailable) << "nobody listens any more";
  EXPECT_EQ(door->status().error().code, Code::unavailable);
  door->position();
  EXPECT_TRUE(door->trouble());
}

}  // namespace served_link_test
}  // namespace sluice::api
