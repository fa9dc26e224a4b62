// sluice telemetry on a home of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace telemetry_commands_test {

using testing::HasSubstr;

TEST(TelemetryCommands, ConfigureListAndRemove) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"telemetry", "list"}).out, "Telemetry goes nowhere.\n");
  EXPECT_EQ(home.run({"telemetry", "markers"}).out, "No deployment was marked yet.\n");
  Ran made = home.run({"telemetry", "configure", "--endpoint", "http://otel.example:4318", "--sampling", "0.1"});
  EXPECT_EQ(made.out, "configured  all bundles → http://otel.example:4318\n");
  home.data({"telemetry", "configure", "--concept", "shop", "--provider", "grafana", "--endpoint",
             "https://grafana.example", "--key", "env:GRAFANA_TOKEN"});
  json::value all = home.data({"telemetry", "list"});
  ASSERT_EQ(all.as_array().size(), 2U);
  EXPECT_THAT(home.run({"telemetry", "list"}).out, HasSubstr("http://otel.example:4318"));
  home.data({"telemetry", "remove", std::string(all.at(0).at("config").as_string())});
  EXPECT_EQ(home.data({"telemetry", "list"}).as_array().size(), 1U);
  EXPECT_EQ(home.run({"telemetry", "remove", "none"}).exit, 5);
}

TEST(TelemetryCommands, RefuseWhatCannotBe) {
  ObjectsHome home;
  EXPECT_THAT(home.run({"telemetry", "configure", "--endpoint", "otel"}).err,
              HasSubstr("the endpoint is an http:// or https:// URL, not otel"));
  Ran rate = home.run({"telemetry", "configure", "--endpoint", "http://otel.example", "--sampling", "much"});
  EXPECT_EQ(rate.exit, 2);
  EXPECT_THAT(rate.err, HasSubstr("--sampling: expected a number from 0 to 1, found much"));
}

}  // namespace telemetry_commands_test
}  // namespace sluice::cli
