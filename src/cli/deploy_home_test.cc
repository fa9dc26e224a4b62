// Calls of the built-in kit, and what their answers are to a person.
#include "cli/deploy_home.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/testing_context.h"
#include "deploy/deploy_kit.h"

namespace sluice::cli {
namespace deploy_home_test {

struct DeployHomes : testing::Test, TestingContext {
  DeployHomes() : TestingContext(deploy::concepts(), "trust remove") {}
};

TEST_F(DeployHomes, AnswersCarryTheVariantItsCodeAndTheFlow) {
  auto home = DeployHome::open(context);
  ASSERT_TRUE(home) << to_string(home.error());
  auto answer = (*home)->call("Trust/remove", {{"key", "00"}});
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->variant, "notFound");
  EXPECT_EQ(answer->code, Code::not_found);
  EXPECT_EQ(answer->text("key"), "00");
  EXPECT_EQ(answer->text("nothing"), "");
  ASSERT_TRUE(answer->flow);
  Error refusal = refusal_of(*answer);
  EXPECT_EQ(refusal.message, R"(Trust/remove ended in notFound {"key":"00"})");
  EXPECT_EQ(refusal.next, "sluice flow trace " + to_string(*answer->flow));
}

TEST_F(DeployHomes, AQueryHasNoFlow) {
  auto home = DeployHome::open(context);
  ASSERT_TRUE(home) << to_string(home.error());
  auto answer = (*home)->ask("Trust/export", {});
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->variant, "ok");
  EXPECT_FALSE(answer->flow);
  EXPECT_EQ((*home)->ask("Trust/nothing", {}).error().code, Code::not_found);
}

TEST_F(DeployHomes, MessagesAndListsOfTextsAreRead) {
  Answer answer{.action = "A/b", .variant = "no", .fields = {{"message", "because"}, {"keys", {"a", "b"}}, {"n", 1}}};
  EXPECT_EQ(refusal_of(answer).message, "because");
  EXPECT_EQ(answer.texts("keys"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(answer.texts("n").empty());
}

TEST_F(DeployHomes, ToReadNoneIsMade) {
  auto home = open_deploy_home_to_read(context);
  ASSERT_TRUE(home) << to_string(home.error());
  EXPECT_EQ(*home, nullptr);
  ASSERT_TRUE(DeployHome::open(context));
  home = open_deploy_home_to_read(context);
  ASSERT_TRUE(home) << to_string(home.error());
  EXPECT_NE(*home, nullptr);
}

TEST_F(DeployHomes, ACopyAnswersWhileAnotherHasTheStore) {
  auto holder = DeployHome::open(context);
  ASSERT_TRUE(holder) << to_string(holder.error());
  auto key = (*holder)->operator_key();
  ASSERT_TRUE(key) << to_string(key.error());
  ASSERT_TRUE((*holder)->call("Trust/open", {{"publicKey", key->public_key().to_pem()}}));
  given.set("lock-timeout", "0s");
  auto reader = open_deploy_home_to_read(context);
  ASSERT_TRUE(reader) << to_string(reader.error());
  EXPECT_TRUE((*reader)->reads_copy());
  for (const char* query : {"Trust/list", "Trust/export"}) {
    auto answer = (*reader)->ask(query, {});
    ASSERT_TRUE(answer) << to_string(answer.error());
    EXPECT_EQ(answer->code, Code::ok);
    EXPECT_EQ(answer->fields, (*holder)->ask(query, {})->fields);
  }
  EXPECT_EQ((*reader)->ask("Trust/nothing", {}).error().message, "there is no query Trust/nothing");
  EXPECT_EQ((*reader)->operator_key()->public_key(), key->public_key());
  holder->reset();
  reader = open_deploy_home_to_read(context);
  ASSERT_TRUE(reader) << to_string(reader.error());
  EXPECT_FALSE((*reader)->reads_copy());
}

}  // namespace deploy_home_test
}  // namespace sluice::cli
