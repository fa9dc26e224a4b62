// What the view `series` makes of what was counted.
#include "deploy/views/series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/series_watch.h"
#include "deploy/testing_rollouts.h"
#include "deploy/testing_router.h"

namespace sluice::deploy::views {
namespace series_test {

class SeriesViews : public testing::Test {
 protected:
  Result<json::value> read(const json::object& query) {
    lang::Reading reading{.rows = rows, .tools = tools, .now_ms = clock.wall_ms()};
    return series_views().front().read(reading, query);
  }
  void second(int64_t requests, int64_t failed) {
    router.count_revisions(
        {json::object{{"id", "r1"}, {"weight_bps", 5'000}, {"requests", requests}, {"failed", failed}},
         json::object{{"id", "r2"}, {"weight_bps", 5'000}, {"requests", requests}, {"failed", 0}}});
    clock.advance_ms(1'000);
    watch.look([](const std::string&, const json::object&) {});
  }

  TestingFolder folder;
  RealDisk disk;
  ManualClock clock{1'000'000'000};
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  TestingRouter router{folder.path("router"), "main", key.public_key()};
  RouterFleet fleet{disk, folder.path("router"),
                    [this] { return crypto::PrivateKey::from_pem(key.to_pem().reveal()); }};
  RolloutRows rows{router.control()};
  SeriesWatch watch{fleet, clock};
  lang::Tools tools;
};

TEST_F(SeriesViews, HaveAValueForEachStepAndNullWhereNobodyCounted) {
  tools.add(watch);
  watch.compare(rows, [](const std::string&, const json::object&) {});
  second(100, 0);
  for (int i = 1; i <= 10; ++i) second(100 + i * 10, i);
  const json::value view = read({{"environment", "local"}, {"deployment", "d1"}, {"range_s", 900}}).value();
  EXPECT_EQ(view.at("step_s"), 5);
  EXPECT_EQ(view.at("from_s"), 1'000'010 - 900);
  ASSERT_EQ(view.at("revisions").as_array().size(), 2U);
  const json::value& newest = view.at("revisions").at(0);
  EXPECT_EQ(newest.at("name"), "shop@2");
  EXPECT_EQ(newest.at("last_minute"), 100);
  const json::array& rates = newest.at("requests_per_s").as_array();
  ASSERT_EQ(rates.size(), 180U);
  EXPECT_TRUE(rates.front().is_null());
  EXPECT_EQ(rates.back(), 10.0);
  EXPECT_EQ(view.at("revisions").at(1).at("error_share").as_array().back(), 0.1);
  EXPECT_TRUE(newest.at("p99_ms").as_array().back().is_null()) << "no latencies were counted";
  EXPECT_EQ(view.at("total").at("requests_per_s").as_array().back(), 20.0);
  EXPECT_EQ(view.at("total").at("last_minute"), 200);
}

TEST_F(SeriesViews, ShowWholeMinutesBeyondAQuarterOfAnHour) {
  EXPECT_EQ(read({{"environment", "local"}, {"range_s", 2'700}}).value().at("step_s"), 60);
  EXPECT_EQ(read({{"environment", "local"}, {"range_s", 86'400}}).value().at("step_s"), 480);
  const json::value all = read({{"environment", "local"}}).value();
  EXPECT_TRUE(all.at("revisions").as_array().empty());
  EXPECT_EQ(all.at("total").at("requests_per_s").as_array().size(), 180U);
}

TEST_F(SeriesViews, OfADeploymentThatIsNotThere) {
  EXPECT_EQ(read({{"environment", "prod"}, {"deployment", "d1"}}).error().message, "there is no deployment d1 in prod");
}

}  // namespace series_test
}  // namespace sluice::deploy::views
