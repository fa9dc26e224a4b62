// The client against a server that says what the test tells it to; what real servers say is in tests/kube.
#include "kube/client.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/json.h"
#include "base/real_disk.h"
#include "http/server.h"

namespace sluice::kube {
namespace client_test {

using http::Request;
using http::Response;

Response status(int code, const std::string& reason, const std::string& message, const std::string& details = "{}") {
  return {.status = code,
          .body = R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":)" +
                  write(json::value(message)) + R"(,"reason":")" + reason + R"(","details":)" + details +
                  R"(,"code":)" + std::to_string(code) + "}"};
}

// Real time in which nobody waits; it says how long they would have.
class HastyClock final : public Clock {
 public:
  std::atomic<int64_t> slept_ms = 0;
  int64_t wall_ms() const override { return real_.wall_ms(); }
  int64_t monotonic_ns() const override { return real_.monotonic_ns(); }
  void sleep_ms(int64_t duration_ms) override { slept_ms += duration_ms; }

 private:
  RealClock real_;
};

class KubeClientTest : public testing::Test {
 protected:
  KubeClientTest() {
    auto listening = http::listen_tcp("127.0.0.1", 0);
    EXPECT_TRUE(listening);
    const uint16_t port = http::port_of(*listening);
    auto started = http::Server::start(
        *std::move(listening),
        [this](const Request& request, const http::Peer&) {
          std::lock_guard lock(mutex);
          asked.push_back(request.method + " " + request.target);
          if (request.target == "/api/v1") return Response{.body = kCore};
          if (request.target == "/apis/apps/v1") return Response{.body = kApps};
          return answer(request);
        },
        clock);
    EXPECT_TRUE(started);
    server = *std::move(started);
    client = std::make_unique<Client>(Access{.server = "http://127.0.0.1:" + std::to_string(port), .token = "t"}, disk,
                                      clock, RunPlugin());
  }
  const std::string kCore =
      R"({"resources":[{"name":"configmaps","kind":"ConfigMap","namespaced":true,"verbs":["get","list"]},
          {"name":"namespaces","kind":"Namespace","namespaced":false,"verbs":["get"]},
          {"name":"pods/log","kind":"Pod","namespaced":true,"verbs":["get"]}]})";
  const std::string kApps =
      R"({"resources":[{"name":"deployments","kind":"Deployment","namespaced":true,"verbs":[]}]})";
  const ObjectRef ref{.api_version = "v1", .kind = "ConfigMap", .name_space = "shop", .name = "c"};
  const json::value map =
      json::parse(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"shop"}})");

  RealDisk disk;
  HastyClock clock;
  std::mutex mutex;
  std::vector<std::string> asked;
  std::function<Response(const Request&)> answer = [](const Request&) { return Response{.body = "{}"}; };
  std::unique_ptr<http::Server> server;
  std::unique_ptr<Client> client;
};

TEST_F(KubeClientTest, AppliesByTheResourceThatDiscoveryNames) {
  std::string told, type;
  answer = [&](const Request& request) {
    told = *request.header("authorization");
    type = *request.header("content-type");
    std::string body = request.body;
    while (request.more) {
      std::string piece;
      auto got = request.more(piece);
      if (!got || !*got) break;
      body += piece;
    }
    return Response{.status = 201, .body = body};
  };
  auto reply = client->apply(map, {.manager = "m x", .force = true, .dry_run = true});
  ASSERT_TRUE(reply) << to_string(reply.error());
  EXPECT_EQ(reply->status, 201);
  EXPECT_EQ(reply->body, map);
  EXPECT_EQ(told, "Bearer t");
  EXPECT_EQ(type, "application/apply-patch+yaml");
  EXPECT_EQ(asked,
            (std::vector<std::string>{
                "GET /api/v1", "PATCH /api/v1/namespaces/shop/configmaps/c?fieldManager=m%20x&force=true&dryRun=All"}));
  ASSERT_TRUE(client->apply(map, {.manager = "m"}));
  EXPECT_EQ(asked.size(), 3U) << "discovery is kept";
}

TEST_F(KubeClientTest, AnUnknownKindIsLookedForAgain) {
  auto kind = client->kind_of("apps/v1", "Widget");
  EXPECT_EQ(kind.error().code, Code::not_found);
  EXPECT_EQ(kind.error().message, "the cluster has no kind Widget of apps/v1");
  (void)client->kind_of("apps/v1", "Widget");
  EXPECT_EQ(asked.size(), 2U);
  EXPECT_FALSE(client->kind_of("v1", "Pod")) << "a subresource is no kind";
}

TEST_F(KubeClientTest, RefusalsHaveTheirCauses) {
  answer = [](const Request&) {
    return status(
        409, "Conflict", "Apply failed with 1 conflict",
        R"({"causes":[{"reason":"FieldManagerConflict","message":"conflict with \"hpa\"","field":".spec.replicas"}]})");
  };
  auto reply = client->apply(map, {.manager = "m"});
  ASSERT_TRUE(reply && reply->failure);
  EXPECT_TRUE(reply->failure->is_field_conflict());
  EXPECT_EQ(reply->failure->causes[0].field, ".spec.replicas");
  EXPECT_EQ(reply->failure->error("applying").message, "applying: Apply failed with 1 conflict");
  answer = [](const Request&) {
    return Response{.status = 404, .content_type = "text/plain", .body = "404 page not found\n"};
  };
  EXPECT_EQ(client->get(ref)->failure->message, "404 page not found");
  answer = [](const Request&) { return Response{.status = 403}; };
  EXPECT_EQ(client->get(ref)->failure->error("x").message, "x: the server answered 403");
  answer = [](const Request&) { return Response{.body = "<html>"}; };
  EXPECT_EQ(client->get(ref).error().message,
            "GET /api/v1/namespaces/shop/configmaps/c: the server answered something else than JSON");
}

TEST_F(KubeClientTest, EachStatusHasItsCode) {
  for (auto [code, expected] : {std::pair{400, Code::invalid},
                                {401, Code::unauthenticated},
                                {403, Code::denied},
                                {404, Code::not_found},
                                {409, Code::conflict},
                                {410, Code::conflict},
                                {413, Code::limit},
                                {422, Code::invalid},
                                {429, Code::unavailable},
                                {500, Code::failed},
                                {503, Code::unavailable},
                                {504, Code::timeout}}) {
    EXPECT_EQ(read_failure(code, "").error("x").code, expected) << code;
  }
}

TEST_F(KubeClientTest, WhatTheServerCannotDoNowIsAskedAgain) {
  int left = 3;
  answer = [&](const Request&) {
    if (left-- > 0) return Response{.status = 429, .content_type = "text/plain", .body = "Too many requests"};
    return Response{.body = "{}"};
  };
  EXPECT_FALSE(client->get(ref)->failure);
  EXPECT_EQ(asked.size(), 5U);
  answer = [&](const Request&) { return status(500, "", "broken"); };
  EXPECT_EQ(client->get(ref)->failure->message, "broken");
  EXPECT_EQ(asked.size(), 6U) << "a 500 that does not ask for it is an answer";
}

TEST_F(KubeClientTest, WaitsForAsLongAsTheServerAsks) {
  bool asked_to_wait = false;
  answer = [&](const Request&) {
    if (std::exchange(asked_to_wait, true)) return Response{.body = "{}"};
    return Response{.status = 500, .headers = {{"Retry-After", "7"}}, .body = "busy"};
  };
  clock.slept_ms = 0;
  EXPECT_FALSE(client->get(ref)->failure);
  EXPECT_GE(clock.slept_ms, 7'000);
  EXPECT_LT(clock.slept_ms, 8'000);
}

TEST_F(KubeClientTest, AStormEnds) {
  answer = [](const Request&) { return Response{.status = 503}; };
  auto reply = client->get(ref);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->failure->status, 503);
  EXPECT_EQ(asked.size(), 1U + kMostAttempts);
}

TEST_F(KubeClientTest, ListsPageByPageAndAnewWhenForgotten) {
  bool forgotten = false;
  answer = [&](const Request& request) {
    const std::string* rest = request.parameter("continue");
    EXPECT_EQ(*request.parameter("limit"), "2");
    EXPECT_EQ(*request.parameter("labelSelector"), "a=b");
    if (rest == nullptr) {
      return Response{.body = R"({"metadata":{"resourceVersion":"7","continue":"x/y="},
          "items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]})"};
    }
    EXPECT_EQ(*rest, "x/y=");
    if (!std::exchange(forgotten, true)) return status(410, "Expired", "too old");
    return Response{.body = R"({"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"c"}}]})"};
  };
  auto kind = client->kind_of("v1", "ConfigMap");
  ASSERT_TRUE(kind);
  auto listed = client->list(*kind, {.name_space = "shop", .labels = "a=b", .page = 2});
  ASSERT_TRUE(listed) << to_string(listed.error());
  ASSERT_EQ(listed->items.size(), 3U);
  EXPECT_EQ(ref_of(listed->items[2]).kind, "ConfigMap");
  EXPECT_EQ(listed->version, "7");
  EXPECT_EQ(asked.size(), 5U);
}

TEST_F(KubeClientTest, AListThatNeverEndsIsNotReadForEver) {
  answer = [](const Request&) {
    return Response{
        .body = R"({"metadata":{"continue":"more"},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]})"};
  };
  auto kind = client->kind_of("v1", "ConfigMap");
  ASSERT_TRUE(kind);
  auto listed = client->list(*kind, {.name_space = "shop", .most = 10});
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, Code::limit);
  EXPECT_EQ(listed.error().message, "listing configmaps: there are more than 10 of them");
  EXPECT_EQ(asked.size(), 7U);
}

TEST_F(KubeClientTest, FollowsThroughBookmarksAndForgottenVersions) {
  int lists = 0, watches = 0;
  std::vector<std::string> versions;
  answer = [&](const Request& request) {
    if (request.parameter("watch") == nullptr) {
      ++lists;
      return Response{
          .body =
              lists == 1
                  ? R"({"metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]})"
                  : R"({"metadata":{"resourceVersion":"20"},"items":[{"metadata":{"name":"a"}}]})"};
    }
    versions.push_back(*request.parameter("resourceVersion"));
    ++watches;
    std::string events;
    if (watches == 1) {
      events = R"({"type":"MODIFIED","object":{"metadata":{"name":"a","resourceVersion":"6"}}})"
               "\n"
               R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}})"
               "\n";
    } else if (watches == 2) {
      events = R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}})"
               "\n";
    } else {
      events = R"({"type":"DELETED","object":{"metadata":{"name":"a","resourceVersion":"21"}}})"
               "\n";
    }
    return Response{.stream = [events](http::Stream& stream) { stream.write(events); }};
  };
  std::vector<std::string> seen;
  bool done = false;
  auto followed = client->follow(
      {.api_version = "v1", .kind = "ConfigMap", .resource = "configmaps"}, {.name_space = "shop"},
      [&](Happened what, const json::value& object) {
        const std::string name = text_at(object, {"metadata", "name"});
        seen.push_back((what == Happened::added ? "+" : what == Happened::modified ? "~" : "-") + name);
        done = seen.back() == "-a";
      },
      [&] { return done; });
  ASSERT_TRUE(followed) << to_string(followed.error());
  EXPECT_EQ(seen, (std::vector<std::string>{"+a", "+b", "~a", "~a", "-b", "-a"}));
  EXPECT_EQ(versions, (std::vector<std::string>{"5", "9", "20"}));
}

TEST_F(KubeClientTest, AWatchOfNonsenseEndsInAnError) {
  answer = [&](const Request& request) {
    if (request.parameter("watch") == nullptr)
      return Response{.body = R"({"metadata":{"resourceVersion":"5"},"items":[]})"};
    return Response{.stream = [](http::Stream& stream) { stream.write("{garbage\n"); }};
  };
  auto followed = client->follow(
      {.api_version = "v1", .kind = "ConfigMap", .resource = "configmaps"}, {}, [](Happened, const json::value&) {},
      [] { return false; });
  EXPECT_EQ(followed.error().message, "watching configmaps: an event is no JSON");
}

TEST_F(KubeClientTest, DeletesOnlyTheObjectOfItsUid) {
  std::string body;
  answer = [&](const Request& request) {
    body = request.body;
    return Response{.body = "{}"};
  };
  ASSERT_TRUE(client->remove(ref, {.uid = "u1", .dry_run = true}));
  EXPECT_EQ(json::parse(body),
            json::parse(R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background",
      "preconditions":{"uid":"u1"},"dryRun":["All"]})"));
}

TEST_F(KubeClientTest, LogsReviewsTokensAndReadiness) {
  answer = [](const Request& request) {
    if (request.target.find("/log?") != std::string::npos)
      return Response{.content_type = "text/plain", .body = "line\n"};
    if (request.target.ends_with("reviews")) return Response{.status = 201, .body = R"({"status":{"allowed":true}})"};
    if (request.target.ends_with("/token")) {
      return Response{.status = 201,
                      .body = R"({"status":{"token":"jwt","expirationTimestamp":"2026-11-15T21:23:20Z"}})"};
    }
    if (request.target == "/readyz") return Response{.content_type = "text/plain", .body = "ok"};
    if (request.target == "/apis")
      return Response{.body = R"({"groups":[{"preferredVersion":{"groupVersion":"apps/v1"}}]})"};
    return status(404, "NotFound", "no");
  };
  EXPECT_EQ(*client->logs("shop", "p", "c", 5, true), "line\n");
  EXPECT_TRUE(*client->may({.verb = "get", .group = "", .resource = "pods", .name_space = "shop"}));
  EXPECT_EQ(client->request_token("shop", "default", 3600)->token, "jwt");
  EXPECT_TRUE(client->ready());
  EXPECT_EQ(*client->api_versions(), (std::vector<std::string>{"v1", "apps/v1"}));
  EXPECT_EQ(client->get(ref)->failure->reason, "NotFound");
  EXPECT_GE(client->sent(), 7U);
}

TEST_F(KubeClientTest, CreatesAndReplaces) {
  answer = [](const Request&) { return status(409, "AlreadyExists", "it exists"); };
  EXPECT_EQ(client->create(map, "m")->failure->reason, "AlreadyExists");
  EXPECT_TRUE(client->replace(map, "m")->failure);
  EXPECT_EQ(asked[1], "POST /api/v1/namespaces/shop/configmaps?fieldManager=m");
  EXPECT_EQ(asked[2], "PUT /api/v1/namespaces/shop/configmaps/c?fieldManager=m");
}

TEST(AtOnce, EveryOneOnce) {
  std::vector<std::atomic<int>> seen(100);
  at_once(seen.size(), [&](size_t i) { ++seen[i]; });
  for (const auto& each : seen) EXPECT_EQ(each, 1);
  at_once(0, [](size_t) { FAIL(); });
}

}  // namespace client_test
}  // namespace sluice::kube
