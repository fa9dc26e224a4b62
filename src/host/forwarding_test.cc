// What passes a server that forwards, between two real servers.
#include "host/forwarding.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "base/testing_wait.h"
#include "http/server.h"

namespace sluice::host {
namespace forwarding_test {

struct Forwarding : testing::Test {
  std::unique_ptr<http::Server> serve(const std::string& name, http::Server::Handler handler) {
    auto listening = http::listen_unix(disk, folder.path(name));
    EXPECT_TRUE(listening);
    auto server = http::Server::start(*std::move(listening), std::move(handler), clock);
    EXPECT_TRUE(server);
    return *std::move(server);
  }
  std::unique_ptr<http::Server> forwarder() {
    return serve("front", [this](const http::Request& request, const http::Peer&) -> http::Response {
      auto client = http::Client::to_unix(folder.path("back"), clock);
      if (!client) return {.status = 503};
      http::Request onward{.method = request.method,
                           .target = request.target,
                           .path = {},
                           .query = {},
                           .headers = request.headers,
                           .body = request.body};
      auto answer = forward(*std::move(client), std::move(onward), request.more);
      if (answer) return *std::move(answer);
      return {
          .status = answer.error().code == Code::timeout ? 504 : 502, .headers = {}, .body = answer.error().message};
    });
  }
  http::Answer ask(http::Request request) {
    auto client = http::Client::to_unix(folder.path("front"), clock);
    auto answer = (*client)->send(std::move(request), 60'000);
    EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
    return answer ? *answer : http::Answer();
  }

  RealDisk disk;
  TestingFolder folder;
  RealClock clock;
};

TEST_F(Forwarding, ACallAndItsAnswerPassAsTheyAre) {
  auto back = serve("back", [](const http::Request& request, const http::Peer&) -> http::Response {
    const std::string* token = request.header("Authorization");
    const std::string* key = request.header("Idempotency-Key");
    return {.status = 418,
            .content_type = "application/problem+json",
            .headers = {{"ETag", "\"7\""}},
            .body = request.method + " " + request.target + " " + (token ? *token : "") + " " + (key ? *key : "") +
                    " " + request.body};
  });
  auto front = forwarder();
  auto answer = ask({.method = "POST",
                     .target = "/v1/actions/A/b?wait=answer",
                     .path = {},
                     .query = {},
                     .headers = {{"Authorization", "Bearer t"}, {"Idempotency-Key", "k"}},
                     .body = "body"});
  EXPECT_EQ(answer.status, 418);
  EXPECT_EQ(answer.body, "POST /v1/actions/A/b?wait=answer Bearer t k body");
  EXPECT_EQ(*answer.header("Content-Type"), "application/problem+json");
  EXPECT_EQ(*answer.header("ETag"), "\"7\"");
}

TEST_F(Forwarding, AnUploadPassesPieceByPiece) {
  auto back = serve("back", [](const http::Request& request, const http::Peer&) -> http::Response {
    uint64_t bytes = 0;
    std::string piece;
    while (true) {
      auto more = request.more(piece);
      if (!more || !*more) break;
      bytes += piece.size();
    }
    return {.body = std::to_string(bytes)};
  });
  auto front = forwarder();
  const std::string path = folder.path("file");
  {
    auto file = disk.open(path, {.write = true, .create = true});
    ASSERT_TRUE((*file)->truncate(3'000'001));
  }
  auto client = http::Client::to_unix(folder.path("front"), clock);
  auto file = disk.open(path, {});
  auto answer = (*client)->send({.method = "PUT", .target = "/v1/blobs/x"}, **file, 60'000);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "3000001");
}

TEST_F(Forwarding, AnAnswerWithoutAnEndComesAsItIsSaid) {
  std::atomic<bool> heard = false;
  auto back = serve("back", [&](const http::Request&, const http::Peer&) -> http::Response {
    return {.content_type = "text/event-stream", .headers = {}, .body = {}, .stream = [&](http::Stream& stream) {
              stream.write("first\n");
              EXPECT_TRUE(eventually([&] { return heard.load(); }));
              stream.write("second\n");
            }};
  });
  auto front = forwarder();
  auto client = http::Client::to_unix(folder.path("front"), clock);
  std::string all;
  auto answer = (*client)->stream(
      {.method = "GET", .target = "/v1/events"},
      [&](std::string_view bytes) {
        all += bytes;
        if (all.find("first") != std::string::npos) heard = true;
        return true;
      },
      [] { return false; });
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(all, "first\nsecond\n");
}

TEST_F(Forwarding, AChangeWhoseAnswerIsLostIsNotKnownToBeDone) {
  auto listening = http::listen_unix(disk, folder.path("back"));
  auto front = forwarder();
  std::thread back([&] {
    pollfd waiting{.fd = listening->fd(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&waiting, 1, 60'000), 1);
    const int taken = ::accept(listening->fd(), nullptr, nullptr);
    std::string bytes(4096, ' ');
    EXPECT_GT(::read(taken, bytes.data(), bytes.size()), 0);
    ::close(taken);
  });
  auto answer = ask({.method = "POST", .target = "/v1/stop", .path = {}, .query = {}, .headers = {}, .body = "{}"});
  back.join();
  EXPECT_EQ(answer.status, 504);
  EXPECT_TRUE(answer.body.starts_with("it is not known whether this was done: ")) << answer.body;
}

}  // namespace forwarding_test
}  // namespace sluice::host
