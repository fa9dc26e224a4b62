// The shapes of the objects stand first, then those of the commands, by noun. What is the answer of an action or a view
// comes from its concept or its view; written down here is only what a command prints of its own: what it did to local
// files, and sums of several answers.
#include "cli/output_shapes.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <optional>

#include "cli/shape.h"
#include "deploy/deploy_kit.h"
#include "host/access_views.h"
#include "host/moment.h"
#include "lang/check/check.h"
#include "lang/codegen/generate_schema.h"

namespace sluice::cli {
namespace {

struct NamedShape {
  std::string_view name;
  std::string_view shape;
};

constexpr auto kShapes = std::to_array<NamedShape>({
    {"faults", "{ faults: [text] }"},
    {"mesh-access", "{ initiator: text, node: text, target: text }"},
    {"mesh-link", "{ node: text, vertex: text, link: text, peer: text }"},
    {"mesh-hop", "{ node: text, vertex: text, link: text, label: int }"},
    {"host",
     "{ env_id: text, region?: text, cluster_endpoint?: text, public_hostname?: text, tenant_org_id?: text, "
     "redis_url?: text, listen_addr?: text, public_base_url?: text, trusted_proxies?: text, "
     "access_log_share?: text, connections_per_address?: text, container_engine?: text, revision_proofs?: text }"},
    {"pack",
     "{ slot: text, kind: text, pack_ref: text, answers_ref: text?, generation: int, bound_at: time, "
     "previous_binding_ref: text? }"},
    {"route", "{ hosts: [text], path_prefixes: [text], tenant_selector: { tenant: text?, team: text? } }"},
    {"shares", "[{ party_id: text, basis_points: int }]"},
    {"revocation", "{ required: bool, list_ref: text? }"},
    {"retention", "{ archived_max_age_days: int, staged_max_count: int }"},
    {"file-bundle",
     "{ schema?: text, deployment_id?: text, env_id?: text, bundle_id: text, customer_id: text, "
     "status?: 'active' | 'paused' | 'archived', generation?: int, created_at?: text, "
     "current_revisions?: [text], route_binding?: { hosts?: [text], path_prefixes?: [text], "
     "tenant_selector?: { tenant?: text?, team?: text? } }, revenue_share?: @shares, "
     "revenue_policy_ref?: text, usage?: object, authorization_ref?: text?, "
     "config_overrides?: { *: object }, bundle_source_uri?: text?, "
     "config?: { non_secret?: object, runtime_refs?: { *: text } }? }"},
    {"environment-file",
     "{ schema: 'sluice.environment.v1', environment_id: text, name?: text, extends?: text?, "
     "generation?: int, created_at?: text, host_config?: { env_id?: text?, region?: text?, "
     "cluster_endpoint?: text?, public_hostname?: text?, tenant_org_id?: text?, "
     "redis_url?: text?, listen_addr?: text?, public_base_url?: text?, trusted_proxies?: text?, "
     "access_log_share?: text?, connections_per_address?: text?, container_engine?: text?, revision_proofs?: text? }, "
     "packs?: [{ slot: text, kind: text, pack_ref?: text?, answers_ref?: text?, "
     "generation?: int, bound_at?: text, previous_binding_ref?: text? }], "
     "credentials_ref?: text?, bundles?: [@file-bundle], revisions?: [object], "
     "traffic_splits?: [object], revocation?: { required?: bool, list_ref?: text? }, "
     "retention?: { archived_max_age_days?: int, staged_max_count?: int }, health?: object }"},
    {"decided", "{ flow: text, position: int, state: text }"},
    {"field", "{ name: text, type: text }"},
    {"concept",
     "{ name: text, file: text, purpose: text, actions: [{ name: text, runs: text, callers: text, right: text?, "
     "effect: text?, params: [@field], "
     "variants: [{ name: text, fields: [@field] }], guardedBy: [text], startedBy: [text], "
     "matchedBy: [text], answeredBy: [text] }] }"},
    {"sync",
     "{ name: text, alias: text, tier: text, kit: text, file: text, purpose: text, eventual: bool, "
     "active: bool, derived?: bool, why?: text, replaces?: text, waitsFor: [text], starts: [text] }"},
    {"guard",
     "{ name: text, kit: text, file: text, purpose: text, binds: text, refusesWith: text, active: bool, why?: text }"},
    {"kit",
     "{ name: text, version: text, description: text, concepts: [@concept], absent: [{ name: text, "
     "why: text }], syncs: [@sync], guards: [@guard], "
     "cycles: [{ path: text, outside: bool, loop: bool }] }"},
    {"loss", "{ would: text, loses: [text] }"},
    {"change", "{ change: '+' | '~' | '-', what: text }"},
    {"option",
     "{ name: text, help: text, letter?: text, value?: text, choices?: [text], default?: text, "
     "repeated?: bool }"},
    {"command",
     "{ name: text, summary: text, details?: text, usage: text, args: [{ name: text, help: text, "
     "required: bool, choices?: [text], repeated?: bool }], options: [@option], example: text, "
     "formats?: [text] }"},
    {"noun", "{ name: text, summary: text, verbs: [text] }"},
    {"routed-revision",
     "{ id: text, state: 'ready' | 'draining', weight_bps: int, requests: int, in_flight: int, websockets: int, "
     "status: { *: int }, retries: int, failures: int, bytes_in: int, bytes_out: int, "
     "latency_us: { p50: int, p99: int }, latency_counts: [int], "
     "replicas: [{ address: text, in_flight: int, idle: int, ejected: int }] }"},
});

// `text`: it prints no JSON. Of `logs` the shape is each line's.
constexpr auto kCommands = std::to_array<NamedShape>({
    {"kit check", "{ errors: int, warnings: int, concepts: int, syncs: int, guards: int, diagnostics: [object] }"},
    {"kit fmt", "{ changed: [text], broken: [text], diagnostics: [object], files: int }"},
    {"kit show", "@kit | @concept | @sync | @guard"},
    {"kit run",
     "[{ flow: text, state: text }] | { flow?: text, invocation?: text, variant: text, fields: object, "
     "maybeDone?: bool, position?: int, state?: text, followUpsPending?: int } | "
     "{ flow: text, invocation: text, state: text, waitsFor: text }"},
    {"kit init", "{ kit: text, files: [text] }"},
    {"kit list", "[{ name: text, version: text, folder: text, description: text, errors: int, warnings: int }]"},
    {"init", "{ file: text, name?: text, run?: [text], listen?: text }"},

    {"bundles build",
     "{ bundle: text, version: text, file: text, sidecar: text, tree: text, archive: text, "
     "entries: int, bytes: int, archiveBytes: int, key: text, skipped: [{ path: text, "
     "reason: text }], allowedSecrets: int, warnings: [text] }"},
    {"bundles inspect",
     "{ file: text, format: text, tree: text, archive: text, entries: int, bytes: int, "
     "archiveBytes: int, signatures: [text], bundle?: text, version?: text, files?: [{ path: text, "
     "type: text, mode: text, size?: int, sha256?: text, target?: text }] }"},
    {"bundles sign", "{ file: text, sidecar: text, bundle: text, key: text, signatures: int }"},
    {"bundles verify",
     "{ file: text, bundle: text, version: text, env: text, tree: text, archive: text, "
     "keys: [text] }"},
    {"bundles doctor",
     "{ file: text, files: int, findings: [{ path: text, line: int, kind: text, hash: text }], "
     "allowed: int, notLookedInto: [text] }"},
    {"bundles diff", "{ before: text, after: text, changes: [{ change: text, path: text, detail: text }] }"},
    {"bundles extract", "{ folder: text, tree: text, entries: int, bytes: int }"},
    {"bundles push",
     "{ file: text, bundle: text, version: text, reference: text, digest: text, onlySignatures: bool }"},
    {"bundles pull", "{ file: text, reference: text, digest: text, archive: text, signatures: int }"},
    {"bundles add", "=Revision/stage + { deployment: text }"},
    {"bundles update", "=Deployment/update | =Deployment/pause | @loss"},
    {"bundles remove", "=Deployment/remove | @loss"},
    {"bundles list", "&deployments"},

    {"artifact build", "=Artifact/build"},
    {"artifact list", "&artifacts"},
    {"artifact gc", "=Artifact/gc | @loss"},
    {"runtime list", "&instances"},
    {"runtime show", "&instance"},
    {"runtime stop", "{ instance: text, component: text, name: text, replicas: int, stopped: bool, flow?: text }"},
    {"runtime storage", "&stored-data | =Deployment/deleteData | @loss"},
    {"logs", "{ time: time, replica: text, label: text, stream: text, text: text }"},
    {"exec", "text"},
    {"mcp", "text"},
    {"serve", "text"},
    {"status",
     "{ running: bool, socket?: text, url?: text, pid?: int, version?: text, since?: time, kit?: text, kitFolder?: "
     "text, "
     "storePath?: text, storeBytes?: int, position?: int, openFlows?: int, trouble?: text, "
     "environments?: [object], clock?: object }"},
    {"stop", "{ stopped: bool, pid?: int, routers?: [{ name: text, pid: int }], replicas?: int }"},
    {"up",
     "{ deployment: text, bundle: text, revision: text, name: text, changed: bool, "
     "weights: [{ revision: text, weightBps: int }], urls: [text] }"},
    {"deploy run", "&plan"},
    {"deploy plan", "&plan"},
    {"deploy show", "&plan"},
    {"deploy execute", "&plan"},
    {"deploy status", "&plan"},
    {"deploy list", "&plans"},
    {"deploy destroy", "&plan"},
    {"deploy diff", "{ a: text, b: text, differences: [text] }"},
    {"env diff", "{ a: text, b: text, differences: [text] }"},
    {"env resolve", "object"},
    {"env promote", "&plan"},
    {"deploy cancel", "=DeployPlan/cancel"},
    {"deploy rollback", "&plan"},
    {"rollback", "&plan"},
    {"down", "=Deployment/down | @loss"},
    {"router run", "text"},
    {"router stats",
     "{ ok: bool, router: text, name: text, pid: int, worker_pid: int, environment: text, generation: int, "
     "digest: text, uptime_s: int, threads: int, connections: int, idle_connections: int, held: int, "
     "quarantined: [{ deployment: text, reason: text }], state: { patches: int, bytes: int, error: text }, "
     "bounds: { version: int, expires_at: time?, error: text }?, "
     "counters: { kept: bool, error: text }, access_log: { dropped_bytes: int }, "
     "pins: { redis: 'none' | 'connected' | 'down', error: text, lookups: int, hits: int, misses: int, timeouts: int, "
     "failures: int, writes: int }, "
     "deployments: [{ id: text, generation: int, status: 'active' | 'paused', revisions: [@routed-revision] }] }"},
    {"judge",
     "{ schema: 'sluice.verdict.v1', verdict: 'healthy' | 'unhealthy' | 'insufficientData', sentence: text, "
     "metric: text, against: number, alpha: number, beta: number, seconds: number, canary_requests: number, "
     "canary_failed: number, baseline_requests: number, baseline_failed: number, windows: int, dropped_windows: int, "
     "requests_needed?: number, seconds_needed?: number, margin_latency_ratio: number, metrics: [{ name: text, "
     "over_ms?: number, limit?: number, canary_requests: number, canary_bad: number, baseline_requests: number, "
     "baseline_bad: number, seconds: number, against: number, for: number, grouping: number, "
     "requests_needed?: number, smallest_noticed?: number }] }"},
    {"usage show", "&usage"},
    {"scale", "=Deployment/scale"},

    {"env list", "&environments"},
    {"env show", "&environment"},
    {"env create", "=Env/create"},
    {"env update", "=Env/update"},
    {"env doctor", "~Env/doctor"},
    {"env destroy", "=Env/destroy | @loss"},
    {"env export",
     "{ schema: 'sluice.environment.v1', environment_id: text, name: text, extends: text?, "
     "host_config: @host, packs: [{ slot: text, kind: text, pack_ref: text, answers_ref: text? }], "
     "credentials_ref: text?, revocation: @revocation, retention: @retention, "
     "bundles: [{ bundle_id: text, customer_id: text, status: text, route_binding: @route, "
     "revenue_share: @shares, config_overrides: { *: object }, bundle_source_uri: text?, "
     "config: { non_secret?: object, runtime_refs?: { *: text } }? }] } | { file: text, archives: [text] }"},
    {"env apply", "{ environment: text, changes: [@change] }"},
    {"env migrate-dev",
     "{ environment: text, name: text, clean: bool, outcome: 'checked' | 'migrated' | 'aliased' | "
     "'nothing to do', findings: [{ level: 'blocking' | 'info', kind: text, file: text, "
     "key: text, what: text }] }"},
    {"env-packs list", "[@pack]"},
    {"env-packs add", "=Env/bind"},
    {"env-packs update", "=Env/rebind"},
    {"env-packs rollback", "=Env/rollback"},
    {"env-packs remove", "=Env/unbind | @loss"},
    {"env-packs install", "=EnvPack/install"},
    {"env-packs uninstall", "=EnvPack/uninstall | @loss"},
    {"pack test", "{ checks: [object], failed: int }"},
    {"pack questions", "object"},
    {"pack sign", "{ file: text, digest: text, key: text }"},
    {"credentials requirements", "object"},
    {"credentials bootstrap", "object"},
    {"credentials rotate", "object"},
    {"rollout start", "object"},
    {"approvals list", "&approvals"},
    {"approvals approve", "=Approval/vote"},
    {"approvals reject", "=Approval/vote"},
    {"rollout list", "&rollouts"},
    {"rollout status", "&rollout"},
    {"rollout watch", "&rollout"},
    {"rollout judge", "&rollout"},
    {"watch", "{ environments?: [object], clock?: object, rollouts: [object] }"},
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
    {"webhooks list", "{ webhooks: [object] }"},
    {"webhooks remove", "=Webhook/remove"},
    {"webhooks rotate", "object"},
    {"webhooks test", "=Webhook/sendTest"},
    {"config show", "&config"},
    {"config set", "=Config/set | =Config/setUp | =Deployment/configure"},
    {"config apply", "[{ deployment: text, revision: text, name: text, fresh: bool }]"},
    {"secrets list", "&secrets"},
    {"secrets get", "&secret"},
    {"secrets put", "=Secret/put"},
    {"secrets rotate", "=Secret/rotate"},
    {"secrets remove", "=Secret/remove | @loss"},
    {"secrets rekey", "=Secret/rekey"},
    {"registry login", "=Registry/login"},
    {"registry logout", "=Registry/logout"},
    {"registry list", "[{ host: text, secret: text, since: time }]"},
    {"revisions list", "&revisions"},
    {"revisions stage", "=Revision/stage + { deployment: text }"},
    {"revisions warm", "=Revision/warm"},
    {"revisions drain", "=Revision/drain | @loss"},
    {"revisions retry", "=Revision/retry"},
    {"revisions archive", "=Revision/archive | @loss"},
    {"traffic show", "&traffic"},
    {"traffic history", "&traffic-history"},
    {"traffic set", "=Traffic/set"},
    {"traffic rollback", "=Deployment/rollBack"},
    {"traffic forward", "=Traffic/forward"},
    {"traffic clear", "=Traffic/clear | @loss"},
    {"do", "object"},
    {"traffic token", "{ token: text, environment: text, deployment: text, revision: text, expires: time }"},

    {"flow list", "&flows"},
    {"flow show", "&flow"},
    {"flow trace", "&flow"},
    {"why", "&why"},
    {"flow cancel", "@decided"},
    {"flow resolve", "@decided"},
    {"flow move", "@decided"},
    {"flow dead", "&dead-letters | @decided | @loss"},
    {"audit list", "&audit"},
    {"audit verify", "&audit-report"},
    {"audit clock", "&clock"},
    {"audit correct-clock", "{ position: int }"},
    {"trust bootstrap", "=Trust/bootstrap"},
    {"trust add", "=Trust/add"},
    {"trust remove", "=Trust/remove"},
    {"trust revoke", "=Trust/revoke | @loss"},
    {"trust threshold", "=Trust/setThreshold"},
    {"trust list", "&trust"},
    {"access whoami", "&whoami"},
    {"access can", "&access-can"},
    {"access explain", "&access-can"},
    {"login", "{ context: text, url: text, caller: text }"},
    {"console", "{ url: text, expires: text }"},
    {"context list", "{ contexts: [{ name: text, url: text?, current: bool }] }"},
    {"context use", "{ context: text }"},
    {"access policy", "object"},
    {"access tokens", "object"},
    {"access sessions", "{ sessions: [object] } | =Session/end"},
    {"trust export", "object"},
    {"bounds plan", "object"},
    {"bounds sign", "{ file: text, version: int, key: text }"},
    {"bounds show", "object"},
    {"bounds verify", "{ version: int, environment: text, expires_at: time?, signers: [text], digest: text }"},
    {"mesh init", "{ folder: text, name: text, files: [text] }"},
    {"mesh ca", "{ folder: text, files: [text] } | @faults"},
    {"mesh plan",
     "{ gains: [@mesh-access], loses: [@mesh-access], links_added: [@mesh-link], links_removed: [@mesh-link], "
     "changes: [{ node: text, vertex: text, parts: [text], restarts: bool }], nodes: [text] } | @faults"},
    {"mesh compile", "{ folder: text, drafts: [text] } | @faults"},
    {"mesh sign", "{ folder: text, signers: [text], files: [text], versions: { *: int }, waiting: [text] } | @faults"},
    {"mesh trace",
     "{ ways: [{ initiator: text, from: text, target: text, there: [@mesh-hop], back: [@mesh-hop], to: text, fault: "
     "text "
     "}], signed: bool } | @faults"},
    {"mesh bundle", "{ node: text, file: text, passphrase: text } | @faults"},
    {"mesh verify", "{ artifacts: [{ artifact: text, version: int, signed_by: [text], expires_at: time? }] }"},
    {"mesh join",
     "{ mgmt: text, ctrl: text, holds: bool, rules: [{ rule: int, demands: text, holds: bool, breaches: [text] }] }"},
    {"mesh schema", "object"},
    {"mesh publish", "{ mesh: text, changed: [text], held: [text], gone: [text] }"},
    {"mesh status", "&mesh"},
    {"mesh agent",
     "{ scope: text, node: text, version: int, folder: text } | { outcome: text, version: int, vertices: [text] } | "
     "{ scope: text, node: text, running: bool, version: int, set: text, confirm_within_ms?: int, trouble: text, "
     "checked_ms: int, rejected: [{ version: int, digest: text, reason: text }], vertices: [{ name: text, kind: text, "
     "state: text, pid: int, restarts: int, last: text }] } | { scope: text }"},

    {"schema", "object"},
    {"help",
     "@noun | @command | { topic: text, summary: text, text: text, rows: [object] } | { nouns: [@noun], "
     "commands: [@command], topics: [text], global_options: [@option] }"},
    {"completion", "text"},
});

template <size_t Size>
std::string shape_named(const std::array<NamedShape, Size>& shapes, std::string_view name) {
  const auto* found = std::ranges::find(shapes, name, &NamedShape::name);
  return found == shapes.end() ? std::string() : std::string(found->shape);
}

ShapeBook book_of_kit() {
  auto checked = std::make_shared<lang::Checked>(lang::check(lang::load_kit(
      std::string(deploy::kKitFolder), [](const std::string& path) { return deploy::read_kit_file(path); })));
  return {.shape = [](std::string_view name) { return shape_named(kShapes, name); },
          .answer = [checked](std::string_view action) -> json::value {
            const size_t slash = std::min(action.find('/'), action.size());
            if (!checked->kit || slash == action.size()) return nullptr;
            for (const lang::KitConcept& each : checked->kit->kit().concepts) {
              if (each.tree.name != action.substr(0, slash)) continue;
              const json::object schema = lang::generate_schema(each.tree);
              const json::value* fields =
                  schema.at("$defs").as_object().if_contains(std::string(action.substr(slash + 1)) + ".ok");
              return fields == nullptr ? json::value() : *fields;
            }
            return nullptr;
          },
          .view = [](std::string_view name) -> json::value {
            if (const host::AccessView* about = host::find_access_view(std::string(name))) return about->schema();
            auto view = host::find_view(std::string(name));
            return view ? (*view)->schema() : json::value();
          }};
}

Result<json::object> titled(Result<json::object> schema, const std::string& title) {
  if (!schema) return schema;
  json::object whole{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}};
  for (auto& each : *schema) {
    if (each.key() != "title") whole[each.key()] = std::move(each.value());
  }
  return whole;
}

}  // namespace

Result<json::object> output_schema(std::string_view command) {
  const std::string shape = shape_named(kCommands, command);
  if (shape.empty()) {
    return Error{.code = Code::not_found, .message = "there is no schema of 'sluice " + std::string(command) + "'"};
  }
  return titled(schema_of_shape(shape, book_of_kit()), "sluice " + std::string(command));
}

Result<json::object> environment_file_schema() {
  auto schema = titled(schema_of_shape("@environment-file", book_of_kit()), "sluice.environment.v1");
  return schema ? closed(*std::move(schema)) : schema;
}

}  // namespace sluice::cli
