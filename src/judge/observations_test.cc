// Files of counts: what is read, what is refused and where, and what comes of them.
#include "judge/observations.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/json_schema.h"
#include "base/json_writer.h"
#include "judge/testing_windows.h"

namespace sluice::judge {
namespace observations_test {

const std::string kHead = "schema: sluice.observations.v1\n";

std::string refused(const std::string& rest) {
  auto parsed = parse_observations(kHead + rest, "data.yaml");
  return parsed ? "" : to_string(parsed.error());
}

TEST(Observations, GiveTheVerdictOfTheirWindows) {
  for (const Vector& vector : vectors()) {
    if (vector.name == "F") continue;  // has windows of no time, which a file cannot have
    Observations observations{.schema = std::string(kObservationsSchema),
                              .baseline = "v1",
                              .canary = "v2",
                              .settings = vector.settings,
                              .history = vector.history,
                              .windows = vector.windows};
    auto parsed = parse_observations(write(to_json(observations)));
    ASSERT_TRUE(parsed) << to_string(parsed.error());
    EXPECT_EQ(verdict_on(*parsed).verdict, vector.outcome);
  }
}

TEST(Observations, TotalsAreTheSameAsTheirWindows) {
  Observations windows{.schema = std::string(kObservationsSchema)}, totals = windows;
  totals.counted = Counted::totals;
  Window sum{.baseline = old_version(), .canary = new_version()};
  totals.windows.push_back(sum);
  for (int i = 0; i < 20; ++i) {
    Window window{.baseline = old_version(), .canary = new_version()};
    windows.windows.push_back(window);
    add(sum.baseline, window.baseline);
    add(sum.canary, window.canary);
    totals.windows.push_back(sum);
  }
  EXPECT_EQ(to_json(verdict_on(totals)), to_json(verdict_on(windows)));
  // A process that began again costs the window in which it did.
  for (size_t i = 10; i < totals.windows.size(); ++i) totals.windows[i].canary = {};
  EXPECT_EQ(verdict_on(totals).dropped_windows, 1);
}

TEST(Observations, AreRefusedWithThePlace) {
  EXPECT_EQ(refused("windows: []\n"), "");
  EXPECT_EQ(parse_observations("schema: x\nwindows: []\n").error().message, "expected sluice.observations.v1");
  EXPECT_EQ(refused("windows: []\ncanary: ''\n"), "data.yaml:3:1: /canary: the canary needs a name");
  EXPECT_EQ(refused("windows: []\nbaseline: ''\n"), "data.yaml:3:1: /baseline: the baseline needs a name");
  EXPECT_EQ(refused("windows: [{ canary: {}, seconds: 0 }]\n"),
            "data.yaml:2:25: /windows/0/seconds: a window takes more than 0 and at most 86400 seconds");
  EXPECT_EQ(refused("windows: [{ canary: {}, canary_weight_bps: 10001 }]\n"),
            "data.yaml:2:25: /windows/0/canary_weight_bps: a weight is between 0 and 10000");
  EXPECT_EQ(refused("latency_ends_us: [10]\nwindows: [{ canary: { latencies: [1, 2, 3] } }]\n"),
            "data.yaml:3:23: /windows/0/canary/latencies: there are 2 buckets, not 3");
  EXPECT_EQ(refused("latency_ends_us: [10]\nwindows: []\nhistory: [{ latencies: [1, 2, 3] }]\n"),
            "data.yaml:4:13: /history/0/latencies: there are 2 buckets, not 3");
  EXPECT_EQ(refused("latency_ends_us: [10, 5]\nwindows: []\n"),
            "data.yaml:2:1: /latency_ends_us: the ends of a histogram's buckets must ascend from above 0");
  EXPECT_EQ(refused("settings: { alpha: 2 }\nwindows: []\n"),
            "data.yaml:2:13: /settings/alpha: alpha is between 0.000000001 and 0.5");
  EXPECT_EQ(refused("window: []\n"), "data.yaml:2:1: /window: unknown field, did you mean \"windows\"?");
}

TEST(Observations, HaveASchema) {
  json::value schema = json_schema<Observations>("Counts for the judge", "urn:sluice:schema:observations");
  EXPECT_EQ(schema.at("required"), (json::array{"schema", "windows"}));
  json::value verdict = json_schema<Verdict>("What the judge says", "urn:sluice:schema:verdict");
  EXPECT_EQ(verdict.at("properties").at("verdict").at("enum"),
            (json::array{"healthy", "unhealthy", "insufficientData"}));
}

}  // namespace observations_test
}  // namespace sluice::judge
