// To the letter of the format: a scraper takes all of it or nothing.
#include "api/metrics_text.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sluice::api {
namespace metrics_text_test {

TEST(MetricsText, IsWhatPrometheusReads) {
  EXPECT_EQ(metrics_text(boost::json::parse(R"([{"name": "a", "type": "gauge", "help": "All of a",
    "samples": [{"labels": {"x": "1\"2\\3\n4", "y": "z"}, "value": 2.5}, {"labels": {}, "value": 3}]}])")
                             .as_array()),
            "# HELP a All of a\n# TYPE a gauge\na{x=\"1\\\"2\\\\3\\n4\",y=\"z\"} 2.5\na 3\n");
}

}  // namespace metrics_text_test
}  // namespace sluice::api
