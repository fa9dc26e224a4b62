// A router that has joined obeys over its link what its control socket takes, and nothing else.
#include "host/link/link_agent.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <boost/json.hpp>
#include <thread>

#include "base/atomic_file.h"
#include "base/json.h"
#include "crypto/x509.h"
#include "host/link/testing_desk.h"
#include "router/control_client.h"

namespace sluice::host {
namespace link_agent_test {

// Answers each line at the router's control socket with what it heard.
struct Worker {
  explicit Worker(Disk& disk, const std::string& path) : listening(http::listen_unix(disk, path).value()) {
    thread = std::thread([this] {
      while (true) {
        http::Socket one(::accept4(listening.fd(), nullptr, nullptr, SOCK_CLOEXEC));
        if (ending) return;
        if (!one) {
          std::this_thread::yield();
          continue;
        }
        serve(one);
      }
    });
  }
  ~Worker() {
    ending = true;
    thread.join();
  }
  void serve(const http::Socket& one) {
    std::string in;
    char piece[4096];
    ssize_t got = 0;
    while ((got = ::recv(one.fd(), piece, sizeof piece, 0)) > 0) {
      in.append(piece, static_cast<size_t>(got));
      const size_t end = in.find('\n');
      if (end == std::string::npos) continue;
      const auto request = parse_json(in.substr(0, end))->root.as_object();
      const auto* bytes = request.if_contains("bytes");
      const size_t size = bytes != nullptr ? static_cast<size_t>(bytes->as_int64()) : 0;
      if (in.size() < end + 1 + size) continue;
      const std::string answer =
          boost::json::serialize(boost::json::object{
              {"ok", true}, {"op", request.at("op")}, {"body", in.substr(end + 1, size)}, {"folder", tls}}) +
          "\n";
      in.erase(0, end + 1 + size);
      (void)!::send(one.fd(), answer.data(), answer.size(), MSG_NOSIGNAL);
    }
  }

  http::Socket listening;
  std::string tls;
  std::atomic<bool> ending = false;
  std::thread thread;
};

struct Agent : testing::Test {
  void SetUp() override {
    const std::string token(plane.desk->invite("prod")->at("token").as_string());
    auto joined = join_as_router(plane.disk, home, plane.clock, {.url = plane.url(), .token = token, .name = "edge"});
    ASSERT_TRUE(joined) << joined.error().message;
    worker = std::make_unique<Worker>(plane.disk, (home.root() / "router/edge/control.sock").string());
    worker->tls = (home.root() / "tls").string();
  }
  void TearDown() override {
    if (thread.joinable()) {
      plane.desk.reset();  // which breaks the link
      thread.join();
    }
  }
  void begin() {
    thread = std::thread([this] {
      why = agent.serve_once().message;
      done = true;
    });
  }
  Result<router::ControlClient> asking() {
    while (!done && !plane.disk.exists(plane.control_of("edge")).value()) std::this_thread::yield();
    return router::ControlClient::connect(plane.control_of("edge"), 20'000);
  }

  TestingDesk plane;
  Home home{plane.disk, plane.folder.path("edge")};
  LinkAgent agent{plane.disk, home, plane.clock};
  std::unique_ptr<Worker> worker;
  std::string why;
  std::atomic<bool> done = false;
  std::thread thread;
};

TEST_F(Agent, OrdersGoToTheRouterWithTheirBytesAndAnswersComeBack) {
  begin();
  auto client = asking();
  ASSERT_TRUE(client);
  const std::string table(500'000, 'x');
  auto answer = client->load("envelope", table);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->at("op"), "load");
  EXPECT_EQ(answer->at("body").as_string().size(), table.size());
  EXPECT_EQ(client->ask({{"op", "usage"}})->at("op"), "usage");
}

TEST_F(Agent, TheFolderOfCertificatesIsTheControlPlanes) {
  begin();
  auto answer = asking()->ask({{"op", "certificates"}});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->at("folder").as_string(), (plane.home.root() / "tls").string());
}

TEST_F(Agent, NobodyTakesTheRoutersSocketsFromElsewhere) {
  begin();
  for (const char* op : {"adopt", "", "stop"}) EXPECT_FALSE(asking()->ask({{"op", op}})) << op;
  EXPECT_TRUE(asking()->ask({{"op", "stats"}}));
}

TEST_F(Agent, ACertificateThatHasEndedIsRenewedByItsKeyBeforeTheRouterLinksItself) {
  JoinedRouters routers(plane.disk, plane.home);
  const JoinedRouter known = routers.remove("edge").value();
  const auto request = crypto::make_signing_request({"router"}, link_identity(plane.disk, home)->key_pem).value();
  const int64_t before_ms = plane.clock.wall_ms() - 2 * kRouterCertificate_ms;
  auto ended = routers.join(
      {.name = "edge", .router = known.router, .environment = "prod", .machine = known.machine, .request = request.der},
      before_ms);
  ASSERT_TRUE(ended) << ended.error().message;
  ASSERT_TRUE(write_atomically(plane.disk, (home.root() / "router/link.pem").string(), *ended, 0600));
  ASSERT_LT(link_identity(plane.disk, home)->until_ms, plane.clock.wall_ms());
  begin();
  auto client = asking();
  ASSERT_TRUE(client) << why;
  EXPECT_TRUE(client->ask({{"op", "stats"}}));
  EXPECT_GT(link_identity(plane.disk, home)->until_ms, plane.clock.wall_ms());
}

TEST_F(Agent, OneThatWasRemovedIsTold) {
  ASSERT_TRUE(plane.desk->remove("edge"));
  begin();
  thread.join();
  EXPECT_EQ(why, plane.url() + ": the router with this certificate was removed here");
}

TEST_F(Agent, WithoutARouterNothingIsLinked) {
  worker.reset();
  begin();
  thread.join();
  EXPECT_NE(why.find("no router listens at"), std::string::npos) << why;
}

}  // namespace link_agent_test
}  // namespace sluice::host
