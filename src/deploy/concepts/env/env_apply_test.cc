// The steps of an apply, one test a variant; the whole of it is in apply_sync_test.cc.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "deploy/concepts/env/env_work.h"
#include "lang/run/harness.h"

namespace sluice::deploy::env {
namespace env_apply_test {

class ApplyStepsTest : public testing::Test {
 protected:
  // An apply to `prod` of steps with these actions and inputs.
  EnvAId apply_of(std::vector<std::pair<std::string, json::object>> steps) {
    State state(harness.rows());
    EnvAId id = state.add(EnvARecord{.applying = lang::Request("r1"), .number = 1, .appliedTo = "prod"});
    for (auto& [action, input] : steps) {
      state.steps(id).push({.sign = "+", .what = action, .action = action, .input = write(input)});
    }
    return id;
  }
  auto step(const EnvAId& id) { return harness.invoke(Step{.apply = id}); }
  static json::object shop() {
    return {{"bundle", "shop"},
            {"customer", "acme"},
            {"hosts", json::array{"a.example"}},
            {"pathPrefixes", json::array()},
            {"tenant", ""},
            {"team", ""},
            {"parties", json::array{json::object{{"partyId", "sluice"}, {"basisPoints", 10'000}}}},
            {"configOverrides", ""}};
  }

  lang::Harness harness{env_binding()};
};

TEST_F(ApplyStepsTest, DoneAfterTheEnvironmentsOwn) {
  auto id = apply_of({{"Env/create", {{"environment", "prod"}}},
                      {"Env/update", {{"environment", "prod"}, {"name", "Production"}}},
                      {"Env/bind", {{"environment", "prod"}, {"slot", "state"}, {"kind", "acme.state.x@1.0.0"}}},
                      {"Env/rebind", {{"environment", "prod"}, {"slot", "state"}, {"kind", "acme.state.y@1.0.0"}}},
                      {"Env/bind", {{"environment", "prod"}, {"slot", "sessions"}, {"kind", "acme.sessions.x@1.0.0"}}},
                      {"Env/unbind", {{"environment", "prod"}, {"slot", "sessions"}}}});
  step(id).as<Step::Done>();
  State state(harness.rows());
  EXPECT_EQ(state.get(EnvId("prod"))->name, "Production");
  ASSERT_EQ(state.packs(EnvId("prod")).values().size(), 1U);
  EXPECT_EQ(state.packs(EnvId("prod")).values()[0].kind, "acme.state.y@1.0.0");
  EXPECT_EQ(state.get(id)->begun, 6);
}

TEST_F(ApplyStepsTest, SeeksEachSecretThenNamesTheMissingOnes) {
  auto id = apply_of({{"Env/create", {{"environment", "prod"}, {"extends", "local"}}}});
  auto seek = [&](std::optional<std::string> lacks = {}) {
    return harness.invoke(Seek{.apply = id, .lacks = std::move(lacks)});
  };
  seek().as<Seek::Ok>();
  State(harness.rows())
      .secrets(id)
      .assign({{.name = "shop/A", .provider = "store"}, {.name = "shop/B", .provider = "x"}});
  EXPECT_EQ(seek().as<Seek::Next>().name, "shop/A");
  auto second = seek("shop/A").as<Seek::Next>();
  EXPECT_EQ((std::pair(second.name, second.provider)), (std::pair<std::string, std::string>("shop/B", "x")));
  EXPECT_EQ(seek("shop/B").as<Seek::Lacking>().message,
            "prod needs secrets that it does not have: shop/A, shop/B; nothing was changed; next: Env/create "
            "environment=prod extends=local, then Secret/put environment=prod name=shop/A");
  EXPECT_EQ(harness.invoke(Seek{.apply = EnvAId("none")}).as<Seek::Lacking>().message, "the call has ended");
}

TEST_F(ApplyStepsTest, RefusedIfWhatWasPlannedCannotBeDoneAnyMore) {
  EXPECT_EQ(step(apply_of({{"Env/create", {{"environment", ".."}}}})).as<Step::Refused>().message,
            "the environment cannot be made");
  EXPECT_EQ(step(apply_of({{"Env/rebind", {{"environment", "prod"}, {"slot", "state"}}}})).as<Step::Refused>().message,
            "state is no longer bound");
  EXPECT_EQ(step(apply_of({{"Moon/land", {}}})).as<Step::Refused>().message, "there is no action Moon/land");
  EXPECT_EQ(step(EnvAId("none")).as<Step::Refused>().message, "the call has ended");
}

TEST_F(ApplyStepsTest, WhatIsOthersIsNamed) {
  auto id = apply_of({{"Config/set", {{"values", json::array{json::object{{"key", "region"}, {"value", "eu"}}}}}},
                      {"Deployment/add", shop()},
                      {"Deployment/update", shop()},
                      {"Deployment/pause", shop()},
                      {"Deployment/resume", shop()},
                      {"Deployment/up",
                       {{"archive", "sha256:1"},
                        {"customer", "acme"},
                        {"set", "{}"},
                        {"runtimeRefs", "{}"},
                        {"unset", json::array{"color"}}}},
                      {"Deployment/archive", shop()},
                      {"Deployment/remove", shop()}});
  EXPECT_EQ(step(id).as<Step::Configure>().values.at(0).value, "eu");
  EXPECT_EQ(step(id).as<Step::Add>().hosts, std::vector<std::string>{"a.example"});
  EXPECT_EQ(step(id).as<Step::Update>().parties.at(0).basisPoints, 10'000);
  EXPECT_EQ(step(id).as<Step::Pause>().bundle, "shop");
  EXPECT_EQ(step(id).as<Step::Resume>().customer, "acme");
  EXPECT_EQ(step(id).as<Step::Raise>().unset, std::vector<std::string>{"color"});
  EXPECT_EQ(step(id).as<Step::Archive>().bundle, "shop");
  EXPECT_EQ(step(id).as<Step::Remove>().environment.text(), "prod");
  step(id).as<Step::Done>();
}

TEST_F(ApplyStepsTest, OneAfterTheOther) {
  auto first = apply_of({});
  harness.invoke(AwaitTurn{.apply = first}).as<AwaitTurn::Ok>();
  State state(harness.rows());
  EnvAId second = state.add(EnvARecord{.applying = lang::Request("r2"), .number = 2, .appliedTo = "prod"});
  auto begun = Env::begin_await_turn({.apply = second}, state);
  EXPECT_NE(get_if<lang::Opened>(&begun), nullptr);
}

TEST_F(ApplyStepsTest, PartialSaysThatNobodyAnswered) {
  harness.end_with({.outcome = lang::EngineOutcome::unanswered, .message = "nobody answered"});
  auto partial = harness.invoke(Apply{.environment = EnvId("prod"), .document = "{}"}).as<Apply::Partial>();
  EXPECT_EQ(partial.message, "nobody answered");
  EXPECT_TRUE(partial.changes.empty());
}

}  // namespace env_apply_test
}  // namespace sluice::deploy::env
