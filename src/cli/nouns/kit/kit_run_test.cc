// sluice kit run on the example kit, where nothing takes time; tests/engine/test_kit_run.py runs the program itself.
#include "cli/nouns/kit/kit_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "base/testing_source.h"
#include "cli/testing_commands.h"
#include "host/loaded_concepts.h"
#include "orders/orders_kit.h"

namespace sluice::cli {
namespace kit_run_test {

using testing::HasSubstr;
using testing::StartsWith;

struct KitRun : testing::Test {
  Ran run(std::vector<std::string> words, const std::string& in = "") {
    words.insert(words.begin(), {"kit", "run", kKit});
    return run_line(commands, words, {}, {{{"SLUICE_HOME", folder.path("home")}}, in, &loaded});
  }

  const std::string kKit = std::string(kSourceDir) + "/examples/kits/orders";
  TestingFolder folder;
  host::LoadedConcepts loaded{.concepts = orders::concepts()};
  Commands commands = all_commands();
};

TEST_F(KitRun, PrintsTheOutcomeAndWhereToLookNext) {
  auto done = run({"Stock/add", "item=tea", "count=5"});
  EXPECT_EQ(done.exit, 0);
  EXPECT_EQ(done.out, "ok  item=tea onShelf=5\n");
  EXPECT_THAT(done.err, testing::MatchesRegex("flow (.*), settled; next: sluice flow trace .*\n"));
}

TEST_F(KitRun, SaysInJsonWhatCameOfIt) {
  auto done = run({"Stock/add", "item=tea", "count=5", "-o", "json", "-q"});
  EXPECT_EQ(done.exit, 0);
  EXPECT_EQ(done.err, "");
  json::object shown = json::parse(done.out).as_object();
  EXPECT_EQ(shown.at("variant"), "ok");
  EXPECT_EQ(shown.at("fields"), json::parse(R"({"item":"tea","onShelf":5})"));
  EXPECT_EQ(shown.at("maybeDone"), false);
  EXPECT_EQ(shown.at("position"), 1);
  EXPECT_EQ(shown.at("state"), "settled");
  EXPECT_EQ(shown.at("flow"), shown.at("invocation"));
}

TEST_F(KitRun, ExitsWithTheVariantsCode) {
  run({"Stock/add", "item=tea", "count=5"});
  EXPECT_EQ(run({"Stock/add", "item=tea", "count=0"}).exit, 1);
  EXPECT_EQ(run({"Stock/reserve", "item=tea", "count=6"}).exit, 6);
  EXPECT_EQ(run({"Stock/look", "item=jam"}).exit, 5);
  EXPECT_EQ(run({"Order/place", "item=jam", "count=1", "address=x"}).out, "unknownItem  item=jam\n");
  EXPECT_EQ(run({"Order/place", "item=tea", "count=6", "address=x"}).out, "soldOut  item=tea\n");
}

TEST_F(KitRun, AsksAQueryWithoutAFlow) {
  run({"Stock/add", "item=tea", "count=5"});
  auto done = run({"Stock/look", "item=tea"});
  EXPECT_EQ(done.out, "ok  item=tea onShelf=5\n");
  EXPECT_EQ(done.err, "");
}

TEST_F(KitRun, JoinsTheCallThatHadTheKey) {
  std::vector<std::string> add = {"Stock/add", "item=tea", "count=5", "--idempotency-key", "k1"};
  auto first = run(add);
  auto second = run(add);
  EXPECT_EQ(second.out, first.out);
  EXPECT_EQ(second.err, first.err);
  EXPECT_EQ(run({"Stock/look", "item=tea"}).out, "ok  item=tea onShelf=5\n");
  auto other = run({"Stock/add", "item=tea", "count=6", "--idempotency-key", "k1"});
  EXPECT_EQ(other.exit, 6);
  EXPECT_THAT(other.err, StartsWith("error: the key k1 was used for another request\n"));
}

TEST_F(KitRun, ComparesTheGenerationOfTheRow) {
  run({"Stock/add", "item=tea", "count=5"});
  EXPECT_EQ(run({"Stock/add", "item=tea", "count=1", "--expect-generation", "1"}).exit, 0);
  auto late = run({"Stock/add", "item=tea", "count=1", "--expect-generation", "1"});
  EXPECT_EQ(late.exit, 6);
  EXPECT_THAT(late.out, StartsWith("engine.conflict  "));
}

TEST_F(KitRun, ReadsTheInputFromStdin) {
  EXPECT_EQ(run({"Stock/add", "--input", "-"}, R"({"item":"tea","count":5})").out, "ok  item=tea onShelf=5\n");
  auto wrong = run({"Stock/add", "--input", "-"}, R"({"item":"tea"})");
  EXPECT_EQ(wrong.exit, 1);
  EXPECT_THAT(wrong.err, StartsWith("error: stdin:1:1: Stock/add also needs count\n"));
  EXPECT_EQ(run({"Stock/add", "item=tea", "--input", "-"}, "{}").err,
            "error: give name=value or --input, not both\nnext:  sluice help kit run\n");
  EXPECT_EQ(run({"Stock/add", "--input", folder.path("none.json")}).exit, 5);
}

TEST_F(KitRun, WritesNothingForABadCall) {
  EXPECT_EQ(run({"Stock/ad"}).exit, 5);
  EXPECT_EQ(run({"Stock/add", "item=tea"}).exit, 2);
  EXPECT_EQ(run({"Stock/add", "item=tea", "count=x"}).exit, 2);
  EXPECT_FALSE(std::filesystem::exists(folder.path("home")));
}

TEST_F(KitRun, RefusesAConceptThatItCannotRun) {
  loaded.concepts.clear();
  auto done = run({"Stock/add", "item=tea", "count=5"});
  EXPECT_EQ(done.exit, 1);
  EXPECT_EQ(done.err, "error: this program has no handlers for Stock, so Stock/add cannot run\n");
}

TEST_F(KitRun, WithoutAnActionGoesOnWithWhatIsOpen) {
  auto done = run({});
  EXPECT_EQ(done.exit, 0);
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(done.err, "Nothing was left to do.\n");
  EXPECT_EQ(run({"-o", "json"}).out, "[]\n");
}

// A concept whose action somebody else answers, some day.
lang::ConceptBinding desk() {
  lang::ActionBinding sign{.name = "sign", .runs = lang::Runs::answered_outside, .variants = {"ok"}};
  sign.check = [](const json::object&) { return Result<void>(); };
  sign.begin = [](const json::object&, lang::Rows&) -> Result<lang::BegunAction> { return {lang::Started{}}; };
  sign.finish = [](const json::object&, const lang::Ending& ending, lang::Rows&) -> Result<lang::Ending> {
    return ending;
  };
  return {.name = "Desk", .contract = {"action sign() runs: answered outside -> ok()"}, .actions = {sign}};
}

TEST_F(KitRun, DoesNotWaitForPeople) {
  std::filesystem::create_directories(folder.path("kit"));
  RealDisk disk;
  ASSERT_TRUE(write_atomically(disk, folder.path("kit/suite.yaml"),
                               "kit: { name: desk, version: 1.0.0 }\nconcepts:\n  Desk: { spec: desk.concept }\n",
                               0644));
  ASSERT_TRUE(write_atomically(disk, folder.path("kit/desk.concept"),
                               "concept Desk [D] { actions { action sign() { runs: answered outside -> ok } } }",
                               0644));
  lang::ConceptBinding binding = desk();
  host::LoadedConcepts with_desk{.concepts = {&binding}};
  Around around{{{"SLUICE_HOME", folder.path("home")}}, "", &with_desk};
  auto done = run_line(commands, {"kit", "run", folder.path("kit"), "Desk/sign"}, {}, around);
  EXPECT_EQ(done.exit, 10) << done.err;
  EXPECT_EQ(done.out, "waiting  for Desk/sign\n");
  EXPECT_THAT(done.err, testing::MatchesRegex("flow (.*), waiting; next: sluice why .*\n"));
  EXPECT_EQ(run_line(commands, {"kit", "run", folder.path("kit")}, {}, around).err, "Nothing was left to do.\n");
}

TEST_F(KitRun, RefusesAKitWithErrors) {
  std::filesystem::create_directories(folder.path("kit"));
  auto done = run_line(commands, {"kit", "run", folder.path("kit"), "A/b"});
  EXPECT_EQ(done.exit, 1);
  EXPECT_THAT(done.err, HasSubstr("has errors: 1 error"));
}

}  // namespace kit_run_test
}  // namespace sluice::cli
