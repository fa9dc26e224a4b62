// Descriptors: both sides count, who waits for longest goes first, and no replica is blamed for what the router lacks.
#include <gtest/gtest.h>

#include "router/testing_proxy.h"

namespace sluice::router {
namespace proxy_room_test {

constexpr const char* kGet = "GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n";
constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

struct Room : TestingProxy {
  explicit Room(size_t most, size_t per_address = 1'000) : TestingProxy(table(per_address)) {
    proxy->limit_connections(most, most);
  }
  static TableDocument table(size_t per_address) {
    TableDocument made = testing_table({testing_deployment()});
    made.connections_per_address = static_cast<int64_t>(per_address);
    made.trusted_proxies = {"10.9.0.0/16"};
    return made;
  }
};

TEST(FirstWeek24, SilentConnectionsShutNobodyOut) {
  Room proxy(10);
  std::vector<int> silent;
  for (int i = 0; i < 50; ++i) silent.push_back(proxy.connect());
  int visitor = proxy.connect();
  ASSERT_GE(visitor, 0);
  proxy.send(visitor, kGet);
  proxy.send(proxy.upstream(0), kOk);
  EXPECT_EQ(proxy.taken(visitor), kOk);
  EXPECT_LE(proxy.wire.open(), 10U);
}

TEST(FirstWeek24, WhoIsIdleForLongestGoesFirst) {
  Room proxy(4);
  int first = proxy.connect(), second = proxy.connect(), third = proxy.connect();
  proxy.send(first, kGet);  // takes the fourth
  proxy.send(proxy.upstream(0), kOk);
  EXPECT_EQ(proxy.taken(first), kOk);
  proxy.connect();
  EXPECT_TRUE(proxy.is_closed(second)) << "it has waited since before the others";
  EXPECT_FALSE(proxy.is_closed(first));
  proxy.connect();
  EXPECT_TRUE(proxy.is_closed(third));
  proxy.connect();
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(0))) << "kept connections wait as well";
  EXPECT_FALSE(proxy.is_closed(first));
}

TEST(FirstWeek24, WhoIsServedIsNeverEvicted) {
  Room proxy(4);
  int first = proxy.connect(), second = proxy.connect();
  proxy.send(first, kGet);
  proxy.send(second, kGet);
  EXPECT_EQ(proxy.connect(), -1) << "all are served";
  proxy.send(proxy.upstream(0), kOk);
  proxy.send(proxy.upstream(1), kOk);
  EXPECT_EQ(proxy.taken(first), kOk);
  EXPECT_EQ(proxy.taken(second), kOk);
}

TEST(FirstWeek24, AnswerThatIsNotWholeYetIsNotCutOff) {
  Room proxy(2);
  int slow = proxy.connect();
  proxy.wire.at(slow).room = 10;
  proxy.send(slow, kGet);
  proxy.send(proxy.upstream(0), kOk);  // the upstream's connection is kept, the answer waits to be read
  EXPECT_NE(proxy.connect(), -1);
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(0)));
  EXPECT_NE(proxy.connect(), -1);
  EXPECT_FALSE(proxy.is_closed(slow));
  proxy.make_room(slow, SIZE_MAX);
  EXPECT_EQ(proxy.taken(slow), kOk);
}

TEST(FirstWeek24, ReplicaIsNotBlamedForDescriptorsThatTheRouterLacks) {
  Room proxy(1'000);
  int visitor = proxy.connect();
  proxy.wire.files = 1;
  for (int i = 0; i < 5; ++i) {
    proxy.send(visitor, kGet);
    EXPECT_TRUE(proxy.taken(visitor).starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
  }
  EXPECT_EQ(proxy.counts("d1", "r1").failures, 0U);
  const Replica& replica = *proxy.proxy->pools().back()->replicas().front();
  EXPECT_EQ(replica.failures, 0U);
  EXPECT_EQ(replica.ejected_until_ms, 0);
  EXPECT_NE(proxy.log_text().find("the router can open no more connections"), std::string::npos);
}

TEST(FirstWeek24, IdleConnectionsMakeRoomWhereTheSystemHasNoMoreDescriptors) {
  Room proxy(1'000);
  proxy.connect();
  int visitor = proxy.connect();
  proxy.wire.files = 2;
  proxy.send(visitor, kGet);
  ASSERT_EQ(proxy.upstreams(), 1U);
  proxy.send(proxy.upstream(0), kOk);
  EXPECT_EQ(proxy.taken(visitor), kOk);
}

TEST(FirstWeek24, AddressHasOnlySoManyConnections) {
  Room proxy(1'000, 3);
  std::vector<int> all;
  for (int i = 0; i < 3; ++i) all.push_back(proxy.connect("192.0.2.7:4000" + std::to_string(i)));
  EXPECT_EQ(proxy.connect("192.0.2.7:40009"), -1);
  EXPECT_NE(proxy.connect("192.0.2.8:40009"), -1);
  proxy.end(all[0]);
  EXPECT_NE(proxy.connect("192.0.2.7:40009"), -1);
  for (int i = 0; i < 10; ++i) EXPECT_NE(proxy.connect("10.9.0.1:40009"), -1) << "whoever is trusted stands for many";
}

TEST(FirstWeek24, AddressesOfOneNetworkOfIPv6CountAsOne) {
  Room proxy(1'000, 2);
  EXPECT_NE(proxy.connect("[2001:db8::1]:1"), -1);
  EXPECT_NE(proxy.connect("[2001:db8::2]:1"), -1);
  EXPECT_EQ(proxy.connect("[2001:db8::3]:1"), -1);
  EXPECT_NE(proxy.connect("[2001:db8:0:1::3]:1"), -1);
}

TEST(FirstWeek24, NobodyTakesMoreThanHalfIfNothingIsSaid) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  proxy.proxy->limit_connections(8, 8);
  for (int i = 0; i < 4; ++i) EXPECT_NE(proxy.connect(), -1);
  EXPECT_EQ(proxy.connect(), -1);
  EXPECT_NE(proxy.connect("192.0.2.8:1"), -1);
}

}  // namespace proxy_room_test
}  // namespace sluice::router
