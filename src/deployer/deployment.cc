// One function a direction.
#include "deployer/deployment.h"

#include <array>
#include <map>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "base/ulid.h"
#include "base/utc_time.h"
#include "deploy/executor/request.h"
#include "deploy/views/cluster.h"

namespace sluice::deployer {
namespace {

namespace views = deploy::views;

constexpr int kBadGateway = 502;

std::optional<std::string> given(std::string text) {
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

std::string text_in(const json::object& from, std::string_view name) {
  const json::value* value = from.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

int64_t number_in(const json::object& from, std::string_view name) {
  const json::value* value = from.if_contains(name);
  return value != nullptr && value->is_number() ? value->to_number<int64_t>() : 0;
}

bool flag_in(const json::object& from, std::string_view name) {
  const json::value* value = from.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

std::vector<ResourceSummary> resources_in(const json::object& fields) {
  std::vector<ResourceSummary> all;
  const json::value* list = fields.if_contains("resources");
  for (const json::value& each : list != nullptr ? list->as_array() : json::array()) {
    const json::object& one = each.as_object();
    all.push_back({.apiVersion = text_in(one, "apiVersion"),
                   .kind = text_in(one, "kind"),
                   .namespace_ = text_in(one, "namespace"),
                   .name = text_in(one, "name"),
                   .action = text_in(one, "action"),
                   .state = given(text_in(one, "state")),
                   .message = given(text_in(one, "message"))});
  }
  return all;
}

DeploymentEvent event_of(const std::string& id, const views::ClusterEventSeen& seen) {
  DeploymentEvent event{
      .requestId = id, .timestamp = utc_text(seen.timestamp.ms), .status = seen.status, .message = seen.message};
  if (seen.resource) {
    event.resource = EventResource{.apiVersion = seen.resource->apiVersion,
                                   .kind = seen.resource->kind,
                                   .namespace_ = seen.resource->namespace_,
                                   .name = seen.resource->name};
  }
  return event;
}

// The HTTP status of a variant that is not ok.
int status_of(const std::string& variant, Code code) {
  if (variant == "kubernetesFailed") return kBadGateway;
  if (variant == "renderFailed" || variant == "templateFetchFailed" || variant == "requiresOverride") return 422;
  return http_status(code);
}

// What a request says to any action of Cluster.
json::object instance_of(const DeploymentRequest& request, const std::string& id) {
  return {{"environment", request.environment}, {"hostId", request.hostId},        {"instanceId", request.instanceId},
          {"clusterId", request.clusterId},     {"namespace", request.namespace_}, {"requestId", id}};
}

void add(json::object& input, const char* name, const auto& value) {
  if (value) input[name] = *value;
}

json::object templates_of(const DeploymentRequest& request, json::object input) {
  const TemplateRef& from = *request.template_;
  json::object shown{{"repoUrl", from.repoUrl}};
  add(shown, "ref", from.ref);
  add(shown, "path", from.path);
  input["template"] = std::move(shown);
  if (request.values) input["values"] = write(*request.values);
  if (request.runtimeValues) input["runtimeValues"] = write(*request.runtimeValues);
  add(input, "valuesHash", request.valuesHash);
  add(input, "runtimeValuesHash", request.runtimeValuesHash);
  return input;
}

// Options that an action has.
void add_options(json::object& input, const DeploymentRequest& request, std::initializer_list<const char*> names) {
  if (!request.options) return;
  const RequestOptions& options = *request.options;
  for (const std::string_view name : names) {
    if (name == "dryRun") add(input, "dryRun", options.dryRun);
    if (name == "waitForRollout") add(input, "waitForRollout", options.waitForRollout);
    if (name == "timeoutSeconds") add(input, "timeoutSeconds", options.timeoutSeconds);
    if (name == "pruneOverride") add(input, "pruneOverride", options.pruneOverride);
    if (name == "force") add(input, "force", options.force);
  }
}

struct Called {
  std::string action;  // of Cluster
  json::object input;
  bool background = false;
};

Called call_of(const DeploymentRequest& request, const std::string& id) {
  const std::string& action = *request.action;
  json::object input = instance_of(request, id);
  if (action == "render" || action == "diff") return {action, templates_of(request, std::move(input))};
  if (action == "dryRun") {
    input = templates_of(request, std::move(input));
    add_options(input, request, {"force"});
    return {action, std::move(input)};
  }
  if (action == "deploy") {
    input = templates_of(request, std::move(input));
    add(input, "valuesSnapshotId", request.valuesSnapshotId);
    add(input, "runtimeValuesSnapshotId", request.runtimeValuesSnapshotId);
    add_options(input, request, {"dryRun", "waitForRollout", "timeoutSeconds", "pruneOverride", "force"});
    return {action, std::move(input), true};
  }
  if (action == "undeploy") {
    add_options(input, request, {"waitForRollout", "timeoutSeconds", "pruneOverride"});
    return {action, std::move(input), true};
  }
  if (action == "rollback") {
    add(input, "rollbackSnapshotId", request.rollbackSnapshotId);
    add_options(input, request, {"waitForRollout", "timeoutSeconds", "pruneOverride", "force"});
    return {action, std::move(input), true};
  }
  return {action, std::move(input)};
}

std::optional<views::ClusterRequestDocument> read_document(host::Door& door, const std::string& id) {
  auto answer = door.view("cluster-request", {{"requestId", id}});
  if (!answer) return std::nullopt;
  auto document = read<views::ClusterRequestDocument>(answer->document);
  if (!document) return std::nullopt;
  return *std::move(document);
}

DeploymentResponse response_of(const views::ClusterRequestDocument& document) {
  DeploymentResponse response{.requestId = document.requestId,
                              .action = document.action,
                              .status = document.status,
                              .deployerId = document.deployerId,
                              .clusterId = document.clusterId,
                              .namespace_ = document.namespace_,
                              .manifestHash = given(document.manifestHash),
                              .valuesHash = given(document.valuesHash),
                              .valuesSnapshotId = given(document.valuesSnapshotId),
                              .runtimeValuesHash = given(document.runtimeValuesHash),
                              .runtimeValuesSnapshotId = given(document.runtimeValuesSnapshotId),
                              .templateCommitSha = given(document.templateCommitSha),
                              .snapshotId = given(document.snapshotId)};
  if (document.noop) response.noop = true;
  if (document.accepted && !document.ended) response.status = "applying";
  for (const views::ClusterObject& each : document.resources) {
    response.resources.push_back({.apiVersion = each.apiVersion,
                                  .kind = each.kind,
                                  .namespace_ = each.namespace_,
                                  .name = each.name,
                                  .action = each.action,
                                  .state = given(each.state),
                                  .message = given(each.message)});
  }
  for (const views::ClusterEventSeen& each : document.events) {
    response.events.push_back(event_of(document.requestId, each));
  }
  if (!document.why.empty()) response.error = DeploymentError{.code = document.why, .message = document.message};
  return response;
}

// Whether it is this request that the document is of, as far as values still say: once they are gone from memory the
// engine cannot tell.
bool is_same(const views::ClusterRequestDocument& document, const DeploymentRequest& request) {
  const auto hashes_to = [](const std::optional<json::value>& values, const std::string& hash, bool may_be_none) {
    if (!values && may_be_none) return hash.empty();
    auto made = deploy::executor::hash_of(values.value_or(json::object()));
    return made && *made == hash;
  };
  const bool renders = *request.action == "deploy";
  if (document.action != *request.action || document.environment != request.environment ||
      document.hostId != request.hostId || document.instanceId != request.instanceId ||
      document.clusterId != request.clusterId || document.namespace_ != request.namespace_) {
    return false;
  }
  if (!renders) return true;
  return document.repoUrl == request.template_->repoUrl && document.ref == request.template_->ref.value_or("main") &&
         document.path == request.template_->path.value_or("k8s") &&
         hashes_to(request.values, document.valuesHash, false) &&
         hashes_to(request.runtimeValues, document.runtimeValuesHash, true);
}

// An answer of what only looks.
Responded looked(const DeploymentRequest& request, const json::object& fields) {
  const std::string& action = *request.action;
  DeploymentResponse response{.requestId = text_in(fields, "requestId"),
                              .action = action,
                              .status = action == "render" ? "rendered" : "validated",
                              .deployerId = text_in(fields, "deployerId"),
                              .clusterId = text_in(fields, "clusterId"),
                              .namespace_ = text_in(fields, "namespace"),
                              .manifestHash = given(text_in(fields, "manifestHash")),
                              .valuesHash = given(text_in(fields, "valuesHash")),
                              .valuesSnapshotId = request.valuesSnapshotId,
                              .runtimeValuesHash = given(text_in(fields, "runtimeValuesHash")),
                              .runtimeValuesSnapshotId = request.runtimeValuesSnapshotId,
                              .templateCommitSha = given(text_in(fields, "commit")),
                              .snapshotId = given(text_in(fields, "snapshotId")),
                              .resources = resources_in(fields)};
  if (flag_in(fields, "noop")) response.noop = true;
  if (action == "status") response.ready = flag_in(fields, "ready");
  if (action != "diff") return {std::move(response)};
  DiffSummary diff{.added = number_in(fields, "added"),
                   .modified = number_in(fields, "modified"),
                   .unchanged = number_in(fields, "unchanged"),
                   .deleted = number_in(fields, "pruned"),
                   .resources = response.resources,
                   .unifiedDiff = text_in(fields, "unifiedDiff"),
                   .overrideNeeded = given(text_in(fields, "overrideNeeded"))};
  for (const json::value& each : fields.at("drift").as_array()) {
    const json::object& one = each.as_object();
    diff.drift.push_back({.apiVersion = text_in(one, "apiVersion"),
                          .kind = text_in(one, "kind"),
                          .namespace_ = text_in(one, "namespace"),
                          .name = text_in(one, "name"),
                          .field = text_in(one, "field"),
                          .manager = text_in(one, "manager")});
  }
  response.diff = std::move(diff);
  response.resources.clear();
  return {std::move(response)};
}

Error wrong(const std::string& path, const std::string& message) {
  return {.code = Code::invalid, .message = message, .path = path};
}

std::string new_id() {
  RealRandom random;
  RealClock clock;
  return to_string(UlidSource(clock, random).next());
}

}  // namespace

Responded failed(const std::string& action, const std::string& code, const std::string& message, int status) {
  return {{.action = action, .status = "failed", .error = DeploymentError{.code = code, .message = message}}, status};
}

Result<DeploymentRequest> read_request(const json::object& body, std::string_view action) {
  auto request = read<DeploymentRequest>(json::value(body));
  if (!request) return request.error();
  if (!action.empty()) request->action = std::string(action);
  if (!request->action) return wrong("/action", "the body needs an action");
  static constexpr std::array<std::string_view, 7> kActions = {"render",   "dryRun", "diff",    "deploy",
                                                               "undeploy", "status", "rollback"};
  if (std::ranges::find(kActions, *request->action) == kActions.end()) {
    return wrong("/action", "there is no action '" + *request->action + "'");
  }
  if (request->valuesRef) return wrong("/valuesRef", "valuesRef is not fetched; send the values themselves");
  if (request->runtimeValuesRef) {
    return wrong("/runtimeValuesRef", "runtimeValuesRef is not fetched; send runtimeValues");
  }
  const bool renders = *request->action != "undeploy" && *request->action != "status" && *request->action != "rollback";
  if (renders && !request->template_) return wrong("/template", "the body needs a template");
  for (const auto& [name, value] :
       {std::pair("/values", &request->values), {"/runtimeValues", &request->runtimeValues}}) {
    if (*value && !(*value)->is_object()) return wrong(name, std::string(name + 1) + " is a JSON object");
  }
  return request;
}

Responded respond(host::Door& door, const DeploymentRequest& request, const host::Waiting& waiting) {
  const std::string id = request.requestId.value_or(new_id());
  Called called = call_of(request, id);
  host::Waiting until = waiting;
  if (called.background) {
    until.stop = [&] {
      if (waiting.stop && waiting.stop()) return true;
      auto document = read_document(door, id);
      return document && document->accepted;
    };
  }
  host::Call call{.action = "Cluster/" + called.action, .input = std::move(called.input)};
  if (called.background) call.key = id;
  auto answer = door.call(call, until);
  const auto as_failed = [&](const std::string& code, const std::string& message, int status) {
    Responded responded = failed(*request.action, code, message, status);
    responded.response.requestId = id;
    responded.response.clusterId = request.clusterId;
    responded.response.namespace_ = request.namespace_;
    if (code == "requiresOverride") responded.response.status = code;
    return responded;
  };
  if (!answer && answer.error().code == Code::conflict && called.background) {
    auto before = read_document(door, id);
    if (before && is_same(*before, request)) return {response_of(*before), before->ended ? 200 : 202};
  }
  if (!answer) {
    return as_failed(std::string(entry(answer.error().code).name), to_string(answer.error()),
                     http_status(answer.error().code));
  }
  auto document = called.background ? read_document(door, id) : std::nullopt;
  if (answer->ended() && answer->code != Code::ok) {
    const bool own = !answer->variant.starts_with("engine.");
    Responded responded =
        document ? Responded{response_of(*document), 0} : as_failed(answer->variant, answer->text("message"), 0);
    if (!responded.response.error) {
      responded.response.error = DeploymentError{.code = answer->variant, .message = answer->text("message")};
    }
    responded.status = own ? status_of(answer->variant, answer->code) : http_status(answer->code);
    return responded;
  }
  if (!called.background) return looked(request, answer->fields);
  if (!document) return as_failed("notFound", "the request is not kept any more", 404);
  Responded responded{response_of(*document), answer->ended() ? 200 : 202};
  if (!answer->ended()) responded.response.status = "accepted";
  return responded;
}

Responded respond_with(host::Door& door, const std::string& request_id) {
  auto document = read_document(door, request_id);
  if (!document) return failed("status", "notFound", "there is no request " + request_id, 404);
  return {response_of(*document)};
}

Responded cancel(host::Door& door, const std::string& request_id) {
  auto answer = door.call({.action = "Cluster/cancel", .input = {{"operation", request_id}}});
  if (!answer) {
    return failed("cancel", std::string(entry(answer.error().code).name), to_string(answer.error()),
                  http_status(answer.error().code));
  }
  if (answer->code != Code::ok) {
    return failed("cancel", answer->variant, answer->text("message"), http_status(answer->code));
  }
  Responded responded = respond_with(door, request_id);
  if (responded.status == 200) responded.status = 202;
  return responded;
}

Result<Happened> events_of(host::Door& door, const std::string& request_id, int64_t after) {
  auto answer = door.view("cluster-request", {{"requestId", request_id}, {"after", after}});
  if (!answer) return answer.error();
  auto document = read<views::ClusterRequestDocument>(answer->document);
  if (!document) return document.error();
  Happened happened{.ended = document->ended};
  for (const views::ClusterEventSeen& each : document->events) {
    happened.events.emplace_back(each.id, event_of(request_id, each));
  }
  return happened;
}

}  // namespace sluice::deployer
