// What the options of calls give, and what --answers may say.
#include "cli/call_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "cli/testing_context.h"
#include "deploy/deploy_kit.h"

namespace sluice::cli {
namespace call_options_test {

using testing::HasSubstr;

std::vector<std::string> names_of(const std::vector<Option>& options) {
  std::vector<std::string> names;
  for (const Option& each : options) names.push_back(each.name);
  return names;
}

TEST(CallOptions, AreAddedBehindACommandsOwn) {
  EXPECT_EQ(names_of(losing_options({{.name = "own"}})),
            (std::vector<std::string>{"own", "dry-run", "yes", "expect-generation", "answers", "schema",
                                      "idempotency-key", "reason", "lock-timeout"}));
  EXPECT_EQ(names_of(deployment_options(reading_options())),
            (std::vector<std::string>{"deployment", "bundle", "customer-id", "lock-timeout"}));
}

TEST(CallOptions, AnswersAreAddedButNameNoOtherObject) {
  TestingContext testing(deploy::concepts(), "traffic set");
  const std::string file = testing.folder.path("answers.yaml");
  ASSERT_TRUE(write_atomically(testing.disk, file, "deployment: d1\nnote: x\n", 0644));
  testing.given.set("answers", file);
  EXPECT_EQ(with_answers(testing.context, {{"deployment", "d1"}}).value(),
            (json::object{{"deployment", "d1"}, {"note", "x"}}));
  auto other = with_answers(testing.context, {{"deployment", "d2"}});
  EXPECT_EQ(other.error().code, Code::usage);
  EXPECT_THAT(other.error().message, HasSubstr("nothing was changed"));
}

TEST(CallOptions, AnEmptyNameIsNone) {
  TestingContext testing(deploy::concepts(), "traffic set");
  EXPECT_TRUE(check_deployment_options(testing.context));
  testing.given.set("deployment", "");
  EXPECT_EQ(check_deployment_options(testing.context).error().code, Code::usage);
}

TEST(CallOptions, TheSchemaLacksWhatTheEngineFillsIn) {
  TestingContext testing(deploy::concepts(), "traffic set");
  EXPECT_EQ(print_schema(testing.context, "Traffic/set").value(), Code::ok);
  EXPECT_THAT(testing.out.str(), HasSubstr("\"title\": \"Traffic/set\""));
  EXPECT_THAT(testing.out.str(), testing::Not(HasSubstr("\"caller\"")));
  EXPECT_EQ(print_schema(testing.context, "Traffic/sett").error().code, Code::not_found);
}

}  // namespace call_options_test
}  // namespace sluice::cli
