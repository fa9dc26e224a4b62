// Answers are plain values by name, and whoever cannot read them says so.
#include "deploy/views/answers.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/testing_views.h"

namespace sluice::deploy::views {
namespace answers_test {

class AnswersTest : public testing::Test {
 protected:
  std::string file(const std::string& text) {
    EXPECT_TRUE(write_atomically(disk, folder.path("answers.yaml"), text, 0644));
    return folder.path("answers.yaml");
  }

  TestingFolder folder;
  RealDisk disk;
};

TEST_F(AnswersTest, AreOfThePacksThatReferToThem) {
  RowsInMemory rows;
  env::State state(rows.rows);
  state.packs(env::EnvId("local")).push({.slot = "state", .kind = "a.b@1.0.0"});
  state.packs(env::EnvId("local")).push({.slot = "iac", .kind = "a.c@1.0.0", .answersRef = "/x"});
  auto all = pack_answers(rows, "local");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].slot + " " + all[0].kind + " " + all[0].file, "iac a.c@1.0.0 /x");
}

TEST_F(AnswersTest, OfABindingComeBeforeThoseOfItsFile) {
  RowsInMemory rows;
  env::State state(rows.rows);
  state.packs(env::EnvId("local")).push({.slot = "state", .kind = "a.b@1.0.0", .answers = R"({"mount": "other"})"});
  state.packs(env::EnvId("local"))
      .push({.slot = "secrets",
             .kind = "a.c@1.0.0",
             .answersRef = file("address: http://one.example\nmount: kv\n"),
             .answers = R"({"address": "http://two.example"})"});
  const SlotAnswers answers = answers_of_slot(rows, disk, "local", "secrets").value();
  EXPECT_EQ(answers.text("address") + " " + answers.text("mount"), "http://two.example kv");
  EXPECT_EQ(answers_of_slot(rows, disk, "local", "telemetry").value().text("address"), "");
}

TEST_F(AnswersTest, ArePlainValues) {
  EXPECT_EQ(read_answers(disk, file("endpoint: http://otel.example\nrate: 0.5\non: true\n")).value().root.at("rate"),
            json::value(0.5));
  auto deep = read_answers(disk, file("a: 1\nb: [2]\n"));
  EXPECT_EQ(deep.error().message, "an answer is a text, a number, true or false");
  EXPECT_EQ(deep.error().path, "/b");
  EXPECT_FALSE(read_answers(disk, file("- a\n")));
}

TEST_F(AnswersTest, ThatCannotBeUsedAreAFinding) {
  EXPECT_FALSE(examine_answers(disk, "local", {"iac", "a.c@1.0.0", file("a: 1\n")}));
  auto gone = examine_answers(disk, "local", {"iac", "a.c@1.0.0", folder.path("none")});
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->level, Finding::Level::yellow);
  EXPECT_EQ(gone->next, "bring " + folder.path("none") + " back, or bind the pack in local with other answers");
  EXPECT_EQ(examine_answers(disk, "local", {"deployer", "a.c@1.0.0", folder.path("none")})->level, Finding::Level::red);
}

}  // namespace answers_test
}  // namespace sluice::deploy::views
