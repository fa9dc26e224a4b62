// The control socket and the admin port, from outside.
#include "router/control.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <latch>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "base/testing_wait.h"
#include "router/control_client.h"
#include "router/counters.h"
#include "router/testing_proxy.h"
#include "router/testing_router.h"

namespace sluice::router {
namespace control_test {

constexpr const char* kGet = "GET / HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n";

class ControlSocket : public testing::Test {
 protected:
  json::object load(int64_t generation) {
    TableDocument table = testing_table({deployment});
    table.generation = generation;
    std::string bytes = write(to_json(table));
    return *client->load(*sign_order({.environment = "test", .generation = generation}, bytes, router.key), bytes);
  }
  json::object patch(int64_t from) {
    std::string bytes = write(to_json(PatchDocument{.deployment = deployment}));
    Order order{.op = OrderOp::patch, .environment = "test", .generation = from + 1, .from = from};
    return *client->patch(*sign_order(order, bytes, router.key), bytes);
  }

  TestingRouter router;
  TestingServer one{"one"}, two{"two"};
  DeploymentDocument deployment = [this] {
    DeploymentDocument made = testing_deployment();
    made.revisions[0].replicas = {{one.address()}};
    return made;
  }();
  Result<ControlClient> client = ControlClient::connect(router.control);
};

TEST_F(ControlSocket, TakesALoadAndPatchesAndFindsThemAgainAfterAKill) {
  EXPECT_EQ(load(5), (json::object{{"ok", true}, {"generation", 5}, {"quarantined", json::array()}}));
  EXPECT_TRUE(router.fetch(kGet).ends_with("\r\n\r\none"));
  deployment.revisions[0].replicas = {{two.address()}};
  EXPECT_EQ(patch(5),
            (json::object{{"ok", true}, {"generation", 6}, {"quarantined", json::array()}, {"wants_load", false}}));
  EXPECT_TRUE(router.fetch(kGet).ends_with("\r\n\r\ntwo"));
  json::object refused = patch(9);
  EXPECT_EQ(refused.at("code"), "conflict");
  EXPECT_EQ(refused.at("needs"), "load");
  EXPECT_EQ(refused.at("generation"), 6);
  ::kill(router.worker_pid(), SIGKILL);
  EXPECT_TRUE(router.fetch(kGet).ends_with("\r\n\r\ntwo"));
}

TEST_F(ControlSocket, TakesATableThatDoesNotComeAtOnceAndForgetsOneThatEnds) {
  TableDocument table = testing_table({deployment});
  table.generation = 2;
  for (int i = 0; i < 3'000; ++i) {
    DeploymentDocument more = testing_deployment();
    more.id = "more-" + std::to_string(i);
    more.routes.hosts = {more.id + ".example"};
    table.deployments.push_back(more);
  }
  std::string bytes = write(to_json(table));
  ASSERT_GT(bytes.size(), size_t{1} << 20);
  json::object line{{"op", "load"}, {"order", "none"}, {"bytes", static_cast<int64_t>(bytes.size())}};
  sockaddr_un place{.sun_family = AF_UNIX};
  router.control.copy(place.sun_path, sizeof place.sun_path - 1);
  int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
  std::string half = write(line) + "\n" + bytes.substr(0, 1'000);
  ASSERT_EQ(::send(fd, half.data(), half.size(), MSG_NOSIGNAL), static_cast<ssize_t>(half.size()));
  ::close(fd);
  auto done = client->load(*sign_order({.environment = "test", .generation = 2}, bytes, router.key), bytes);
  EXPECT_EQ(*done, (json::object{{"ok", true}, {"generation", 2}, {"quarantined", json::array()}}));
  EXPECT_EQ(load(3).at("generation"), 3);
  EXPECT_TRUE(router.fetch(kGet).ends_with("one"));
}

TEST_F(ControlSocket, CountsWhatPassedAlsoOverAKill) {
  load(1);
  for (int i = 0; i < 5; ++i) router.fetch(kGet);
  json::object first = *client->ask({{"op", "usage"}});
  EXPECT_EQ(first.at("series").at(0).at("requests"), 5);
  EXPECT_EQ(first.at("sequence"), 1);
  ::kill(router.worker_pid(), SIGKILL);
  EXPECT_TRUE(router.fetch(kGet).ends_with("one"));
  client = ControlClient::connect(router.control);
  json::object second = *client->ask({{"op", "usage"}});
  EXPECT_EQ(second.at("series").at(0).at("requests"), 6);
  EXPECT_EQ(second.at("sequence"), 2);
  EXPECT_EQ(second.at("epoch"), first.at("epoch"));
}

TEST_F(ControlSocket, StatsHaveTheLatenciesByBucket) {
  load(1);
  for (int i = 0; i < 3; ++i) router.fetch(kGet);
  json::value revision = client->ask({{"op", "stats"}})->at("deployments").at(0).at("revisions").at(0);
  ASSERT_EQ(revision.at("latency_counts").as_array().size(), kLatencyBuckets);
  int64_t all = 0;
  for (const json::value& each : revision.at("latency_counts").as_array()) all += each.as_int64();
  EXPECT_EQ(all, 3);
}

TEST_F(ControlSocket, SaysWhatIsDrained) {
  deployment.revisions = {{.id = "r2", .weight_bps = 5'000, .replicas = {{two.address()}}},
                          {.id = "r1", .weight_bps = 5'000, .replicas = {{one.address()}}}};
  load(1);
  json::object asked{{"op", "drain"}, {"deployment", "d1"}, {"revision", "r1"}, {"ms", 1'000}};
  EXPECT_EQ(*client->ask(asked),
            (json::object{{"ok", true}, {"in_flight", 0}, {"websockets", 0}, {"cut", 0}, {"done", true}}));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(router.fetch(kGet).ends_with("two"));
  json::object stats = *client->ask({{"op", "stats"}});
  EXPECT_EQ(stats.at("deployments").at(0).at("revisions").at(1).at("state"), "draining");
  asked["revision"] = "r9";
  EXPECT_EQ(client->ask(asked)->at("code"), "not_found");
}

TEST_F(ControlSocket, HoldsAndReleases) {
  load(1);
  EXPECT_EQ(client->ask({{"op", "hold"}, {"deployment", "d1"}, {"ms", 30'000}})->at("held"), true);
  std::string got;
  std::thread waiting([&] { got = router.fetch(kGet); });
  EXPECT_TRUE(eventually([&] { return client->ask({{"op", "stats"}})->at("held") == 1; }));
  EXPECT_EQ(client->ask({{"op", "release"}, {"deployment", "d1"}})->at("ok"), true);
  waiting.join();
  EXPECT_TRUE(got.ends_with("one"));
  EXPECT_EQ(client->ask({{"op", "hold"}, {"deployment", "d1"}, {"ms", 30'001}})->at("code"), "invalid");
  EXPECT_EQ(client->ask({{"op", "hold"}, {"deployment", "d9"}})->at("code"), "not_found");
}

// A router's parts in this process, so that a thread that serves can be kept from answering.
class BusyRouter : public testing::Test {
 protected:
  BusyRouter() {
    worker = *WorkerThread::make(0, {}, clock, random, *counters, log, addresses);
    worker->start();
    threads.push_back(std::move(worker));
    turning = std::thread([this] {
      Control control(
          listeners[0], listeners[1], keeper, state, clock,
          [this] {
            return Reported{
                .name = "busy", .router = "R", .counters = *counters, .table = keeper.table(), .threads = threads};
          },
          [](int) { return std::nullopt; });
      while (!stop) control.turn(10, -1);
    });
  }
  ~BusyRouter() override {
    stop = true;
    turning.join();
    for (int fd : listeners) ::close(fd);
  }
  static int listen_at(const std::string& path) {
    sockaddr_un place{.sun_family = AF_UNIX};
    path.copy(place.sun_path, sizeof place.sun_path - 1);
    int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
    EXPECT_EQ(::listen(fd, 16), 0);
    return fd;
  }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  SeededRandom random{1};
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  std::unique_ptr<Counters> counters = *Counters::open(folder.path("counters"), "R", "E", 1);
  LogExchange log;
  AddressCounts addresses;
  std::unique_ptr<WorkerThread> worker;
  std::vector<std::unique_ptr<WorkerThread>> threads;
  TableCompiler compiler{random, [this](const SeriesName& name) { return counters->series_of(name); }};
  StateFiles state{disk, folder.path()};
  TableKeeper keeper{"R", {key.public_key()}, compiler, state, [](const Table*) {}, [](const Table*) { return false; }};
  std::vector<int> listeners{listen_at(folder.path("control")), listen_at(folder.path("admin"))};
  std::atomic<bool> stop = false;
  std::thread turning;
};

TEST_F(BusyRouter, ObeysAChangeWhileAReportIsBeingMade) {
  std::latch held(1), go(1);
  std::thread holding([&] {
    threads[0]->ask([&](Proxy&) {
      held.count_down();
      go.wait();
    });
  });
  held.wait();
  std::atomic<int> reports = 0;
  auto ask = [&](const char* op) {
    auto client = ControlClient::connect(folder.path("control"));
    EXPECT_EQ(client->ask({{"op", op}})->at("ok"), true) << op;
    ++reports;
  };
  std::thread stats(ask, "stats");
  auto client = ControlClient::connect(folder.path("control"));
  for (int64_t generation = 1; generation <= 20; ++generation) {
    TableDocument table = testing_table({testing_deployment()});
    table.generation = generation;
    std::string bytes = write(to_json(table));
    auto order = sign_order({.environment = "test", .generation = generation}, bytes, key);
    EXPECT_EQ(client->load(*order, bytes)->at("generation"), generation);
  }
  std::thread usage(ask, "usage");
  EXPECT_EQ(client->ask({{"op", "counts"}, {"deployment", "d1"}})->at("generation"), 20) << "what the judge reads";
  EXPECT_EQ(reports, 0) << "they wait for the thread that serves";
  go.count_down();
  for (std::thread* each : {&holding, &stats, &usage}) each->join();
  EXPECT_EQ(reports, 2);
}

TEST_F(ControlSocket, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(client->ask({{"op", "dance"}})->at("message"),
            "expected an op: load, patch, stats, counts, usage, hold, release, drain or certificates");
  EXPECT_EQ(client->load("{}", "x")->at("ok"), false);
  EXPECT_EQ(client->ask({{"op", "stats"}, {"bytes", -1}})->at("code"), "limit");
}

}  // namespace control_test
}  // namespace sluice::router
