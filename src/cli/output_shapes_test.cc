// Every command of the table has a schema, and each can be made. That what commands print fits them is tested end to
// end.
#include "cli/output_shapes.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/all_commands.h"

namespace sluice::cli {
namespace output_shapes_test {

TEST(OutputShapes, EveryCommandHasOne) {
  const Commands commands = all_commands();
  for (const Command& each : commands.all()) {
    auto schema = output_schema(each.name);
    EXPECT_TRUE(schema) << each.name << ": " << schema.error().message;
    if (schema) {
      EXPECT_EQ(schema->at("title"), json::value("sluice " + each.name));
    }
  }
  EXPECT_EQ(output_schema("env dance").error().message, "there is no schema of 'sluice env dance'");
}

TEST(OutputShapes, AnswersAreThoseOfTheConcept) {
  json::object schema = output_schema("traffic rollback").value();
  EXPECT_EQ(schema.at("required"), json::value({"deployment", "generation", "entries", "flow"}));
  const json::object losing = output_schema("traffic clear").value();
  ASSERT_EQ(losing.at("anyOf").as_array().size(), 2U) << "or what a dry run says";
  EXPECT_EQ(losing.at("anyOf").as_array()[1].at("required"), json::value({"would", "loses"}));
}

TEST(OutputShapes, TheFileOfAnEnvironmentMayHaveNoUnknownField) {
  EXPECT_EQ(environment_file_schema().at("additionalProperties"), json::value(false));
}

}  // namespace output_shapes_test
}  // namespace sluice::cli
