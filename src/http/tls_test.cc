// TLS between two ends that are in memory, and over a real socket through Server and Client.
#include "http/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "crypto/x509.h"
#include "http/client.h"
#include "http/server.h"

namespace sluice::http {
namespace tls_test {

using ::testing::HasSubstr;

struct ServerTlsTest : ::testing::Test {
  crypto::MadeCertificate leaf(const std::string& uri = "") {
    return crypto::make_certificate(
               {.names = {"127.0.0.1", "shop.example"}, .until_ms = clock.wall_ms() + 1'000'000, .uri = uri}, &ca,
               clock.wall_ms())
        .value();
  }
  ServerCertificate shown(const crypto::MadeCertificate& one) {
    return {.chain_pem = one.chain_pem, .key_pem = std::string(one.key_pem.reveal())};
  }
  void serve(std::shared_ptr<const ServerTls> tls) {
    auto listening = listen_tcp("127.0.0.1", 0);
    ASSERT_TRUE(listening);
    port = port_of(*listening);
    auto started = Server::start(
        *std::move(listening),
        [](const Request& request, const Peer& peer) {
          return Response{.body = std::string(peer.tls ? "tls " : "clear ") + request.body};
        },
        clock, {}, {}, [tls] { return tls; });
    ASSERT_TRUE(started);
    server = *std::move(started);
  }

  RealClock clock;
  crypto::MadeCertificate ca =
      crypto::make_certificate({.name = "test", .is_ca = true, .until_ms = clock.wall_ms() + 1'000'000}, nullptr,
                               clock.wall_ms())
          .value();
  uint16_t port = 0;
  std::unique_ptr<Server> server;
};

TEST_F(ServerTlsTest, ARequestGoesThroughIt) {
  serve(ServerTls::make(shown(leaf())).value());
  auto client = Client::to_tls("127.0.0.1", port, {.host = "127.0.0.1", .roots_pem = ca.chain_pem}, clock);
  ASSERT_TRUE(client) << to_string(client.error());
  const std::string large(size_t{3} << 20U, 'x');  // more than any buffer on the way
  for (const std::string& body : {std::string("hello"), large}) {
    auto answer = (*client)->send({.method = "POST", .target = "/", .body = body}, 60'000);
    ASSERT_TRUE(answer) << to_string(answer.error());
    EXPECT_EQ(answer->body, "tls " + body);
  }
}

TEST_F(ServerTlsTest, AServerThatIsNotBelievedGetsNothing) {
  serve(ServerTls::make(shown(leaf())).value());
  auto other = Client::to_tls("127.0.0.1", port, {.host = "other.example", .roots_pem = ca.chain_pem}, clock);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::verification_failed);
  EXPECT_THAT(other.error().message, HasSubstr("not to be believed"));
  auto unknown = Client::to_tls("127.0.0.1", port, {.host = "127.0.0.1"}, clock);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::verification_failed);
  auto chain = chain_shown_at("127.0.0.1", port, clock);
  ASSERT_TRUE(chain) << to_string(chain.error());
  auto facts = crypto::read_certificates(*chain);
  ASSERT_TRUE(facts);
  ASSERT_EQ(facts->size(), 2U);
  EXPECT_TRUE(facts->back().is_ca);
}

TEST_F(ServerTlsTest, WhoSpeaksInTheClearIsNotAnswered) {
  serve(ServerTls::make(shown(leaf())).value());
  auto client = Client::to_tcp("127.0.0.1", port, clock);
  ASSERT_TRUE(client);
  EXPECT_FALSE((*client)->send({.method = "GET", .target = "/"}, 60'000));
}

TEST_F(ServerTlsTest, AKeyThatDoesNotFitIsRefused) {
  ServerCertificate mixed = shown(leaf());
  mixed.key_pem = std::string(leaf().key_pem.reveal());
  EXPECT_EQ(ServerTls::make(mixed).error().message, "the key is not the certificate's");
  mixed.client_roots_pem = "none";
  mixed.key_pem = "none";
  EXPECT_EQ(ServerTls::make(mixed).error().message, "the file of the key holds no private key");
  ServerCertificate good = shown(leaf());
  good.client_roots_pem = "none";
  EXPECT_EQ(ServerTls::make(good).error().message, "the file of the clients' authorities holds no certificate");
}

}  // namespace tls_test
}  // namespace sluice::http
