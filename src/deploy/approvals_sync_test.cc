// What approvals.sync says, on the whole kit.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "deploy/testing_kit_engine.h"

namespace sluice::deploy {
namespace approvals_sync_test {

struct ApprovalsSync : testing::Test {
  json::object ask(int64_t seconds) const {
    return {{"requester", "user:ann"}, {"action", "Env/destroy"}, {"input", "{}"}, {"seen", "{}"},
            {"reason", "tea"},         {"environment", "prod"},   {"needed", 1},   {"seconds", seconds}};
  }
  std::string status(const std::string& key) { return std::string(kit.row("Approval", key).at("status").as_string()); }
  // A call that waits: the key of its approval.
  std::string waiting() {
    kit.start("Approval/ask", ask(3600));
    for (const auto& [key, row] : kit.rows("Approval")) {
      if (row.at("status") == "waiting") return key;
    }
    return "";
  }

  KitEngine kit;
};

TEST_F(ApprovalsSync, TimeEndsTheWaiting) {
  auto end = kit.run("Approval/ask", ask(0));
  EXPECT_EQ(end.variant, "expired");
  EXPECT_EQ(end.fields.at("message"), "not enough people agreed in time");
  EXPECT_EQ(status(kit.rows("Approval").begin()->first), "expired");
}

TEST_F(ApprovalsSync, TheLastYesApprovesAndANoRejects) {
  kit.caller = "user:bob";
  const std::string yes = waiting();
  EXPECT_EQ(kit.run("Approval/vote", {{"approval", yes}, {"agree", true}}).variant, "ok");
  EXPECT_EQ(status(yes), "approved");
  const std::string no = waiting();
  EXPECT_EQ(kit.run("Approval/vote", {{"approval", no}, {"agree", false}, {"reason", "late"}}).variant, "rejected");
  EXPECT_EQ(status(no), "rejected");
}

TEST_F(ApprovalsSync, AnOperatorCanCancelIt) {
  const Ulid flow = kit.start("Approval/ask", ask(3600));
  const std::string key = kit.rows("Approval").begin()->first;
  kit.cancel(flow);
  EXPECT_EQ(status(key), "cancelled");
}

}  // namespace approvals_sync_test
}  // namespace sluice::deploy
