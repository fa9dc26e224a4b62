// A connection that a server has given away, at one end and at the other, through TLS with certificates of both.
#include "http/held_connection.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <future>

#include "base/clock.h"
#include "crypto/x509.h"
#include "http/server.h"

namespace sluice::http {
namespace held_connection_test {

struct HeldConnectionTest : ::testing::Test {
  HeldTls tls_of(const crypto::MadeCertificate& one) {
    return {.roots_pem = ca.chain_pem, .chain_pem = one.chain_pem, .key_pem = std::string(one.key_pem.reveal())};
  }
  crypto::MadeCertificate leaf(const std::string& uri) {
    return crypto::make_certificate(
               {.name = "one", .names = {"127.0.0.1"}, .until_ms = clock.wall_ms() + 1'000'000, .uri = uri}, &ca,
               clock.wall_ms())
        .value();
  }
  void serve() {
    const crypto::MadeCertificate own = leaf("");
    auto shown = ServerTls::make(
        {.chain_pem = own.chain_pem, .key_pem = std::string(own.key_pem.reveal()), .client_roots_pem = ca.chain_pem});
    auto listening = listen_tcp("127.0.0.1", 0);
    port = port_of(*listening);
    server = Server::start(
                 *std::move(listening),
                 [this](const Request&, const Peer& peer) {
                   peer_chain = peer.certificate;
                   return Response{.protocol = "held/1",
                                   .give_away = [this](std::unique_ptr<HeldConnection> held, std::string input) {
                                     given.set_value({std::move(held), std::move(input)});
                                   }};
                 },
                 clock, {}, {}, [tls = *shown] { return tls; })
                 .value();
  }
  static std::string await(HeldConnection& held, size_t bytes) {
    std::string got;
    while (got.size() < bytes) {
      if (held.read(got) == HeldConnection::Read::ended) break;
      pollfd ready{held.fd(), POLLIN, 0};
      if (got.size() < bytes && ::poll(&ready, 1, 10'000) == 0) break;
    }
    return got;
  }
  static void put(HeldConnection& held, std::string_view bytes) {
    held.send(bytes);
    ASSERT_TRUE(held.flush());
  }

  RealClock clock;
  crypto::MadeCertificate ca =
      crypto::make_certificate({.name = "test", .is_ca = true, .until_ms = clock.wall_ms() + 1'000'000}, nullptr,
                               clock.wall_ms())
          .value();
  uint16_t port = 0;
  std::string peer_chain;
  std::promise<std::pair<std::unique_ptr<HeldConnection>, std::string>> given;
  std::unique_ptr<Server> server;
};

TEST_F(HeldConnectionTest, IsGivenAwayWithItsTlsAndSpeaksBothWays) {
  serve();
  auto there = HeldConnection::connect("127.0.0.1", port, tls_of(leaf("spiffe://sluice/router/a")), clock, 10'000);
  ASSERT_TRUE(there) << there.error().message;
  put(**there, "GET /link HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: held/1\r\n\r\n");
  auto [here, input] = given.get_future().get();
  EXPECT_EQ(input, "");
  EXPECT_EQ(crypto::read_certificates(peer_chain)->front().uris,
            (std::vector<std::string>{"spiffe://sluice/router/a"}));
  const std::string head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: held/1\r\n\r\n";
  EXPECT_EQ(await(**there, head.size()), head);
  put(*here, "from the server");
  EXPECT_EQ(await(**there, 15), "from the server");
  put(**there, "from the client");
  EXPECT_EQ(await(*here, 15), "from the client");
  // It is nobody's but its holder's: the server's end leaves it alone.
  server->stop();
  put(*here, "still there");
  EXPECT_EQ(await(**there, 11), "still there");
  here.reset();
  EXPECT_EQ(await(**there, 1), "");
}

TEST_F(HeldConnectionTest, MoreThanTheSocketTakesGoesOutLittleByLittle) {
  serve();
  auto there = HeldConnection::connect("127.0.0.1", port, tls_of(leaf("")), clock, 10'000);
  ASSERT_TRUE(there);
  put(**there, "GET /link HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: held/1\r\n\r\n");
  auto here = given.get_future().get().first;
  const std::string large(size_t{9} << 20U, 'x');
  here->send(large);
  std::string got;
  while (here->is_sending() || got.size() < large.size()) {
    ASSERT_TRUE(here->flush());
    ASSERT_NE((*there)->read(got), HeldConnection::Read::ended);
    pollfd ready{(*there)->fd(), POLLIN, 0};
    ::poll(&ready, 1, 10);
  }
  EXPECT_TRUE(got.ends_with(large));
}

TEST_F(HeldConnectionTest, SendsNothingToAServerThatAnotherAuthorityHasSigned) {
  serve();
  HeldTls other = tls_of(leaf(""));
  other.roots_pem = crypto::make_certificate({.name = "other", .is_ca = true, .until_ms = clock.wall_ms() + 1'000'000},
                                             nullptr, clock.wall_ms())
                        ->chain_pem;
  auto refused = HeldConnection::connect("127.0.0.1", port, other, clock, 10'000);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::verification_failed);
  EXPECT_EQ(refused.error().message,
            "the certificate of 127.0.0.1 is not to be believed: self-signed certificate in certificate chain");
}

}  // namespace held_connection_test
}  // namespace sluice::http
