// What a pack answers is held against its concept.
#include "host/pack_binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/deploy_kit.h"
#include "host/pack_concepts.h"
#include "lang/run/harness.h"
#include "lang/syntax/concept_parser.h"
#include "pack/testing_packs.h"

namespace sluice::host {
namespace pack_binding_test {
using testing::HasSubstr;

struct PackBindingTest : testing::Test {
  TestingFolder folder;
  RealDisk disk;
  RealClock clock;

  // How keep ends when this stands in the program in place of its answer.
  std::string keep(const std::string& old = "", const std::string& instead = "") {
    std::string program = pack::kNotesProgram;
    if (!old.empty()) program.replace(program.find(old), old.size(), instead);
    auto pack = pack::PackShelf(disk, folder.path())
                    .read(pack::write_pack(folder.path("notes"), "acme.telemetry.notes@1.0.0", "", program));
    EXPECT_TRUE(pack) << to_string(pack.error());
    auto checked = lang::check(lang::load_kit(std::string(deploy::kKitFolder),
                                              [](const std::string& path) { return deploy::read_kit_file(path); },
                                              {.outside = outside_concepts({*pack})}));
    EXPECT_TRUE(checked.kit);
    auto kit = std::make_shared<const lang::CheckedKit>(*std::move(checked.kit));
    OnePackServer server(clock,
                         pack::program_in(*pack, folder.path(), [](const std::string&) { return std::nullopt; }));
    auto binding = pack_binding(kit, "AcmeTelemetryNotes_1_0_0", "Notes", "acme.telemetry.notes@1.0.0", server);
    lang::Harness harness(binding);
    auto ending = harness.run("keep", {{"note", "n1"}, {"text", "hello"}});
    EXPECT_TRUE(ending) << to_string(ending.error());
    kept = harness.rows().get("AcmeTelemetryNotes_1_0_0", "n1");
    return lang::to_text(*ending);
  }
  std::optional<json::value> kept;
};

TEST_F(PackBindingTest, AnswersAndWritesItsRows) {
  EXPECT_EQ(keep(), R"(ok {"note":"n1","lines":1})");
  EXPECT_EQ(kept, json::value({{"text", "hello"}}));
}

TEST_F(PackBindingTest, WhatDoesNotFitIsAFaultAndNothingIsKept) {
  EXPECT_THAT(keep("\"variant\": \"ok\", \"fields\": {\"note\"", "\"variant\": \"fine\", \"fields\": {\"note\""),
              HasSubstr("the variant fine, which it does not declare"));
  EXPECT_THAT(keep("len(lines())}", "\"two\"}"), HasSubstr("lines: expected Int, found a text"));
  EXPECT_THAT(keep("\"relation\": \"Notes\"", "\"relation\": \"Env\""),
              HasSubstr("writes to Env, which its concept has not"));
  EXPECT_THAT(keep("{\"text\": given[\"text\"]}", "{\"txt\": 1}"), HasSubstr("txt: there is no such field"));
  EXPECT_THAT(keep("%KIND%", "acme.other@1.0.0"), HasSubstr("it says that it is acme.other@1.0.0"));
  EXPECT_FALSE(kept);
}

TEST_F(PackBindingTest, OnlyEffectsAndQueriesCanBeServed) {
  lang::Diagnostics found;
  auto tree = lang::parse_concept(
      "concept A [B] { purpose { p } state { bs: set B } actions { action go() { -> ok() } } }", "a.concept", found);
  ASSERT_TRUE(tree);
  EXPECT_THAT(fault_of_pack_concept(*tree), HasSubstr("the action go is neither an effect nor a query"));
}

}  // namespace pack_binding_test
}  // namespace sluice::host
