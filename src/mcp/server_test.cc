// Messages of both eras, on an engine with one concept.
#include "mcp/server.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "host/testing_work.h"
#include "mcp/words.h"

namespace sluice::mcp {
namespace server_test {

struct Servers : testing::Test {
  json::object send(const std::string& text) {
    auto answer = server.answer(parse_json(text)->root.as_object(), {.caller = "uid:7",
                                                                     .session = "s",
                                                                     .door = door,
                                                                     .tell =
                                                                         [&](const json::object& message) {
                                                                           told.push_back(message);
                                                                           if (on_tell) on_tell();
                                                                         },
                                                                     .stop = [] { return false; }});
    return answer ? *answer : json::object();
  }
  static json::object modern(const std::string& method) {
    return {
        {"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", {{"_meta", {{kVersionKey, kModernVersion}}}}}};
  }

  host::TestingWork work;
  host::EngineDoor door{work.door_parts(), {.name = work.owner}};
  RealClock clock;
  SeededRandom random{7};
  Server server{{.version = "9", .kit = [this] { return work.kit; }, .clock = clock, .random = random}};
  std::vector<json::object> told;
  std::function<void()> on_tell;
};

TEST_F(Servers, TheHandshakeTakesAVersionThatBothSpeak) {
  auto version = [&](const std::string& wanted) {
    json::object said =
        send(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":")" + wanted + R"("}})");
    return text_in(object_in(said, "result"), "protocolVersion");
  };
  EXPECT_EQ(version("2025-03-26"), "2025-03-26");
  EXPECT_EQ(version("2024-01-01"), "2025-11-25");
  EXPECT_EQ(version("2026-07-28"), "2025-11-25");  // it has no handshake
}

TEST_F(Servers, AModernAnswerSaysWhatItIs) {
  const json::object said = send(write(modern("server/discover")));
  const json::object& result = object_in(said, "result");
  EXPECT_EQ(result.at("resultType"), "complete");
  EXPECT_EQ(result.at("cacheScope"), "private");
  EXPECT_EQ(write(result.at("supportedVersions")), R"(["2026-07-28"])");
  EXPECT_EQ(result.at("_meta").at("io.modelcontextprotocol/serverInfo").at("version"), "9");
  EXPECT_FALSE(object_in(send(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})"), "result").contains("resultType"));
}

TEST_F(Servers, WhatIsNoRequestIsRefusedAndANotificationHasNoAnswer) {
  EXPECT_EQ(object_in(send(R"({"jsonrpc":"2.0","id":1,"method":"no/thing"})"), "error").at("code"), kNoMethod);
  EXPECT_EQ(object_in(send(R"({"id":1,"method":"ping"})"), "error").at("code"), kInvalidRequest);
  EXPECT_EQ(object_in(send(R"({"jsonrpc":"2.0","id":null,"method":"ping"})"), "error").at("code"), kInvalidRequest);
  EXPECT_TRUE(send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})").empty());
  json::object late = modern("ping");
  late["params"] = json::object{{"_meta", {{kVersionKey, "2030-01-01"}}}};
  EXPECT_EQ(object_in(send(write(late)), "error").at("code"), kUnsupportedVersion);
}

TEST_F(Servers, ACallIsAnsweredOrRefusedInWords) {
  const std::string call =
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"call_action","arguments":)";
  json::object done = send(call + R"({"action":"Work/go","input":{"n":3}}}})");
  EXPECT_EQ(object_in(done, "result").at("structuredContent").at("variant"), "ok") << write(done);
  json::object late = send(call + R"({"action":"Work/go","input":{"n":101}}}})");
  EXPECT_EQ(object_in(late, "result").at("isError"), true);
  json::object none = send(call + R"({"action":"Work/went"}}})");
  EXPECT_EQ(object_in(none, "result").at("content").at(0).at("text"),
            "there is no action Work/went; did you mean Work/wait?\nnext: sluice kit show");
}

TEST_F(Servers, WhoCancelsIsNotKeptWaitingAndTheFlowGoesOn) {
  // The first progress that is told is the moment at which the client has enough.
  on_tell = [&] {
    server.answer({{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", 5}}}},
                  {.caller = "uid:7", .session = "s", .door = door, .tell = {}, .stop = {}});
  };
  json::object said = send(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"_meta":{"progressToken":"t"},)"
                           R"("name":"call_action","arguments":{"action":"Work/ask","input":{"n":3}}}})");
  const json::object& answer = object_in(object_in(said, "result"), "structuredContent");
  EXPECT_FALSE(answer.contains("variant")) << write(said);
  EXPECT_EQ(answer.at("waitsFor"), "Work/wait");
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told[0].at("params").at("progressToken"), "t");
}

}  // namespace server_test
}  // namespace sluice::mcp
