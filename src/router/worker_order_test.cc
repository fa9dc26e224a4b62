// What a master tells a worker of another program is read back as it was.
#include "router/worker_order.h"

#include <gtest/gtest.h>

namespace sluice::router {
namespace worker_order_test {

TEST(WorkerOrder, IsReadBackWhole) {
  const crypto::PublicKey key = crypto::PrivateKey::generate().public_key();
  WorkerPlan plan{.name = "main",
                  .router = "R",
                  .folder = "/home/router/main",
                  .table_file = "/t.json",
                  .access_log = "-",
                  .trusted = {key},
                  .bounds_file = "/b.json",
                  .bounds_trusted = {key, key},
                  .certificates = "/home/tls",
                  .tickets = {.hour = 500'000},
                  .hash_key = {.first = UINT64_MAX, .second = 7},
                  .threads = 3,
                  .drain_ms = 1'000,
                  .master_pid = 42,
                  .spare = 5,
                  .gauges = 6,
                  .channel = 7,
                  .takes_over = true,
                  .pins = 8};
  plan.tickets.secret[31] = 9;
  const WorkerPlaces places{
      .listen = {{.address = *parse_address("127.0.0.1:8443"), .secure = true, .proxied = true, .fds = {10, 11}}},
      .control = {.address = *parse_address("unix:/home/router/main/control.sock"), .fds = {12}},
      .admin = {.address = *parse_address("[::1]:9"), .fds = {13}}};
  auto read = read_worker_order(worker_order(plan, places));
  ASSERT_TRUE(read) << read.error().message;
  const auto& [told, at] = *read;
  EXPECT_EQ(
      told.name + told.router + told.folder + told.table_file + told.access_log + told.bounds_file + told.certificates,
      "mainR/home/router/main/t.json-/b.json/home/tls");
  EXPECT_EQ(told.trusted, plan.trusted);
  EXPECT_EQ(told.bounds_trusted, plan.bounds_trusted);
  EXPECT_EQ(told.tickets.secret, plan.tickets.secret);
  EXPECT_EQ(told.tickets.hour, plan.tickets.hour);
  EXPECT_EQ(told.hash_key.first, UINT64_MAX);
  EXPECT_EQ(told.threads, 3U);
  EXPECT_EQ(told.drain_ms, 1'000);
  EXPECT_EQ(told.master_pid, 42);
  EXPECT_TRUE(told.takes_over);
  EXPECT_EQ((std::vector<int>{told.spare, told.gauges, told.channel, told.pins}), (std::vector<int>{5, 6, 7, 8}));
  ASSERT_EQ(at.listen.size(), 1U);
  EXPECT_EQ(to_string(at.listen[0]), "127.0.0.1:8443,tls,proxy");
  EXPECT_EQ(at.listen[0].fds, (std::vector<int>{10, 11}));
  EXPECT_EQ(to_string(at.control.address), "unix:/home/router/main/control.sock");
  EXPECT_EQ(at.admin.fds, std::vector<int>{13});
}

TEST(WorkerOrder, OneThatIsStartedAgainTakesNobodysPlace) {
  const WorkerPlaces places{.control = {.address = *parse_address("unix:/c.sock"), .fds = {1}},
                            .admin = {.address = *parse_address("127.0.0.1:9"), .fds = {2}}};
  auto read = read_worker_order(worker_order({.threads = 1}, places));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_FALSE(read->first.takes_over);
}

TEST(WorkerOrder, OneThatIsDamagedIsRefused) {
  EXPECT_FALSE(read_worker_order("{}"));
  EXPECT_FALSE(read_worker_order("nothing"));
  std::string text = worker_order({.threads = 0}, {});
  EXPECT_FALSE(read_worker_order(text));
}

}  // namespace worker_order_test
}  // namespace sluice::router
