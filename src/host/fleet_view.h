// The view `fleet`: how all deployments are, counted by environment, and a part of those that a filter chooses. It is
// for lists of thousands: what a list does not show is counted and not told.
#pragma once

#include <boost/describe.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "host/moment.h"
#include "host/status_view.h"
#include "revision.gen.h"

namespace sluice::host {

// idle: no revision gets traffic. changing: a rollout is under way, or a revision warms.
enum class FleetHealth { healthy, changing, degraded, failed, paused, idle };
BOOST_DESCRIBE_ENUM(FleetHealth, healthy, changing, degraded, failed, paused, idle)

struct FleetQuery {
  std::string environment;          // in this one alone
  std::string text;                 // bundle, customer or version of a live revision contains it, in any case
  std::vector<FleetHealth> health;  // one of these
  int64_t skip = 0;
  int64_t limit = 100;  // at most 500
  static constexpr std::string_view kDefaulted[] = {"environment", "text", "health", "skip", "limit"};
};
BOOST_DESCRIBE_STRUCT(FleetQuery, (), (environment, text, health, skip, limit))

struct FleetRevision {
  std::string revision;
  std::string name;
  std::string version;
  deploy::revision::RevisionLifecycle lifecycle = {};
  int64_t weight_asked_bps = 0;
};
BOOST_DESCRIBE_STRUCT(FleetRevision, (), (revision, name, version, lifecycle, weight_asked_bps))

struct FleetDeployment {
  std::string environment;
  std::string deployment;
  std::string bundle;
  std::string customer;
  FleetHealth health = FleetHealth::idle;
  std::string said;      // why it is not healthy
  int64_t replicas = 0;  // of revisions that get traffic
  std::vector<FleetRevision> revisions;
};
BOOST_DESCRIBE_STRUCT(FleetDeployment, (),
                      (environment, deployment, bundle, customer, health, said, replicas, revisions))

struct FleetEnvironment {
  std::string environment;
  std::vector<StatusRouter> routers;
  int64_t deployments = 0;
  int64_t healthy = 0;
  int64_t changing = 0;
  int64_t degraded = 0;
  int64_t failed = 0;
  int64_t paused = 0;
  int64_t idle = 0;
};
BOOST_DESCRIBE_STRUCT(FleetEnvironment, (),
                      (environment, routers, deployments, healthy, changing, degraded, failed, paused, idle))

struct FleetDocument {
  int64_t deployments = 0;                     // in all
  int64_t found = 0;                           // by the filter
  std::vector<FleetEnvironment> environments;  // all of them, whatever the filter says
  std::vector<FleetDeployment> shown;          // `limit` of those found, from `skip` on
  std::optional<StatusClock> clock;            // what is wrong with it
};
BOOST_DESCRIBE_STRUCT(FleetDocument, (), (deployments, found, environments, shown, clock))

std::vector<HostView> fleet_views();

}  // namespace sluice::host
