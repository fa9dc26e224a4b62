// The engine as HTTP: routes, callers, answers and problems.
#include "api/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <thread>

#include "api/testing_served.h"
#include "base/atomic_file.h"
#include "base/testing_wait.h"
#include "host/exchange.h"
#include "host/remote_door.h"
#include "http/client.h"

namespace sluice::api {
namespace service_test {

using testing::HasSubstr;

struct Services : testing::Test {
  host::Reply send(http::Request request) {
    auto client = http::Client::to_unix(served.socket(), served.clock);
    EXPECT_TRUE(client);
    auto reply = host::exchange(**client, std::move(request), 60'000);
    EXPECT_TRUE(reply) << to_string(reply.error());
    return reply ? *reply : host::Reply{};
  }
  host::Reply act(const std::string& action, const json::value& body, const http::Query& query = {},
                  const std::vector<http::Header>& headers = {}) {
    http::Request request = host::post({"v1", "actions", "Work", action}, body, query);
    request.headers.insert(request.headers.end(), headers.begin(), headers.end());
    return send(request);
  }
  static std::string text(const host::Reply& reply, std::string_view name) {
    const json::value* value = reply.body.as_object().if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
  }

  TestingServed served;
};

TEST_F(Services, AnActionIsAnsweredWithItsCompletion) {
  host::Reply reply = act("go", {{"input", {{"n", 7}}}, {"reason", "tea"}});
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(text(reply, "variant"), "ok");
  EXPECT_EQ(text(reply, "code"), "ok");
  EXPECT_EQ(text(reply, "state"), "settled");
  EXPECT_EQ(reply.body.at("fields"), (json::value{{"n", 7}}));
  EXPECT_EQ(reply.body.at("maybeDone"), false);
  EXPECT_EQ(reply.body.at("position"), 1);
  EXPECT_EQ(text(reply, "flow"), text(reply, "invocation"));
  auto row = (*served.store.read())->journal(1);
  auto step = engine::read_step((*row)->record);
  EXPECT_EQ(step->caller, (engine::Caller{served.owner, "tea"}));
  ASSERT_EQ(served.logged().size(), 1U);
  EXPECT_THAT(served.logged()[0], testing::MatchesRegex("uid:[0-9]+ Work/go => ok in .* ms, flow .*"));
}

TEST_F(Services, AnotherVariantIsAProblemWithTheCompletionInIt) {
  host::Reply reply = act("go", {{"input", {{"n", 101}}}});
  EXPECT_EQ(reply.status, 409);
  EXPECT_EQ(text(reply, "type"), "urn:sluice:problem:conflict");
  EXPECT_EQ(text(reply, "detail"), "too late");
  EXPECT_EQ(text(reply, "variant"), "late");
  EXPECT_EQ(text(reply, "code"), "conflict");
  EXPECT_EQ(text(reply, "next"), "sluice flow trace " + text(reply, "flow"));
}

TEST_F(Services, AKeyJoinsTheFirstCallAndNoOther) {
  std::vector<http::Header> key = {{"Idempotency-Key", "k1"}};
  host::Reply first = act("go", {{"input", {{"n", 1}}}}, {}, key);
  host::Reply again = act("go", {{"input", {{"n", 1}}}}, {}, key);
  EXPECT_EQ(again.body, first.body);
  host::Reply other = act("go", {{"input", {{"n", 2}}}}, {}, key);
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(text(other, "detail"), "the key k1 was used for another request");
  EXPECT_EQ(act("go", {{"input", {{"n", 1}}}}, {}, {{"Idempotency-Key", std::string(300, 'k')}}).status, 400);
}

TEST_F(Services, WhoWantsAPositionIsAnsweredOnceItIsThere) {
  act("go", {{"input", {{"n", 1}}}});
  EXPECT_EQ(send(host::get({"v1", "state", "Work"}, {{"at_least", "1"}})).status, 200);
  auto early = send(host::get({"v1", "views", "flows"}, {{"at_least", "9"}, {"for_ms", "1"}}));
  EXPECT_EQ(early.status, 504);
  EXPECT_EQ(text(early, "detail"), "position 9 is not there: the newest is 1");
}

// A replica that does not lead has the store, and no engine.
TEST_F(Services, WithoutAnEngineReadsAreAnsweredAndNothingElse) {
  act("go", {{"input", {{"n", 1}}}});
  host::CommittedElsewhere committed(served.store, served.clock);
  Service reader(host::ServiceParts{.committed = &committed,
                                    .store = &served.store,
                                    .uploads = &served.uploads,
                                    .concepts = &served.loaded,
                                    .disk = &served.disk,
                                    .clock = &served.clock,
                                    .home = &served.home,
                                    .owner = served.owner,
                                    .kit = [this] { return served.kit; },
                                    .about = [] { return json::object(); }});
  auto ask = [&](const std::string& method, std::vector<std::string> path, const http::Peer& peer) {
    return reader.answer_from_committed({.method = method, .target = "/", .path = std::move(path)}, peer);
  };
  const http::Peer owner{.credentials = http::Credentials{.user = ::geteuid(), .pid = ::getpid()}};
  for (const std::vector<std::string>& each : {std::vector<std::string>{"v1", "position"},
                                               {"v1", "journal"},
                                               {"v1", "flows"},
                                               {"v1", "views", "flows"},
                                               {"v1", "state", "Work"}}) {
    auto answer = ask("GET", each, owner);
    ASSERT_TRUE(answer) << each.back();
    EXPECT_EQ(answer->status, 200) << answer->body;
  }
  EXPECT_EQ(ask("GET", {"v1", "position"}, owner)->body, R"({"position":1})");
  EXPECT_FALSE(ask("POST", {"v1", "actions", "Work", "go"}, owner));
  EXPECT_FALSE(ask("GET", {"v1", "status"}, owner)) << "who runs the engine says that";
  EXPECT_FALSE(ask("GET", {"v1", "nowhere"}, owner));
  EXPECT_FALSE(ask("GET", {"v1", "position"}, {})) << "nobody knows who that is: they are told by who writes it down";
}

TEST_F(Services, BadCallsAreExplainedAndChangeNothing) {
  auto detail = [&](const host::Reply& reply) { return std::to_string(reply.status) + " " + text(reply, "detail"); };
  EXPECT_EQ(detail(act("go", json::object())), "400 n is missing");
  EXPECT_EQ(detail(act("went", json::object())), "404 there is no action Work/went; did you mean Work/wait?");
  EXPECT_EQ(detail(send(host::post({"v1", "actions", "Timer", "wait"}, json::object()))),
            "404 there is no action Timer/wait");
  EXPECT_EQ(detail(act("go", {{"inputs", 1}})), "400 the body has no member inputs");
  EXPECT_EQ(detail(act("go", {{"input", 1}})), "400 input is an object");
  EXPECT_EQ(detail(act("go", {{"reason", 1}})), "400 reason is a text");
  EXPECT_EQ(detail(act("go", json::array())), "400 the body is a JSON object");
  EXPECT_EQ(detail(act("go", {{"input", {{"n", 1}}}}, {{"wait", "long"}})),
            "400 wait is start, answer, settled or all");
  EXPECT_EQ(detail(act("go", {{"input", {{"n", 1}}}}, {}, {{"If-Match", "x"}})),
            "400 the generation in If-Match is a whole number, not 'x'");
  http::Request plain = host::post({"v1", "actions", "Work", "go"}, json::object());
  plain.headers.clear();
  EXPECT_EQ(detail(send(plain)), "400 the body is JSON, and its Content-Type must say so");
  http::Request broken = host::post({"v1", "actions", "Work", "go"}, json::object());
  broken.body = "{";
  EXPECT_EQ(send(broken).status, 400);
  EXPECT_EQ(detail(send(host::get({"v1", "nothing"}))), "404 there is nothing at /v1/nothing");
  EXPECT_EQ(detail(send(host::get({"v1", "stop"}))), "405 /v1/stop takes POST, not GET");
  EXPECT_EQ((*served.store.read())->position(), 0U);
}

TEST_F(Services, AnActionIsDescribed) {
  EXPECT_EQ(send(host::get({"v1", "actions", "Work", "go"})).body,
            json::parse(R"({"action":"Work/go","query":false,"variants":{"ok":"ok","late":"conflict"}})"));
  EXPECT_EQ(send(host::get({"v1", "actions", "Work", "look"})).body.at("query"), true);
  EXPECT_EQ(send(host::get({"v1", "actions", "Work", "went"})).status, 404);
}

TEST_F(Services, AQueryIsAskedTheSameWay) {
  host::Reply reply = act("look", json::object());
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body,
            (json::value{
                {"action", "Work/look"}, {"variant", "ok"}, {"fields", {{"n", 1}}}, {"code", "ok"}, {"position", 0}}));
}

TEST_F(Services, WhatIsNotDoneInTimeIsAnsweredAsItIs) {
  host::Reply reply = act("ask", {{"input", {{"n", 1}}}}, {{"for_ms", "0"}});
  EXPECT_EQ(reply.status, 202);
  EXPECT_EQ(text(reply, "state"), "running");
  EXPECT_EQ(text(reply, "waitsFor"), "Work/wait");
  std::string id = text(reply, "flow");
  host::Reply flow = send(host::get({"v1", "flows", id}));
  EXPECT_EQ(flow.body.at("done"), false);
  EXPECT_EQ(text(flow, "action"), "Work/ask");
  EXPECT_EQ(act("ask", {{"input", {{"n", 1}}}}, {{"wait", "start"}}).status, 202);
  served.release = true;
  flow = send(host::get({"v1", "flows", id}, {{"until", "settled"}, {"for_ms", "60000"}}));
  EXPECT_EQ(flow.body.at("done"), true);
  EXPECT_EQ(text(flow, "state"), "settled");
  EXPECT_EQ(text(act("ask", {{"input", {{"n", 1}}}}, {{"wait", "all"}}), "state"), "settled");
}

TEST_F(Services, FlowsAreListedAndShown) {
  for (int n : {1, 2, 101}) act("go", {{"input", {{"n", n}}}});
  host::Reply all = send(host::get({"v1", "flows"}));
  ASSERT_EQ(all.body.at("flows").as_array().size(), 3U);
  EXPECT_EQ(all.body.at("flows").at(0).at("failure"), "Work/go => late");
  EXPECT_EQ(all.body.at("more"), false);
  host::Reply failed = send(host::get({"v1", "flows"}, {{"failed", ""}}));
  EXPECT_EQ(failed.body.at("flows").as_array().size(), 1U);
  host::Reply first = send(host::get({"v1", "flows"}, {{"limit", "1"}}));
  EXPECT_EQ(first.body.at("more"), true);
  std::string newest(first.body.at("flows").at(0).at("flow").as_string());
  host::Reply rest = send(host::get({"v1", "flows"}, {{"before", newest}}));
  EXPECT_EQ(rest.body.at("flows").as_array().size(), 2U);
  host::Reply steps = send(host::get({"v1", "flows", newest, "steps"}));
  EXPECT_EQ(steps.body.at("steps").at(0).at("action"), "Work/go");
  EXPECT_EQ(send(host::get({"v1", "flows", to_string(Ulid()), "steps"})).status, 404);
  EXPECT_EQ(send(host::get({"v1", "flows"}, {{"before", "x"}})).status, 400);
}

TEST_F(Services, NobodyWaitsForPeopleOrForTheEnd) {
  EXPECT_EQ(act("sign", json::object()).status, 202);
  host::Reply waiting;
  std::thread asking([&] { waiting = act("ask", {{"input", {{"n", 1}}}}); });
  EXPECT_TRUE(eventually([&] { return served.engine->position() >= 2; }));
  served.service->stop_waiting();
  asking.join();
  EXPECT_EQ(waiting.status, 202);
  EXPECT_EQ(text(waiting, "state"), "running");
}

TEST_F(Services, OthersAreDeniedAndRecorded) {
  auto answer = [&](const http::Request& request, std::optional<http::Credentials> who) {
    http::Request whole = request;
    EXPECT_TRUE(http::take_target_apart(whole));
    return served.service->answer(whole, {.connection = 9, .credentials = who});
  };
  http::Credentials stranger{.user = 4711, .pid = 0};
  for (const http::Request& request : {host::post({"v1", "actions", "Work", "go"}, {{"input", {{"n", 1}}}}),
                                       host::post({"v1", "actions", "Work", "look"}, json::object()),
                                       host::get({"v1", "views", "flows"}, {{"for", "flow list"}}),
                                       host::get({"v1", "views", "flows"}, {{"for", "a\nb"}}),
                                       host::get({"v1", "status"}), host::post({"v1", "stop"}, json::object())}) {
    http::Response response = answer(request, stranger);
    EXPECT_EQ(response.status, 403) << request.target << response.body;
    EXPECT_EQ(answer(request, std::nullopt).status, 401) << request.target;
  }
  EXPECT_EQ(served.stops, 0);
  std::vector<std::string> denied;
  auto snapshot = served.store.read();
  ASSERT_TRUE((*snapshot)->journal_from(1, [&](const store::JournalRow& row) {
    auto step = engine::read_step(row.record);
    EXPECT_EQ(step->caller.name, "uid:4711");
    denied.push_back(step->action);
    return true;
  }));
  EXPECT_EQ(denied, (std::vector<std::string>{"Work/go", "Work/look", "flow list", "GET /v1/views/*", "GET /v1/status",
                                              "POST /v1/stop"}));
  EXPECT_EQ(answer(host::get({"healthz"}), std::nullopt).status, 200);
}

TEST_F(Services, FlowsAreDecidedAbout) {
  host::Reply reply = act("ask", {{"input", {{"n", 1}}}}, {{"wait", "start"}});
  std::vector<std::string> path = {"v1", "flows", text(reply, "flow"), "decisions"};
  EXPECT_EQ(text(send(host::post(path, {{"decision", "guess"}})), "detail"),
            "a decision is cancel, resolve, retry, drop or move");
  host::Reply cancelled = send(host::post(path, {{"decision", "cancel"}, {"reason", "no"}}));
  EXPECT_EQ(cancelled.status, 200);
  served.release = true;
  EXPECT_EQ(text(send(host::get({"v1", "flows", text(reply, "flow")}, {{"for_ms", "60000"}})), "state"), "failed");
  EXPECT_EQ(send(host::post(path, {{"decision", "cancel"}})).status, 409);
  EXPECT_EQ(send(host::post({"v1", "flows", "x", "decisions"}, {{"decision", "cancel"}})).status, 400);
}

TEST_F(Services, TellsItsStatusAndTakesTheWishToStop) {
  act("sign", json::object());
  host::Reply status = send(host::get({"v1", "status"}));
  EXPECT_EQ(status.body.at("openFlows"), 1);
  EXPECT_EQ(status.body.at("position"), 1);
  EXPECT_EQ(send(host::get({"healthz"})).body, (json::value{{"status", "ok"}}));
  EXPECT_EQ(served.stops, 0);
  EXPECT_EQ(send(host::post({"v1", "stop"}, {{"reason", "upgrade"}})).status, 202);
  EXPECT_EQ(served.stops, 1);
  EXPECT_EQ(served.logged().back(), served.owner + " asked to stop: upgrade");
}

TEST_F(Services, ReadsStateWithItsPosition) {
  ASSERT_TRUE(served.store.commit({.state = {{.rel = "Work", .key = "a", .generation = 2, .value = R"({"n":1})"},
                                             {.rel = "Work", .key = "b", .generation = 1, .value = "{}"}}}));
  EXPECT_EQ(send(host::get({"v1", "state", "Work"})).body,
            json::parse(R"({"position":0,"rows":[{"key":"a","generation":2,"value":{"n":1}},
                            {"key":"b","generation":1,"value":{}}],"more":false})"));
  EXPECT_EQ(send(host::get({"v1", "state", "Work"}, {{"prefix", "b"}})).body.at("rows").as_array().size(), 1U);
  EXPECT_EQ(send(host::get({"v1", "state", "Nothing"})).body.at("rows").as_array().size(), 0U);
}

TEST_F(Services, TheJournalIsReadAndWaitedFor) {
  act("go", {{"input", {{"n", 1}}}});
  host::Reply journal = send(host::get({"v1", "journal"}));
  ASSERT_EQ(journal.body.at("rows").as_array().size(), 1U);
  EXPECT_EQ(journal.body.at("rows").at(0).at("seq"), 1);
  EXPECT_EQ(send(host::get({"v1", "journal"}, {{"from", "2"}})).body.at("rows").as_array().size(), 0U);
  host::Reply later;
  std::thread waiting([&] { later = send(host::get({"v1", "journal"}, {{"from", "2"}, {"for_ms", "60000"}})); });
  act("go", {{"input", {{"n", 2}}}});
  waiting.join();
  EXPECT_EQ(later.body.at("rows").at(0).at("seq"), 2);
  EXPECT_EQ(send(host::get({"v1", "position"}, {{"at_least", "2"}, {"for_ms", "60000"}})).body,
            (json::value{{"position", 2}}));
}

TEST_F(Services, EventsGoOnWhereOneLeftOff) {
  for (int n = 1; n <= 3; ++n) act("go", {{"input", {{"n", n}}}});
  auto events = [&](const http::Request& request, const std::string& until) {
    auto socket = http::connect_unix(served.socket());
    http::Wire wire(*std::move(socket), served.clock);
    int64_t minute_ns = served.clock.monotonic_ns() + 60'000'000'000;
    wire.write(http::head_of(request), minute_ns);
    std::string got;
    while (got.find(until) == std::string::npos && wire.read(got, minute_ns, -1) == http::Wire::Read::some) {
    }
    return got;
  };
  http::Request request = host::get({"v1", "events"}, {{"raw", "true"}});
  request.headers = {{"Host", "h"}, {"Last-Event-ID", "1"}};
  std::string got = events(request, "id: 3\n");
  EXPECT_THAT(got, HasSubstr("Content-Type: text/event-stream\r\n"));
  EXPECT_THAT(got, HasSubstr("id: 2\nevent: step\ndata: {"));
  EXPECT_THAT(got, testing::Not(HasSubstr("id: 1\n")));
  request = host::get({"v1", "events"}, {{"from", "1"}, {"raw", "true"}});
  request.headers = {{"Host", "h"}};
  EXPECT_THAT(events(request, "id: 3\n"), HasSubstr("id: 1\n"));
  EXPECT_EQ(send(host::get({"v1", "events"}, {{"from", "x"}})).status, 400);
}

TEST_F(Services, BytesAreKeptUnderTheirDigestAndWrittenDown) {
  auto door = host::RemoteDoor::open(served.socket(), served.clock, {});
  ASSERT_TRUE(door);
  const std::string bytes(size_t{9} << 20U, 'b');  // more than any other body may have
  ASSERT_TRUE(write_atomically(served.disk, served.folder.path("bytes"), bytes, 0600));
  auto file = served.disk.open(served.folder.path("bytes"), {});
  for (uint64_t again = 1; again <= 2; ++again) {
    auto digest = (*door)->put(**file, "tea");
    ASSERT_TRUE(digest) << to_string(digest.error());
    EXPECT_EQ(*digest, crypto::to_string(crypto::sha256(bytes)));
    EXPECT_EQ(served.uploads.get(crypto::sha256(bytes), bytes.size())->size(), bytes.size());
    auto step = engine::read_step((*(*served.store.read())->journal(again))->record);
    EXPECT_EQ(step->kind, engine::Step::Kind::put);
    EXPECT_EQ(step->caller, (engine::Caller{served.owner, "tea"}));
    EXPECT_EQ(step->note, *digest);
    EXPECT_EQ(step->count, bytes.size());
  }
}

TEST_F(Services, BytesOfAnotherDigestAreNotKept) {
  const std::string digest = crypto::to_string(crypto::sha256("hello"));
  auto put = [&](const std::string& name) {
    return send({.method = "PUT", .target = "/v1/blobs/" + name, .body = "hullo"});
  };
  EXPECT_EQ(text(put(digest), "code"), "verification_failed");
  EXPECT_FALSE(*served.uploads.has(crypto::sha256("hullo")));
  EXPECT_EQ(put("hello").status, 400);
  EXPECT_EQ((*served.store.read())->position(), 0U);
}

}  // namespace service_test
}  // namespace sluice::api
