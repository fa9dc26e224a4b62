// Requests and what is made of their answers.
#include "host/exchange.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "http/server.h"

namespace sluice::host {
namespace exchange_test {

struct Exchanges : testing::Test {
  Exchanges() {
    auto listening = http::listen_unix(disk, folder.path("s"));
    EXPECT_TRUE(listening);
    server = *http::Server::start(
        *std::move(listening), [this](const http::Request&, const http::Peer&) { return response; }, clock);
    client = *http::Client::to_unix(folder.path("s"), clock);
  }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  http::Response response;
  std::unique_ptr<http::Server> server;
  std::unique_ptr<http::Client> client;
};

TEST_F(Exchanges, AnswersAreJson) {
  response = {.status = 201, .body = R"({"a":1})"};
  auto reply = exchange(*client, get({"a"}));
  ASSERT_TRUE(reply) << to_string(reply.error());
  EXPECT_EQ(reply->status, 201);
  EXPECT_EQ(reply->body, (json::value{{"a", 1}}));
  EXPECT_EQ(*ask(*client, get({"a"})), (json::value{{"a", 1}}));
}

TEST_F(Exchanges, ProblemsAreErrorsForThoseWhoAsk) {
  response = {.status = 404, .body = R"({"code":"not_found","detail":"none here"})"};
  EXPECT_TRUE(exchange(*client, get({"a"}))->refused());
  EXPECT_EQ(ask(*client, get({"a"})).error(), (Error{.code = Code::not_found, .message = "none here"}));
}

TEST_F(Exchanges, SaysWhatIsNoJson) {
  response = {.body = "hello"};
  EXPECT_EQ(ask(*client, get({"a"})).error().message, "the server answered 200 with what is no JSON");
  response = {.status = 204};
  EXPECT_EQ(exchange(*client, get({"a"}))->status, 204);
}

TEST_F(Exchanges, BodiesSayThatTheyAreJson) {
  http::Request request = post({"v1", "a b"}, {{"x", 1}}, {{"q", "1"}});
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/v1/a%20b?q=1");
  EXPECT_EQ(*request.header("content-type"), "application/json");
  EXPECT_EQ(request.body, R"({"x":1})");
}

}  // namespace exchange_test
}  // namespace sluice::host
