// The view `status`: what runs, environment by environment, as it is asked for, as the routers obey it, and as it is on
// this machine.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "deploy/views/states.h"
#include "host/background.h"
#include "host/moment.h"
#include "revision.gen.h"

namespace sluice::host {

// Empty: everywhere. A deployment is named by its id.
struct StatusQuery {
  std::string environment;
  std::string deployment;
  static constexpr std::string_view kDefaulted[] = {"environment", "deployment"};
};
BOOST_DESCRIBE_STRUCT(StatusQuery, (), (environment, deployment))

struct StatusRouter {
  std::string name;
  bool running = false;
  int64_t generation = 0;  // that it obeys
  OrNull<int64_t> pid;
  std::vector<std::string> listen;  // "127.0.0.1:8080"
  OrNull<std::string> machine;      // another one; null: this one
  OrNull<int64_t> certificate_s;    // for how long the certificate of one on another machine holds
};
BOOST_DESCRIBE_STRUCT(StatusRouter, (), (name, running, generation, pid, listen, machine, certificate_s))

struct StatusReplica {
  std::string name;
  std::string address;
  OrNull<int64_t> pid;
  bool healthy = false;
  int64_t restarts = 0;
};
BOOST_DESCRIBE_STRUCT(StatusReplica, (), (name, address, pid, healthy, restarts))

struct StatusRevision {
  std::string revision;
  std::string name;
  std::string version;
  deploy::revision::RevisionLifecycle lifecycle = {};
  int64_t weight_asked_bps = 0;
  OrNull<int64_t> weight_obeyed_bps;  // none: no router knows it
  int64_t requests = 0;
  int64_t in_flight = 0;
  int64_t websockets = 0;
  std::vector<StatusReplica> replicas;
};
BOOST_DESCRIBE_STRUCT(StatusRevision, (),
                      (revision, name, version, lifecycle, weight_asked_bps, weight_obeyed_bps, requests, in_flight,
                       websockets, replicas))

struct StatusDeployment {
  std::string deployment;
  std::string bundle;
  std::string customer;
  std::string status;
  std::vector<StatusRevision> revisions;
};
BOOST_DESCRIBE_STRUCT(StatusDeployment, (), (deployment, bundle, customer, status, revisions))

struct StatusEnvironment {
  std::string environment;
  std::vector<StatusRouter> routers;
  std::vector<StatusDeployment> deployments;
};
BOOST_DESCRIBE_STRUCT(StatusEnvironment, (), (environment, routers, deployments))

struct StatusClock {
  std::string what;
  std::string next;
};
BOOST_DESCRIBE_STRUCT(StatusClock, (), (what, next))

struct StatusDocument {
  std::optional<std::vector<StatusEnvironment>> environments;  // in which something is deployed
  std::optional<StatusClock> clock;                            // what is wrong with it
};
BOOST_DESCRIBE_STRUCT(StatusDocument, (), (environments, clock))

// The routers that serve an environment; of those that run on this machine, where they listen.
std::vector<StatusRouter> routers_of(const deploy::views::States& states, const std::vector<RunningRouter>& running,
                                     const std::string& environment);

std::vector<HostView> status_views();

}  // namespace sluice::host
