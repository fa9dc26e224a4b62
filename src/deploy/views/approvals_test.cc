// What waits for people, the newest first.
#include "deploy/views/approvals.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "approval.gen.h"
#include "base/json_reader.h"
#include "deploy/testing_views.h"

namespace sluice::deploy::views {
namespace approvals_test {

TEST(ApprovalsView, ThoseThatWaitUnlessOthersAreAskedFor) {
  RowsInMemory rows;
  approval::State state(rows.rows);
  state.put(approval::ApprovalId("a1"), {.requester = "user:ann", .input = "{\"x\":1}", .needed = 2, .status = "done"});
  state.put(approval::ApprovalId("a2"),
            {.requester = "user:bob", .environment = "prod", .needed = 2, .status = "waiting"});
  state.yes(approval::ApprovalId("a2")).push("user:ann");
  lang::Tools tools;
  auto read = [&](const json::object& query) {
    auto document = approval_views().at(0).read({.rows = rows, .tools = tools}, query);
    return sluice::read<std::vector<ApprovalDocument>>(document.value()).value();
  };
  auto waiting = read({});
  ASSERT_EQ(waiting.size(), 1U);
  EXPECT_EQ(waiting[0].approval, "a2");
  EXPECT_EQ(waiting[0].environment, "prod");
  EXPECT_EQ(waiting[0].yes, std::vector<std::string>{"user:ann"});
  EXPECT_EQ(read({{"over", true}}).size(), 2U);
  EXPECT_EQ(read({{"approval", "a1"}}).at(0).input.at("x"), 1);
  EXPECT_TRUE(read({{"approval", "b"}}).empty());
}

}  // namespace approvals_test
}  // namespace sluice::deploy::views
