// The worker's parts together: table file, requests, admin port and SIGHUP.
#include "router/worker.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/real_disk.h"
#include "base/testing_wait.h"
#include "router/testing_proxy.h"
#include "router/testing_router.h"

namespace sluice::router {
namespace worker_test {

constexpr const char* kGet = "GET / HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n";

TEST(Worker, ServesFromATableFileAndReadsItAgain) {
  TableDocument table = testing_table({testing_deployment()});
  table.deployments[0].revisions[0].replicas.clear();
  table.access_log_bps = 10'000;
  TestingRouter router(&table);
  TestingServer server("hello");
  RealDisk disk;
  EXPECT_TRUE(router.fetch(kGet).starts_with("HTTP/1.1 503 "));
  table.deployments[0].revisions[0].replicas = {{server.address()}};
  table.generation = 2;
  ASSERT_TRUE(write_atomically(disk, router.options.table_file, write(to_json(table)), 0600));
  ::kill(router.pid, SIGHUP);
  EXPECT_TRUE(eventually([&] { return router.fetch(kGet).ends_with("\r\n\r\nhello"); }));
  std::string get = "GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n";
  EXPECT_TRUE(TestingRouter::fetch_at(router.admin, get).ends_with("\r\n\r\ngeneration 2\n"));
  EXPECT_TRUE(router.stop());
}

TEST(Worker, IsNotReadyWithoutATable) {
  TestingRouter router;
  EXPECT_TRUE(router.fetch(kGet).starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
  EXPECT_TRUE(TestingRouter::fetch_at(router.admin, "GET /readyz HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 503 "));
  EXPECT_TRUE(TestingRouter::fetch_at(router.admin, "GET /healthz HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 "));
}

}  // namespace worker_test
}  // namespace sluice::router
