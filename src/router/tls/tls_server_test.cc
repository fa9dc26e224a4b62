// Handshakes with OpenSSL's own client, in whole and in pieces.
#include "router/tls/tls_server.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "base/real_disk.h"
#include "router/testing_tls.h"

namespace sluice::router {
namespace tls_server_test {

class TlsServerTest : public testing::Test {
 protected:
  void show() {
    std::vector<LeftOut> faults;
    server.show(*Certificates::read(disk, folder.path(), clock.wall_ms(), nullptr, faults));
    EXPECT_TRUE(faults.empty());
  }

  RealDisk disk;
  RealClock clock;
  RealRandom random;
  TestingFolder folder;
  TicketSecret secret = TicketSecret::make(random, clock.wall_ms() / 1'000);
  TlsServer server{secret, clock};
};

TEST_F(TlsServerTest, ShowsTheCertificateOfTheNameAndPassesBytes) {
  write_certificate(folder, "a", {.names = {"a.example"}});
  write_certificate(folder, "b", {.names = {"b.example"}});
  show();
  const std::string text(100'000, 'x');
  for (size_t piece : {0, 1'000}) {
    TestingHandshake seen = shake_hands(server, {.name = "B.example", .to_send = text, .piece = piece});
    ASSERT_TRUE(seen.done) << seen.fault;
    EXPECT_EQ(seen.version, "TLSv1.3");
    EXPECT_EQ(seen.subject_name, "b.example");
    EXPECT_EQ(seen.echoed, text);
  }
  EXPECT_EQ(server.counts().tls13, 2U);
}

TEST_F(TlsServerTest, SpeaksTls12AndNothingOlder) {
  write_certificate(folder, "a", {.names = {"a.example"}});
  show();
  EXPECT_EQ(shake_hands(server, {.name = "a.example", .to_send = "hi", .highest = TLS1_2_VERSION}).version, "TLSv1.2");
  TestingHandshake old = shake_hands(server, {.name = "a.example", .highest = TLS1_1_VERSION});
  EXPECT_FALSE(old.done);
  EXPECT_EQ(server.counts().tls12, 1U);
  EXPECT_EQ(server.counts().failed, 1U);
}

TEST_F(TlsServerTest, RefusesANameThatNoCertificateIsOf) {
  write_certificate(folder, "a", {.names = {"a.example"}});
  EXPECT_FALSE(shake_hands(server, {.name = "a.example"}).done) << "there is none yet";
  show();
  TestingHandshake seen = shake_hands(server, {.name = "b.example"});
  EXPECT_FALSE(seen.done);
  EXPECT_EQ(seen.fault, "tlsv1 unrecognized name");
  EXPECT_FALSE(shake_hands(server, {}).done) << "no name, and no default";
  write_certificate(folder, "default", {.names = {"other.example"}});
  show();
  EXPECT_EQ(shake_hands(server, {.name = "b.example", .to_send = "hi"}).subject_name, "other.example");
  EXPECT_EQ(shake_hands(server, {.to_send = "hi"}).subject_name, "other.example");
}

TEST_F(TlsServerTest, SettlesAProtocolOrRefuses) {
  write_certificate(folder, "a", {.names = {"a.example"}});
  show();
  EXPECT_EQ(shake_hands(server, {.name = "a.example", .protocols = {"spdy/1", "http/1.1"}, .to_send = "hi"}).protocol,
            "http/1.1");
  EXPECT_EQ(shake_hands(server, {.name = "a.example", .to_send = "hi"}).protocol, "");
  TestingHandshake none = shake_hands(server, {.name = "a.example", .protocols = {"spdy/1"}});
  EXPECT_FALSE(none.done);
  EXPECT_EQ(none.fault, "tlsv1 alert no application protocol");
}

TEST_F(TlsServerTest, ResumesSessionsAlsoOfAnotherWorkerWithTheSameSecret) {
  write_certificate(folder, "a", {.names = {"a.example"}});
  write_certificate(folder, "b", {.names = {"b.example"}});
  show();
  TlsServer next(secret, clock), stranger(TicketSecret::make(random, clock.wall_ms() / 1'000), clock);
  next.show(server.shown());
  stranger.show(server.shown());
  for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    auto session = [&] {
      return shake_hands(server, {.name = "a.example", .to_send = "hi", .highest = version}).session;
    };
    auto resumed = [&](TlsServer& by, const std::string& name) {
      return shake_hands(by, {.name = name, .to_send = "hi", .session = session(), .highest = version}).resumed;
    };
    EXPECT_TRUE(resumed(server, "a.example")) << version;
    EXPECT_TRUE(resumed(next, "a.example")) << version;
    EXPECT_FALSE(resumed(stranger, "a.example")) << version;
    EXPECT_FALSE(resumed(server, "b.example")) << version << ": what another name was shown says nothing of this one";
  }
  EXPECT_EQ(server.counts().resumed, 2U);
  EXPECT_EQ(next.counts().resumed, 2U);
}

TEST_F(TlsServerTest, WhatIsShownCanBeReplaced) {
  write_certificate(folder, "a", {.names = {"a.example", "one"}});
  show();
  write_certificate(folder, "a", {.names = {"two", "a.example"}});
  show();
  EXPECT_EQ(shake_hands(server, {.name = "a.example", .to_send = "hi"}).subject_name, "two");
}

}  // namespace tls_server_test
}  // namespace sluice::router
