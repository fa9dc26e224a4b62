// One table.
#include "host/events.h"

#include <algorithm>

#include "base/clock.h"
#include "base/nearest.h"
#include "host/authority.h"

namespace sluice::host {
namespace {

bool fits(std::string_view wanted, std::string_view name) {
  if (!wanted.ends_with(".*")) return wanted == name;
  return name.starts_with(wanted.substr(0, wanted.size() - 1));
}

bool names(const json::value& value, const std::string& id) {
  if (value.is_string()) return value.get_string() == id;
  if (value.is_array())
    return std::ranges::any_of(value.get_array(), [&](const auto& each) { return names(each, id); });
  if (!value.is_object()) return false;
  return std::ranges::any_of(value.get_object(), [&](const auto& each) { return names(each.value(), id); });
}

}  // namespace

const std::vector<EventType>& event_types() {
  static const std::vector<EventType> kTypes = {
      {"access.policy-applied", "Access/apply", {"ok"}, "Another access policy holds"},
      {"access.session-ended", "Session/end", {"ok"}, "An admin has ended a session"},
      {"access.token-issued", "Access/issue", {"ok"}, "Somebody has a new token"},
      {"access.token-revoked", "Access/revoke", {"ok"}, "A token holds no longer"},
      {"approval.asked", "Approval/announce", {"ok"}, "A call waits until others agree to it"},
      {"approval.counted", "Approval/vote", {"counted"}, "Somebody agrees to a call; it needs more people"},
      {"approval.expired", "Approval/ask", {"expired"}, "Not enough people agreed to a call in time"},
      {"approval.given", "Approval/vote", {"ok"}, "The last one who was needed agrees to a call, and it runs"},
      {"approval.rejected", "Approval/vote", {"rejected"}, "Somebody says no to a call, and it will not run"},
      {"artifact.built", "Artifact/build", {"ok"}, "An artifact was built, or was there already"},
      {"artifact.collected", "Artifact/gc", {"ok"}, "Old artifacts were removed"},
      {"artifact.failed", "Artifact/build", {"compilationError"}, "A build failed"},
      {"artifact.held", "Artifact/hold", {"ok"}, "An artifact is kept for as long as somebody needs it"},
      {"artifact.released", "Artifact/release", {"ok"}, "Somebody no longer needs an artifact"},
      {"backup.configured", "Backup/configure", {"ok"}, "Backups go to another place, or nothing is archived any more"},
      {"backup.created", "Backup/create", {"ok"}, "A backup was made"},
      {"backup.drill-failed", "Backup/drill", {"damaged", "failed"}, "A backup could not be restored in a drill"},
      {"backup.drilled", "Backup/drill", {"ok"}, "A backup was restored in a drill, and holds"},
      {"backup.failed", "Backup/create", {"failed"}, "A backup was not made"},
      {"backup.found", "Backup/note", {"ok"}, "The archive, or an upgrade of the store, has made a backup"},
      {"backup.pruned", "Backup/prune", {"ok"}, "Backups and segments that nothing needs any more are gone"},
      {"backup.removed", "Backup/remove", {"ok"}, "A backup is gone"},
      {"backup.restored", "Backup/restored", {"ok"}, "This store was restored from a backup"},
      {"backup.trouble", "Backup/noteTrouble", {"ok"}, "The archive does not go on, or goes on again"},
      {"cluster.cancelled", "Cluster/cancel", {"ok"}, "A change of a cluster is to end before it is done"},
      {"cluster.deployed", "Cluster/deploy", {"ok"}, "Objects of a cluster are as their template says"},
      {"cluster.failed",
       "Cluster/deploy",
       {"policyDenied", "requiresOverride", "renderFailed", "templateFetchFailed", "kubernetesFailed", "wrongCluster",
        "fieldConflict", "notReady", "cancelled"},
       "Objects of a cluster are not as their template says"},
      {"cluster.rolled-back", "Cluster/rollback", {"ok"}, "Objects of a cluster are as they were before"},
      {"cluster.undeployed", "Cluster/undeploy", {"ok"}, "Objects of a cluster are gone"},
      {"config.answered", "Config/setUp", {"ok"}, "Questions that a bundle asks in an environment have other answers"},
      {"config.discovered", "Config/discover", {"ok"}, "A deployer has found a value out"},
      {"config.set", "Config/set", {"ok"}, "Config of an environment was set"},
      {"credentials.examined",
       "Credentials/requirements",
       {"ok", "missing"},
       "What the deployer of an environment may do was looked at"},
      {"credentials.issued",
       "Credentials/bootstrap",
       {"ok", "missing"},
       "The deployer of an environment has new credentials, or rules for an administrator"},
      {"credentials.rotated",
       "Credentials/rotate",
       {"ok", "missing"},
       "Credentials of an environment were looked at, and made anew where that was due"},
      {"deployment.added", "Deployment/add", {"ok"}, "A bundle is deployed for a customer"},
      {"deployment.archived", "Deployment/archive", {"ok"}, "A deployment is kept for its history alone"},
      {"deployment.configured", "Deployment/configure", {"ok"}, "A deployment has other settings"},
      {"deployment.data-deleted", "Deployment/deleteData", {"ok"}, "What a deployment has stored is gone"},
      {"deployment.down", "Deployment/down", {"ok"}, "A deployment was taken away"},
      {"deployment.failed", "Deployment/up", {"failed", "unverified", "refused"}, "A bundle did not come to serve"},
      {"deployment.labelled", "Deployment/label", {"ok"}, "A deployment has other labels"},
      {"deployment.paused", "Deployment/pause", {"ok"}, "A deployment takes no traffic"},
      {"deployment.removed", "Deployment/remove", {"ok"}, "A deployment is gone"},
      {"deployment.resumed", "Deployment/resume", {"ok"}, "A deployment takes traffic again"},
      {"deployment.rolled-back", "Deployment/rollBack", {"ok"}, "A deployment went back to an earlier split"},
      {"deployment.scaled", "Deployment/scale", {"ok"}, "A deployment is to run another number of replicas"},
      {"deployment.up", "Deployment/up", {"ok"}, "A bundle serves"},
      {"deployment.updated", "Deployment/update", {"ok"}, "Routes or settings of a deployment changed"},
      {"environment.absorbed", "Env/absorb", {"ok"}, "An environment has taken over another one"},
      {"environment.aliased", "Env/alias", {"ok"}, "An environment has another name for a while"},
      {"environment.applied", "Env/apply", {"ok", "partial"}, "A document was applied to an environment"},
      {"environment.created", "Env/create", {"ok"}, "An environment was made"},
      {"environment.destroyed", "Env/destroy", {"ok"}, "An environment is gone"},
      {"environment.examined", "Env/doctor", {"ok"}, "The doctor looked at an environment"},
      {"environment.promoted",
       "Env/promote",
       {"ok"},
       "A version is to go from one environment to another, and has a plan"},
      {"environment.updated", "Env/update", {"ok"}, "An environment changed"},
      {"health.degraded",
       "Health/suspect",
       {"degraded"},
       "No replica of a revision answers, and no other revision can take its place"},
      {"health.recovered", "Health/suspect", {"ok"}, "A revision that did not answer does so again"},
      {"health.replaced",
       "Health/suspect",
       {"replaced"},
       "A revision that does not answer gives its traffic to another one"},
      {"mesh.enrolled", "Mesh/enrol", {"ok"}, "A mesh has its authority"},
      {"mesh.published", "Mesh/publish", {"ok"}, "Nodes of a mesh have other documents"},
      {"mesh.revoked", "Mesh/revoke", {"ok"}, "A node of a mesh is shut out"},
      {"migration.adopted", "Migration/adopt", {"ok"}, "A database is taken to be at a version"},
      {"migration.contracted", "Migration/contract", {"ok"}, "The old side of a schema is gone"},
      {"migration.copied", "Migration/migrate", {"ok"}, "The new side of a schema has all data"},
      {"migration.expanded", "Migration/expand", {"ok"}, "A schema has its new side beside the old one"},
      {"migration.not-contracted",
       "Migration/contract",
       {"rollback"},
       "The old side of a schema could not be taken away"},
      {"migration.not-expanded", "Migration/expand", {"failed"}, "A schema could not get its new side"},
      {"migration.paused", "Migration/pause", {"ok"}, "Copying data stands still"},
      {"migration.restored", "Migration/restore", {"ok"}, "A database is as its backup has it"},
      {"migration.resumed", "Migration/resume", {"ok"}, "Copying data goes on"},
      {"migration.retried", "Migration/retry", {"ok"}, "What was not copied was copied again"},
      {"migration.stopped", "Migration/migrate", {"partial"}, "Some data could not be copied"},
      {"migration.undone", "Migration/undo", {"ok"}, "The new side of a schema is gone"},
      {"pack.admitted", "EnvPack/admit", {"ok"}, "A pack may serve in an environment"},
      {"pack.bound", "Env/bind", {"ok"}, "A slot has a pack"},
      {"pack.installed", "EnvPack/install", {"ok"}, "A pack is there"},
      {"pack.rebound", "Env/rebind", {"ok"}, "A slot has another pack, or the pack other settings"},
      {"pack.rolled-back", "Env/rollback", {"ok"}, "A slot has the pack that it had before"},
      {"pack.unbound", "Env/unbind", {"ok"}, "A slot is empty"},
      {"pack.uninstalled", "EnvPack/uninstall", {"ok"}, "A pack is gone"},
      {"plan.cancelled", "DeployPlan/cancel", {"ok"}, "A plan is to end before it is done"},
      {"plan.executed", "DeployPlan/execute", {"ok"}, "All that a plan says is done"},
      {"plan.failed",
       "DeployPlan/execute",
       {"partial", "rollbackTriggered", "rollbackFailed", "stale"},
       "A plan was not done, or was undone"},
      {"plan.made", "DeployPlan/plan", {"ok"}, "A plan was made; nothing has changed"},
      {"plan.rolled-back", "DeployPlan/rollback", {"ok", "partial"}, "What a plan has done was undone"},
      {"registry.logged-in", "Registry/login", {"ok"}, "An environment can fetch from a registry with a login"},
      {"registry.logged-out", "Registry/logout", {"ok"}, "A login to a registry is gone"},
      {"registry.pulled", "Registry/pull", {"ok"}, "A bundle was fetched from a registry"},
      {"revision.archived", "Revision/archive", {"ok"}, "A revision is kept for its history alone"},
      {"revision.drained", "Revision/drain", {"ok"}, "A revision has finished its requests and stopped"},
      {"revision.failed", "Revision/fail", {"ok"}, "A revision is not fit to serve"},
      {"revision.refreshed", "Revision/refresh", {"ok"}, "A revision was staged anew from what its bundle is now"},
      {"revision.retried", "Revision/retry", {"ok"}, "A revision that had failed is staged again"},
      {"revision.staged", "Revision/stage", {"ok"}, "A revision's bundle is there, and verified"},
      {"revision.warmed", "Revision/warm", {"ok"}, "A revision is ready for traffic"},
      {"rollout.aborted", "Rollout/abort", {"ok", "withdrawn"}, "A rollout is to give its traffic back"},
      {"rollout.advanced", "Rollout/advance", {"ok"}, "A rollout went on to its next step"},
      {"rollout.completed", "Rollout/run", {"ok"}, "The new revision has all traffic"},
      {"rollout.failed", "Rollout/fail", {"ok"}, "A rollout could not go on"},
      {"rollout.paused", "Rollout/pause", {"ok"}, "A rollout stays at its step"},
      {"rollout.resumed", "Rollout/resume", {"ok"}, "A paused rollout goes on"},
      {"rollout.retried", "Rollout/retry", {"ok"}, "A rollout that was aborted begins again"},
      {"rollout.returned", "Rollout/returned", {"ok"}, "A rollout's traffic is back where it was"},
      {"rollout.started", "Rollout/begin", {"ok"}, "Traffic begins to move to a revision"},
      {"rollout.superseded", "Rollout/run", {"superseded"}, "A newer rollout takes the place of one"},
      {"router.published", "Router/publish", {"ok"}, "The routers of an environment obey a new table"},
      {"router.registered", "Router/register", {"ok"}, "A router belongs to an environment"},
      {"router.retired", "Router/retire", {"ok"}, "A router no longer belongs to an environment"},
      {"runtime.entered", "Runtime/enter", {"ok"}, "Somebody runs a command inside a replica"},
      {"secret.changed", "Secret/put", {"ok"}, "A secret has another value"},
      {"secret.rekeyed", "Secret/rekey", {"ok"}, "The secrets of an environment are sealed with another key"},
      {"secret.removed", "Secret/remove", {"ok"}, "A secret is gone"},
      {"secret.rotated", "Secret/rotate", {"ok"}, "A secret was rotated"},
      {"telemetry.configured", "Telemetry/configure", {"ok"}, "Telemetry goes somewhere else"},
      {"telemetry.removed", "Telemetry/remove", {"ok"}, "Telemetry no longer goes somewhere"},
      {"traffic.changed", "Traffic/set", {"ok"}, "Revisions get other shares of the requests"},
      {"traffic.cleared", "Traffic/clear", {"ok"}, "No revision gets requests"},
      {"traffic.forwarded", "Traffic/forward", {"ok"}, "A rollback of traffic was undone"},
      {"traffic.moved", "Traffic/move", {"ok"}, "A rollout gives revisions other shares of the requests"},
      {"traffic.rolled-back", "Traffic/rollback", {"ok"}, "Traffic is as it was before"},
      {"traffic.shifted", "Traffic/shift", {"ok"}, "A revision gets another share, at the others' cost"},
      {"trust.added", "Trust/add", {"ok"}, "A key's signatures count"},
      {"trust.bootstrapped", "Trust/bootstrap", {"ok"}, "The operator's key counts in environments"},
      {"trust.removed", "Trust/remove", {"ok"}, "A key is forgotten"},
      {"trust.revoked", "Trust/revoke", {"ok"}, "Nothing that a key has signed counts"},
      {"trust.threshold-set", "Trust/setThreshold", {"ok"}, "Another number of a group's keys must sign"},
      {"webhook.added", "Webhook/create", {"ok"}, "Events are posted to an address"},
      {"webhook.removed", "Webhook/remove", {"ok"}, "Events are no longer posted to an address"},
      {"webhook.rotated", "Webhook/rotate", {"ok"}, "What is posted to an address is signed with another secret"},
  };
  return kTypes;
}

std::optional<Event> event_of(const engine::Step& step) {
  if (!step.end || step.kind == engine::Step::Kind::late) return std::nullopt;
  for (const EventType& each : event_types()) {
    if (each.action != step.action || std::ranges::find(each.variants, step.end->variant) == each.variants.end())
      continue;
    Event event{.event = std::string(each.name),
                .id = step.seq,
                .at = utc_text(step.at_ms),
                .flow = to_string(step.flow),
                .action = step.action,
                .variant = step.end->variant,
                .fields = step.end->fields};
    if (!step.caller.name.empty()) event.caller = step.caller.name;
    if (!step.caller.reason.empty()) event.reason = step.caller.reason;
    return event;
  }
  return std::nullopt;
}

std::optional<std::string> environment_of(const Event& event, const Authority* authority) {
  const json::object* fields = event.fields.if_object();
  if (fields == nullptr) return std::nullopt;
  const json::value* named = fields->if_contains("environment");
  if (named != nullptr && named->is_string()) return std::string(named->get_string());
  if (authority == nullptr) return std::nullopt;
  const std::vector<std::string> places = authority->environments_of(event.action, *fields);
  return places.empty() ? std::nullopt : std::optional(places.front());
}

bool EventFilter::takes_type(std::string_view name) const {
  return types.empty() || std::ranges::any_of(types, [&](const std::string& each) { return fits(each, name); });
}

bool EventFilter::takes(const Event& event) const {
  return takes_type(event.event) && (environment.empty() || event.environment == environment) &&
         (object.empty() || names(event.fields, object)) && (flow.empty() || event.flow == flow);
}

Result<std::vector<std::string>> event_types_in(const std::string& text) {
  std::vector<std::string> types;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    types.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  for (const std::string& each : types) {
    if (std::ranges::any_of(event_types(), [&](const EventType& known) { return fits(each, known.name); })) continue;
    std::vector<std::string> known;
    for (const EventType& type : event_types()) known.emplace_back(type.name);
    auto near = nearest(each, std::span<const std::string>(known));
    return Error{.code = Code::invalid,
                 .message = "there is no event '" + each + "'" + (near ? "; did you mean " + *near + "?" : ""),
                 .next = "GET /v1/events/types lists them"};
  }
  return types;
}

}  // namespace sluice::host
