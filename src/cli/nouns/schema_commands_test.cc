// sluice schema prints what output_shapes.cc says, and knows only commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/testing_commands.h"

namespace sluice::cli {
namespace schema_commands_test {

TEST(SchemaCommands, PrintTheSchemaOfACommand) {
  Ran ran = run_line(all_commands(), {"schema", "traffic", "set"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(json::parse(ran.out).at("title"), "sluice traffic set");
  Ran unknown = run_line(all_commands(), {"schema", "traffic", "jam"});
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_EQ(unknown.err, "error: there is no command 'traffic jam'\nnext:  sluice help\n");
}

}  // namespace schema_commands_test
}  // namespace sluice::cli
