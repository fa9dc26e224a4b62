// What a new environment is asked for on behalf of its packs.
#include "cli/pack_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "cli/testing_objects.h"

namespace sluice::cli {
namespace pack_setup_test {

using testing::HasSubstr;

struct PackSetups : testing::Test {
  void SetUp() override { ASSERT_EQ(home.run({"env", "list"}).exit, 0); }
  // A staging made after local, with these answers.
  Ran create(const std::string& text) {
    RealDisk disk;
    const std::string file = home.folder.path("answers.yaml");
    EXPECT_TRUE(write_atomically(disk, file, text, 0600));
    return home.run({"env", "create", "staging", "--extends", "local", "--answers", file});
  }

  ObjectsHome home;
};

TEST_F(PackSetups, AnswersAreGivenBySlot) {
  const Ran made = create("name: Staging\ndeployer: {port_range: 20000-20999}\n");
  ASSERT_EQ(made.exit, 0) << made.err;
  EXPECT_EQ(made.out, "created  staging\n");
  EXPECT_THAT(home.run({"config", "show", "staging", "-o", "json"}).out, HasSubstr("20000-20999"));
  EXPECT_EQ(home.run({"config", "show", "local", "-o", "json"}).out.find("20000-20999"), std::string::npos);
  // From there on they are its own, and those of whoever is made after it.
  EXPECT_EQ(home.run({"env", "create", "prod", "--extends", "staging"}).out, "created  prod\n");
  EXPECT_THAT(home.run({"config", "show", "prod", "-o", "json"}).out, HasSubstr("20000-20999"));
}

TEST_F(PackSetups, AnswersThatDoNotFitMakeNothing) {
  EXPECT_THAT(create("deployer: {port_rang: 20000-20999}\n").err, HasSubstr("port_range"));
  EXPECT_THAT(create("deployer: {port_range: all}\n").err, HasSubstr("port_range: "));
  EXPECT_THAT(create("deployer: 3\n").err,
              HasSubstr("deployer in the answers is an object, the answers to what sluice.deployer.local-process@1.0.0 "
                        "asks; nothing was changed"));
  EXPECT_EQ(home.run({"env", "show", "staging"}).exit, 5);
}

TEST_F(PackSetups, TheSchemaSaysWhatThePacksAsk) {
  const json::value schema = json::parse(home.run({"env", "create", "x", "--extends", "local", "--schema"}).out);
  EXPECT_TRUE(schema.at("properties").at("deployer").at("properties").as_object().contains("port_range"));
  EXPECT_TRUE(schema.at("properties").as_object().contains("extends"));
}

TEST_F(PackSetups, WithoutOpenQuestionsNothingIsAsked) {
  EXPECT_EQ(home.run({"env", "create", "staging", "--extends", "local"}).out, "created  staging\n");
}

}  // namespace pack_setup_test
}  // namespace sluice::cli
