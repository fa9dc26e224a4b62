// Views of what Cluster has done: `cluster`, an instance a row with its newest request; `cluster-request`, one request
// with all its objects and events. They say nothing of what is in the cluster now: that is Cluster/status.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "lang/run/values.h"
#include "lang/run/view.h"

namespace sluice::deploy::views {

struct ClusterQuery {
  std::string environment;  // empty: of all
  static constexpr std::string_view kDefaulted[] = {"environment"};
};
BOOST_DESCRIBE_STRUCT(ClusterQuery, (), (environment))

struct ClusterRequestQuery {
  std::string requestId;
  int64_t after = 0;  // events from this number on
  static constexpr std::string_view kDefaulted[] = {"after"};
};
BOOST_DESCRIBE_STRUCT(ClusterRequestQuery, (), (requestId, after))

struct ClusterObject {
  std::string apiVersion;
  std::string kind;
  std::string namespace_;
  std::string name;
  std::string action;
  std::string state;
  std::string message;
};
BOOST_DESCRIBE_STRUCT(ClusterObject, (), (apiVersion, kind, namespace_, name, action, state, message))

struct ClusterEventSeen {
  int64_t id = 0;  // from 1
  lang::DateTime timestamp;
  std::string status;
  std::string message;
  OrNull<ClusterObject> resource;
};
BOOST_DESCRIBE_STRUCT(ClusterEventSeen, (), (id, timestamp, status, message, resource))

struct ClusterRequestDocument {
  std::string requestId;
  std::string action;
  std::string environment;
  std::string hostId;
  std::string instanceId;
  std::string clusterId;
  std::string namespace_;
  std::string repoUrl;
  std::string ref;
  std::string path;
  std::string status;
  bool accepted = false;
  bool ended = false;
  std::string deployerId;
  bool noop = false;
  std::string manifestHash;
  std::string valuesHash;
  std::string runtimeValuesHash;
  std::string valuesSnapshotId;
  std::string runtimeValuesSnapshotId;
  std::string templateCommitSha;
  std::string snapshotId;
  std::string why;      // the variant of a refusal or a failure
  std::string message;  // and its sentence
  lang::DateTime begunAt;
  OrNull<lang::DateTime> endedAt;
  std::vector<ClusterObject> resources;
  std::vector<ClusterEventSeen> events;
};
BOOST_DESCRIBE_STRUCT(ClusterRequestDocument, (),
                      (requestId, action, environment, hostId, instanceId, clusterId, namespace_, repoUrl, ref, path,
                       status, accepted, ended, deployerId, noop, manifestHash, valuesHash, runtimeValuesHash,
                       valuesSnapshotId, runtimeValuesSnapshotId, templateCommitSha, snapshotId, why, message, begunAt,
                       endedAt, resources, events))

struct ClusterInstanceDocument {
  std::string environment;
  std::string hostId;
  std::string instanceId;
  std::string namespace_;
  std::string requestId;  // the newest
  std::string action;
  std::string status;
  std::string message;
  OrNull<std::string> snapshotId;      // that holds
  std::vector<std::string> snapshots;  // that can be gone back to, the oldest first
  int64_t objects = 0;
  int64_t done = 0;  // of them
  lang::DateTime since;
};
BOOST_DESCRIBE_STRUCT(ClusterInstanceDocument, (),
                      (environment, hostId, instanceId, namespace_, requestId, action, status, message, snapshotId,
                       snapshots, objects, done, since))

std::vector<lang::View> cluster_views();

}  // namespace sluice::deploy::views
