// Upgrades: bytes both ways, ends, and WebSockets that are closed when their revision goes.
#include <gtest/gtest.h>

#include "router/testing_proxy.h"

namespace sluice::router {
namespace proxy_tunnel_test {

struct Tunnelled : TestingProxy {
  Tunnelled() : TestingProxy(testing_table({testing_deployment()})) {
    client = connect();
    send(client, "GET /ws HTTP/1.1\r\nHost: shop.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    asked = taken(upstream(0));
    send(upstream(0), "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    answered = taken(client);
  }
  int client = -1;
  std::string asked, answered;
};

TEST(ProxyTunnel, PassesTheUpgradeOnAndThenEverything) {
  Tunnelled proxy;
  EXPECT_NE(proxy.asked.find("Connection: upgrade\r\nUpgrade: websocket\r\n"), std::string::npos);
  EXPECT_EQ(proxy.answered, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n");
  EXPECT_EQ(proxy.websockets("d1", "r1"), 1U);
  proxy.send(proxy.client, std::string("\x81\x82\1\2\3\4ab", 8));
  EXPECT_EQ(proxy.taken(proxy.upstream(0)), std::string("\x81\x82\1\2\3\4ab", 8));
  proxy.send(proxy.upstream(0), "\x81\x02hi");
  EXPECT_EQ(proxy.taken(proxy.client), "\x81\x02hi");
}

TEST(ProxyTunnel, EndsWhenTheUpstreamEnds) {
  Tunnelled proxy;
  proxy.end(proxy.upstream(0));
  EXPECT_TRUE(proxy.wire.at(proxy.client).shut);
  EXPECT_EQ(proxy.websockets("d1", "r1"), 0U);
  EXPECT_EQ(proxy.in_flight("d1", "r1"), 0U);
  EXPECT_EQ(proxy.counts("d1", "r1").classes[0], 1U);
}

TEST(ProxyTunnel, TellsTheUpstreamThatTheClientHasEnded) {
  Tunnelled proxy;
  proxy.end(proxy.client);
  EXPECT_TRUE(proxy.wire.at(proxy.upstream(0)).shut);
  proxy.send(proxy.upstream(0), "bye");
  EXPECT_EQ(proxy.taken(proxy.client), "bye");
}

TEST(ProxyTunnel, Sends1012BetweenTwoFramesWhenTheRevisionDrains) {
  Tunnelled proxy;
  // In the middle of a frame of five bytes.
  proxy.send(proxy.upstream(0), "\x81\x05he");
  (*proxy.table->named("d1"))->named("r1")->memory->draining = true;
  proxy.proxy->drain();
  proxy.settle();
  EXPECT_EQ(proxy.taken(proxy.client), "\x81\x05he");
  EXPECT_EQ(proxy.taken(proxy.upstream(0)), kCloseToServer);
  proxy.send(proxy.upstream(0), "llo\x81\x01x");
  EXPECT_EQ(proxy.taken(proxy.client), "llo" + std::string(kCloseToClient));
  proxy.end(proxy.client);
  EXPECT_EQ(proxy.websockets("d1", "r1"), 0U);
  EXPECT_TRUE(proxy.is_closed(proxy.upstream(0)));
  EXPECT_TRUE(proxy.is_closed(proxy.client));
}

TEST(ProxyTunnel, ClosesAClientThatDoesNotAnswerTheClose) {
  Tunnelled proxy;
  (*proxy.table->named("d1"))->named("r1")->memory->draining = true;
  proxy.proxy->drain();
  proxy.settle();
  EXPECT_EQ(proxy.taken(proxy.client), kCloseToClient);
  proxy.advance_ms(2'500);
  EXPECT_TRUE(proxy.is_closed(proxy.client));
  EXPECT_EQ(proxy.in_flight("d1", "r1"), 0U);
}

TEST(ProxyTunnel, PassesAnAnswerOnThatIsNoUpgrade) {
  TestingProxy proxy(testing_table({testing_deployment()}));
  int client = proxy.connect();
  proxy.send(client, "GET /ws HTTP/1.1\r\nHost: shop.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  proxy.send(proxy.upstream(0), "HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(proxy.taken(client), "HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\n\r\n");
}

TEST(ProxyTunnel, KeepsAWebSocketOnItsRevisionAcrossARollback) {
  DeploymentDocument deployment = testing_deployment();
  deployment.revisions = {{.id = "r2", .weight_bps = 0, .replicas = {{"tcp:10.0.0.2:80"}}},
                          {.id = "r1", .weight_bps = 10'000, .replicas = {{"tcp:10.0.0.1:80"}}}};
  Tunnelled proxy;
  std::swap(deployment.revisions[0].weight_bps, deployment.revisions[1].weight_bps);
  TableDocument table = testing_table({deployment});
  table.generation = 2;
  proxy.load(table);
  EXPECT_EQ(proxy.websockets("d1", "r1"), 1U);
  proxy.send(proxy.upstream(0), "\x81\x02hi");
  EXPECT_EQ(proxy.taken(proxy.client), "\x81\x02hi");
  deployment.revisions[1].state = RevisionState::draining;
  table = testing_table({deployment});
  table.generation = 3;
  proxy.load(table);
  EXPECT_EQ(proxy.taken(proxy.client), kCloseToClient);
}

}  // namespace proxy_tunnel_test
}  // namespace sluice::router
