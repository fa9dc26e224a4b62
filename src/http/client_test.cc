// What a client hears when there is no answer. That it hears answers is tested with the server.
#include "http/client.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "http/server.h"

namespace sluice::http {
namespace client_test {

struct Clients : testing::Test {
  // A server that reads something, says this, and closes the connection.
  std::thread serving(const std::string& says) {
    auto made = listen_unix(disk, path);
    EXPECT_TRUE(made);
    listening = *std::move(made);
    return std::thread([this, says] {
      int fd = -1;
      while (fd < 0) fd = ::accept4(listening.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      Wire wire(Socket(fd), clock);
      std::string got;
      wire.read(got, clock.monotonic_ns() + 60'000'000'000, -1);
      wire.write(says, clock.monotonic_ns() + 60'000'000'000);
    });
  }
  Result<Answer> ask(const std::string& says) {
    std::thread server = serving(says);
    auto client = Client::to_unix(path, clock);
    EXPECT_TRUE(client);
    auto answer = (*client)->send({.method = "GET", .target = "/"}, 60'000);
    server.join();
    open = (*client)->is_open();
    return answer;
  }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  std::string path = folder.path("s.sock");
  Socket listening;
  bool open = false;
};

TEST_F(Clients, SayWhenNobodyListens) { EXPECT_EQ(Client::to_unix(path, clock).error().code, Code::not_found); }

TEST_F(Clients, SayWhenTheConnectionBreaks) {
  const Error broken{.code = Code::unavailable, .message = "the connection broke before there was an answer"};
  EXPECT_EQ(ask("").error(), broken);
  EXPECT_FALSE(open);
  EXPECT_EQ(ask("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc").error(), broken);
}

TEST_F(Clients, SayWhenTheAnswerIsNone) { EXPECT_EQ(ask("SSH-2.0-OpenSSH\r\n\r\n").error().code, Code::invalid); }

TEST_F(Clients, KnowWhenTheServerWillCloseTheConnection) {
  auto answer = ask("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc");
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->body, "abc");
  EXPECT_FALSE(open);
}

TEST_F(Clients, WaitOnlyForSoLong) {
  auto made = listen_unix(disk, path);
  ASSERT_TRUE(made);
  auto client = Client::to_unix(path, clock);
  ASSERT_TRUE(client);
  auto answer = (*client)->send({.method = "GET", .target = "/"}, 10);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error(), (Error{.code = Code::timeout, .message = "there was no answer within 10 ms"}));
}

TEST_F(Clients, SpeakOverTcpToo) {
  auto made = listen_tcp("127.0.0.1", 0);
  ASSERT_TRUE(made);
  uint16_t port = port_of(*made);
  auto server = Server::start(
      *std::move(made),
      [](const Request& request, const Peer& peer) {
        return Response{.body = *request.header("host") + (peer.credentials ? " known" : " unknown")};
      },
      clock);
  ASSERT_TRUE(server);
  auto client = Client::to_tcp("127.0.0.1", port, clock);
  ASSERT_TRUE(client);
  auto answer = (*client)->send({.method = "GET", .target = "/"}, 60'000);
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->body, "127.0.0.1:" + std::to_string(port) + " unknown");
}

}  // namespace client_test
}  // namespace sluice::http
