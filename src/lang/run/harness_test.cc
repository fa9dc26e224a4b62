// The harness over bindings made by hand: faults, attempts, and what it notes.
#include "lang/run/harness.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace sluice::lang {
namespace harness_test {

Result<void> anything(const json::object&) { return {}; }

ConceptBinding one_action(ActionBinding action) {
  action.check = anything;
  return {.name = "Box", .actions = {std::move(action)}};
}

TEST(Harness, DropsTheWritesOfAHandlerThatThrows) {
  ConceptBinding binding =
      one_action({.name = "open", .act = [](const json::object&, Rows& rows) -> Result<Completion> {
                    rows.put("Box", "b", 1);
                    throw std::runtime_error("the lid is gone");
                  }});
  Harness harness(binding);
  auto ending = harness.run("open", {});
  EXPECT_EQ(std::get<EngineEnd>(*ending),
            (EngineEnd{.outcome = EngineOutcome::fault, .message = "the lid is gone", .maybe_done = false}));
  EXPECT_TRUE(harness.rows().relations().empty());
}

ActionBinding effect(std::function<Result<PerformedAction>(const json::value&, Attempt&)> perform) {
  ActionBinding action{.name = "open", .runs = Runs::effect};
  action.begin = [](const json::object&, Rows& rows) -> Result<BegunAction> {
    rows.put("Box", "b", "opening");
    return BegunAction(Started{"the work"});
  };
  action.perform = std::move(perform);
  action.finish = [](const json::object&, const Ending& ending, Rows&) -> Result<Ending> { return ending; };
  return action;
}

TEST(Harness, GivesAnEffectItsWorkItsIdAndItsSecrets) {
  ConceptBinding binding = one_action(effect([](const json::value& work, Attempt& attempt) -> Result<PerformedAction> {
    EXPECT_EQ(work, "the work");
    EXPECT_EQ(attempt.id(), "invocation-1");
    if (attempt.number() < 5) return PerformedAction(Again{.reason = "closed"});
    Sealed made = attempt.seal("made");
    EXPECT_EQ(attempt.open(made), "made");
    EXPECT_FALSE(attempt.cancelled());
    EXPECT_EQ(attempt.read().rows_of("Box").get("Box", "b"), json::value("opening"));
    EXPECT_FALSE(attempt.read().rows_of("Bag").get("Bag", "b")) << "nobody put a row there";
    EXPECT_THROW(attempt.open(Sealed::of_handle("none")), std::runtime_error);
    return PerformedAction(Completion{"ok", {}});
  }));
  Harness harness(binding);
  EXPECT_EQ(to_text(*harness.run("open", {})), "ok {}");
}

TEST(Harness, EndsAnEffectThatThrowsAsMaybeDone) {
  ConceptBinding binding = one_action(
      effect([](const json::value&, Attempt&) -> Result<PerformedAction> { throw std::runtime_error("bang"); }));
  Harness harness(binding);
  auto ending = harness.run("open", {});
  EXPECT_EQ(to_text(*ending), "engine.fault: bang");
  EXPECT_TRUE(std::get<EngineEnd>(*ending).maybe_done);
  EXPECT_EQ(harness.rows().get("Box", "b"), json::value("opening"));
}

TEST(Harness, NotesTheVariantsThatItSees) {
  auto folder = std::filesystem::path(testing::TempDir()) / "sluice_harness_seen";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  setenv("SLUICE_VARIANTS_SEEN", folder.c_str(), 1);
  ConceptBinding binding = one_action({.name = "open", .act = [](const json::object& ask, Rows&) -> Result<Completion> {
                                         return Completion{ask.empty() ? "ok" : "stuck", {}};
                                       }});
  Harness harness(binding);
  EXPECT_TRUE(harness.run("open", {}));
  EXPECT_TRUE(harness.run("open", {}));
  EXPECT_TRUE(std::filesystem::exists(folder / "Box.open.ok"));
  EXPECT_FALSE(std::filesystem::exists(folder / "Box.open.stuck"));
  unsetenv("SLUICE_VARIANTS_SEEN");
  EXPECT_TRUE(harness.run("open", {{"x", 1}}));
  EXPECT_FALSE(std::filesystem::exists(folder / "Box.open.stuck"));
  std::filesystem::remove_all(folder);
}

}  // namespace harness_test
}  // namespace sluice::lang
