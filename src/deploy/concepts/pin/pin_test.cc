// Pin through the harness: one test a variant. What guards say and what comes of a change is in promotion_sync_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/real_disk.h"
#include "deploy/concepts/pin/testing_pin.h"

namespace sluice::deploy::pin {

void prepare(lang::Harness& harness) {
  static RealDisk disk;
  static RealClock clock;
  harness.tools().add<Disk>(disk);
  harness.tools().add<Clock>(clock);
}

namespace pin_test {

using testing::HasSubstr;

using PinTest = PinFixture;

TEST_F(PinTest, APromotionEndsAsItIsAnswered) {
  pinned("dev", "shop-2");
  const Promote promote{.components = {"shop"}, .fromEnv = "dev", .toEnv = "staging"};
  harness.answer_with({"ok", {{"pins", json::array{}}}});
  const auto ok = harness.invoke(promote).as<Promote::Ok>();
  ASSERT_EQ(ok.pins.size(), 1U);
  EXPECT_EQ(
      ok.pins[0],
      (PinPin{
          .component = "shop", .environment = "staging", .release = "shop-2", .revision = "", .waits = std::nullopt}));
  for (const char* each : {"pathMissing", "notInSource", "notHealthy", "soaking", "frozen", "stopped", "rejected",
                           "approvalNeeded", "renderFailed", "changed", "failed", "invalid"}) {
    harness.answer_with(said(each));
    EXPECT_EQ(std::get<lang::Completion>(harness.invoke(promote).ending()).variant, each);
  }
  EXPECT_TRUE(harness.invoke(promote).is<Promote::Failed>()) << "what nobody answers";
  EXPECT_TRUE(harness.rows().scan("Pin[C]", "", "", 10).empty()) << "no change is left";
}

TEST_F(PinTest, APromotionIsOfWhatIsThere) {
  EXPECT_EQ(harness.invoke(Promote{.fromEnv = "dev", .toEnv = "dev"}).as<Promote::Invalid>().message,
            "dev cannot be promoted to itself");
  EXPECT_EQ(harness.invoke(Promote{.fromEnv = "dev", .toEnv = "prod"}).as<Promote::Nothing>().message,
            "nothing is pinned in dev");
  EXPECT_EQ(
      harness.invoke(Promote{.components = {"shop"}, .fromEnv = "dev", .toEnv = "prod"}).as<Promote::Nothing>().message,
      "shop is not pinned in dev");
  pinned("dev", "shop-2");
  const std::vector<std::string> agreed{"shop-1"};
  EXPECT_EQ(
      harness.invoke(Promote{.fromEnv = "dev", .toEnv = "prod", .releases = agreed}).as<Promote::Changed>().message,
      "dev runs other releases by now; nothing was changed");
  pinned("prod", "shop-2");
  EXPECT_EQ(harness.invoke(Promote{.fromEnv = "dev", .toEnv = "prod"}).as<Promote::Ok>().pins[0].release, "shop-2")
      << "it is there already";
}

TEST_F(PinTest, SetAndOverrideEndAsTheyAreAnswered) {
  const Set set{.pins = {{.component = "shop", .environment = "dev", .release = "shop-1", .state = "Active"}}};
  for (const char* each : {"pathMissing", "notInSource", "notHealthy", "soaking", "frozen", "stopped", "rejected",
                           "approvalNeeded", "renderFailed", "changed", "failed", "invalid"}) {
    harness.answer_with(said(each));
    EXPECT_EQ(std::get<lang::Completion>(harness.invoke(set).ending()).variant, each);
  }
  harness.answer_with({"ok", {{"pins", json::array{}}}});
  EXPECT_EQ(harness.invoke(set).as<Set::Ok>().pins.size(), 1U);
  EXPECT_TRUE(harness.invoke(Set{}).as<Set::Ok>().pins.empty());
  const Override override{.pins = {{.component = "shop", .environment = "dev", .release = "shop-1", .state = "Active"}},
                          .reason = "fire"};
  for (const char* each : {"renderFailed", "changed", "failed", "invalid"}) {
    harness.answer_with(said(each));
    EXPECT_EQ(std::get<lang::Completion>(harness.invoke(override).ending()).variant, each);
  }
  harness.answer_with({"ok", {{"pins", json::array{}}}});
  EXPECT_TRUE(harness.invoke(override).is<Override::Ok>());
  EXPECT_EQ(harness.invoke(Override{}).as<Override::Invalid>().message, "an override has a reason");
}

TEST_F(PinTest, APinThatCannotBeIsRefused) {
  const auto refused = [&](const std::string& release, const std::string& wanted) {
    const PinSetPin pin{.component = "shop", .environment = "dev", .release = release, .state = wanted};
    return harness.invoke(Set{.pins = {pin, pin}}).as<Set::Invalid>().message;
  };
  EXPECT_EQ(refused("", "Active"), "a pin has a component, an environment and a release");
  EXPECT_EQ(refused("shop-1", "Paused"), "a pin is Active or Undeploy, not 'Paused'");
  EXPECT_EQ(refused("shop-1", "Active"), "shop/dev stands here twice");
  const PinSetPin pin{
      .component = "shop", .environment = "dev", .release = "shop-1", .state = "Active", .drift = "ignore"};
  EXPECT_EQ(harness.invoke(Set{.pins = {pin}}).as<Set::Invalid>().message,
            "drift is reported or corrected: report or correct, not 'ignore'");
}

TEST_F(PinTest, ARollbackNeedsAHistory) {
  EXPECT_TRUE(harness.invoke(Rollback{.pin = PinId("shop/dev")}).is<Rollback::NotFound>());
  const PinId id = pinned("dev", "shop-2");
  EXPECT_EQ(harness.invoke(Rollback{.pin = id}).as<Rollback::NoHistory>().message, "shop/dev has run nothing before");
  state().locks(id).push({.number = 1, .release = "shop-1", .target = "[]"});
  state().locks(id).push({.number = 2, .release = "shop-2", .target = "[]"});
  EXPECT_TRUE(harness.invoke(Rollback{.pin = id, .to = 7}).is<Rollback::NoHistory>());
  harness.answer_with({"ok", {{"pins", json::array{}}}});
  EXPECT_EQ(harness.invoke(Rollback{.pin = id}).as<Rollback::Ok>().pins[0].release, "shop-1");
  harness.answer_with(said("changed"));
  EXPECT_TRUE(harness.invoke(Rollback{.pin = id}).is<Rollback::Changed>());
  harness.answer_with(said("failed"));
  EXPECT_TRUE(harness.invoke(Rollback{.pin = id, .to = 1}).is<Rollback::Failed>());
  harness.answer_with(said("schemaContracted"));
  EXPECT_TRUE(harness.invoke(Rollback{.pin = id, .to = 1}).is<Rollback::SchemaContracted>());
}

TEST_F(PinTest, WhatIsNotThereYetIsAssessedAsSuch) {
  const PinCId id = change(to("shop-1", 0));
  EXPECT_EQ(harness.invoke(Assess{.change = id}).as<Assess::Ok>().facts.size(), 1U);
  EXPECT_EQ(state().moves(id).values()[0].renderFault, "");
  harness.end_with({.outcome = lang::EngineOutcome::timeout, .message = "late"});
  EXPECT_EQ(harness.invoke(Assess{.change = id}).as<Assess::Invalid>().message, "late");
}

TEST_F(PinTest, AMoveComparesWhatItHasSeen) {
  pinned("dev", "shop-1");
  EXPECT_THAT(harness.invoke(Move{.change = change(to("shop-2", 0))}).as<Move::Changed>().message,
              HasSubstr("shop/dev was moved by somebody else"));
  const auto ok = harness.invoke(Move{.change = change(to("shop-2", 1, "shop-1"))}).as<Move::Ok>();
  EXPECT_EQ(ok.moved[0].pin.text(), "shop/dev");
  const auto record = *state().get(PinId("shop/dev"));
  EXPECT_EQ(record.release, "shop-2");
  EXPECT_EQ(record.applied, "shop-1") << "until it is there";
  EXPECT_EQ(record.generation, 2);
  EXPECT_FALSE(record.ready);
}

TEST_F(PinTest, AChangeArrivesOrGoesBackWhole) {
  EXPECT_TRUE(harness.invoke(Arrive{.change = PinCId("none")}).is<Arrive::Over>());
  const PinId id = pinned("dev", "shop-2");
  PinMove move = to("shop-2", 0, "shop-1");
  move.generation = 1;
  EXPECT_TRUE(harness.invoke(Arrive{.change = change(move, false, PinStatus::moved)}).is<Arrive::Ready>());
  state().edit(id, [](PinRecord& record) { record.observed = 0; });
  EXPECT_TRUE(harness.invoke(Arrive{.change = change(move, true, PinStatus::moved)}).is<Arrive::Waiting>());
  state().edit(id, [](PinRecord& record) {
    record.observed = 1;
    record.reason = kWaiting;
    record.awaits = "cart";
  });
  EXPECT_TRUE(harness.invoke(Arrive{.change = change(move, true, PinStatus::moved)}).is<Arrive::Ready>())
      << "nothing is under way that could change it";
  state().put(pin_id("cart", "dev"), {.component = "cart", .environment = "dev", .ready = true, .reason = kReady});
  EXPECT_TRUE(harness.invoke(Arrive{.change = change(move, true, PinStatus::moved)}).is<Arrive::Waiting>())
      << "it is looked at once more";
  pinned("dev", "shop-2", false);
  const auto back = harness.invoke(Arrive{.change = change(move, true, PinStatus::moved)}).as<Arrive::Back>();
  EXPECT_EQ(back.message, "shop in dev: it broke; what ran before stays");
  EXPECT_EQ(state().get(id)->release, "shop-1");
  EXPECT_EQ(state().rejected(id).values()[0].release, "shop-2");
}

TEST_F(PinTest, OneThatRanNothingBeforeStaysToBeLookedAt) {
  pinned("dev", "shop-1", false);
  PinMove move = to("shop-1", 0);
  move.generation = 1;
  const auto back = harness.invoke(Arrive{.change = change(move, true, PinStatus::moved)}).as<Arrive::Back>();
  EXPECT_TRUE(back.moved.empty());
  EXPECT_EQ(state().get(PinId("shop/dev"))->release, "shop-1");
}

TEST_F(PinTest, DriftIsNotedAndCorrectedIfThePinSaysSo) {
  EXPECT_FALSE(harness.invoke(Drifted{.pin = PinId("shop/dev"), .drift = {"x"}}).as<Drifted::Ok>().correct);
  const PinId id = pinned("dev", "shop-1");
  EXPECT_FALSE(harness.invoke(Drifted{.pin = id, .drift = {"x"}}).as<Drifted::Ok>().correct);
  EXPECT_EQ(state().drift(id).size(), 1U);
  state().edit(id, [](PinRecord& record) { record.onDrift = PinOnDrift::correct; });
  EXPECT_TRUE(harness.invoke(Drifted{.pin = id, .drift = {"x"}}).as<Drifted::Ok>().correct);
  EXPECT_FALSE(harness.invoke(Drifted{.pin = id, .drift = {}}).as<Drifted::Ok>().correct);
  state().edit(id, [](PinRecord& record) { record.reconciling = 1; });
  EXPECT_FALSE(harness.invoke(Drifted{.pin = id, .drift = {"x"}}).as<Drifted::Ok>().correct);
  EXPECT_TRUE(state().drift(id).empty()) << "it is being applied anew";
}

TEST_F(PinTest, WhatPeopleDidNotAgreeToIsSaidAtItsPins) {
  const PinId id = pinned("dev", "shop-1");
  const auto note = [&](const std::string& input) {
    return harness.invoke(Note{.environment = "dev", .input = input, .message = "bob said no"}).as<Note::Ok>().noted;
  };
  EXPECT_EQ(note(R"({"components":["cart"]})"), 0);
  EXPECT_EQ(note(R"({"components":["shop"]})"), 1);
  EXPECT_EQ(state().get(id)->message, "bob said no");
}

TEST_F(PinTest, APinIsForgottenOnceItRunsNothing) {
  EXPECT_TRUE(harness.invoke(Remove{.pin = PinId("shop/dev")}).is<Remove::NotFound>());
  const PinId id = pinned("dev", "shop-1");
  EXPECT_EQ(harness.invoke(Remove{.pin = id}).as<Remove::InUse>().message, "shop runs in dev; undeploy it first");
  state().edit(id, [](PinRecord& record) { record.deployment.clear(); });
  EXPECT_TRUE(harness.invoke(Remove{.pin = id}).is<Remove::Ok>());
}

}  // namespace pin_test
}  // namespace sluice::deploy::pin
