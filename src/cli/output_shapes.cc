// Nothing is described here: a command prints the answer of an action or a view, or a described struct.
#include "cli/output_shapes.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/json_schema.h"
#include "cli/backup_outputs.h"
#include "cli/outputs.h"
#include "cli/tool_outputs.h"
#include "deploy/deploy_kit.h"
#include "deploy/views/documents.h"
#include "deploy/views/environment_file.h"
#include "deploy/views/releases.h"
#include "host/access_views.h"
#include "host/door.h"
#include "host/moment.h"
#include "judge/verdict.h"
#include "lang/check/check.h"
#include "lang/codegen/generate_schema.h"
#include "mesh/node_agent.h"
#include "mesh/tree.h"
#include "migrate/lint.h"

namespace sluice::cli {
namespace {

struct Struct {
  std::string_view name;
  json::value (*schema)(std::string_view name);
};

template <class T>
json::value schema_for(std::string_view name) {
  return json_schema<T>(name, "urn:sluice:output:" + std::string(name));
}

constexpr auto kStructs = std::to_array<Struct>({
    {"AppliedChanges", schema_for<std::vector<outputs::AppliedChange>>},
    {"Begun", schema_for<outputs::Begun>},
    {"BoundsSigned", schema_for<outputs::BoundsSigned>},
    {"BoundsVerified", schema_for<outputs::BoundsVerified>},
    {"BundleBuilt", schema_for<outputs::BundleBuilt>},
    {"BundleDiff", schema_for<outputs::BundleDiff>},
    {"BundleExamined", schema_for<outputs::BundleExamined>},
    {"BundleExtracted", schema_for<outputs::BundleExtracted>},
    {"BundleInspected", schema_for<outputs::BundleInspected>},
    {"BundlePulled", schema_for<outputs::BundlePulled>},
    {"BundlePushed", schema_for<outputs::BundlePushed>},
    {"BundleSigned", schema_for<outputs::BundleSigned>},
    {"BundleVerified", schema_for<outputs::BundleVerified>},
    {"CallEnded", schema_for<outputs::CallEnded>},
    {"CallOpen", schema_for<outputs::CallOpen>},
    {"Concept", schema_for<outputs::Concept>},
    {"ConfigsStaged", schema_for<std::vector<outputs::ConfigStaged>>},
    {"ConsoleLink", schema_for<outputs::ConsoleLink>},
    {"RecipientMade", schema_for<outputs::RecipientMade>},
    {"Restored", schema_for<outputs::Restored>},
    {"StoreUpgraded", schema_for<outputs::StoreUpgraded>},
    {"KnownReplicas", schema_for<std::vector<outputs::KnownReplica>>},
    {"JoinToken", schema_for<outputs::JoinToken>},
    {"Joined", schema_for<outputs::Joined>},
    {"ContextUsed", schema_for<outputs::ContextUsed>},
    {"DebugToken", schema_for<outputs::DebugToken>},
    {"Decided", schema_for<outputs::Decided>},
    {"Differences", schema_for<outputs::Differences>},
    {"EnvironmentApplied", schema_for<outputs::EnvironmentApplied>},
    {"EnvironmentExported", schema_for<outputs::EnvironmentExported>},
    {"FlowStates", schema_for<std::vector<outputs::FlowState>>},
    {"Guard", schema_for<outputs::Guard>},
    {"Help", schema_for<outputs::Help>},
    {"HelpCommand", schema_for<outputs::HelpCommand>},
    {"HelpNoun", schema_for<outputs::HelpNoun>},
    {"HelpTopic", schema_for<outputs::HelpTopic>},
    {"InstanceStopped", schema_for<outputs::InstanceStopped>},
    {"Kit", schema_for<outputs::Kit>},
    {"KitBegun", schema_for<outputs::KitBegun>},
    {"KitCheck", schema_for<outputs::KitCheck>},
    {"KitFormatted", schema_for<outputs::KitFormatted>},
    {"KitsListed", schema_for<std::vector<outputs::KitListed>>},
    {"KnownContexts", schema_for<outputs::KnownContexts>},
    {"LoggedIn", schema_for<outputs::LoggedIn>},
    {"Loss", schema_for<outputs::Loss>},
    {"MeshBegun", schema_for<outputs::MeshBegun>},
    {"MeshBundle", schema_for<outputs::MeshBundle>},
    {"MeshDrafts", schema_for<outputs::MeshDrafts>},
    {"MeshFaults", schema_for<outputs::MeshFaults>},
    {"MeshJoined", schema_for<outputs::MeshJoined>},
    {"MeshKeys", schema_for<outputs::MeshKeys>},
    {"MeshPlan", schema_for<mesh::TreePlan>},
    {"MeshPublished", schema_for<outputs::MeshPublished>},
    {"MeshSigned", schema_for<outputs::MeshSigned>},
    {"MeshTraced", schema_for<outputs::MeshTraced>},
    {"MeshVerified", schema_for<outputs::MeshVerified>},
    {"Migrated", schema_for<outputs::Migrated>},
    {"NodeConfirmed", schema_for<outputs::NodeConfirmed>},
    {"NodeEnrolled", schema_for<outputs::NodeEnrolled>},
    {"NodeStatus", schema_for<mesh::AgentStatus>},
    {"NodeSync", schema_for<mesh::AgentSync>},
    {"Objects", schema_for<std::vector<json::value>>},
    {"PackSigned", schema_for<outputs::PackSigned>},
    {"PackTested", schema_for<outputs::PackTested>},
    {"Packs", schema_for<std::vector<deploy::views::PackDocument>>},
    {"MigrationImpacts", schema_for<std::vector<migrate::Impact>>},
    {"Position", schema_for<outputs::Position>},
    {"RegistryLogins", schema_for<std::vector<outputs::RegistryLogin>>},
    {"ReleaseSeen", schema_for<deploy::views::ReleaseDocument>},
    {"RouterJoined", schema_for<outputs::RouterJoined>},
    {"RouterRemoved", schema_for<outputs::RouterRemoved>},
    {"RouterStats", schema_for<outputs::RouterStats>},
    {"RouterToken", schema_for<outputs::RouterToken>},
    {"RouterUpgraded", schema_for<outputs::RouterUpgraded>},
    {"SaidLine", schema_for<host::SaidLine>},
    {"StagedIn", schema_for<outputs::StagedIn>},
    {"Status", schema_for<outputs::Status>},
    {"Stopped", schema_for<outputs::Stopped>},
    {"Sync", schema_for<outputs::Sync>},
    {"TlsTrust", schema_for<outputs::TlsTrust>},
    {"Up", schema_for<outputs::Up>},
    {"Verdict", schema_for<judge::Verdict>},
});

struct Printed {
  std::string_view command;
  std::string_view what;
};

// Parts stand between `|`: one of them is printed.
//
//   text  object       it prints no JSON; an object of any fields
//   &name              what the view of that name answers
//   =Concept/action    the fields of the action's `ok`, and the flow
//   ~Concept/action    the same of a query, without a flow
//   #Struct            a struct of kStructs
//   =A + #Struct       both as one object
//
// Of `logs` it is each line.
constexpr auto kCommands = std::to_array<Printed>({
    {"kit check", "#KitCheck"},
    {"kit fmt", "#KitFormatted"},
    {"kit show", "#Kit | #Concept | #Sync | #Guard"},
    {"kit run", "#FlowStates | #CallEnded | #CallOpen"},
    {"kit init", "#KitBegun"},
    {"kit list", "#KitsListed"},
    {"init", "#Begun"},

    {"bundles build", "#BundleBuilt"},
    {"bundles inspect", "#BundleInspected"},
    {"bundles sign", "#BundleSigned"},
    {"bundles verify", "#BundleVerified"},
    {"bundles doctor", "#BundleExamined"},
    {"bundles diff", "#BundleDiff"},
    {"bundles extract", "#BundleExtracted"},
    {"bundles push", "#BundlePushed"},
    {"bundles pull", "#BundlePulled"},
    {"bundles add", "=Revision/stage + #StagedIn"},
    {"bundles update", "=Deployment/update | =Deployment/pause | #Loss"},
    {"bundles remove", "=Deployment/remove | #Loss"},
    {"bundles list", "&deployments"},

    {"artifact build", "=Artifact/build"},
    {"artifact list", "&artifacts"},
    {"artifact gc", "=Artifact/gc | #Loss"},
    {"runtime list", "&instances"},
    {"runtime show", "&instance"},
    {"runtime stop", "#InstanceStopped"},
    {"runtime storage", "&stored-data | =Deployment/deleteData | #Loss"},
    {"logs", "#SaidLine"},
    {"exec", "text"},
    {"mcp", "text"},
    {"serve", "text"},
    {"deployer", "text"},
    {"status", "#Status"},
    {"stop", "#Stopped"},
    {"up", "#Up"},
    {"deploy run", "&plan | =Pin/set"},
    {"deploy plan", "&plan"},
    {"deploy show", "&plan"},
    {"deploy execute", "&plan"},
    {"deploy status", "&plan"},
    {"deploy list", "&plans"},
    {"deploy destroy", "&plan"},
    {"deploy diff", "#Differences"},
    {"env diff", "#Differences"},
    {"env resolve", "object"},
    {"env promote", "&plan"},
    {"deploy cancel", "=DeployPlan/cancel"},
    {"deploy rollback", "&plan"},
    {"rollback", "&plan"},
    {"down", "=Deployment/down | #Loss"},
    {"router run", "text"},
    {"router stats", "#RouterStats"},
    {"router upgrade", "#RouterUpgraded"},
    {"router list", "&router-list"},
    {"router token", "#RouterToken"},
    {"router join", "#RouterJoined"},
    {"router remove", "#RouterRemoved | #Loss"},
    {"judge", "#Verdict"},
    {"render", "#Objects | object"},
    {"usage show", "&usage"},
    {"scale", "=Deployment/scale"},

    {"env list", "&environments"},
    {"env show", "&environment"},
    {"env create", "=Env/create"},
    {"env update", "=Env/update"},
    {"env doctor", "~Env/doctor"},
    {"env destroy", "=Env/destroy | #Loss"},
    {"env export", "&environment-export | #EnvironmentExported"},
    {"env apply", "#EnvironmentApplied"},
    {"env migrate-dev", "#Migrated"},
    {"env-packs list", "#Packs"},
    {"env-packs add", "=Env/bind"},
    {"env-packs update", "=Env/rebind"},
    {"env-packs rollback", "=Env/rollback"},
    {"env-packs remove", "=Env/unbind | #Loss"},
    {"env-packs install", "=EnvPack/install"},
    {"env-packs uninstall", "=EnvPack/uninstall | #Loss"},
    {"pack test", "#PackTested"},
    {"pack questions", "object"},
    {"pack sign", "#PackSigned"},
    {"pack push", "#BundlePushed"},
    {"pack pull", "#BundlePulled"},
    {"credentials requirements", "object"},
    {"credentials bootstrap", "object"},
    {"credentials rotate", "object"},
    {"rollout start", "object"},
    {"apply", "#AppliedChanges"},
    {"get", "&definitions"},
    {"describe", "&definitions"},
    {"delete", "=Definition/remove | =Release/remove | =Pipeline/remove | =Pin/remove | =Settings/remove"},
    {"releases list", "&releases"},
    {"releases show", "#ReleaseSeen"},
    {"releases diff", "&release-diff"},
    {"releases history", "&release-history"},
    {"releases export", "object"},
    {"releases create", "=Release/create"},
    {"releases reject", "=Release/reject"},
    {"releases gc", "~Release/gc"},
    {"git watch", "=GitSource/look"},
    {"git list", "&git-sources"},
    {"git sync", "=GitSource/look"},
    {"git unwatch", "=GitSource/unwatch"},
    {"pins list", "&pins"},
    {"pins set", "=Pin/set | =Pin/override"},
    {"pins history", "&pin-history"},
    {"pins rollback", "=Pin/rollback"},
    {"pins sync", "=Pin/reconcile | =Pin/reconcile.gone | =Pin/reconcile.waiting | =Pin/reconcile.joined"},
    {"promote", "=Pin/promote | =Pin/override | &promotion-plan"},
    {"pipelines list", "&pipelines"},
    {"pipelines stop", "=Pipeline/stop"},
    {"pipelines resume", "=Pipeline/resume"},
    {"approvals list", "&approvals"},
    {"approvals approve", "=Approval/vote"},
    {"approvals reject", "=Approval/vote"},
    {"rollout list", "&rollouts"},
    {"rollout status", "&rollout"},
    {"rollout watch", "&rollout"},
    {"rollout judge", "&rollout"},
    {"watch", "object"},
    {"rollout advance", "=Rollout/advance"},
    {"rollout pause", "=Rollout/pause"},
    {"rollout resume", "=Rollout/resume"},
    {"rollout abort", "=Rollout/abort"},
    {"rollout retry", "=Rollout/retry"},
    {"health check", "=Health/checkKit | =Health/checkConcept"},
    {"health path", "=Health/checkSync"},
    {"health invariant", "=Health/checkInvariant"},
    {"telemetry configure", "=Telemetry/configure"},
    {"telemetry list", "&telemetry"},
    {"telemetry remove", "=Telemetry/remove"},
    {"telemetry markers", "&markers"},
    {"webhooks add", "object"},
    {"webhooks list", "~Webhook/list"},
    {"webhooks remove", "=Webhook/remove"},
    {"webhooks rotate", "object"},
    {"webhooks test", "=Webhook/sendTest"},
    {"config show", "&config"},
    {"config set", "=Config/set | =Config/setUp | =Deployment/configure"},
    {"config apply", "#ConfigsStaged"},
    {"secrets list", "&secrets"},
    {"secrets get", "&secret"},
    {"secrets put", "=Secret/put"},
    {"secrets rotate", "=Secret/rotate"},
    {"secrets remove", "=Secret/remove | #Loss"},
    {"secrets rekey", "=Secret/rekey"},
    {"registry login", "=Registry/login"},
    {"registry logout", "=Registry/logout"},
    {"registry list", "#RegistryLogins"},
    {"tls list", "~Certificate/list"},
    {"tls issue", "=Certificate/issue"},
    {"tls add", "=Certificate/import"},
    {"tls renew", "=Certificate/renew"},
    {"tls remove", "=Certificate/remove | #Loss"},
    {"tls doctor", "~Certificate/inspect"},
    {"tls trust", "#TlsTrust"},
    {"cluster render", "=Cluster/render"},
    {"cluster dry-run", "=Cluster/dryRun"},
    {"cluster diff", "=Cluster/diff"},
    {"cluster deploy", "=Cluster/deploy"},
    {"cluster undeploy", "=Cluster/undeploy"},
    {"cluster rollback", "=Cluster/rollback"},
    {"cluster status", "=Cluster/status"},
    {"cluster list", "&cluster"},
    {"cluster show", "&cluster-request"},
    {"cluster cancel", "=Cluster/cancel"},
    {"cluster policy", "object"},
    {"migrate plan", "object"},
    {"migrate expand", "=Migration/expand"},
    {"migrate run", "=Migration/migrate"},
    {"migrate pause", "=Migration/pause"},
    {"migrate resume", "=Migration/resume"},
    {"migrate retry", "=Migration/retry"},
    {"migrate contract", "=Migration/contract | #Loss"},
    {"migrate undo", "=Migration/undo | #Loss"},
    {"migrate drift", "=Migration/drift"},
    {"migrate history", "=Migration/history"},
    {"migrate adopt", "=Migration/adopt"},
    {"migrate backup", "=Migration/backup"},
    {"migrate restore", "=Migration/restore"},
    {"migrate status", "~Migration/status"},
    {"migrate lint", "#MigrationImpacts"},
    {"migrate list", "~Migration/list"},
    {"revisions list", "&revisions"},
    {"revisions stage", "=Revision/stage + #StagedIn"},
    {"revisions warm", "=Revision/warm"},
    {"revisions drain", "=Revision/drain | #Loss"},
    {"revisions retry", "=Revision/retry"},
    {"revisions archive", "=Revision/archive | #Loss"},
    {"traffic show", "&traffic"},
    {"traffic history", "&traffic-history"},
    {"traffic set", "=Traffic/set"},
    {"traffic rollback", "=Deployment/rollBack"},
    {"traffic forward", "=Traffic/forward"},
    {"traffic clear", "=Traffic/clear | #Loss"},
    {"do", "object"},
    {"traffic token", "#DebugToken"},

    {"flow list", "&flows"},
    {"flow show", "&flow"},
    {"flow trace", "&flow"},
    {"why", "&why"},
    {"flow cancel", "#Decided"},
    {"flow resolve", "#Decided"},
    {"flow move", "#Decided"},
    {"flow dead", "&dead-letters | #Decided | #Loss"},
    {"audit list", "&audit"},
    {"audit verify", "&audit-report"},
    {"audit clock", "&clock"},
    {"audit correct-clock", "#Position"},
    {"trust bootstrap", "=Trust/bootstrap"},
    {"trust add", "=Trust/add"},
    {"trust remove", "=Trust/remove"},
    {"trust revoke", "=Trust/revoke | #Loss"},
    {"trust threshold", "=Trust/setThreshold"},
    {"trust list", "&trust"},
    {"access whoami", "&whoami"},
    {"access can", "&access-can"},
    {"access explain", "&access-can"},
    {"login", "#LoggedIn"},
    {"console", "#ConsoleLink"},
    {"backup key", "#RecipientMade"},
    {"backup configure", "~Backup/configure"},
    {"backup create", "~Backup/create"},
    {"backup list", "~Backup/list"},
    {"backup verify", "~Backup/verify"},
    {"backup drill", "~Backup/drill"},
    {"backup remove", "=Backup/remove | #Loss"},
    {"backup prune", "~Backup/prune"},
    {"backup restore", "#Restored"},
    {"store export", "~Backup/create"},
    {"store import", "#Restored"},
    {"store upgrade", "#StoreUpgraded"},
    {"replicas list", "#KnownReplicas"},
    {"replicas token", "#JoinToken"},
    {"replicas join", "#Joined"},
    {"context list", "#KnownContexts"},
    {"context use", "#ContextUsed"},
    {"access policy", "object"},
    {"access tokens", "object"},
    {"access sessions", "~Session/list | =Session/end"},
    {"trust export", "object"},
    {"bounds plan", "object"},
    {"bounds sign", "#BoundsSigned"},
    {"bounds show", "object"},
    {"bounds verify", "#BoundsVerified"},
    {"mesh init", "#MeshBegun"},
    {"mesh ca", "#MeshKeys | #MeshFaults"},
    {"mesh plan", "#MeshPlan | #MeshFaults"},
    {"mesh compile", "#MeshDrafts | #MeshFaults"},
    {"mesh sign", "#MeshSigned | #MeshFaults"},
    {"mesh trace", "#MeshTraced | #MeshFaults"},
    {"mesh bundle", "#MeshBundle | #MeshFaults"},
    {"mesh verify", "#MeshVerified"},
    {"mesh join", "#MeshJoined"},
    {"mesh schema", "object"},
    {"mesh publish", "#MeshPublished"},
    {"mesh status", "&mesh"},
    {"mesh agent", "#NodeEnrolled | #NodeSync | #NodeStatus | #NodeConfirmed"},

    {"schema", "object"},
    {"help", "#HelpNoun | #HelpCommand | #HelpTopic | #Help"},
    {"completion", "text"},
});

// The kit's own concepts, by name.
const lang::CheckedKit& kit_of_program() {
  static const lang::Checked kChecked = lang::check(lang::load_kit(
      std::string(deploy::kKitFolder), [](const std::string& path) { return deploy::read_kit_file(path); }));
  return *kChecked.kit;
}

Error unknown(std::string_view what) {
  return {.code = Code::not_found, .message = "nothing is called " + std::string(what)};
}

Result<json::object> answer_schema(std::string_view action, bool with_flow) {
  const size_t slash = std::min(action.find('/'), action.size());
  for (const lang::KitConcept& each : kit_of_program().kit().concepts) {
    if (each.tree.name != action.substr(0, slash)) continue;
    const json::object all = lang::generate_schema(each.tree);
    const std::string_view said = action.substr(slash + 1);  // ok, unless a variant is named
    const json::value* ok =
        all.at("$defs").as_object().if_contains(std::string(said) + (said.find('.') == said.npos ? ".ok" : ""));
    if (ok == nullptr) break;
    json::object schema = ok->as_object();
    schema.erase("additionalProperties");
    if (!schema.contains("properties")) schema["properties"] = json::object();
    if (!schema.contains("required")) schema["required"] = json::array();
    if (with_flow) {
      schema["properties"].as_object()["flow"] = json::object{{"type", "string"}};
      schema["required"].as_array().emplace_back("flow");
    }
    return schema;
  }
  return unknown(action);
}

Result<json::object> view_schema(const std::string& name) {
  if (const host::AccessView* about = host::find_access_view(name)) return about->schema().as_object();
  auto view = host::find_view(name);
  if (!view) return view.error();
  return (*view)->schema().as_object();
}

Result<json::object> part_schema(std::string_view part) {
  if (const size_t plus = part.find(" + "); plus != std::string_view::npos) {
    auto whole = part_schema(part.substr(0, plus)), more = part_schema(part.substr(plus + 3));
    if (!whole || !more) return whole ? more.error() : whole.error();
    for (const auto& each : more->at("properties").as_object())
      (*whole)["properties"].as_object()[each.key()] = each.value();
    for (const auto& each : more->at("required").as_array()) (*whole)["required"].as_array().push_back(each);
    return whole;
  }
  if (part == "text") return json::object{{"type", "string"}};
  if (part == "object") return json::object{{"type", "object"}};
  const std::string_view name = part.substr(1);
  switch (part.front()) {
    case '&':
      return view_schema(std::string(name));
    case '=':
      return answer_schema(name, true);
    case '~':
      return answer_schema(name, false);
    default:
      break;
  }
  const auto* found = std::ranges::find(kStructs, name, &Struct::name);
  if (found == kStructs.end()) return unknown(part);
  return found->schema(name).as_object();
}

}  // namespace

Result<json::object> output_schema(std::string_view command) {
  const auto* printed = std::ranges::find(kCommands, command, &Printed::command);
  if (printed == kCommands.end()) {
    return Error{.code = Code::not_found, .message = "there is no schema of 'sluice " + std::string(command) + "'"};
  }
  json::array parts;
  json::object definitions;
  for (std::string_view rest = printed->what; !rest.empty();) {
    const size_t end = std::min(rest.find(" | "), rest.size());
    auto part = part_schema(rest.substr(0, end));
    if (!part) return part.error();
    // Definitions stand once, at the root, where `#/$defs/…` leads.
    if (const json::value* own = part->if_contains("$defs")) {
      for (const auto& each : own->as_object()) definitions[each.key()] = each.value();
    }
    for (const char* name : {"$defs", "$id", "$schema"}) part->erase(name);
    parts.push_back(*std::move(part));
    rest.remove_prefix(std::min(end + 3, rest.size()));
  }
  json::object whole{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                     {"title", "sluice " + std::string(command)}};
  if (!definitions.empty()) whole["$defs"] = std::move(definitions);
  if (parts.size() > 1) {
    whole["anyOf"] = std::move(parts);
    return whole;
  }
  for (auto& each : parts.front().as_object()) {
    if (each.key() != "title") whole[each.key()] = std::move(each.value());
  }
  return whole;
}

json::value environment_file_schema() {
  return json_schema<deploy::views::EnvironmentFile>("sluice.environment.v1", "urn:sluice:schema:environment.v1");
}

}  // namespace sluice::cli
