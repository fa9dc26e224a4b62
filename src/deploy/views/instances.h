// What runs, found by the names that people use for it: those of a deployment (its bundle, its id or a beginning of
// it) and of a revision (BUNDLE@SEQUENCE, its id or a part of it), the name of a component that was provisioned by
// itself, an instance's id or a part of it, a replica's name, or the name of what it is of with its number
// ("hello@2.0").
//
//   const Running running(States(reading.rows));
//   auto replicas = running.find_replicas("hello");
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "deploy/views/states.h"
#include "lang/run/values.h"
#include "lang/run/view.h"
#include "process/replicas.h"

namespace sluice::deploy::views {

// A replica with how it is now.
struct ReplicaView {
  std::string replica;  // "01J….2.0"
  std::string label;    // "hello@2.0"
  process::Phase phase = process::Phase::lost;
  bool healthy = false;
  int64_t restarts = 0;
  lang::DateTime since;
  std::string message = "there is nothing of it";
  std::string endpoint;
  std::string log;  // a folder of the machine that it runs on
  std::string limitedBy;
  OrNull<process::Reason> reason;
  OrNull<int64_t> pid;
  std::string instance;
};
BOOST_DESCRIBE_STRUCT(ReplicaView, (),
                      (replica, label, phase, healthy, restarts, since, message, endpoint, log, limitedBy, reason, pid,
                       instance))

struct InstanceView {
  std::string instance;
  std::string component;  // a revision's id, or the name that it was provisioned with
  std::string name;       // "hello@2" of a revision, else the component
  std::string type;
  std::string version;
  std::string status;
  std::vector<ReplicaView> replicas;  // in their order
  std::string endpoint;
  OrNull<std::string> deployment;   // of a revision
  OrNull<std::string> environment;  // the deployment's
  OrNull<std::string> customer;     // likewise
  bool ready = false;               // as a revision
};
BOOST_DESCRIBE_STRUCT(InstanceView, (),
                      (instance, component, name, type, version, status, replicas, endpoint, deployment, environment,
                       customer, ready))

struct DeployedVersion {
  std::string version;
  std::string artifactHash;
  lang::DateTime deployedAt;
};
BOOST_DESCRIBE_STRUCT(DeployedVersion, (), (version, artifactHash, deployedAt))

struct InstanceDetail : InstanceView {
  std::vector<DeployedVersion> history;
};
BOOST_DESCRIBE_STRUCT(InstanceDetail, (InstanceView), (history))

struct NameQuery {
  std::string name;
  std::string customer;  // of several with one name, that of this customer
  static constexpr std::string_view kDefaulted[] = {"customer"};
};
BOOST_DESCRIBE_STRUCT(NameQuery, (), (name, customer))

struct ReplicasQuery {
  std::string name;
  std::string customer;  // of several with one name, those of this customer
  bool leading = false;  // of several revisions, those of the one with most traffic
  static constexpr std::string_view kDefaulted[] = {"customer", "leading"};
};
BOOST_DESCRIBE_STRUCT(ReplicasQuery, (), (name, customer, leading))

class Running {
 public:
  // It must outlive it. With a customer, what runs for others is not seen.
  explicit Running(const States& states, std::string customer = "");

  // By name.
  const std::vector<InstanceView>& all() const { return all_; }
  // The one that is meant; `not_found` if there is none, `conflict` if there are several.
  Result<InstanceView> find_instance(const std::string& name) const;
  // The replicas that are meant: one, all of an instance, or all of a deployment.
  Result<std::vector<ReplicaView>> find_replicas(const std::string& name) const;
  // Of these, those of revisions with most traffic of their deployments; all if there are none.
  std::vector<ReplicaView> of_leading(std::vector<ReplicaView> replicas) const;

 private:
  struct Meant;
  std::vector<Meant> meanings(const std::string& name) const;
  Result<std::vector<InstanceView>> find(const std::string& name) const;

  const States& states_;
  std::string customer_;
  std::vector<InstanceView> all_;
};

// The replicas on this machine that were started for a revision. They are not in its list before they are healthy.
std::vector<std::string> started_for(const process::Replicas& replicas, const std::string& revision);

// What the machine says of a replica; it stays as it was where nobody can be asked.
void look_at(const lang::Tools& tools, ReplicaView& replica);

std::vector<lang::View> instance_views();

}  // namespace sluice::deploy::views
