// sluice login --sso where it ends before a browser is needed; logins with a real provider are tests/serve/test_sso.py.
#include "cli/sso_login.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "cli/testing_objects.h"
#include "http/server.h"

namespace sluice::cli {
namespace sso_login_test {

TEST(SsoLogin, SaysWhereNobodyLogsInWithAProvider) {
  RealClock clock;
  auto listening = http::listen_tcp("127.0.0.1", 0);
  ASSERT_TRUE(listening);
  const std::string url = "http://127.0.0.1:" + std::to_string(http::port_of(*listening));
  auto server = http::Server::start(
      *std::move(listening),
      [](const http::Request& request, const http::Peer&) {
        EXPECT_EQ(request.target, "/v1/login/sso");
        return http::Response{.status = 200, .content_type = "application/json", .body = "{}"};
      },
      clock);
  ASSERT_TRUE(server);
  ObjectsHome home;
  const auto ran = home.run({"login", url, "--sso"});
  EXPECT_EQ(ran.err, "error: people do not log in with a provider at " + url + "\nnext:  sluice login " + url +
                         " with a token, or ask an admin to add people: to the policy\n");
  EXPECT_EQ(home.run({"context", "list", "-o", "json"}).out.find(url), std::string::npos);
  (*server)->stop();
}

}  // namespace sso_login_test
}  // namespace sluice::cli
