// The view `series`: how many requests revisions had over time, how many failed and how long they took, as the routers
// counted them (deploy/series_watch.h).
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "lang/run/view.h"

namespace sluice::deploy::views {

struct SeriesQuery {
  std::string environment;
  std::string deployment;  // its id; empty: the sum of all of the environment
  int64_t range_s = 900;   // how far back, at most a day
  static constexpr std::string_view kDefaulted[] = {"deployment", "range_s"};
};
BOOST_DESCRIBE_STRUCT(SeriesQuery, (), (environment, deployment, range_s))

// One value for each step; null: nobody counted then, or there was no request to tell of.
struct SeriesLine {
  std::string revision;  // empty: the sum
  std::string name;      // "shop@2"
  int64_t last_minute = 0;
  std::vector<OrNull<double>> requests_per_s;
  std::vector<OrNull<double>> error_share;
  std::vector<OrNull<double>> p50_ms;
  std::vector<OrNull<double>> p99_ms;
};
BOOST_DESCRIBE_STRUCT(SeriesLine, (), (revision, name, last_minute, requests_per_s, error_share, p50_ms, p99_ms))

struct SeriesView {
  int64_t from_s = 0;  // of the first value, since 1970
  int64_t step_s = 0;  // from one value to the next
  SeriesLine total;
  std::vector<SeriesLine> revisions;  // of a deployment, the newest first
};
BOOST_DESCRIBE_STRUCT(SeriesView, (), (from_s, step_s, total, revisions))

std::vector<lang::View> series_views();

}  // namespace sluice::deploy::views
