// The tree of scopes, what a flow's status is, and paths of any length.
#include "engine/flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing_engine.h"

namespace sluice::engine {
namespace flow_test {

using store::FlowStatus;
using testing::ElementsAre;
using testing::IsEmpty;
using Phase = Invocation::Phase;

Invocation& add(Flow& flow, int64_t id, Invocation* beneath = nullptr, Phase phase = Phase::queued) {
  auto invocation = std::make_unique<Invocation>();
  invocation->id = test_id(id);
  invocation->beneath = beneath;
  Invocation& added = flow.add(std::move(invocation));
  flow.set_phase(added, phase);
  return added;
}

TEST(Flow, AnInvocationStandsBeneathItsRequestOrAtTheTop) {
  Flow flow;
  Invocation& request = add(flow, 1);
  Invocation& inner = add(flow, 2, &request);
  add(flow, 3, &inner);
  add(flow, 4);
  EXPECT_THAT(flow.top, ElementsAre(test_id(1), test_id(4)));
  EXPECT_THAT(request.children, ElementsAre(test_id(2)));
  EXPECT_THAT(inner.children, ElementsAre(test_id(3)));
  EXPECT_EQ(flow.find(test_id(2)), &inner);
  EXPECT_EQ(flow.find(test_id(5)), nullptr);
}

TEST(Flow, RemovingARequestMovesItsChildrenOut) {
  Flow flow;
  Invocation& request = add(flow, 1);
  Invocation& inner = add(flow, 2, &request);
  Invocation& first = add(flow, 3, &inner);
  Invocation& second = add(flow, 4, &inner);
  flow.remove(inner);
  EXPECT_EQ(first.beneath, &request);
  EXPECT_EQ(second.beneath, &request);
  EXPECT_THAT(request.children, ElementsAre(test_id(3), test_id(4)));
  EXPECT_EQ(flow.find(test_id(2)), nullptr);
  flow.remove(request);
  EXPECT_EQ(first.beneath, nullptr);
  EXPECT_THAT(flow.top, ElementsAre(test_id(3), test_id(4)));
  flow.remove(first);
  flow.remove(second);
  EXPECT_THAT(flow.top, IsEmpty());
  EXPECT_THAT(flow.open, IsEmpty());
}

TEST(Flow, RunsWhileSomethingIsToBeDone) {
  Flow queued;
  add(queued, 1);
  EXPECT_EQ(queued.status(), FlowStatus::running);
  Flow performing;
  add(performing, 1, nullptr, Phase::performing);
  EXPECT_EQ(performing.status(), FlowStatus::running);
  Flow working;
  working.work.emplace_back(Dispatch{});
  EXPECT_EQ(working.status(), FlowStatus::running);
  Flow answering;
  answering.answers_out = 1;
  EXPECT_EQ(answering.status(), FlowStatus::running);
  Flow repeating;
  repeating.child.emplace();
  repeating.child->due_ms = 5;
  EXPECT_EQ(repeating.status(), FlowStatus::running);
}

TEST(Flow, WaitsWhileOnlyTimersAndRequestsAreOpen) {
  Flow flow;
  Invocation& timer = add(flow, 1, nullptr, Phase::waiting);
  EXPECT_EQ(flow.status(), FlowStatus::waiting);
  Invocation& request = add(flow, 2, nullptr, Phase::open);
  EXPECT_EQ(flow.status(), FlowStatus::waiting);
  Invocation& effect = add(flow, 3, &request, Phase::performing);
  EXPECT_EQ(flow.status(), FlowStatus::running);
  flow.remove(effect);
  EXPECT_EQ(flow.status(), FlowStatus::waiting);
  flow.remove(timer);
  flow.remove(request);
  EXPECT_EQ(flow.status(), FlowStatus::settled_ok);
}

TEST(Flow, IsStuckWhenItStandsStillOrIsADeadLetter) {
  Flow still;
  add(still, 1);
  still.standstill = "its sync set does not fit";
  EXPECT_EQ(still.status(), FlowStatus::stuck);
  Flow dead;
  dead.child.emplace();
  dead.child->dead = true;
  EXPECT_EQ(dead.status(), FlowStatus::stuck);
}

TEST(Flow, SettlesAsItsFirstFailureSays) {
  Flow flow;
  EXPECT_EQ(flow.status(), FlowStatus::settled_ok);
  flow.failure = "Card/charge => refused";
  EXPECT_EQ(flow.status(), FlowStatus::settled_failed);
  add(flow, 1, nullptr, Phase::waiting);
  EXPECT_EQ(flow.status(), FlowStatus::waiting);
}

TEST(Flow, RemembersItsFirstTwoFailures) {
  Flow flow;
  for (const char* what : {"one", "two", "three"}) flow.fail(what);
  EXPECT_EQ(flow.failure, "one");
  EXPECT_EQ(flow.failed_too, "two");
  flow.resolved = true;
  EXPECT_EQ(flow.status(), FlowStatus::running);
}

std::shared_ptr<Path> longer(std::shared_ptr<Path> path, int by) {
  for (int i = 0; i < by; ++i) path = std::make_shared<Path>(i, false, "S", std::move(path));
  return path;
}

TEST(Flow, AMillionFiringsLongPathIsTakenApartWithoutRecursion) {
  auto path = longer(nullptr, 1'000'000);
  std::weak_ptr<Path> end = path->parent->parent;
  path.reset();
  EXPECT_TRUE(end.expired());
}

TEST(Flow, WhatAnotherPathSharesStays) {
  auto shared = longer(nullptr, 1000);
  auto one = longer(shared, 100'000);
  auto other = longer(shared, 1);
  one.reset();
  EXPECT_EQ(shared.use_count(), 2);
  size_t length = 0;
  for (const Path* at = other.get(); at != nullptr; at = at->parent.get()) ++length;
  EXPECT_EQ(length, 1001U);
}

}  // namespace flow_test
}  // namespace sluice::engine
