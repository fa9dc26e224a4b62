// sluice approvals stands in the table; what it does is tested in tests/serve/test_approvals.py.
#include <gtest/gtest.h>

#include "cli/all_commands.h"

namespace sluice::cli {
namespace approval_commands_test {

TEST(ApprovalCommands, EachVoteNamesAnApproval) {
  const Commands commands = all_commands();
  for (const char* name : {"approvals approve", "approvals reject"}) {
    auto found = std::ranges::find(commands.all(), name, &Command::name);
    ASSERT_NE(found, commands.all().end()) << name;
    ASSERT_EQ(found->args.size(), 1U);
    EXPECT_FALSE(found->args[0].optional);
  }
}

}  // namespace approval_commands_test
}  // namespace sluice::cli
