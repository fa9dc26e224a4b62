// sluice mcp stands in the table; what it carries is tested with the official clients in tests/mcp.
#include <gtest/gtest.h>

#include "cli/all_commands.h"

namespace sluice::cli {
namespace mcp_commands_test {

TEST(McpCommands, ItTakesNoArguments) {
  const Commands commands = all_commands();
  const auto& all = commands.all();
  auto found = std::ranges::find(all, "mcp", &Command::name);
  ASSERT_NE(found, all.end());
  EXPECT_TRUE(found->args.empty());
}

}  // namespace mcp_commands_test
}  // namespace sluice::cli
