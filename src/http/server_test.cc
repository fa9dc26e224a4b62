// The server and what its connections may do.
#include "http/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <latch>
#include <map>
#include <set>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "base/testing_wait.h"
#include "http/client.h"

namespace sluice::http {
namespace server_test {

struct Servers : testing::Test {
  void start(Server::Handler handler, ServerLimits limits = {}) {
    auto listening = listen_unix(disk, path);
    ASSERT_TRUE(listening) << to_string(listening.error());
    auto started = Server::start(*std::move(listening), std::move(handler), clock, limits, [&](uint64_t number) {
      std::lock_guard lock(mutex);
      closed.insert(number);
    });
    ASSERT_TRUE(started) << to_string(started.error());
    server = *std::move(started);
  }
  // Sends bytes as they are, and answers with all that comes until the server closes the connection.
  std::string exchange(const std::string& bytes) {
    auto socket = connect_unix(path);
    EXPECT_TRUE(socket);
    Wire wire(*std::move(socket), clock);
    (void)wire.write(bytes, in_a_minute());  // it may have said no and gone before it heard anything
    std::string got;
    while (wire.read(got, in_a_minute(), -1) == Wire::Read::some) {
    }
    return got;
  }
  size_t closed_count() {
    std::lock_guard lock(mutex);
    return closed.size();
  }
  int64_t in_a_minute() const { return clock.monotonic_ns() + 60'000'000'000; }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  std::string path = folder.path("s.sock");
  std::mutex mutex;
  std::set<uint64_t> closed;
  std::unique_ptr<Server> server;
};

Response echo(const Request& request, const Peer& peer) {
  return {.body = request.method + " " + request.target + " " + request.body + " " + std::to_string(peer.connection)};
}

TEST_F(Servers, AnswersManyRequestsOverOneConnection) {
  start(echo);
  auto client = Client::to_unix(path, clock);
  ASSERT_TRUE(client) << to_string(client.error());
  for (int i = 0; i < 3; ++i) {
    auto answer = (*client)->send({.method = "POST", .target = "/a", .body = std::to_string(i)}, 60'000);
    ASSERT_TRUE(answer) << to_string(answer.error());
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, "POST /a " + std::to_string(i) + " 1");
  }
  EXPECT_EQ(closed_count(), 0U);
  client->reset();
  EXPECT_TRUE(eventually([&] { return closed_count() == 1; }));
}

TEST_F(Servers, AnswersRequestsThatWereSentAtOnce) {
  start(echo);
  std::string got = exchange(
      "GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n"
      "HEAD /c HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\nGET /d HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_NE(got.find("GET /a  1"), std::string::npos);
  EXPECT_NE(got.find("GET /b  1"), std::string::npos);
  EXPECT_TRUE(got.ends_with("Connection: close\r\nContent-Length: 10\r\n\r\n")) << got;
}

TEST_F(Servers, RefusesWithAProblemAndClosesTheConnection) {
  start(echo, {.message = {.head_bytes = 200, .body_bytes = 10}});
  std::string got = exchange("GET / HTTP/1.0\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(got.starts_with("HTTP/1.1 505 HTTP Version Not Supported\r\nContent-Type: application/problem+json\r\n"))
      << got;
  boost::json::object problem = boost::json::parse(got.substr(got.find("\r\n\r\n") + 4)).as_object();
  EXPECT_EQ(problem.at("code"), "invalid");
  EXPECT_EQ(problem.at("status"), 505);
  EXPECT_EQ(problem.at("detail"), "only HTTP/1.1 is spoken here");
  EXPECT_TRUE(exchange("GET / HTTP/1.1\r\nHost: h\r\nA: " + std::string(300, 'a')).starts_with("HTTP/1.1 431 "));
  EXPECT_TRUE(exchange("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\n").starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(exchange("nonsense\r\n\r\n").starts_with("HTTP/1.1 400 "));
}

TEST_F(Servers, SlowRequestsAreCutOff) {
  start(echo, {.idle_ms = 60'000, .read_ms = 20});
  EXPECT_TRUE(exchange("GET / HTT").starts_with("HTTP/1.1 408 Request Timeout\r\n"));
}

TEST_F(Servers, SilentConnectionsAreClosed) {
  start(echo, {.idle_ms = 20});
  EXPECT_EQ(exchange(""), "");
}

TEST_F(Servers, LetsAClientSendItsBodyAfterAsking) {
  start(echo);
  auto socket = connect_unix(path);
  ASSERT_TRUE(socket);
  Wire wire(*std::move(socket), clock);
  wire.write("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n", in_a_minute());
  std::string got;
  ASSERT_EQ(wire.read(got, in_a_minute(), -1), Wire::Read::some);
  EXPECT_EQ(got, "HTTP/1.1 100 Continue\r\n\r\n");
  wire.write("ab", in_a_minute());
  got.clear();
  while (got.find("POST / ab 1") == std::string::npos) {
    ASSERT_EQ(wire.read(got, in_a_minute(), -1), Wire::Read::some);
  }
}

TEST_F(Servers, TakesNoMoreConnectionsThanItMay) {
  start(echo, {.connections = 1});
  auto first = Client::to_unix(path, clock);
  ASSERT_TRUE((*first)->send({.method = "GET", .target = "/"}, 60'000));
  EXPECT_TRUE(exchange("GET / HTTP/1.1\r\nHost: h\r\n\r\n").starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
  first->reset();
  ASSERT_TRUE(eventually([&] { return closed_count() == 1; }));
  ASSERT_TRUE(eventually([&] {
    auto next = Client::to_unix(path, clock);
    return (*next)->send({.method = "GET", .target = "/"}, 60'000)->status == 200;
  }));
}

TEST_F(Servers, AHandlerThatThrowsIsAFaultOfThatRequestAlone) {
  start([](const Request& request, const Peer& peer) -> Response {
    if (request.path.empty()) throw std::runtime_error("a bug");
    return echo(request, peer);
  });
  auto client = Client::to_unix(path, clock);
  auto answer = (*client)->send({.method = "GET", .target = "/"}, 60'000);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 500);
  EXPECT_NE(answer->body.find("this request met a fault in Sluice: a bug"), std::string::npos);
  EXPECT_EQ((*client)->send({.method = "GET", .target = "/a"}, 60'000)->status, 200);
}

TEST_F(Servers, StreamsUntilNobodyListens) {
  std::atomic<int> ended = 0;
  start([&](const Request& request, const Peer&) {
    return Response{.content_type = "text/event-stream", .stream = [&, once = request.path.size() == 1](Stream& to) {
                      to.write("data: 1\n\n");
                      to.write("data: 22\n\n");
                      while (!once && to.wanted()) clock.sleep_ms(1);
                      ++ended;
                    }};
  });
  auto client = Client::to_unix(path, clock);
  auto answer = (*client)->send({.method = "GET", .target = "/once"}, 60'000);
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->body, "data: 1\n\ndata: 22\n\n");
  EXPECT_TRUE((*client)->is_open());
  {
    auto socket = connect_unix(path);
    Wire wire(*std::move(socket), clock);
    wire.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n", in_a_minute());
    std::string got;
    while (got.find("data: 22") == std::string::npos) ASSERT_EQ(wire.read(got, in_a_minute(), -1), Wire::Read::some);
    EXPECT_EQ(ended, 1);
  }
  EXPECT_TRUE(eventually([&] { return ended == 2; })) << "the other end is gone";
  auto other = connect_unix(path);
  Wire wire(*std::move(other), clock);
  wire.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n", in_a_minute());
  std::string got;
  while (got.find("data: 22") == std::string::npos) ASSERT_EQ(wire.read(got, in_a_minute(), -1), Wire::Read::some);
  server->stop();
  EXPECT_EQ(ended, 3) << "the server stops";
}

TEST_F(Servers, AStreamThatThrowsIsNotEndedAsIfItWereWhole) {
  start([](const Request&, const Peer&) {
    return Response{.stream = [](Stream& to) {
      to.write("half");
      throw std::runtime_error("a bug");
    }};
  });
  std::string got = exchange("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(got.ends_with("4\r\nhalf\r\n")) << got;
}

TEST_F(Servers, AnswersWhatIsUnderWayBeforeItStops) {
  std::latch entered(1), go(1);
  start([&](const Request& request, const Peer& peer) {
    entered.count_down();
    go.wait();
    return echo(request, peer);
  });
  auto idle = Client::to_unix(path, clock);
  std::string got;
  std::thread asking([&] { got = exchange("GET /late HTTP/1.1\r\nHost: h\r\n\r\n"); });
  entered.wait();
  std::thread stopping([&] { server->stop(); });
  EXPECT_TRUE(eventually([&] { return server->is_stopping(); }));
  go.count_down();
  stopping.join();
  asking.join();
  EXPECT_NE(got.find("GET /late"), std::string::npos) << got;
  EXPECT_NE(got.find("Connection: close"), std::string::npos) << got;
  EXPECT_FALSE((*idle)->send({.method = "GET", .target = "/"}, 60'000));
  EXPECT_EQ(connect_unix(path).error().code, Code::not_found);
}

TEST_F(Servers, OnceClosedAnotherOneListensInItsPlaceWhileItAnswers) {
  std::atomic<bool> asked = false, go_on = false;
  auto handler = [&](const Request&, const Peer&) -> Response {
    asked = true;
    EXPECT_TRUE(eventually([&] { return go_on.load(); }));
    return {.body = "the first"};
  };
  auto listening = listen_tcp("127.0.0.1", 0);
  ASSERT_TRUE(listening);
  const uint16_t port = port_of(*listening);
  auto first = Server::start(*std::move(listening), handler, clock);
  auto under_way = Client::to_tcp("127.0.0.1", port, clock);
  ASSERT_TRUE(under_way);
  std::string heard;
  std::thread waiting([&] {
    auto answer = (*under_way)->send({.method = "GET", .target = "/"}, 60'000);
    heard = answer ? answer->body : answer.error().message;
  });
  EXPECT_TRUE(eventually([&] { return asked.load(); }));
  (*first)->close();
  auto again = listen_tcp("127.0.0.1", port);
  ASSERT_TRUE(again) << to_string(again.error());
  auto second = Server::start(*std::move(again), echo, clock);
  auto client = Client::to_tcp("127.0.0.1", port, clock);
  EXPECT_EQ((*client)->send({.method = "GET", .target = "/"}, 60'000)->body, "GET /  1");
  go_on = true;
  waiting.join();
  EXPECT_EQ(heard, "the first");
  (*first)->close();  // of one that takes none already
  (*first)->stop();
  (*first)->close();
}

TEST_F(Servers, ThePiecesOfAPutAreTakenAsTheyCome) {
  start(
      [](const Request& request, const Peer&) {
        if (request.target == "/no") return Response{.status = 409};
        size_t bytes = 0;
        for (std::string piece;;) {
          auto more = request.more(piece);
          if (!more || !*more) return Response{.body = std::to_string(bytes) + (more ? "" : more.error().message)};
          EXPECT_LT(piece.size(), size_t{1} << 20U) << "it is not held";
          bytes += piece.size();
        }
      },
      {.message = {.body_bytes = 10}});
  const std::string large(size_t{3} << 20U, 'x');
  ASSERT_TRUE(write_atomically(disk, folder.path("large"), large, 0600));
  auto file = disk.open(folder.path("large"), {});
  auto client = Client::to_unix(path, clock);
  for (int again = 0; again < 2; ++again) {
    auto answer = (*client)->send({.method = "PUT", .target = "/"}, **file, 60'000);
    ASSERT_TRUE(answer) << to_string(answer.error());
    EXPECT_EQ(answer->body, std::to_string(large.size()));
    EXPECT_TRUE((*client)->is_open());
  }
  EXPECT_THAT(exchange("PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                       "b\r\nhello world\r\n0\r\n\r\n"),
              testing::EndsWith("\r\n\r\n11"));
  EXPECT_THAT(exchange("PUT /no HTTP/1.1\r\nHost: h\r\nContent-Length: 3000000\r\n\r\nhe"),
              testing::HasSubstr("Connection: close"))
      << "what follows a body that nobody has read is no request";
}

// What is put in goes to everybody who follows.
struct Fed {
  void add(const std::string& text) {
    std::lock_guard lock(mutex);
    said += text;
    for (const auto& [feed, wake] : wakes) wake();
  }
  size_t followers() {
    std::lock_guard lock(mutex);
    return wakes.size();
  }
  std::mutex mutex;
  std::string said;
  std::map<const Feed*, std::function<void()>> wakes;
};

class FedFeed final : public Feed {
 public:
  explicit FedFeed(Fed& fed) : fed_(fed) {}
  ~FedFeed() override {
    std::lock_guard lock(fed_.mutex);
    fed_.wakes.erase(this);
  }
  void begin(std::function<void()> wake) override {
    std::lock_guard lock(fed_.mutex);
    fed_.wakes[this] = std::move(wake);
  }
  bool next(std::string& out) override {
    std::lock_guard lock(fed_.mutex);
    out += fed_.said.substr(at_);
    at_ = fed_.said.size();
    return !fed_.said.ends_with("end");
  }

 private:
  Fed& fed_;
  size_t at_ = 0;
};

TEST_F(Servers, FeedsHoldNoThreadAndGetWhatComes) {
  Fed fed;
  start(
      [&](const Request& request, const Peer& peer) {
        if (request.target != "/feed") return echo(request, peer);
        return Response{.content_type = "text/event-stream", .feed = std::make_shared<FedFeed>(fed)};
      },
      {.handlers = {.stay = 1, .most = 1}});
  std::vector<Wire> followers;
  for (int i = 0; i < 100; ++i) {
    auto socket = connect_unix(path);
    ASSERT_TRUE(socket);
    followers.emplace_back(*std::move(socket), clock);
    followers.back().write("GET /feed HTTP/1.1\r\nHost: h\r\n\r\n", in_a_minute());
  }
  ASSERT_TRUE(eventually([&] { return fed.followers() == 100; }));
  auto client = Client::to_unix(path, clock);
  EXPECT_EQ((*client)->send({.method = "GET", .target = "/"}, 60'000)->status, 200) << "the one thread is free";
  fed.add("data: 1\n\n");
  for (Wire& each : followers) {
    std::string got;
    while (got.find("9\r\ndata: 1\n\n\r\n") == std::string::npos) {
      ASSERT_EQ(each.read(got, in_a_minute(), -1), Wire::Read::some);
    }
  }
  followers.erase(followers.begin() + 1, followers.end());
  EXPECT_TRUE(eventually([&] { return fed.followers() == 1; })) << "who has gone is followed no longer";
  fed.add("the end");
  std::string got;
  while (got.find("0\r\n\r\n") == std::string::npos) {
    ASSERT_EQ(followers[0].read(got, in_a_minute(), -1), Wire::Read::some);
  }
}

TEST_F(Servers, WhoNeverReadsIsCut) {
  Fed fed;
  start([&](const Request&, const Peer&) { return Response{.feed = std::make_shared<FedFeed>(fed)}; },
        {.write_ms = 50});
  auto socket = connect_unix(path);
  Wire wire(*std::move(socket), clock);
  wire.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n", in_a_minute());
  fed.add(std::string(size_t{8} << 20U, 'x'));
  EXPECT_TRUE(eventually([&] { return closed_count() == 1; }));
  EXPECT_EQ(fed.followers(), 0U);
}

TEST_F(Servers, WhoStillSendsIsToldThatItIsTooMuch) {
  start(echo);
  const std::string got =
      exchange("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000000\r\n\r\n" + std::string(size_t{30} << 20U, 'x'));
  EXPECT_TRUE(got.starts_with("HTTP/1.1 413 ")) << got.substr(0, 100);
}

TEST_F(Servers, HalfOpenConnectionsLeaveRoomForOthers) {
  start(echo, {.read_ms = 60'000, .handlers = {.stay = 1, .most = 1}});
  std::vector<Wire> half;
  for (int i = 0; i < 300; ++i) {
    auto socket = connect_unix(path);
    ASSERT_TRUE(socket);
    half.emplace_back(*std::move(socket), clock);
    half.back().write("GET / HTTP/1.1\r\nHo", in_a_minute());
  }
  auto client = Client::to_unix(path, clock);
  EXPECT_EQ((*client)->send({.method = "GET", .target = "/"}, 60'000)->status, 200);
}

TEST_F(Servers, AChannelSpeaksForItselfUntilItEnds) {
  start([](const Request&, const Peer&) {
    return Response{.protocol = "echo/1", .channel = [](Switched& switched) {
                      RealClock real;
                      Wire wire(Socket(::dup(switched.connection)), real);
                      std::string said = std::exchange(switched.input, {});
                      const int64_t late_ns = real.monotonic_ns() + 60'000'000'000;
                      while (said.find('.') == std::string::npos) {
                        if (wire.read(said, late_ns, switched.stop) != Wire::Read::some) return;
                      }
                      wire.write("heard " + said, late_ns);
                    }};
  });
  auto socket = connect_unix(path);
  Wire wire(*std::move(socket), clock);
  wire.write("GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: echo/1\r\n\r\none ", in_a_minute());
  std::string got;
  while (got.find("\r\n\r\n") == std::string::npos) ASSERT_EQ(wire.read(got, in_a_minute(), -1), Wire::Read::some);
  EXPECT_TRUE(got.starts_with("HTTP/1.1 101 Switching Protocols\r\n")) << got;
  wire.write("two.", in_a_minute());
  while (wire.read(got, in_a_minute(), -1) == Wire::Read::some) {
  }
  EXPECT_TRUE(got.ends_with("\r\n\r\nheard one two.")) << got;
}

}  // namespace server_test
}  // namespace sluice::http
