// Whom the router believes to be a replica: handshakes with its own server, over a pair of sockets.
#include "router/tls/upstream_tls.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "router/testing_tls.h"

namespace sluice::router {
namespace upstream_tls_test {

class UpstreamTlsTest : public testing::Test {
 protected:
  UpstreamTlsTest() {
    write_certificate(folder, "shop", {.names = {"shop.example", "10.0.0.7"}});
    pem = *read_file(disk, folder.path("shop/fullchain.pem"), 1 << 20);
    write_certificate(elsewhere, "other", {.names = {"shop.example"}});
    std::vector<LeftOut> faults;
    server.show(*Certificates::read(disk, folder.path(), clock.wall_ms(), nullptr, faults));
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets), 0);
  }
  ~UpstreamTlsTest() override {
    for (int fd : sockets) ::close(fd);
  }

  // What comes of a handshake.
  Connected ask(std::string_view name, std::string_view authorities, bool http2 = false) {
    auto tls = UpstreamTls::make(name, authorities, http2);
    if (!tls) return Connected::no;
    ours = (*tls)->connect(sockets[0]);
    theirs = server.accept(sockets[1]);
    Connected came = Connected::not_yet;
    char byte;
    for (int turn = 0; turn < 20 && came == Connected::not_yet; ++turn) {
      came = ours->shake_hands();
      (void)theirs->read(&byte, 1);
    }
    return came;
  }

  RealDisk disk;
  RealClock clock;
  RealRandom random;
  TestingFolder folder, elsewhere;
  std::string pem;
  TicketSecret secret = TicketSecret::make(random, clock.wall_ms() / 1'000);
  TlsServer server{secret, clock};
  int sockets[2] = {-1, -1};
  std::unique_ptr<TlsSession> ours;
  std::unique_ptr<ServerSession> theirs;
};

TEST_F(UpstreamTlsTest, BelievesWhoHasTheNameAndASignature) {
  EXPECT_EQ(ask("shop.example", pem), Connected::yes);
  EXPECT_EQ(theirs->name(), "shop.example");
  EXPECT_FALSE(ours->is_http2());
}

TEST_F(UpstreamTlsTest, TakesHttp2IfThatIsAskedFor) {
  EXPECT_EQ(ask("shop.example", pem, true), Connected::yes);
  EXPECT_TRUE(ours->is_http2());
}

TEST_F(UpstreamTlsTest, DoesNotBelieveAnotherName) { EXPECT_EQ(ask("other.example", pem), Connected::unbelieved); }

TEST_F(UpstreamTlsTest, DoesNotBelieveAnotherAuthority) {
  const std::string other = *read_file(disk, elsewhere.path("other/fullchain.pem"), 1 << 20);
  EXPECT_EQ(ask("shop.example", other), Connected::unbelieved);
  EXPECT_EQ(ask("shop.example", kSystemAuthorities), Connected::unbelieved);
}

TEST_F(UpstreamTlsTest, RefusesAuthoritiesThatAreNone) {
  EXPECT_EQ(UpstreamTls::make("shop.example", "nothing", false).error().message,
            "expected certificates of authorities as PEM, or system");
  EXPECT_EQ((*UpstreamTls::make("a", pem, false))->stamp(), (*UpstreamTls::make("a", pem, false))->stamp());
  EXPECT_NE((*UpstreamTls::make("a", pem, false))->stamp(), (*UpstreamTls::make("b", pem, false))->stamp());
  EXPECT_NE((*UpstreamTls::make("a", pem, false))->stamp(), (*UpstreamTls::make("a", pem, true))->stamp());
}

}  // namespace upstream_tls_test
}  // namespace sluice::router
