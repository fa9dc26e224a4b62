// Outgoing against this folder's own server, against servers of a few lines that misbehave, and against OpenSSL's TLS.
#include "http/outgoing.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <thread>

#include "crypto/x509.h"

namespace sluice::http {
namespace outgoing_test {

namespace asio = boost::asio;
using asio::ip::tcp;

// A server that reads heads and says what it is told to; each connection has its thread.
class Speaker {
 public:
  using Say = std::function<std::string(const std::string& head)>;  // empty: says nothing, and waits

  explicit Speaker(Say say, asio::ssl::context* tls = nullptr) : say_(std::move(say)), tls_(tls) {
    thread_ = std::thread([this] { serve(); });
  }
  ~Speaker() {
    ending_ = true;
    boost::system::error_code ignored;
    tcp::socket poke(context_);
    poke.connect({asio::ip::make_address("127.0.0.1"), port()}, ignored);
    thread_.join();
    for (auto& each : sockets_) shutdown(each->native_handle(), SHUT_RDWR);
    for (std::thread& each : talks_) each.join();
  }
  uint16_t port() const { return acceptor_.local_endpoint().port(); }
  std::string url(const std::string& target = "/") const {
    return std::string(tls_ ? "https" : "http") + "://127.0.0.1:" + std::to_string(port()) + target;
  }
  int connections() const { return static_cast<int>(talks_.size()); }

 private:
  void serve() {
    while (true) {
      auto socket = std::make_shared<tcp::socket>(acceptor_.accept());
      if (ending_) return;
      sockets_.push_back(socket);
      talks_.emplace_back([this, socket] {
        boost::system::error_code failure;
        if (tls_ == nullptr) return talk(*socket);
        asio::ssl::stream<tcp::socket&> stream(*socket, *tls_);
        stream.handshake(asio::ssl::stream_base::server, failure);
        if (!failure) talk(stream);
        shutdown(socket->native_handle(), SHUT_RDWR);
      });
    }
  }
  template <class Stream>
  void talk(Stream& stream) {
    asio::streambuf input;
    boost::system::error_code failure;
    while (!failure) {
      const size_t size = asio::read_until(stream, input, "\r\n\r\n", failure);
      if (failure) return;
      std::string head(asio::buffers_begin(input.data()), asio::buffers_begin(input.data()) + static_cast<long>(size));
      input.consume(size);
      const std::string said = say_(head);
      asio::write(stream, asio::buffer(said), failure);
      if (said.find("Connection: close") != std::string::npos) {
        stream.lowest_layer().shutdown(tcp::socket::shutdown_both, failure);
        return;
      }
    }
  }

  Say say_;
  asio::ssl::context* tls_;
  asio::io_context context_;
  tcp::acceptor acceptor_{context_, {asio::ip::make_address("127.0.0.1"), 0}};
  std::atomic<bool> ending_ = false;
  std::vector<std::shared_ptr<tcp::socket>> sockets_;
  std::vector<std::thread> talks_;
  std::thread thread_;
};

std::string answer(const std::string& body, const std::string& more = "") {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + more + "\r\n" + body;
}

class OutgoingTest : public testing::Test {
 protected:
  Error refused(Outgoing& outgoing, OutgoingRequest request) {
    auto got = outgoing.send(request);
    EXPECT_FALSE(got);
    return got ? Error{} : got.error();
  }
  RealClock clock;
  Outgoing plain{{}, clock};
};

TEST_F(OutgoingTest, AnAnswerIsReadAndTheConnectionUsedAgain) {
  Speaker server([](const std::string& head) { return answer(head, "X-Was: here\r\n"); });
  for (int i = 0; i < 3; ++i) {
    auto got = plain.send({.url = server.url("/a?b=c"), .headers = {{"X-Mine", "yes"}}});
    ASSERT_TRUE(got) << to_string(got.error());
    EXPECT_EQ(got->status, 200);
    EXPECT_EQ(*got->header("x-was"), "here");
    EXPECT_EQ(got->body.find("GET /a?b=c HTTP/1.1\r\n"), 0U);
    EXPECT_NE(got->body.find("X-Mine: yes\r\n"), std::string::npos);
    EXPECT_NE(got->body.find("Host: 127.0.0.1:" + std::to_string(server.port())), std::string::npos);
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(OutgoingTest, AKeptConnectionThatWasClosedIsMadeAgain) {
  std::atomic<int> asked = 0;
  Speaker server([&](const std::string&) {
    // The second request on a connection finds it closed.
    return ++asked == 2 ? std::string("Connection: close") : answer("ok");
  });
  ASSERT_TRUE(plain.send({.url = server.url()}));
  auto again = plain.send({.url = server.url()});
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(again->body, "ok");
  EXPECT_EQ(server.connections(), 2);
}

TEST_F(OutgoingTest, BodiesGoUpAndComeDownInPieces) {
  Speaker server([](const std::string& head) {
    EXPECT_NE(head.find("Content-Length: 0"), std::string::npos) << head;
    return std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  });
  std::string got;
  auto done = plain.send({.method = "POST", .url = server.url(), .download = [&](std::string_view piece) {
                            got += piece;
                            return true;
                          }});
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_EQ(got, "abcde");
  EXPECT_EQ(done->body, "");
}

TEST_F(OutgoingTest, AnUploadHasTheLengthThatWasSaid) {
  std::atomic<bool> said = false;
  Speaker server([&](const std::string& head) {
    said = head.find("Content-Length: 200000") != std::string::npos;
    return answer("taken", "Connection: close\r\n");
  });
  auto done = plain.send({.method = "PUT",
                          .url = server.url(),
                          .upload = [](size_t most) -> Result<std::string> { return std::string(most, 'x'); },
                          .upload_bytes = 200'000});
  EXPECT_TRUE(said);
  Speaker other([](const std::string&) { return answer(""); });
  const Error error = refused(plain, {.method = "PUT",
                                      .url = other.url(),
                                      .upload = [](size_t) -> Result<std::string> { return std::string(); },
                                      .upload_bytes = 5});
  EXPECT_EQ(error.code, Code::invalid);
}

TEST_F(OutgoingTest, ErrorsNameTheHostAndNoSecret) {
  Speaker silent([](const std::string&) { return std::string(); });
  const Error late = refused(plain, {.url = silent.url("/v1/x?token=hunter2"), .timeout_ms = 100});
  EXPECT_EQ(late.code, Code::timeout);
  EXPECT_EQ(late.message, "GET " + silent.url("/v1/x") + ": there was no answer within 100 ms");
  Speaker large([](const std::string&) { return answer(std::string(2000, 'x')); });
  EXPECT_EQ(refused(plain, {.url = large.url(), .most_bytes = 1000}).code, Code::limit);
  Speaker nonsense([](const std::string&) { return std::string("what?\r\n\r\n"); });
  EXPECT_EQ(refused(plain, {.url = nonsense.url()}).code, Code::unavailable);
  Speaker cut([](const std::string&) {
    return std::string("HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\nshort");
  });
  EXPECT_EQ(refused(plain, {.url = cut.url()}).message,
            "GET " + cut.url() + ": the connection was closed before the answer was complete");
  bool asked = false;
  const OutgoingRequest unwanted{.url = silent.url(), .cancelled = [&] { return std::exchange(asked, true); }};
  EXPECT_EQ(refused(plain, unwanted).message, "GET " + silent.url() + ": it was cancelled");
}

TEST_F(OutgoingTest, NobodyThereIsUnavailable) {
  uint16_t port = 0;
  {
    Speaker gone([](const std::string&) { return std::string(); });
    port = gone.port();
  }
  const std::string url = "http://127.0.0.1:" + std::to_string(port) + "/";
  EXPECT_EQ(refused(plain, {.url = url}).code, Code::unavailable);
  EXPECT_EQ(refused(plain, {.url = "http://no-such-host.invalid/"}).code, Code::unavailable);
}

TEST_F(OutgoingTest, AddressesThatTheRulesForbidAreNotConnectedTo) {
  Speaker server([](const std::string&) { return answer("inner"); });
  Outgoing careful({.addresses = {.only_public = true}}, clock);
  const Error error = refused(careful, {.url = server.url()});
  EXPECT_EQ(error.code, Code::denied);
  const std::string by_name = "http://localhost:" + std::to_string(server.port()) + "/";
  EXPECT_EQ(refused(careful, {.url = by_name}).code, Code::denied) << "the name leads to a loopback address";
  EXPECT_EQ(server.connections(), 0);
  Outgoing allowed({.addresses = {.only_public = true, .allowed = {"127.0.0.0/8"}}}, clock);
  EXPECT_TRUE(allowed.send({.url = server.url()}));
}

TEST_F(OutgoingTest, PublicAddressesAreToldFromInnerOnes) {
  const AddressRules rules{.only_public = true};
  for (const char* each :
       {"10.1.2.3", "127.0.0.1", "169.254.169.254", "172.16.0.1", "192.168.1.1", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "::1", "::", "fe80::1", "fd00::1", "::ffff:10.0.0.1", "ff02::1", "x"}) {
    EXPECT_NE(refusal_of_address(rules, each), "") << each;
  }
  for (const char* each : {"8.8.8.8", "172.32.0.1", "2600::1", "::ffff:8.8.8.8"}) {
    EXPECT_EQ(refusal_of_address(rules, each), "") << each;
  }
  EXPECT_EQ(refusal_of_address({}, "127.0.0.1"), "");
}

class TlsTest : public OutgoingTest {
 protected:
  static constexpr int64_t kHour_ms = 3'600'000;

  crypto::MadeCertificate made(const crypto::CertificateOrder& order, const crypto::MadeCertificate* issuer) {
    return crypto::make_certificate(order, issuer, clock.wall_ms()).value();
  }
  void serve(const crypto::MadeCertificate& own) {
    context.use_certificate_chain(asio::buffer(own.chain_pem));
    context.use_private_key(asio::buffer(own.key_pem.reveal()), asio::ssl::context::pem);
  }

  int64_t until_ms = clock.wall_ms() + kHour_ms;
  crypto::MadeCertificate root = made({.name = "root", .is_ca = true, .until_ms = until_ms}, nullptr);
  asio::ssl::context context{asio::ssl::context::tls_server};
};

TEST_F(TlsTest, ACertificateOfTheHostIsBelieved) {
  serve(made({.names = {"127.0.0.1"}, .until_ms = until_ms}, &root));
  Speaker server([](const std::string&) { return answer("safe"); }, &context);
  Outgoing believing({.tls = {.roots_pem = root.chain_pem}}, clock);
  for (int i = 0; i < 2; ++i) {
    auto got = believing.send({.url = server.url()});
    ASSERT_TRUE(got) << to_string(got.error());
    EXPECT_EQ(got->body, "safe");
  }
  EXPECT_EQ(server.connections(), 1);
  EXPECT_EQ(refused(plain, {.url = server.url()}).code, Code::verification_failed)
      << "the system does not know the root";
}

TEST_F(TlsTest, AnotherHostsCertificateIsNot) {
  serve(made({.names = {"shop.example"}, .until_ms = until_ms}, &root));
  Speaker server([](const std::string&) { return answer("safe"); }, &context);
  Outgoing believing({.tls = {.roots_pem = root.chain_pem}}, clock);
  EXPECT_EQ(refused(believing, {.url = server.url()}).code, Code::verification_failed);
  Outgoing named({.tls = {.roots_pem = root.chain_pem, .server_name = "shop.example"}}, clock);
  EXPECT_TRUE(named.send({.url = server.url()}));
}

TEST_F(TlsTest, AServerThatAsksIsShownWhoThisIs) {
  serve(made({.names = {"127.0.0.1"}, .until_ms = until_ms}, &root));
  context.set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
  context.add_certificate_authority(asio::buffer(root.chain_pem));
  Speaker server([](const std::string&) { return answer("known"); }, &context);
  Outgoing nobody({.tls = {.roots_pem = root.chain_pem}}, clock);
  EXPECT_FALSE(nobody.send({.url = server.url()}));
  const auto own = made({.name = "sluice", .until_ms = until_ms}, &root);
  Outgoing somebody(
      {.tls = {.roots_pem = root.chain_pem, .chain_pem = own.chain_pem, .key_pem = std::string(own.key_pem.reveal())}},
      clock);
  auto got = somebody.send({.url = server.url()});
  ASSERT_TRUE(got) << to_string(got.error());
  EXPECT_EQ(got->body, "known");
}

TEST_F(OutgoingTest, AProxyIsAskedUnlessTheHostIsExcepted) {
  std::string asked;
  Speaker proxy([&](const std::string& head) {
    asked = head;
    return answer("from the proxy");
  });
  const std::string url = "http://me:pass%20word@127.0.0.1:" + std::to_string(proxy.port());
  Outgoing by({.proxy = {.url = url, .except = {".inner.example"}}}, clock);
  auto got = by.send({.url = "http://shop.example/a"});
  ASSERT_TRUE(got) << to_string(got.error());
  EXPECT_EQ(got->body, "from the proxy");
  EXPECT_EQ(asked.find("GET http://shop.example:80/a HTTP/1.1\r\n"), 0U) << asked;
  EXPECT_NE(asked.find("Proxy-Authorization: Basic bWU6cGFzcyB3b3Jk"), std::string::npos);
  EXPECT_FALSE(by.send({.url = "http://127.0.0.1.inner.example/", .timeout_ms = 1'000})) << "it is asked directly";
  const Error error = refused(by, {.url = "https://shop.example/a"});
  EXPECT_EQ(asked.find("CONNECT shop.example:443 HTTP/1.1\r\n"), 0U) << asked;
  EXPECT_EQ(error.message.find("word"), std::string::npos);
}

TEST(OutgoingProxy, ComesFromVariables) {
  auto variable = [](const std::string& name) {
    if (name == "HTTPS_PROXY") return std::string("http://a:1");
    if (name == "http_proxy") return std::string("http://b:2");
    if (name == "NO_PROXY") return std::string("localhost, .inner.example,10.0.0.0/8");
    return std::string();
  };
  EXPECT_EQ(proxy_of(variable, "https://x/").url, "http://a:1");
  EXPECT_EQ(proxy_of(variable, "http://x/").url, "http://b:2");
  EXPECT_EQ(proxy_of(variable, "http://x/").except,
            (std::vector<std::string>{"localhost", ".inner.example", "10.0.0.0/8"}));
}

TEST(OutgoingUrl, PartsAreRead) {
  const Url url = parse_url("https://me:secret@vault.example:8200/v1/x?y=z#part").value();
  EXPECT_TRUE(url.tls);
  EXPECT_EQ(url.host, "vault.example");
  EXPECT_EQ(url.port, 8200);
  EXPECT_EQ(url.target, "/v1/x?y=z");
  EXPECT_EQ(url.user, "me:secret");
  EXPECT_EQ(shown_url(url), "https://vault.example:8200/v1/x");
  EXPECT_EQ(shown_url(parse_url("http://[::1]").value()), "http://[::1]/");
  EXPECT_EQ(parse_url("http://a?q").value().target, "/?q");
  for (const char* bad : {"", "ftp://a/", "http://", "http://a b/", "http://a:0/", "http://a:70000/", "http://[::1/",
                          "http://a:x/", "http://[zz]/", "http://ä/"}) {
    EXPECT_FALSE(parse_url(bad)) << bad;
  }
}

}  // namespace outgoing_test
}  // namespace sluice::http
