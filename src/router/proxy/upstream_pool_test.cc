// Replicas: the least busy first, those that fail not at all, and those that come back little by little.
#include "router/proxy/upstream_pool.h"

#include <gtest/gtest.h>

namespace sluice::router {
namespace upstream_pool_test {

class UpstreamPool : public testing::Test {
 protected:
  UpstreamPool() {
    deployment->revisions.push_back({.id = "r1", .memory = std::make_shared<RevisionMemory>()});
    for (const char* address : {"10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"}) {
      deployment->revisions[0].replicas.push_back({.address = *parse_address(address)});
    }
    pool = std::make_unique<RevisionPool>(deployment->revisions[0], deployment);
  }
  Replica& at(size_t i) { return *pool->replicas()[i]; }
  void eject(Replica& replica, int64_t now_ms) {
    for (int i = 0; i < 3; ++i) pool->failed(replica, now_ms);
  }

  std::shared_ptr<Deployment> deployment = std::make_shared<Deployment>();
  std::unique_ptr<RevisionPool> pool;
};

TEST_F(UpstreamPool, PicksTheOneWithTheLeastUnderWay) {
  at(0).pending = 3;
  at(1).pending = 1;
  at(2).pending = 2;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(pool->pick(0, 1, false), &at(1));
  EXPECT_EQ(pool->pick(uint64_t{1} << at(1).place, 1, false), &at(2));
}

TEST_F(UpstreamPool, TakesTurnsAmongEquals) {
  std::map<Replica*, int> picked;
  for (int i = 0; i < 30; ++i) ++picked[pool->pick(0, 1, false)];
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(picked[&at(i)], 10);
}

TEST_F(UpstreamPool, LeavesAloneWhoFailedThriceAndTriesItAgainOnce) {
  pool->failed(at(0), 1'000);
  pool->failed(at(0), 1'000);
  pool->succeeded(at(0), 1'000);
  EXPECT_EQ(at(0).ejected_until_ms, 0);
  eject(at(0), 1'000);
  for (int i = 0; i < 10; ++i) EXPECT_NE(pool->pick(0, 1'999, false), &at(0));
  // One request, and no second before that has ended.
  at(1).pending = at(2).pending = 100;
  EXPECT_EQ(pool->pick(0, 2'000, false), &at(0));
  EXPECT_NE(pool->pick(0, 2'000, false), &at(0));
  pool->failed(at(0), 2'000);
  EXPECT_EQ(at(0).ejected_until_ms, 4'000);
}

TEST_F(UpstreamPool, GivesARecoveredOneItsShareLittleByLittle) {
  eject(at(0), 0);
  pool->pick(~(uint64_t{1} << at(0).place), 1'000, false);
  pool->succeeded(at(0), 1'000);
  at(0).pending = 0;
  at(1).pending = at(2).pending = 8;
  EXPECT_NE(pool->pick(0, 1'000, false), &at(0));  // a tenth of its share: one is as ten
  EXPECT_EQ(pool->pick(0, 6'000, false), &at(0));
}

TEST_F(UpstreamPool, TriesAnyIfAllAreEjected) {
  for (size_t i = 0; i < 3; ++i) eject(at(i), static_cast<int64_t>(i) * 100);
  EXPECT_FALSE(pool->is_well(500));
  EXPECT_EQ(pool->pick(0, 500, false), nullptr);
  EXPECT_EQ(pool->pick(0, 500, true), &at(0));
  EXPECT_TRUE(pool->is_well(1'150));
}

TEST_F(UpstreamPool, KeepsWhatItKnowsOfReplicasThatStay) {
  at(1).pending = 7;
  at(0).pending = 1;
  auto later = std::make_shared<Deployment>(*deployment);
  later->revisions[0].replicas = {{.address = *parse_address("10.0.0.2:80")},
                                  {.address = *parse_address("10.0.0.9:80")}};
  pool->update(later->revisions[0], later);
  ASSERT_EQ(pool->replicas().size(), 3U);  // the first has something under way
  EXPECT_FALSE(at(0).listed);
  EXPECT_EQ(at(1).pending, 7U);
  EXPECT_EQ(to_string(at(2).address), "10.0.0.9:80");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(pool->pick(0, 1, true), &at(2));
}

}  // namespace upstream_pool_test
}  // namespace sluice::router
