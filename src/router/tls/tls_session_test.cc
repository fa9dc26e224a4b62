// Both ends are the router's own, over a pair of sockets.
#include "router/tls/tls_session.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "router/testing_tls.h"
#include "router/tls/upstream_tls.h"

namespace sluice::router {
namespace tls_session_test {

class TlsSessionTest : public testing::Test {
 protected:
  TlsSessionTest() {
    write_certificate(folder, "shop", {.names = {"shop.example"}});
    std::vector<LeftOut> faults;
    server.show(*Certificates::read(disk, folder.path(), clock.wall_ms(), nullptr, faults));
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets), 0);
    const std::string pem = *read_file(disk, folder.path("shop/fullchain.pem"), 1 << 20);
    ours = (*UpstreamTls::make("shop.example", pem, false))->connect(sockets[0]);
    theirs = server.accept(sockets[1]);
  }
  ~TlsSessionTest() override {
    for (int fd : sockets) ::close(fd);
  }
  void settle() {
    char byte;
    for (int turn = 0; turn < 20 && ours->shake_hands() == Connected::not_yet; ++turn) (void)theirs->read(&byte, 1);
    EXPECT_EQ(theirs->read(&byte, 1), kWouldBlock);
  }
  static ssize_t write(TlsSession& session, std::string text) {
    iovec part{text.data(), text.size()};
    return session.write(&part, 1);
  }

  RealDisk disk;
  RealClock clock;
  RealRandom random;
  TestingFolder folder;
  TicketSecret secret = TicketSecret::make(random, clock.wall_ms() / 1'000);
  TlsServer server{secret, clock};
  int sockets[2] = {-1, -1};
  std::unique_ptr<TlsSession> ours;
  std::unique_ptr<ServerSession> theirs;
};

TEST_F(TlsSessionTest, PassesBytesOnceTheHandshakeIsSettled) {
  EXPECT_EQ(ours->shake_hands(), Connected::not_yet);
  settle();
  EXPECT_TRUE(ours->is_established() && theirs->is_established());
  EXPECT_EQ(write(*ours, "ask"), 3);
  char bytes[10];
  EXPECT_EQ(theirs->read(bytes, sizeof bytes), 3);
  EXPECT_EQ(write(*theirs, "answer"), 6);
  EXPECT_EQ(ours->read(bytes, sizeof bytes), 6);
  EXPECT_EQ(std::string_view(bytes, 6), "answer");
  EXPECT_EQ(ours->read(bytes, sizeof bytes), kWouldBlock);
}

TEST_F(TlsSessionTest, ALookTellsTicketsFromBytes) {
  settle();
  EXPECT_EQ(ours->look(), Look::quiet) << "tickets have come";
  EXPECT_EQ(ours->look(), Look::quiet);
  write(*theirs, "unasked");
  EXPECT_EQ(ours->look(), Look::speaks);
  char bytes[10];
  EXPECT_EQ(ours->read(bytes, sizeof bytes), 7) << "it takes nothing away";
  theirs->end();
  EXPECT_EQ(ours->look(), Look::ended);
}

TEST_F(TlsSessionTest, AnEndIsToldFromABreak) {
  settle();
  theirs->end();
  char bytes[10];
  EXPECT_EQ(ours->read(bytes, sizeof bytes), 0);
}

TEST_F(TlsSessionTest, ASocketThatJustEndsIsBroken) {
  settle();
  write(*theirs, "half");
  ::shutdown(sockets[1], SHUT_WR);
  char bytes[10];
  EXPECT_EQ(ours->read(bytes, sizeof bytes), 4);
  EXPECT_EQ(ours->read(bytes, sizeof bytes), kBroken);
}

TEST_F(TlsSessionTest, WhatIsNoTlsIsNotBelieved) {
  ours->shake_hands();
  ASSERT_GT(::send(sockets[1], "HTTP/1.1 400 Bad Request\r\n\r\n", 28, 0), 0);
  EXPECT_EQ(ours->shake_hands(), Connected::unbelieved);
}

}  // namespace tls_session_test
}  // namespace sluice::router
