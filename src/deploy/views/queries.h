// Views that are what a query of a concept answers, or are summed up from it: `trust`, `trust-root`, `artifacts`,
// `usage` and `usage-unkept`, the counts that a router has in memory alone or has lost.
#pragma once

#include <boost/describe.hpp>
#include <optional>
#include <string>
#include <vector>

#include "artifact.gen.h"
#include "base/json_fields.h"
#include "lang/run/view.h"
#include "trust.gen.h"
#include "usage.gen.h"

namespace sluice::deploy::views {

struct ArtifactsQuery {
  std::string name;  // only those of this component
  static constexpr std::string_view kDefaulted[] = {"name"};
};
BOOST_DESCRIBE_STRUCT(ArtifactsQuery, (), (name))

enum class UsedBy { environment, deployment, bundle, revision, customer, tenant, team };
BOOST_DESCRIBE_ENUM(UsedBy, environment, deployment, bundle, revision, customer, tenant, team)

struct UsageQuery {
  std::vector<UsedBy> by;                      // what is summed up by; none: all
  std::optional<lang::DateTime> since, until;  // whole hours
  bool revenue = false;                        // a row for each party, with what its share comes to
  static constexpr std::string_view kDefaulted[] = {"by", "revenue"};
};
BOOST_DESCRIBE_STRUCT(UsageQuery, (), (by, since, until, revenue))

// The keys that were asked for, and what was used.
struct UsedSum {
  std::optional<std::string> environment, deployment, bundle, revision, customer, tenant, team;
  std::optional<std::string> party;  // whose share it is, if that was asked for
  int64_t requests = 0;
  int64_t bytes_in = 0;
  int64_t bytes_out = 0;
  int64_t warm_seconds = 0;
};
BOOST_DESCRIBE_STRUCT(UsedSum, (),
                      (environment, deployment, bundle, revision, customer, tenant, team, party, requests, bytes_in,
                       bytes_out, warm_seconds))

std::vector<lang::View> query_views();

}  // namespace sluice::deploy::views
