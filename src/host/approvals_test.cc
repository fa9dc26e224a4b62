// Which kits know approvals; what is asked and run is tested through the doors in tests/serve/test_approvals.py.
#include "host/approvals.h"

#include <gtest/gtest.h>

#include "host/testing_authority.h"
#include "host/testing_work.h"

namespace sluice::host {
namespace approvals_test {

TEST(Approvals, AKitWithoutTheConceptHasNone) {
  TestingWork work;
  EXPECT_TRUE(has_approvals(*deploy_kit()));
  EXPECT_FALSE(has_approvals(*work.kit));
  auto asked = ask_for_approval(*work.engine, work.store, {.requester = "user:ann", .seconds = 60},
                                {.action = "Work/go", .input = {{"n", 1}}}, {});
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().message, "there is no action Approval/ask");
}

TEST_F(AuthorityTest, TheOwnerNeedsNobodysApproval) {
  const std::string policy =
      std::string(kTeamPolicy) + "approvals: [{actions: [Env/*], environments: [prod], needed: 2}]\n";
  put("Access[]", "whole", {{"policy", policy}, {"version", 2}, {"appliedBy", "uid:1"}});
  auto needed = authority.approval_for({.name = "user:all-admin"}, "Env/destroy", {{"environment", "prod"}});
  ASSERT_TRUE(needed);
  EXPECT_EQ(needed->people, 2);
  EXPECT_EQ(needed->seconds, 86'400);
  EXPECT_EQ(needed->environment, "prod");
  EXPECT_FALSE(authority.approval_for({.name = "user:all-admin"}, "Env/destroy", {{"environment", "staging"}}));
  EXPECT_FALSE(authority.approval_for({.name = "uid:1000"}, "Env/destroy", {{"environment", "prod"}}));
}

}  // namespace approvals_test
}  // namespace sluice::host
