// The router as a process: it says where it listens, comes back, and stops.
#include "router/master.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "base/real_disk.h"
#include "base/testing_wait.h"
#include "router/testing_proxy.h"
#include "router/testing_router.h"

namespace sluice::router {
namespace master_test {

constexpr const char* kGet = "GET / HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n";

TEST(Master, StartsAWorkerAgainThatWasKilled) {
  TableDocument table = testing_table({testing_deployment()});
  table.deployments[0].revisions[0].replicas.clear();
  TestingRouter router(&table);
  int first = router.worker_pid();
  ASSERT_NE(first, 0);
  EXPECT_TRUE(router.fetch(kGet).starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
  ::kill(first, SIGKILL);
  // The connection waits in the listener's queue until there is a worker again.
  EXPECT_TRUE(router.fetch(kGet).starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
  EXPECT_TRUE(eventually([&] { return router.worker_pid() != 0 && router.worker_pid() != first; }));
  EXPECT_TRUE(router.stop());
  EXPECT_FALSE(RealDisk().exists(router.folder.path("router.json")).value());
}

TEST(Master, IsAloneInItsFolder) {
  TableDocument table = testing_table({});
  TestingRouter router(&table);
  RealDisk disk;
  auto refused = run_router(router.options, disk, [](const std::string&) {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
}

TEST(Master, RefusesATableThatIsNone) {
  TestingFolder folder;
  RealDisk disk;
  RouterOptions options{.folder = folder.path(), .listen = {"127.0.0.1:0"}, .table_file = folder.path("none.json")};
  EXPECT_EQ(run_router(options, disk, [](const std::string&) {}).error().code, Code::not_found);
  options.table_file = "";
  options.listen = {"example:80"};
  EXPECT_EQ(run_router(options, disk, [](const std::string&) {}).error().code, Code::invalid);
}

}  // namespace master_test
}  // namespace sluice::router
