// What callers are told of themselves.
#include "host/access_views.h"

#include <gtest/gtest.h>

#include "host/testing_authority.h"

namespace sluice::host {
namespace access_views_test {

class AccessViewsTest : public AuthorityTest {};

TEST_F(AccessViewsTest, TellsCallersWhatTheyMay) {
  const engine::Caller deployer{.name = "user:deployer"}, admin{.name = "user:all-admin"}, owner{.name = "uid:1000"};
  auto ask = [&](const engine::Caller& who, const char* view, const json::object& query) {
    return find_access_view(view)->read({authority, who, store}, query);
  };
  EXPECT_EQ(
      write(*ask(deployer, "whoami", {})),
      R"({"caller":"user:deployer","owner":false,"token":null,"grants":[{"to":["user:deployer"],"role":"deployer",)"
      R"("allow":[],"deny":[],"environments":["staging"],"labels":[]}]})");
  EXPECT_TRUE(ask(owner, "whoami", {})->at("owner").as_bool());
  EXPECT_TRUE(
      ask(deployer, "access-can", {{"action", "Traffic/set"}, {"environment", "staging"}})->at("allowed").as_bool());
  EXPECT_FALSE(
      ask(deployer, "access-can", {{"action", "Traffic/set"}, {"environment", "prod"}})->at("allowed").as_bool());
  EXPECT_TRUE(ask(deployer, "access-can", {{"action", "Traffic/set"}, {"input", R"({"deployment":"d-staging"})"}})
                  ->at("allowed")
                  .as_bool());
  EXPECT_EQ(ask(deployer, "access-can", {{"action", "Traffic/sett"}}).error().message,
            "there is no action Traffic/sett; did you mean Traffic/set?");
  EXPECT_EQ(ask(deployer, "access-can", {{"action", "Traffic/set"}, {"as", "user:viewer"}}).error().code, Code::denied);
  auto other = ask(admin, "access-can", {{"action", "Config/set"}, {"as", "user:viewer"}, {"environment", "staging"}});
  EXPECT_EQ(other->at("why").as_string(), "no grant gives user:viewer the right operate in staging");
  EXPECT_EQ(find_access_view("traffic"), nullptr);
  put("Access[]", "whole",
      {{"policy", std::string(kTeamPolicy) + "reasons: [{actions: [Traffic/*], environments: [prod]}]\n"},
       {"version", 2},
       {"appliedBy", "uid:1"}});
  auto must_say_why = [&](const engine::Caller& who, const json::object& query) {
    return ask(who, "access-can", query)->at("reason_needed").as_bool();
  };
  EXPECT_TRUE(must_say_why(admin, {{"action", "Traffic/set"}, {"environment", "prod"}}));
  EXPECT_TRUE(must_say_why(admin, {{"action", "Traffic/set"}, {"input", R"({"deployment":"d-prod"})"}}));
  EXPECT_FALSE(must_say_why(admin, {{"action", "Traffic/set"}, {"environment", "staging"}}));
  EXPECT_FALSE(must_say_why(owner, {{"action", "Traffic/set"}, {"environment", "prod"}}));
}

}  // namespace access_views_test
}  // namespace sluice::host
