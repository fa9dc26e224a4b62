// Which worker the next master may take up, and that it does.
#include "router/adoption.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/real_disk.h"
#include "base/testing_wait.h"
#include "router/control_client.h"
#include "router/testing_proxy.h"
#include "router/testing_router.h"
#include "router/worker_process.h"

namespace sluice::router {
namespace adoption_test {

constexpr const char* kGet = "GET / HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n";

TEST(Adoption, IsOfAWorkerThatDoesWhatIsAsked) {
  const ServedPlan served{.listen = {"127.0.0.1:8080", "unix:/tmp/a"}, .admin = "127.0.0.1:41000", .threads = 2};
  ServedPlan asked = served;
  EXPECT_TRUE(does(served, asked));
  asked.admin = "127.0.0.1:0";
  asked.listen[0] = "127.0.0.1:0";
  asked.threads = 0;
  EXPECT_TRUE(does(served, asked)) << "any port, and as many threads as there are";
  auto differs = [&](auto change) {
    ServedPlan other = served;
    change(other);
    return !does(served, other);
  };
  EXPECT_TRUE(differs([](ServedPlan& other) { other.listen[0] = "127.0.0.1:8081"; }));
  EXPECT_TRUE(differs([](ServedPlan& other) { other.listen[0] = "[::1]:8080"; }));
  EXPECT_TRUE(differs([](ServedPlan& other) { other.listen[0] = "127.0.0.1:8080,tls"; }));
  EXPECT_TRUE(differs([](ServedPlan& other) { other.certificates = "/certificates"; }));
  EXPECT_TRUE(differs([](ServedPlan& other) { other.listen.pop_back(); }));
  EXPECT_TRUE(differs([](ServedPlan& other) { other.threads = 3; }));
  EXPECT_TRUE(differs([](ServedPlan& other) { other.trusted = {"key"}; }));
  EXPECT_TRUE(differs([](ServedPlan& other) { other.table_file = "table.json"; }));
  EXPECT_TRUE(differs([](ServedPlan& other) { other.drain_ms = 1; }));
}

TEST(FirstWeek23, AWorkerServesWithoutItsMasterAndTheNextOneAdoptsIt) {
  TableDocument table = testing_table({testing_deployment()});
  table.deployments[0].revisions[0].replicas.clear();
  TestingRouter router(&table);
  const int worker = router.worker_pid();
  ASSERT_NE(worker, 0);
  EXPECT_EQ(adopt_worker(router.control).error().code, Code::conflict) << "it has a master";
  for (int round = 0; round < 2; ++round) {
    router.kill_master();
    EXPECT_TRUE(router.fetch(kGet).starts_with("HTTP/1.1 503 "));
    EXPECT_EQ(router.worker_pid(), worker);
    router.start();
    EXPECT_TRUE(eventually([&] {
      auto client = ControlClient::connect(router.control);
      return client && client->ask({{"op", "stats"}})->at("pid") == router.pid;
    }));
    EXPECT_EQ(router.worker_pid(), worker);
    EXPECT_TRUE(router.fetch(kGet).starts_with("HTTP/1.1 503 "));
  }
  // The new master has the listeners, too: connections wait in their queues.
  ::kill(worker, SIGKILL);
  EXPECT_TRUE(router.fetch(kGet).starts_with("HTTP/1.1 503 "));
  EXPECT_NE(router.worker_pid(), worker);
  EXPECT_TRUE(router.stop());
  EXPECT_EQ(router.fetch(kGet), "");
}

TEST(FirstWeek23, AWorkerThatServesSomethingElseIsStoppedByTheNextMaster) {
  TableDocument table = testing_table({testing_deployment()});
  TestingRouter router(&table);
  const int worker = router.worker_pid();
  router.kill_master();
  router.options.threads = 1;
  router.options.listen = {router.listen};
  router.start();
  EXPECT_TRUE(eventually([&] {
    const int now = router.worker_pid();
    return now != 0 && now != worker;
  }));
  EXPECT_EQ(ControlClient::connect(router.control)->ask({{"op", "stats"}})->at("threads"), 1);
}

TEST(FirstWeek23, AWorkerWithoutAMasterStopsInOrder) {
  TableDocument table = testing_table({testing_deployment()});
  TestingRouter router(&table);
  auto worker = WorkerProcess::adopt(router.worker_pid());
  ASSERT_TRUE(worker);
  router.kill_master();
  EXPECT_TRUE(RealDisk().exists(router.folder.path("router.json")).value());
  worker->send(SIGTERM);
  EXPECT_TRUE(eventually([&] { return worker->has_ended(); }));
  EXPECT_FALSE(RealDisk().exists(router.folder.path("router.json")).value());
  EXPECT_EQ(router.fetch(kGet), "");
}

}  // namespace adoption_test
}  // namespace sluice::router
