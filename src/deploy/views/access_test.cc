// Tokens, the policy and labels as their rows say them.
#include "deploy/views/access.h"

#include <gtest/gtest.h>

#include "access.gen.h"
#include "deploy/testing_views.h"
#include "session.gen.h"

namespace sluice::deploy::views {
namespace access_test {

TEST(AccessView, ReadsTokensThePolicyAndLabels) {
  RowsInMemory rows;
  access::State state(rows.rows);
  state.put(access::AccessId("t1"), {.name = "laptop",
                                     .subject = "user:ann",
                                     .digest = "sha256:x",
                                     .role = "viewer",
                                     .expires = lang::DateTime{7},
                                     .revoked = access::AccessRevoked{.at = {1}, .by = "uid:0"}});
  state.environments(access::AccessId("t1")).push("staging");
  EXPECT_FALSE(token_of(rows, "t2"));
  auto token = token_of(rows, "t1");
  ASSERT_TRUE(token);
  EXPECT_EQ(token->identity.subject, "user:ann");
  EXPECT_EQ(token->identity.at_most, AccessRole::viewer);
  EXPECT_EQ(token->identity.only_in, std::vector<std::string>{"staging"});
  EXPECT_EQ(token->expires_ms, 7);
  EXPECT_TRUE(token->revoked);
  session::State(rows.rows).put(session::SessionId("s1"), {.subject = "user:ann",
                                                           .token = "t1",
                                                           .digest = "sha256:y",
                                                           .address = "127.0.0.1",
                                                           .expires = lang::DateTime{9}});
  EXPECT_FALSE(session_of(rows, "s2"));
  auto session = session_of(rows, "s1");
  ASSERT_TRUE(session);
  EXPECT_EQ(session->subject, "user:ann");
  EXPECT_EQ(session->token, "t1");
  EXPECT_EQ(session->run, "");
  EXPECT_EQ(session->expires_ms, 9);
  EXPECT_FALSE(session->ended);
  EXPECT_EQ(policy_of(rows).version, 0);
  state.put_whole({.policy = "p", .version = 3});
  EXPECT_EQ(policy_of(rows).version, 3);
  EXPECT_EQ(policy_of(rows).text, "p");
  rows.deployment("d1");
  deployment::State(rows.rows).labels(deployment::DeploymentId("d1")).push("team=shop");
  EXPECT_EQ(labels_of(rows, "d1"), std::set<std::string>{"team=shop"});
  EXPECT_TRUE(labels_of(rows, "d2").empty());
}

}  // namespace access_test
}  // namespace sluice::deploy::views
