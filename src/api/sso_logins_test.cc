// Without a provider, and with answers that nobody waits for.
#include "api/sso_logins.h"

#include <gtest/gtest.h>

#include "api/testing_served.h"

namespace sluice::api {
namespace sso_logins_test {

http::Response ask(TestingServed& served, const std::string& target) {
  http::Request request{.method = "GET", .target = target, .headers = {{"Host", "h"}}};
  EXPECT_TRUE(http::take_target_apart(request));
  return served.service->answer(request, {});
}

TEST(SsoLogins, WhoTrustsNoProviderSaysSo) {
  TestingServed served;
  EXPECT_EQ(ask(served, "/v1/login/sso").body, "{}");
  EXPECT_EQ(ask(served, "/v1/login/sso/start").status, 404);
}

TEST(SsoLogins, AnAnswerThatNobodyWaitsForLetsNobodyIn) {
  TestingServed served;
  http::Response response = ask(served, "/v1/login/sso/callback?state=s&code=c");
  EXPECT_EQ(response.status, 401);
  EXPECT_NE(response.body.find("was not begun here"), std::string::npos);
}

}  // namespace sso_logins_test
}  // namespace sluice::api
