// What monitoring reads of the kit: how many of each thing there are, by its state. Labels are environments and states,
// never ids, so the number of series stays small (docs/guide/telemetry.md lists them).
#pragma once

#include <boost/describe.hpp>
#include <map>
#include <string>
#include <vector>

#include "lang/run/view.h"

namespace sluice::deploy::views {

struct MetricSample {
  std::map<std::string, std::string> labels;
  double value = 0;
};
BOOST_DESCRIBE_STRUCT(MetricSample, (), (labels, value))

struct MetricFamily {
  std::string name;  // "sluice_rollouts"
  std::string type;  // gauge
  std::string help;
  std::vector<MetricSample> samples;
};
BOOST_DESCRIBE_STRUCT(MetricFamily, (), (name, type, help, samples))

std::vector<lang::View> metrics_views();

}  // namespace sluice::deploy::views
