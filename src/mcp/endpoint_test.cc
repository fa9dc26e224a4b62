// What HTTP adds: headers that must agree, origins, sessions.
#include "mcp/endpoint.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "host/testing_work.h"

namespace sluice::mcp {
namespace endpoint_test {

struct Endpoints : testing::Test {
  http::Response send(const std::string& body, std::vector<http::Header> headers = {}, std::string method = "POST") {
    http::Request request{.method = std::move(method), .target = "/mcp", .headers = std::move(headers), .body = body};
    request.headers.push_back({"Host", "127.0.0.1:8400"});
    request.headers.push_back({"Content-Type", "application/json"});
    return endpoint.answer(
        request, {.caller = "uid:7",
                  .door = std::make_shared<host::EngineDoor>(work.door_parts(), engine::Caller{.name = work.owner}),
                  .left = [this] { return left.load(); }});
  }

  host::TestingWork work;
  RealClock clock;
  std::atomic<bool> stopping = false;
  std::atomic<bool> left = false;
  Endpoint endpoint{"9", [this] { return work.kit; }, clock, stopping};
};

const std::string kPing = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";

TEST_F(Endpoints, APageOfAnotherOriginIsRefused) {
  EXPECT_EQ(send(kPing).status, 200);
  EXPECT_EQ(send(kPing, {{"Origin", "http://127.0.0.1:8400"}}).status, 200);
  for (const char* bad : {"http://evil.example", "null", "http://127.0.0.1:8401"}) {
    EXPECT_EQ(send(kPing, {{"Origin", bad}}).status, 403) << bad;
  }
}

TEST_F(Endpoints, HeadersOfAModernRequestAreThoseOfItsBody) {
  const std::string call = R"({"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"deploy_this_safely",)"
                           R"("arguments":{"environment":"prod"},"_meta":)"
                           R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})";
  const std::vector<http::Header> right{
      {"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "prompts/get"}, {"Mcp-Name", "deploy_this_safely"}};
  EXPECT_EQ(send(call, right).status, 200);
  for (size_t i = 0; i < right.size(); ++i) {
    std::vector<http::Header> wrong = right;
    wrong[i].value = "other";
    EXPECT_EQ(send(call, wrong).status, 400) << right[i].name;
    EXPECT_NE(send(call, wrong).body.find("-32020"), std::string::npos);
  }
}

TEST_F(Endpoints, AHandshakeBeginsASessionWhichCanBeFollowedAndEnded) {
  http::Response begun = send(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})");
  const std::string* session = http::find_header(begun.headers, "Mcp-Session-Id");
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->size(), 24U);
  EXPECT_EQ(send("", {}, "GET").status, 405);
  EXPECT_EQ(parse_json(send("", {}, "GET").body)->root.at("status"), 405) << "the body says the same";
  EXPECT_TRUE(send("", {{"Mcp-Session-Id", *session}}, "GET").feed);
  EXPECT_EQ(send("", {{"Mcp-Session-Id", *session}}, "DELETE").status, 204);
  EXPECT_EQ(send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})").status, 202);
}

TEST_F(Endpoints, WhoListensIsToldThatAndAnsweredAtTheEnd) {
  const std::string listen = R"({"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"_meta":)"
                             R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28"},)"
                             R"("notifications":{"resourceSubscriptions":["sluice://environments"]}}})";
  http::Response listened =
      send(listen, {{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "subscriptions/listen"}});
  ASSERT_TRUE(listened.feed);
  left = true;
  std::string out;
  EXPECT_FALSE(listened.feed->next(out));
  EXPECT_LT(out.find("notifications/subscriptions/acknowledged"), out.find(R"("resultType":"complete")")) << out;
}

TEST_F(Endpoints, WhoHasNoTokenIsToldWhereToLook) {
  http::Request request{.method = "GET", .target = "/mcp", .headers = {{"Host", "sluice.example"}}};
  EXPECT_EQ(Endpoint::metadata_url(request, false), "http://sluice.example/.well-known/oauth-protected-resource/mcp");
  EXPECT_EQ(parse_json(Endpoint::metadata(request, false).body)->root.at("resource"), "http://sluice.example/mcp");
}

}  // namespace endpoint_test
}  // namespace sluice::mcp
