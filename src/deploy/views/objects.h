// Views of environments, deployments, revisions and traffic. Objects are named in a query as people name them
// (deploy/views/names.h).
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "deploy/views/doctor.h"
#include "deploy/views/documents.h"
#include "env.gen.h"
#include "lang/run/view.h"
#include "revision.gen.h"

namespace sluice::deploy::views {

struct AllQuery {};
BOOST_DESCRIBE_STRUCT(AllQuery, (), ())

struct EnvironmentQuery {
  std::string environment;
};
BOOST_DESCRIBE_STRUCT(EnvironmentQuery, (), (environment))

// A deployment, by its id or a beginning of it, or by bundle and customer; with none of them the only one there is.
struct DeploymentQuery {
  std::string environment;
  std::string deployment;
  std::string bundle;
  std::string customer;
  static constexpr std::string_view kDefaulted[] = {"deployment", "bundle", "customer"};
};
BOOST_DESCRIBE_STRUCT(DeploymentQuery, (), (environment, deployment, bundle, customer))

// What going back so many steps would give the revisions of a deployment.
struct WayBackQuery {
  std::string environment;
  std::string deployment;
  std::string bundle;
  std::string customer;
  int64_t steps = 1;
  static constexpr std::string_view kDefaulted[] = {"deployment", "bundle", "customer", "steps"};
};
BOOST_DESCRIBE_STRUCT(WayBackQuery, (), (environment, deployment, bundle, customer, steps))

struct ShareView {
  std::string revision_id;
  std::string name;  // "shop@2"
  int64_t weight_bps = 0;
  revision::RevisionLifecycle lifecycle = {};  // what is not ready is started first
};
BOOST_DESCRIBE_STRUCT(ShareView, (), (revision_id, name, weight_bps, lifecycle))

struct WayBackView {
  std::string deployment_id;
  int64_t steps_there = 0;  // how far back one can go
  std::vector<ShareView> now;
  std::vector<ShareView> becomes;  // empty if there are fewer steps than that
};
BOOST_DESCRIBE_STRUCT(WayBackView, (), (deployment_id, steps_there, now, becomes))

// A deployment with how much belongs to it: all that goes when it is removed.
struct DeploymentPage {
  DeploymentDocument deployment;
  OrNull<std::string> warning;  // about an environment's name that is given up
  int64_t revisions = 0;
  int64_t splits = 0;
  int64_t policy_versions = 0;
};
BOOST_DESCRIBE_STRUCT(DeploymentPage, (), (deployment, warning, revisions, splits, policy_versions))

struct ListedEnvironment {
  std::string environment_id;
  std::string name;
  int64_t packs = 0;
  int64_t deployments = 0;
  HealthNow health = HealthNow::green;               // as the doctor would find it now
  env::EnvLastDoctorStatus last_doctor_status = {};  // when somebody last asked the doctor
  int64_t generation = 0;
};
BOOST_DESCRIBE_STRUCT(ListedEnvironment, (),
                      (environment_id, name, packs, deployments, health, last_doctor_status, generation))

struct RevisionsQuery {
  std::string environment;
  std::string deployment;
  std::string bundle;
  std::string customer;
  bool archived = false;  // these too
  static constexpr std::string_view kDefaulted[] = {"deployment", "bundle", "customer", "archived"};
};
BOOST_DESCRIBE_STRUCT(RevisionsQuery, (), (environment, deployment, bundle, customer, archived))

// What names on a command line mean: ids, with what is shown of them.
enum class NamesAbout { environment, deployment, revisions };
BOOST_DESCRIBE_ENUM(NamesAbout, environment, deployment, revisions)

struct NamesQuery {
  std::string environment;
  NamesAbout about = NamesAbout::deployment;  // revisions alone need no deployment
  std::string deployment;
  std::string bundle;
  std::string customer;
  std::vector<std::string> revisions;
  static constexpr std::string_view kDefaulted[] = {"about", "deployment", "bundle", "customer", "revisions"};
};
BOOST_DESCRIBE_STRUCT(NamesQuery, (), (environment, about, deployment, bundle, customer, revisions))

struct NamedRevision {
  std::string revision;
  std::string name;  // "shop@2"
  std::string deployment;
  revision::RevisionLifecycle lifecycle = {};
};
BOOST_DESCRIBE_STRUCT(NamedRevision, (), (revision, name, deployment, lifecycle))

struct MeantNames {
  std::string environment;
  OrNull<std::string> warning;  // about a name that is given up
  std::string deployment;
  std::string bundle;
  std::string customer;
  std::vector<NamedRevision> revisions;  // in the order of the query
  std::string secrets_provider;          // that keeps the environment's secrets; empty: none does
};
BOOST_DESCRIBE_STRUCT(MeantNames, (), (environment, warning, deployment, bundle, customer, revisions, secrets_provider))

// How far the routers of an environment are with the newest table.
struct RouterMemberView {
  std::string name;
  int64_t acknowledged = 0;
  bool obeys = false;
  std::string trouble;
};
BOOST_DESCRIBE_STRUCT(RouterMemberView, (), (name, acknowledged, obeys, trouble))

struct RoutersView {
  std::string environment;
  OrNull<int64_t> generation;  // of the newest table; nothing was published yet
  std::vector<RouterMemberView> members;
};
BOOST_DESCRIBE_STRUCT(RoutersView, (), (environment, generation, members))

std::vector<lang::View> object_views();

}  // namespace sluice::deploy::views
