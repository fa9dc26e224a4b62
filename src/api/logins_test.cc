// Logging in where there is nobody to log in as: on a kit without sessions. tests/serve/test_sessions.py has the rest.
#include "api/logins.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "api/testing_served.h"
#include "host/exchange.h"

namespace sluice::api {
namespace logins_test {

struct LoginsTest : testing::Test {
  http::Response send(http::Request request, std::vector<http::Header> headers = {}) {
    request.headers.insert(request.headers.end(), headers.begin(), headers.end());
    EXPECT_TRUE(http::take_target_apart(request));
    return served.service->answer(request, {.connection = 1, .address = "127.0.0.1"});
  }
  http::Request login(const json::value& body) { return host::post({"v1", "login"}, body); }

  TestingServed served;
};

TEST_F(LoginsTest, NeedsATokenOrACodeFromAPageOfThisServer) {
  EXPECT_EQ(send(login(json::object{})).status, 400);
  EXPECT_EQ(send(login({{"token", "a"}, {"code", "b"}})).status, 400);
  EXPECT_EQ(send(login({{"token", 1}})).status, 400);
  EXPECT_EQ(send(login({{"password", "x"}})).status, 400);
  EXPECT_EQ(send(login({{"token", "a"}}), {{"Sec-Fetch-Site", "cross-site"}}).status, 403);
  EXPECT_EQ(send(login({{"token", "a"}}), {{"Host", "h"}, {"Origin", "http://evil.example"}}).status, 403);
  http::Response none = send(login({{"token", "a"}}), {{"Host", "h"}, {"Origin", "http://h"}});
  EXPECT_EQ(none.status, 404);
  EXPECT_NE(none.body.find("the kit that runs keeps no sessions"), std::string::npos);
}

TEST_F(LoginsTest, WhoComesByTheSocketHasNoSession) {
  auto client = http::Client::to_unix(served.socket(), served.clock);
  ASSERT_TRUE(client);
  auto reply = host::exchange(**client, host::get({"v1", "session"}));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->body.at("caller"), json::value(served.owner));
  EXPECT_EQ(reply->body.at("session"), nullptr);
  EXPECT_EQ(reply->body.at("roles"), json::array{"admin"});
  EXPECT_EQ(host::exchange(**client, host::post({"v1", "logout"}, json::object()))->status, 400);
  EXPECT_EQ(host::exchange(**client, host::post({"v1", "login", "codes"}, json::object()))->status, 201);
  EXPECT_EQ(send(host::get({"v1", "session"})).status, 401);
}

}  // namespace logins_test
}  // namespace sluice::api
