// PROXY headers: whom they are believed from, and what follows from them.
#include <gtest/gtest.h>

#include "router/testing_proxy.h"

namespace sluice::router {
namespace proxy_introduction_test {

constexpr const char* kProxy = "10.9.0.1:40000";
constexpr const char* kHeader = "PROXY TCP4 192.0.2.7 10.0.0.1 40000 443\r\n";
constexpr const char* kGet = "GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n";

TableDocument trusting_table() {
  TableDocument table = testing_table({testing_deployment()});
  table.trusted_proxies = {"10.9.0.0/16"};
  return table;
}

class Opened final : public Secured {
 public:
  bool is_established() const override { return true; }
  bool is_http2() const override { return false; }
  std::string_view version() const override { return "TLSv1.3"; }
  std::string_view name() const override { return "shop.example"; }
  bool covers(std::string_view) const override { return true; }
};

TEST(ProxyIntroduction, TheClientIsWhoTheHeaderNames) {
  TestingProxy proxy(trusting_table());
  for (bool in_pieces : {false, true}) {
    int client = proxy.connect(kProxy, nullptr, true);
    const std::string text = std::string(kHeader) + kGet;
    for (size_t at = 0; at < text.size(); at += in_pieces ? 1 : text.size()) {
      proxy.send(client, text.substr(at, in_pieces ? 1 : text.size()));
    }
    const std::string head = proxy.taken(proxy.upstream(in_pieces ? 1 : 0));
    EXPECT_NE(head.find("\r\nX-Forwarded-For: 192.0.2.7\r\n"), std::string::npos) << head;
    EXPECT_NE(head.find("\r\nX-Forwarded-Port: 443\r\n"), std::string::npos) << head;
  }
  EXPECT_EQ(proxy.addresses.addresses(), 1U) << "both count as connections of the client";
}

TEST(ProxyIntroduction, TlsBeginsBehindTheHeader) {
  TestingProxy proxy(trusting_table());
  Opened opened;
  int client = proxy.connect(kProxy, &opened, true);
  EXPECT_FALSE(proxy.wire.secures.contains(client));
  proxy.send(client, kHeader);
  EXPECT_TRUE(proxy.wire.secures.contains(client));
  proxy.send(client, kGet);
  EXPECT_NE(proxy.taken(proxy.upstream(0)).find("\r\nX-Forwarded-Proto: https\r\n"), std::string::npos);
}

TEST(ProxyIntroduction, OfItsOwnConnectionsTheProxyIsTheClient) {
  TestingProxy proxy(trusting_table());
  int client = proxy.connect(kProxy, nullptr, true);
  proxy.send(client, std::string("PROXY UNKNOWN\r\n") + kGet);
  EXPECT_NE(proxy.taken(proxy.upstream(0)).find("\r\nX-Forwarded-For: 10.9.0.1\r\n"), std::string::npos);
}

TEST(ProxyIntroduction, StrangersAndGarbageAreTurnedAway) {
  TestingProxy proxy(trusting_table());
  int stranger = proxy.connect("192.0.2.9:40000", nullptr, true);
  proxy.send(stranger, kHeader);
  EXPECT_TRUE(proxy.is_closed(stranger));
  int garbage = proxy.connect(kProxy, nullptr, true);
  proxy.send(garbage, kGet);
  EXPECT_TRUE(proxy.is_closed(garbage));
  EXPECT_EQ(proxy.taken(stranger) + proxy.taken(garbage), "");
  EXPECT_EQ(proxy.proxy->refused(), 2U);
  const std::string log = proxy.log_text();
  EXPECT_NE(log.find("a PROXY header from who is no trusted proxy"), std::string::npos) << log;
  EXPECT_NE(log.find("no PROXY header"), std::string::npos) << log;
}

TEST(ProxyIntroduction, ItHasTenSeconds) {
  TestingProxy proxy(trusting_table());
  int client = proxy.connect(kProxy, nullptr, true);
  proxy.send(client, "PROXY ");
  proxy.advance_ms(10'300);
  EXPECT_TRUE(proxy.is_closed(client));
}

TEST(ProxyIntroduction, AnAddressHasAsManyConnectionsAsEver) {
  TableDocument table = trusting_table();
  table.connections_per_address = 1;
  TestingProxy proxy(table);
  int first = proxy.connect(kProxy, nullptr, true), second = proxy.connect(kProxy, nullptr, true);
  proxy.send(first, kHeader);
  EXPECT_FALSE(proxy.is_closed(first));
  proxy.send(second, kHeader);
  EXPECT_TRUE(proxy.is_closed(second));
}

}  // namespace proxy_introduction_test
}  // namespace sluice::router
