// Lines to requests, and answers of both kinds to lines.
#include "mcp/bridge.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "base/testing_wait.h"
#include "http/server.h"

namespace sluice::mcp {
namespace bridge_test {

struct Bridges : testing::Test {
  Bridges() {
    auto listening = http::listen_unix(disk, folder.path("s"));
    server = *http::Server::start(
        *std::move(listening),
        [this](const http::Request& request, const http::Peer&) {
          std::lock_guard lock(mutex);
          asked.push_back(request);
          return answer(request);
        },
        clock);
  }
  ~Bridges() override { server.reset(); }
  Bridge bridge() {
    return Bridge({.connect = [this] { return http::Client::to_unix(folder.path("s"), clock); },
                   .token = "",
                   .say = [this](const std::string& line) { said.push_back(line); }});
  }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  std::function<http::Response(const http::Request&)> answer;
  std::mutex mutex;
  std::vector<http::Request> asked;
  std::vector<std::string> said;
  std::unique_ptr<http::Server> server;
};

TEST_F(Bridges, AnswersAndEventsBecomeLines) {
  answer = [](const http::Request& request) {
    if (request.body.find("slow") == std::string::npos) return http::Response{.body = R"({"id":1})"};
    return http::Response{.content_type = "text/event-stream", .stream = [](http::Stream& to) {
                            to.write("event: message\ndata: {\"p\":1}\n\nevent: message\nda");
                            to.write("ta: {\"id\":2}\n\n");
                          }};
  };
  Bridge one = bridge();
  one.take(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  one.finish();
  one.take(R"({"jsonrpc":"2.0","id":2,"method":"slow"})");
  one.finish();
  one.take("");
  one.take("{");
  EXPECT_EQ(said, (std::vector<std::string>{R"({"id":1})", R"({"p":1})", R"({"id":2})", said.back()}));
  EXPECT_NE(said.back().find("-32700"), std::string::npos);
}

TEST_F(Bridges, ASessionIsNamedAfterTheHandshakeAndHeadersAreMadeOfTheBody) {
  answer = [](const http::Request& request) {
    http::Response response{.body = R"({"id":1})"};
    if (request.body.find("initialize\"") != std::string::npos) response.headers.push_back({"Mcp-Session-Id", "s1"});
    return response;
  };
  Bridge one = bridge();
  one.take(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})");
  one.take(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"status","_meta":)"
           R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})");
  one.finish();
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked[0].header("Mcp-Session-Id"), nullptr);
  EXPECT_EQ(*asked[1].header("Mcp-Session-Id"), "s1");
  EXPECT_EQ(*asked[1].header("Mcp-Method"), "tools/call");
  EXPECT_EQ(*asked[1].header("Mcp-Name"), "status");
  EXPECT_EQ(*asked[1].header("MCP-Protocol-Version"), "2026-07-28");
}

TEST_F(Bridges, WhatTheServerRefusesIsAnErrorOfTheRequest) {
  answer = [](const http::Request&) { return http::Response{.status = 403, .body = "no"}; };
  Bridge one = bridge();
  one.take(R"({"jsonrpc":"2.0","id":"a","method":"ping"})");
  one.take(R"({"jsonrpc":"2.0","method":"notifications/x"})");
  one.finish();
  EXPECT_EQ(said, (std::vector<std::string>{R"({"jsonrpc":"2.0","error":{"code":-32603,"message":"no"},"id":"a"})"}));
}

}  // namespace bridge_test
}  // namespace sluice::mcp
