// The table fits the kit, and events are what the journal says.
#include "host/events.h"

#include <gtest/gtest.h>

#include <map>

#include "host/testing_authority.h"

namespace sluice::host {
namespace events_test {

TEST(Events, EachTypeIsAVariantOfTheKitAndNoVariantIsTwo) {
  const lang::Symbols& symbols = deploy_kit()->symbols();
  std::set<std::string> names;
  std::set<std::string> ends;
  std::string before;
  for (const EventType& each : event_types()) {
    EXPECT_TRUE(names.insert(std::string(each.name)).second) << each.name;
    EXPECT_LT(before, each.name);
    before = std::string(each.name);
    auto ref = symbols.find_action(std::string(each.action));
    ASSERT_TRUE(ref) << each.action;
    for (std::string_view variant : each.variants) {
      EXPECT_TRUE(ends.insert(std::string(each.action) + "=>" + std::string(variant)).second) << each.name;
      const auto& known = symbols.action(*ref).variants;
      EXPECT_NE(std::ranges::find(known, variant, &lang::VariantSymbol::name), known.end()) << each.name;
    }
  }
}

// Those that people and programs call to change something. What machines report, and what is a part of a change that
// has an event of its own, has none.
TEST(Events, EachChangeHasOne) {
  const std::set<std::string> kWithout = {
      "DeployPlan/validate",
      "Env/open",
      "Mesh/report",
      "Router/acknowledge",
      "Runtime/deploy",
      "Runtime/destroy",
      "Runtime/provision",
      "Runtime/rollback",
      "Runtime/scale",
      "Runtime/setTrafficWeight",
      "Secret/invalidateCache",
      "Secret/noticed",
      "Session/leave",
      "Telemetry/deployMarker",
      "Telemetry/report",
      "Trust/open",
      "Webhook/sendTest",
  };
  std::set<std::string> told, owners;
  for (const EventType& each : event_types()) {
    told.insert(std::string(each.action));
    owners.insert(std::string(each.action.substr(0, each.action.find('/'))));
  }
  std::set<std::string> untold;
  for (const lang::ConceptSymbol& owner : deploy_kit()->symbols().concepts) {
    if (!owners.contains(owner.name)) continue;
    for (const lang::ActionSymbol& action : owner.actions) {
      const std::string name = owner.name + "/" + action.name;
      const bool changes = action.callers != lang::Callers::syncs && action.source->impact_at &&
                           action.source->impact != lang::Impact::none;
      if (changes && !told.contains(name)) untold.insert(name);
    }
  }
  EXPECT_EQ(untold, kWithout);
}

engine::Step step_of(const std::string& action, const std::string& variant) {
  engine::Step step{.seq = 7, .at_ms = 1000, .action = action};
  step.caller = {.name = "user:ann", .reason = "tea"};
  step.end = engine::End{.variant = variant, .fields = {{"rollout", "r1"}, {"entries", {{{"revision", "v1"}}}}}};
  return step;
}

TEST(Events, AStepThatEndsInAListedVariantIsOne) {
  auto event = event_of(step_of("Rollout/advance", "ok"));
  ASSERT_TRUE(event);
  EXPECT_EQ(event->event, "rollout.advanced");
  EXPECT_EQ(event->id, 7U);
  EXPECT_EQ(event->at, "1970-01-01T00:00:01.000Z");
  EXPECT_EQ(event->caller, "user:ann");
  EXPECT_FALSE(event_of(step_of("Rollout/advance", "stale")));
  EXPECT_FALSE(event_of(step_of("Rollout/judge", "ok")));
  engine::Step late = step_of("Rollout/advance", "ok");
  late.kind = engine::Step::Kind::late;
  EXPECT_FALSE(event_of(late));
}

TEST(Events, FiltersGoByTypeEnvironmentObjectAndFlow) {
  Event event = *event_of(step_of("Rollout/advance", "ok"));
  event.environment = "prod";
  EXPECT_TRUE(EventFilter{}.takes(event));
  EXPECT_TRUE(
      (EventFilter{.types = {"secret.changed", "rollout.*"}, .environment = "prod", .object = "v1"}.takes(event)));
  EXPECT_FALSE((EventFilter{.types = {"roll.*"}}.takes(event)));
  EXPECT_FALSE((EventFilter{.environment = "staging"}.takes(event)));
  EXPECT_FALSE((EventFilter{.object = "v2"}.takes(event)));
  EXPECT_FALSE((EventFilter{.flow = "01K"}.takes(event)));
}

TEST(Events, TypesThatAreNoneAreNamed) {
  EXPECT_EQ(*event_types_in("rollout.*,revision.failed"), (std::vector<std::string>{"rollout.*", "revision.failed"}));
  EXPECT_EQ(event_types_in("rollout.advance").error().message,
            "there is no event 'rollout.advance'; did you mean rollout.advanced?");
  EXPECT_EQ(event_types_in("").error().code, Code::invalid);
}

}  // namespace events_test
}  // namespace sluice::host
