// What monitoring reads.
#include "deploy/views/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/json_reader.h"
#include "deploy/testing_rollouts.h"

namespace sluice::deploy::views {
namespace metrics_test {

TEST(Metrics, CountThingsByTheirState) {
  RolloutRows rows;
  lang::Tools tools;
  auto answer = metrics_views().front().read({.rows = rows, .tools = tools}, {});
  ASSERT_TRUE(answer);
  auto families = read<std::vector<MetricFamily>>(*answer);
  ASSERT_TRUE(families) << to_string(families.error());
  auto samples_of = [&](const std::string& name) {
    return std::ranges::find(*families, name, &MetricFamily::name)->samples;
  };
  ASSERT_EQ(samples_of("sluice_rollouts").size(), 1U);
  EXPECT_EQ(samples_of("sluice_rollouts")[0].labels,
            (std::map<std::string, std::string>{{"environment", "local"}, {"status", "running"}}));
  EXPECT_EQ(samples_of("sluice_rollouts")[0].value, 1);
  EXPECT_EQ(samples_of("sluice_revisions")[0].value, 2);
  EXPECT_EQ(samples_of("sluice_analyses_open")[0].value, 1);
  EXPECT_EQ(samples_of("sluice_markers_unsent")[0].value, 0) << "also of nothing there is a sample";
  EXPECT_EQ(samples_of("sluice_routers")[0].labels.at("obeys"), "true");
}

}  // namespace metrics_test
}  // namespace sluice::deploy::views
