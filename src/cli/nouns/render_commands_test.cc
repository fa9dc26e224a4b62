// sluice render on the example, as people run it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/testing_source.h"
#include "cli/all_commands.h"
#include "cli/testing_commands.h"

namespace sluice::cli {
namespace render_commands_test {

using testing::HasSubstr;
using testing::StartsWith;

struct RenderCommands : testing::Test {
  RenderCommands() { add_render_commands(commands); }
  Ran render(std::vector<std::string> more) {
    std::vector<std::string> words = {"render", "checkout-service", "--from",
                                      std::string(kSourceDir) + "/examples/checkout"};
    words.insert(words.end(), more.begin(), more.end());
    return run_line(commands, words);
  }

  Commands commands;
};

TEST_F(RenderCommands, TheObjectsOfAnEnvironment) {
  auto ran = render({"--environment", "production", "-o", "json"});
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto objects = *parse_json_value(ran.out);
  std::string kinds;
  for (const auto& each : objects.as_array()) kinds += std::string(each.at("kind").as_string()) + " ";
  EXPECT_EQ(kinds, "ConfigMap Deployment PersistentVolumeClaim Service ");
  const auto& spec = objects.at(1).at("spec");
  EXPECT_EQ(spec.at("replicas"), 5);
  const auto& container = spec.at("template").at("spec").at("containers").at(0);
  EXPECT_EQ(container.at("resources").at("requests").at("cpu"), "500m");
  EXPECT_EQ(container.at("resources").at("requests").at("memory"), "256Mi");
  EXPECT_EQ(container.at("volumeMounts").at(0).at("mountPath"), "/app/data");
  EXPECT_EQ(objects.at(2).at("spec").at("resources").at("requests").at("storage"), "200Gi");

  auto text = render({"--environment", "staging"});
  EXPECT_THAT(text.out, StartsWith("---\napiVersion: v1\nkind: ConfigMap\n"));
  EXPECT_THAT(text.out, HasSubstr("replicas: 1\n"));
}

TEST_F(RenderCommands, ExplainSaysWhoSetAValue) {
  auto ran = render({"--environment", "production", "--explain", "Deployment:/spec/replicas"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("5\nfrom ${parameters.replicas}  "));
  EXPECT_THAT(ran.out, HasSubstr("  parameters.replicas = 5  settings  "));
  EXPECT_THAT(ran.out, HasSubstr("over 1  default  "));
}

TEST_F(RenderCommands, MistakesSayWhatToDo) {
  EXPECT_EQ(render({}).exit, 2);
  EXPECT_THAT(render({}).err, HasSubstr("sluice render checkout-service --environment NAME"));
  EXPECT_EQ(render({"--environment", "dev", "--explain", "replicas"}).exit, 2);
  auto ran = run_line(
      commands, {"render", "check", "--environment", "dev", "--from", std::string(kSourceDir) + "/examples/checkout"});
  EXPECT_EQ(ran.exit, 5);
  EXPECT_THAT(ran.err, HasSubstr("there is no Component 'check'"));
  EXPECT_THAT(ran.err, HasSubstr("there are checkout-service"));
}

}  // namespace render_commands_test
}  // namespace sluice::cli
