// Requests and responses of a deployer as they stand on the wire (docs/guide/deployer.md), and what they are as calls
// of Cluster. No rule of the domain is here: a body becomes a call, an answer becomes a body.
#pragma once

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "host/door.h"

namespace sluice::deployer {

namespace json = boost::json;

struct TemplateRef {
  std::string repoUrl;
  std::optional<std::string> ref;
  std::optional<std::string> path;
};
BOOST_DESCRIBE_STRUCT(TemplateRef, (), (repoUrl, ref, path))

struct ValuesRef {
  std::string source;
  std::string path;
};
BOOST_DESCRIBE_STRUCT(ValuesRef, (), (source, path))

struct RequestOptions {
  std::optional<bool> dryRun;
  std::optional<bool> waitForRollout;
  std::optional<int64_t> timeoutSeconds;
  std::optional<bool> pruneOverride;
  std::optional<bool> force;
};
BOOST_DESCRIBE_STRUCT(RequestOptions, (), (dryRun, waitForRollout, timeoutSeconds, pruneOverride, force))

struct DeploymentRequest {
  std::optional<std::string> requestId;
  std::string hostId;
  std::string instanceId;
  std::string environment;
  std::string clusterId;
  std::string namespace_;
  std::optional<std::string> action;
  std::optional<json::value> values;
  std::optional<json::value> runtimeValues;
  std::optional<ValuesRef> valuesRef;
  std::optional<ValuesRef> runtimeValuesRef;
  std::optional<std::string> valuesSnapshotId;
  std::optional<std::string> valuesHash;
  std::optional<std::string> runtimeValuesSnapshotId;
  std::optional<std::string> runtimeValuesHash;
  std::optional<TemplateRef> template_;
  std::optional<std::string> rollbackSnapshotId;
  std::optional<RequestOptions> options;
};
BOOST_DESCRIBE_STRUCT(DeploymentRequest, (),
                      (requestId, hostId, instanceId, environment, clusterId, namespace_, action, values, runtimeValues,
                       valuesRef, runtimeValuesRef, valuesSnapshotId, valuesHash, runtimeValuesSnapshotId,
                       runtimeValuesHash, template_, rollbackSnapshotId, options))

struct ResourceSummary {
  std::string apiVersion;
  std::string kind;
  std::string namespace_;
  std::string name;
  std::string action;
  std::optional<std::string> state;    // pending, applied, ready, gone or failed
  std::optional<std::string> message;  // why it is not ready
};
BOOST_DESCRIBE_STRUCT(ResourceSummary, (), (apiVersion, kind, namespace_, name, action, state, message))

struct FieldDrift {
  std::string apiVersion;
  std::string kind;
  std::string namespace_;
  std::string name;
  std::string field;
  std::string manager;
};
BOOST_DESCRIBE_STRUCT(FieldDrift, (), (apiVersion, kind, namespace_, name, field, manager))

struct DiffSummary {
  int64_t added = 0;
  int64_t modified = 0;
  int64_t unchanged = 0;
  int64_t deleted = 0;
  std::vector<ResourceSummary> resources;
  std::string unifiedDiff;
  std::vector<FieldDrift> drift;
  std::optional<std::string> overrideNeeded;
};
BOOST_DESCRIBE_STRUCT(DiffSummary, (),
                      (added, modified, unchanged, deleted, resources, unifiedDiff, drift, overrideNeeded))

struct EventResource {
  std::string apiVersion;
  std::string kind;
  std::string namespace_;
  std::string name;
};
BOOST_DESCRIBE_STRUCT(EventResource, (), (apiVersion, kind, namespace_, name))

struct DeploymentEvent {
  std::string requestId;
  std::string timestamp;
  std::string status;
  std::string message;
  OrNull<EventResource> resource;
};
BOOST_DESCRIBE_STRUCT(DeploymentEvent, (), (requestId, timestamp, status, message, resource))

struct DeploymentError {
  std::string code;
  std::string message;
  json::value details = json::object();
};
BOOST_DESCRIBE_STRUCT(DeploymentError, (), (code, message, details))

struct DeploymentResponse {
  std::string requestId;
  std::string action;
  std::string status;
  std::string deployerId;
  std::string clusterId;
  std::string namespace_;
  std::optional<bool> noop;
  std::optional<std::string> manifestHash;
  std::optional<std::string> valuesHash;
  std::optional<std::string> valuesSnapshotId;
  std::optional<std::string> runtimeValuesHash;
  std::optional<std::string> runtimeValuesSnapshotId;
  std::optional<std::string> templateCommitSha;
  std::optional<std::string> snapshotId;
  std::optional<bool> ready;
  std::vector<ResourceSummary> resources;
  std::optional<DiffSummary> diff;
  std::vector<DeploymentEvent> events;
  std::optional<DeploymentError> error;
};
BOOST_DESCRIBE_STRUCT(DeploymentResponse, (),
                      (requestId, action, status, deployerId, clusterId, namespace_, noop, manifestHash, valuesHash,
                       valuesSnapshotId, runtimeValuesHash, runtimeValuesSnapshotId, templateCommitSha, snapshotId,
                       ready, resources, diff, events, error))

// A response and the HTTP status that it has.
struct Responded {
  DeploymentResponse response;
  int status = 200;
};

// Strict: `invalid` names the path of what is wrong. The action is that of a tool, or in the body.
Result<DeploymentRequest> read_request(const json::object& body, std::string_view action);
// Calls Cluster. What goes on in the background is answered as soon as it is accepted or refused.
Responded respond(host::Door& door, const DeploymentRequest& request, const host::Waiting& waiting);
// How a request stands; 404 if there is none.
Responded respond_with(host::Door& door, const std::string& request_id);
// Stops it.
Responded cancel(host::Door& door, const std::string& request_id);
// What is answered in place of a response.
Responded failed(const std::string& action, const std::string& code, const std::string& message, int status);

// Of a request from this event on; and whether it has ended.
struct Happened {
  std::vector<std::pair<int64_t, DeploymentEvent>> events;  // with their numbers
  bool ended = false;
};
Result<Happened> events_of(host::Door& door, const std::string& request_id, int64_t after);

}  // namespace sluice::deployer
