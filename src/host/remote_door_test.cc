// Against a server that says what a test wants; api/service_test.cc has the real one.
#include "host/remote_door.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <mutex>

#include "base/json.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "host/problem.h"
#include "http/server.h"

namespace sluice::host {
namespace remote_door_test {

constexpr const char* kFlow = "01J0000000000000000000000A";

struct RemoteDoors : testing::Test {
  void serve(std::vector<http::Response> answers) {
    responses = std::move(answers);
    auto listening = http::listen_unix(disk, folder.path("s.sock"));
    server = *http::Server::start(
        *std::move(listening),
        [this](const http::Request& request, const http::Peer& peer) {
          std::lock_guard lock(mutex);
          connections.push_back(peer.connection);
          asked.push_back(request.method + " " + request.target);
          if (const std::string* kit = request.header("Sluice-Kit")) kits.push_back(*kit);
          return responses.at(asked.size() - 1);
        },
        clock);
    door = *RemoteDoor::open(folder.path("s.sock"), clock, {.kit = "built-in:deploy", .purpose = "traffic set"});
  }
  static http::Response json_of(const json::value& value, int status = 200) {
    return {.status = status, .body = write(value)};
  }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  std::mutex mutex;
  std::vector<http::Response> responses;
  std::vector<uint64_t> connections;
  std::vector<std::string> asked, kits;
  std::unique_ptr<http::Server> server;
  std::unique_ptr<RemoteDoor> door;
};

TEST_F(RemoteDoors, NobodyListens) {
  EXPECT_EQ(RemoteDoor::open(folder.path("none.sock"), clock, {}).error().code, Code::not_found);
}

TEST_F(RemoteDoors, ACallIsWaitedForOverOneConnection) {
  const json::object open{{"action", "Work/ask"}, {"flow", kFlow}, {"state", "running"}, {"waitsFor", "Work/wait"}};
  const json::object done{{"action", "Work/ask"}, {"flow", kFlow}, {"state", "settled"}, {"variant", "ok"},
                          {"fields", {{"n", 3}}}, {"code", "ok"},  {"position", 9}};
  serve({json_of(open, 202), json_of(open, 202), json_of(done)});
  std::vector<std::string> waits;
  auto answer = door->call({.action = "Work/ask", .input = {{"n", 3}}},
                           {.waits_for = [&](const std::string& what) { waits.push_back(what); }});
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->variant, "ok");
  EXPECT_EQ(answer->position, 9);
  EXPECT_EQ(waits, std::vector<std::string>{"Work/wait"});
  EXPECT_EQ(asked[0], "POST /v1/actions/Work/ask?wait=answer&for_ms=500");
  EXPECT_EQ(asked[2], "GET /v1/flows/" + std::string(kFlow) + "/answer?wait=answer&for_ms=100");
  EXPECT_EQ(connections, std::vector<uint64_t>(3, connections[0]));
  EXPECT_EQ(kits, std::vector<std::string>(3, "built-in:deploy"));
}

TEST_F(RemoteDoors, ARefusalWithAVariantIsAnAnswerAndOneWithoutAnError) {
  json::object refused = problem({.code = Code::conflict, .message = "late"});
  json::object ended = refused;
  ended["action"] = "Work/go";
  ended["variant"] = "late";
  ended["code"] = "conflict";
  serve({json_of(ended, 409), json_of(refused, 409)});
  auto answer = door->call({.action = "Work/go"});
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->code, Code::conflict);
  EXPECT_EQ(door->call({.action = "Work/go"}).error().message, "late");
}

TEST_F(RemoteDoors, AViewCarriesItsPosition) {
  http::Response view = json_of(json::array{1});
  view.headers.push_back({"ETag", "\"52\""});
  serve({view});
  auto answer = door->view("names", {{"environment", "a b"}, {"revisions", {"x@1", "y@2"}}});
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->position, 52);
  EXPECT_EQ(asked[0], "GET /v1/views/names?environment=a%20b&revisions=x%401%2Cy%402");
}

TEST_F(RemoteDoors, WhatStandsStillIsNotWaitedFor) {
  const json::object done{{"action", "Work/go"}, {"flow", kFlow},         {"state", "settled"},  {"variant", "ok"},
                          {"code", "ok"},        {"followUpsPending", 1}, {"followUpsMoving", 0}};
  json::object stuck = done;
  stuck["state"] = "stuck";
  serve({json_of(done), json_of(stuck)});
  EXPECT_EQ(door->call({.action = "Work/go", .wait = WaitFor::all})->follow_ups_pending, 1) << "a dead letter";
  EXPECT_EQ(door->call({.action = "Work/go", .wait = WaitFor::settled})->state, store::FlowStatus::stuck);
  EXPECT_EQ(asked.size(), 2U);
}

TEST_F(RemoteDoors, PeoplesApprovalIsNotWaitedFor) {
  serve({json_of(
      {{"action", "Traffic/set"}, {"flow", kFlow}, {"variant", "approvalNeeded"}, {"code", "waiting_for_approval"}},
      202)});
  auto answer = door->call({.action = "Traffic/set", .wait = WaitFor::settled});
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->code, Code::waiting_for_approval);
  EXPECT_EQ(asked.size(), 1U);
}

TEST_F(RemoteDoors, AsksWhatItIsAndForItsEnd) {
  serve({json_of({{"pid", 7}}), json_of({{"pid", 7}}), json_of(problem({.code = Code::denied, .message = "no"}), 403)});
  EXPECT_EQ(door->status()->at("pid"), 7);
  EXPECT_EQ(door->stop("upgrade")->at("pid"), 7);
  EXPECT_EQ(door->stop("upgrade").error().code, Code::denied);
  EXPECT_EQ(asked, (std::vector<std::string>{"GET /v1/status", "POST /v1/stop", "POST /v1/stop"}));
}

}  // namespace remote_door_test
}  // namespace sluice::host
