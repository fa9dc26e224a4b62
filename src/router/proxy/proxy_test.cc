// The machine's end, and whom it trusts.
#include "router/proxy/proxy.h"

#include <gtest/gtest.h>

#include "router/testing_proxy.h"

namespace sluice::router {
namespace proxy_test {

constexpr const char* kGet = "GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n";
constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

TEST(Proxy, StopsWhenNothingIsUnderWay) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int idle = proxy.connect(), busy = proxy.connect();
  proxy.send(busy, kGet);
  proxy.proxy->begin_stop();
  proxy.settle();
  EXPECT_TRUE(proxy.is_closed(idle));
  proxy.send(proxy.upstream(0), kOk);
  EXPECT_EQ(proxy.taken(busy), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi");
  proxy.end(busy);
  EXPECT_EQ(proxy.proxy->clients(), 0U);
}

TEST(Proxy, RetiresWithPatience) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int idle = proxy.connect(), busy = proxy.connect(), begun = proxy.connect();
  proxy.send(begun, kGet);
  proxy.send(proxy.upstream(0), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nh");
  proxy.send(busy, kGet);
  proxy.proxy->begin_retire();
  proxy.settle();
  EXPECT_FALSE(proxy.is_closed(idle));
  proxy.send(proxy.upstream(1), kOk);
  EXPECT_EQ(proxy.taken(busy), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi");
  proxy.send(proxy.upstream(0), "i");
  EXPECT_EQ(proxy.taken(begun), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_FALSE(proxy.is_closed(begun)) << "it was not told to go";
  for (int kept : {idle, begun}) {
    const size_t upstreams = proxy.upstreams();
    proxy.send(kept, kGet);
    proxy.send(proxy.upstream(upstreams), kOk);
    EXPECT_NE(proxy.taken(kept).find("Connection: close\r\n"), std::string::npos);
    proxy.end(kept);
  }
  int last = proxy.connect();
  proxy.proxy->begin_stop();
  proxy.settle();
  EXPECT_TRUE(proxy.is_closed(last));
  proxy.end(busy);
  EXPECT_EQ(proxy.proxy->clients(), 0U);
}

TEST(Proxy, LooksUpInWhatWasOrderedLastAlsoBeforeItHasCaughtUp) {
  DeploymentDocument deployment = testing_deployment();
  TestingProxy proxy(testing_table({deployment}));
  int client = proxy.connect();
  proxy.send(client, kGet);
  proxy.send(proxy.upstream(0), kOk);
  deployment.revisions[0].id = "r2";
  auto ordered = *proxy.compiler->load({.document = testing_table({deployment})}, proxy.table.get());
  proxy.proxy->order_table(ordered.get());
  proxy.send(client, kGet);
  EXPECT_EQ(proxy.upstreams(), 2U) << "the second is of r2";
  EXPECT_FALSE(proxy.is_closed(proxy.upstream(0)));
  proxy.proxy->catch_up();
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(0))) << "kept for a revision that is gone";
  EXPECT_EQ(proxy.proxy->caught_up(), ordered.get());
  proxy.table = ordered;
}

TEST(Proxy, RenewsAllPoolsIfItHasMissedAPatch) {
  DeploymentDocument first = testing_deployment(), second = testing_deployment();
  second.id = "d2";
  second.routes.hosts = {"other.example"};
  TestingProxy proxy(testing_table({first, second}));
  int client = proxy.connect();
  proxy.send(client, kGet);
  proxy.send(proxy.upstream(0), kOk);
  int64_t generation = proxy.table->generation;
  auto removed =
      *proxy.compiler->patch({.document = {.removed = "d1"}, .deployment = "d1"}, generation + 1, *proxy.table);
  auto changed =
      *proxy.compiler->patch({.document = {.deployment = second}, .deployment = "d2"}, generation + 2, *removed);
  proxy.proxy->order_table(removed.get());
  proxy.proxy->order_table(changed.get());
  proxy.proxy->catch_up();
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(0))) << "of the deployment that the missed patch has removed";
  proxy.table = changed;
}

TEST(Proxy, BelievesForwardedAddressesOfThePeersThatTheTableTrusts) {
  TableDocument table = testing_table({testing_deployment()});
  table.trusted_proxies = {"192.0.2.0/24"};
  TestingProxy proxy(table);
  std::string request = "GET / HTTP/1.1\r\nHost: shop.example\r\nX-Forwarded-For: 1.1.1.1\r\n\r\n";
  proxy.send(proxy.connect("192.0.2.7:1"), request);
  EXPECT_NE(proxy.taken(proxy.upstream(0)).find("X-Forwarded-For: 1.1.1.1, 192.0.2.7\r\n"), std::string::npos);
  int stranger = proxy.connect("198.51.100.7:1");
  proxy.send(stranger, request);
  EXPECT_NE(proxy.taken(proxy.upstream(1)).find("X-Forwarded-For: 198.51.100.7\r\n"), std::string::npos);
  // The same connection, once another table trusts it.
  proxy.send(proxy.upstream(1), kOk);
  table.trusted_proxies = {"198.51.100.7"};
  proxy.load(table);
  proxy.send(stranger, request);
  EXPECT_NE(proxy.taken(proxy.upstream(1)).find("X-Forwarded-For: 1.1.1.1, 198.51.100.7\r\n"), std::string::npos);
}

TEST(Proxy, LeavesNothingBehindWhenItIsCut) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  for (int i = 0; i < 5; ++i) proxy.send(proxy.connect(), kGet);
  int idle = proxy.connect();
  proxy.proxy->cut_all();
  EXPECT_TRUE(proxy.is_closed(idle));
  EXPECT_EQ(proxy.proxy->clients() + proxy.proxy->exchanges() + proxy.proxy->buffers_taken(), 0U);
  EXPECT_EQ(proxy.counts("d1", "r1").requests, 5U);
}

}  // namespace proxy_test
}  // namespace sluice::router
