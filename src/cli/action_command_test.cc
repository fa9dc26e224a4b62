// What follows from a concept: parameters, options, help; and what a wrong table does.
#include "cli/action_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::cli {
namespace action_command_test {

using testing::ElementsAre;

TEST(ActionCommands, ParametersComeFromTheConcept) {
  std::vector<std::string> params;
  for (const ActionParam& each : params_of("Traffic/set")) params.push_back(each.name + ": " + each.type);
  EXPECT_THAT(params, ElementsAre("deployment: D", "entries: list { revision: String, weightBps: Int }"));
}

TEST(ActionCommands, OptionsComeFromTheParameters) {
  const Command made =
      command_of({.name = "traffic rollback",
                  .action = "Traffic/rollback",
                  .about = About::deployment,
                  .summary = "Go back",
                  .words = {{.param = "steps", .help = "how many changes to go back", .fallback = "1"}}});
  std::vector<std::string> names;
  for (const Option& each : made.options) names.push_back(each.name);
  EXPECT_THAT(names, ElementsAre("deployment", "bundle", "customer-id", "steps", "expect-generation", "answers",
                                 "schema", "idempotency-key", "reason", "lock-timeout"));
  EXPECT_EQ(made.args.front().name, "env");
}

TEST(ActionCommands, AWrongTableStopsTheProgram) {
  EXPECT_DEATH(params_of("Traffic/sett"), "the kit has no action Traffic/sett");
  EXPECT_DEATH(command_of({.name = "x", .action = "Traffic/set", .summary = "x", .words = {{.param = "weights"}}}),
               "Traffic/set has no parameter weights");
  EXPECT_DEATH(command_of({.name = "x", .action = "Traffic/set", .about = About::revision, .summary = "x"}),
               "Traffic/set has no parameter revision");
}

}  // namespace action_command_test
}  // namespace sluice::cli
