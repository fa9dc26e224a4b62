// DeployPlan keeps plans: what they change, their graph, and how far they have come. It runs nothing itself: its nodes
// are answered by syncs, and what a node's end leads to follows from the counts that are kept here.
#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "bundle/manifest/manifest.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"
#include "deploy/bundle_shelf.h"
#include "deploy/concepts/deploy_plan/deploy_plan_rows.h"
#include "deploy/concepts/deploy_plan/deploy_plan_work.h"
#include "deploy/plan_draft.h"
#include "deploy/telemetry_backends.h"
#include "deploy/views/plan_situation.h"

namespace sluice::deploy::deploy_plan {
namespace {

using Phase = DeployPlanCurrentPhase;

// dp-2026-02-20-001: short enough to be typed.
DeployPlanId next_id(State& state) {
  DeployPlanWhole whole = state.whole();
  const std::string day = utc_text(state.now().ms).substr(0, 10);
  if (whole.today.day != day) whole.today = {.day = day, .plans = 0};
  whole.today.plans++;
  state.put_whole(whole);
  std::string number = std::to_string(whole.today.plans);
  if (number.size() < 3) number.insert(0, 3 - number.size(), '0');
  return DeployPlanId("dp-" + day + "-" + number);
}

// How long plans take, by what each kind of node took before and by how long rollouts stay at their steps: the longest
// way through the waves.
int64_t estimate(const State& state, const plan::Graph& graph, const PlanDraft& draft) {
  std::set<std::string> rolled_out;
  for (const plan::Change& each : draft.changes) {
    if (each.sign == plan::ChangeSign::change) rolled_out.insert(each.component);
  }
  std::map<std::string, int64_t> usual_ms;
  for (const auto& each : state.history()) {
    if (each.value.count > 0) usual_ms[each.value.kind] = each.value.totalMs / each.value.count;
  }
  std::vector<int64_t> ends(graph.size());
  int64_t last = 0;
  for (uint32_t node = 0; node < graph.size(); ++node) {
    int64_t begins = 0;
    for (uint32_t each : graph.before_of(node)) begins = std::max(begins, ends[each]);
    auto usual = usual_ms.find(std::string(plan::name_of(graph.nodes[node].kind)));
    ends[node] = begins + (usual == usual_ms.end() ? 0 : usual->second);
    if (graph.nodes[node].kind == plan::NodeKind::traffic_split && rolled_out.contains(graph.target_of(node))) {
      ends[node] += draft.pauses_s * 1'000;
    }
    last = std::max(last, ends[node]);
  }
  return last;
}

void write_graph(State& state, const DeployPlanId& id, const plan::Graph& graph) {
  std::vector<DeployPlanBlock> blocks;  // assigned at once: to push each costs a look at all before it
  for (uint32_t node = 0; node < graph.size(); ++node) {
    DeployPlanNode kept{.kind = std::string(plan::name_of(graph.nodes[node].kind)),
                        .target = graph.target_of(node),
                        .wave = graph.nodes[node].wave,
                        .waits = graph.nodes[node].waits};
    for (uint32_t each : graph.after_of(node)) kept.after.push_back(each);
    for (uint32_t each : graph.before_of(node)) kept.before.push_back(each);
    if (node % kBlockNodes == 0) blocks.emplace_back();
    blocks.back().nodes.push_back(std::move(kept));
  }
  state.blocks(id).assign(blocks);
}

struct SchemaChange {
  std::vector<std::string> concepts;
  std::vector<int64_t> from, to;
  std::vector<std::string> backwards;
};

SchemaChange schema_change(const State& state, const DeployPlanId& plan) {
  SchemaChange change;
  for (const DeployPlanComponent& each : state.components(plan).values()) {
    if (each.specVersion == 0 || each.specBefore == 0 || each.specVersion == each.specBefore) continue;
    if (each.specVersion < each.specBefore) {
      change.backwards.push_back(each.component + ": from @version(" + std::to_string(each.specBefore) +
                                 ") back to @version(" + std::to_string(each.specVersion) + ")");
      continue;
    }
    change.concepts.push_back(each.component);
    change.from.push_back(each.specBefore);
    change.to.push_back(each.specVersion);
  }
  return change;
}

std::set<std::string> deployments_of(const State& state, const DeployPlanId& plan) {
  std::set<std::string> all;
  for (const DeployPlanComponent& each : state.components(plan).values()) {
    if (!each.deployment.empty()) all.insert(each.deployment);
  }
  return all;
}

bool share(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::ranges::any_of(a, [&](const std::string& each) { return b.contains(each); });
}

int64_t last_number(const State& state, const std::string& environment) {
  int64_t last = 0;
  for (const DeployPlanFound& each : state.find_by_environment(environment)) last = std::max(last, each.record.number);
  return last;
}

void forget(State& state, const DeployPlanId& id) {
  for (const DeployPlanNFound& each : state.find_by_of_plan(id)) {
    state.last_lines(each.id).clear();
    state.erase(each.id);
  }
  state.papers(id).clear();
  state.blocks(id).clear();
  state.backlog(id).clear();
  state.seen(id).clear();
  state.registers(id).clear();
  state.components(id).clear();
  state.erase(id);
}

// Of the environment's plans of this sort, the newest so many stay.
template <class IsOfIt>
void forget_all_but(State& state, const std::string& environment, size_t kept, const IsOfIt& is_of_it) {
  std::vector<std::pair<lang::DateTime, DeployPlanId>> all;
  for (const DeployPlanFound& each : state.find_by_environment(environment)) {
    if (is_of_it(each.record)) all.emplace_back(each.record.createdAt, each.id);
  }
  if (all.size() <= kept) return;
  std::ranges::sort(all, {}, [](const auto& each) { return std::pair(each.first.ms, each.second.text()); });
  for (size_t i = 0; i + kept < all.size(); ++i) forget(state, all[i].second);
}

constexpr size_t kKeptUps = 100;
constexpr size_t kKeptUnexecuted = 20;  // looking at what would change leaves plans that nobody asks for again

}  // namespace

// ----------------------------------------------------------------------------------------------------------- plan

Plan::Begun DeployPlan::begin_plan(const Plan& ask, State& state) {
  PlanWork work{.manifest = ask.manifest,
                .environment = ask.environment,
                .file = ask.file.value_or(std::string(plan::kAppManifestName)),
                .bundles = ask.bundles.value_or(std::vector<DeployPlanBundle>()),
                .kits = ask.kits.value_or(std::vector<DeployPlanKit>()),
                .variables = ask.variables.value_or(std::vector<DeployPlanVariable>()),
                .only = ask.only.value_or(std::vector<std::string>()),
                .kit = ask.kit.value_or(""),
                .destroy = ask.destroy.value_or("")};
  if (!ask.from) return work;
  auto source = source_of(state, *ask.from);
  if (!source) {
    return Plan::Result(Plan::InvalidManifest{.errors = {"the manifest of " + ask.from->text() + " is not kept"}});
  }
  work.manifest = source->manifest;
  work.file = source->file;
  for (const auto& [name, value] : source->variables) work.variables.push_back({name, value});
  work.kits.clear();
  for (const auto& [name, files] : source->kits) work.kits.push_back({name, files});
  for (const DeployPlanComponent& each : state.components(*ask.from).values()) {
    if (each.leaving) continue;
    DeployPlanBundle bundle{.component = each.component, .archive = each.archive, .signature = each.signature};
    if (each.specVersion > 0) bundle.specVersion = each.specVersion;
    work.bundles.push_back(std::move(bundle));
  }
  return work;
}

Plan::Performed DeployPlan::perform_plan(const PlanWork& work, Effect& effect) {
  views::PlanOrder order{.manifest = work.manifest,
                         .environment = work.environment,
                         .file = work.file,
                         .only = work.only,
                         .kit = work.kit,
                         .destroy = work.destroy};
  for (const DeployPlanBundle& each : work.bundles) {
    order.bundles.push_back({each.component, each.archive, each.signature, each.specVersion});
  }
  for (const DeployPlanKit& each : work.kits) order.kits[each.name] = each.files;
  for (const DeployPlanVariable& each : work.variables) order.variables[each.name] = each.value;
  views::DraftedPlan drafted = views::draft_plan(effect.read(), effect.tool<BundleShelf>(), order);
  if (!drafted.no_environment.empty()) {
    return Plan::NotFound{.environment = work.environment, .message = drafted.no_environment};
  }
  if (!drafted.faults.empty()) return Plan::InvalidManifest{.errors = std::move(drafted.faults)};
  if (!drafted.missing.empty()) return Plan::IncompleteGraph{.missing = std::move(drafted.missing)};
  if (!drafted.cycle.empty()) return Plan::CircularDependency{.cycle = std::move(drafted.cycle)};
  if (!drafted.mismatches.empty()) return Plan::TransportMismatch{.details = std::move(drafted.mismatches)};
  return Plan::Ok{.graph = write(to_json(*drafted.draft))};
}

Plan::Outcome DeployPlan::finish_plan(const Plan& ask, const Plan::Outcome& outcome, State& state) {
  const auto* ok = get_if<Plan::Ok>(&outcome);
  if (ok == nullptr) return outcome;
  const PlanDraft draft = read<PlanDraft>(parse_json(ok->graph, "draft").value().root).value();
  for (const plan::Observed& each : draft.observed) {
    const std::string fault = fault_of_key(each.key, ask.caller);
    if (!fault.empty()) return Plan::InvalidManifest{.errors = {"observability: " + each.provider + ": " + fault}};
  }
  const plan::Graph graph = plan::read_graph(draft.graph).value();
  const DeployPlanId id = next_id(state);
  DeployPlanRecord record{.suiteName = draft.app,
                          .kitVersion = draft.version,
                          .environment = ask.environment,
                          .createdAt = state.now(),
                          .createdBy = ask.caller.value_or(""),
                          .strategy = draft.strategy,
                          .manifestDigest = "sha256:" + crypto::to_hex(crypto::sha256(draft.source.manifest)),
                          .estimatedMs = estimate(state, graph, draft),
                          .summary = {.nodes = static_cast<int64_t>(graph.size()),
                                      .edges = static_cast<int64_t>(graph.edges()),
                                      .waves = static_cast<int64_t>(graph.waves())},
                          .onFailure = static_cast<DeployPlanOnFailure>(draft.onFailure),        // the same list
                          .concurrency = static_cast<DeployPlanConcurrency>(draft.concurrency),  // likewise
                          .observed = write(to_json(draft.observed)),
                          .delivery = {.steps = draft.steps,
                                       .criteria = draft.criteria,
                                       .autoRollback = draft.autoRollback,
                                       .after = draft.after,
                                       .batch = draft.batch,
                                       .batchPause = draft.batchPause},
                          .currentPhase = Phase::planned};
  for (const plan::Change& each : draft.changes) {
    int64_t* counts[] = {&record.summary.create, &record.summary.change, &record.summary.remove, &record.summary.keep};
    ++*counts[static_cast<size_t>(each.sign)];
  }
  for (const plan::Graph::Node& each : graph.nodes) record.roots += each.waits == 0 ? 1 : 0;
  state.put(id, record);
  if (!draft.source.manifest.empty()) {
    state.papers(id).push({.name = std::string(kSourcePaper), .text = write(to_json(draft.source))});
  }
  state.papers(id).push({.name = "changes", .text = write(to_json(draft.changes))});
  state.papers(id).push({.name = "warnings", .text = write(to_json(draft.warnings))});
  write_graph(state, id, graph);
  std::vector<DeployPlanSeenItem> seen_items;
  for (const DraftSeen& each : draft.seen) {
    DeployPlanSeenItem seen{.what = DeployPlanWhat::environment, .key = each.key, .generation = each.generation};
    if (each.what == "deployment") seen.what = DeployPlanWhat::deployment;
    if (each.what == "traffic") seen.what = DeployPlanWhat::traffic;
    if (each.what == "rule") seen.what = DeployPlanWhat::rule;
    if (each.what == "absence") seen.what = DeployPlanWhat::absence;
    seen.customer = each.customer;
    seen_items.push_back(std::move(seen));
  }
  state.seen(id).assign(seen_items);
  for (const DraftRule& each : draft.rules) {
    state.registers(id).push({each.target, each.kit, each.rule, each.digest, each.spec});
  }
  std::vector<DeployPlanComponent> components;
  for (const DraftComponent& each : draft.components) {
    components.push_back(read<DeployPlanComponent>(to_json(each)).value());
  }
  state.components(id).assign(components);
  forget_all_but(state, ask.environment, kKeptUnexecuted, [](const DeployPlanRecord& each) {
    return each.currentPhase == Phase::planned || each.currentPhase == Phase::invalid;
  });
  json::object told = draft.graph.as_object();
  told["changes"] = to_json(draft.changes);
  return Plan::Ok{.plan = id, .graph = write(told), .estimatedDuration = record.estimatedMs};
}

// ------------------------------------------------------------------------------------------------------- validate

Validate::Result DeployPlan::validate(const Validate& ask, State& state) {
  auto record = state.get(ask.plan);
  if (!record) return Validate::Notfound{.plan = ask.plan};
  const SchemaChange change = schema_change(state, ask.plan);
  if (!change.backwards.empty()) return Validate::SchemaIncompatible{.details = change.backwards};
  if (!change.concepts.empty()) {
    return Validate::MigrationRequired{
        .plan = ask.plan, .concepts = change.concepts, .fromVersions = change.from, .toVersions = change.to};
  }
  Validate::Ok ok{.plan = ask.plan};
  for (const DeployPlanPaper& each : state.papers(ask.plan).values()) {
    if (each.name != "warnings") continue;
    ok.warnings = read<std::vector<std::string>>(parse_json(each.text, "warnings").value().root).value();
  }
  return ok;
}

Withhold::Result DeployPlan::withhold(const Withhold& ask, State& state) {
  state.edit(ask.plan, [](DeployPlanRecord& record) {
    if (record.currentPhase == Phase::planned) record.currentPhase = Phase::invalid;
  });
  return Withhold::Ok{.plan = ask.plan};
}

// -------------------------------------------------------------------------------------------------------- execute

Execute::Begun DeployPlan::begin_execute(const Execute& ask, State& state) {
  auto record = state.get(ask.plan);
  if (!record) return Execute::Notfound{.plan = ask.plan};
  if (record->currentPhase == Phase::queued || is_active(*record)) {
    return Execute::AlreadyExecuting{.plan = ask.plan, .message = ask.plan.text() + " is being executed"};
  }
  auto refuse = [&](const std::string& message) {
    return Execute::NotExecutable{.plan = ask.plan, .message = message};
  };
  const SchemaChange change = schema_change(state, ask.plan);
  if (!change.backwards.empty()) return refuse("the schema goes back: " + change.backwards.front());
  if (!change.concepts.empty()) {
    return refuse("the schema of " + change.concepts.front() + " changes, and its bundle brings no migrations");
  }
  if (record->currentPhase != Phase::planned) return refuse(ask.plan.text() + " has been executed; plan again");
  if (ask.parallel && (*ask.parallel < 1 || *ask.parallel > kMostParallel))
    return refuse("from 1 to 1000 nodes run at once");
  for (const DeployPlanFound& each : state.find_by_environment(record->environment)) {
    const bool open = each.record.currentPhase == Phase::queued || holds_environment(each.record);
    if (record->concurrency != DeployPlanConcurrency::supersede || !open) continue;
    state.edit(each.id, [&](DeployPlanRecord& other) {
      other.cancelling = true;
      other.due = other.turn.has_value();
      other.reason = other.reason.empty() ? ask.plan.text() + " has taken its place" : other.reason;
    });
  }
  record->number = last_number(state, record->environment) + 1;
  record->currentPhase = Phase::queued;
  record->asked = state.request();
  record->parallel = ask.parallel.value_or(kParallel);
  if (ask.skipRollout.value_or(false)) record->strategy = "immediate";
  state.put(ask.plan, *record);
  return lang::Opened{};
}

Execute::Outcome DeployPlan::finish_execute(const Execute& ask, const Execute::Outcome& outcome, State& state) {
  auto record = state.get(ask.plan);
  if (!record) return outcome;
  record->asked.reset();
  const int64_t began_ms = record->startedAt.value_or(state.now()).ms;
  Execute::Outcome told = outcome;
  bool ended = true;
  switch (ended_of(outcome)) {
    case Execute::Ended::ok:
      record->currentPhase = Phase::complete;
      told = Execute::Ok{.plan = ask.plan, .duration = state.now().ms - began_ms, .nodesDeployed = record->done};
      break;
    case Execute::Ended::rollbackTriggered:
      record->currentPhase = record->cancelling ? Phase::cancelled : Phase::rolledBack;
      told = Execute::RollbackTriggered{.plan = ask.plan,
                                        .reason = record->reason,
                                        .rolledBack = nodes_that(state, ask.plan, {DeployPlanStatus::undone})};
      break;
    case Execute::Ended::rollbackFailed:
      record->currentPhase = Phase::stuck;
      told = Execute::RollbackFailed{
          .plan = ask.plan, .reason = record->reason, .stuck = nodes_that(state, ask.plan, {DeployPlanStatus::stuck})};
      break;
    case Execute::Ended::stale:
    case Execute::Ended::cancelled:
      record->currentPhase = record->cancelling ? Phase::cancelled : Phase::planned;
      ended = record->cancelling;
      break;
    default:
      if (record->reason.empty()) record->reason = reason_of(outcome);
      record->currentPhase = Phase::partial;
      told =
          Execute::Partial{.plan = ask.plan,
                           .deployed = nodes_that(state, ask.plan, {DeployPlanStatus::done}),
                           .failed = nodes_that(state, ask.plan, {DeployPlanStatus::failed, DeployPlanStatus::unknown}),
                           .reason = record->reason};
      break;
  }
  if (ended) record->endedAt = state.now();
  record->turn.reset();
  record->due = false;
  state.put(ask.plan, *record);
  release(state, record->environment);
  return told;
}

// ------------------------------------------------------------------------------------------------ rollback, cancel

Rollback::Begun DeployPlan::begin_rollback(const Rollback& ask, State& state) {
  auto record = state.get(ask.plan);
  if (!record) return Rollback::Notfound{.plan = ask.plan};
  auto refuse = [&](const std::string& message) { return Rollback::NotExecuted{.plan = ask.plan, .message = message}; };
  const bool broken = record->currentPhase == Phase::broken;
  if (!broken && record->currentPhase != Phase::complete && record->currentPhase != Phase::partial &&
      record->currentPhase != Phase::stuck) {
    return refuse(ask.plan.text() + " has nothing to undo");
  }
  if (!broken) {
    if (record->renewed.value_or(false)) {
      return refuse("what " + ask.plan.text() +
                    " brought was removed and brought back since; deploy an earlier version");
    }
    const std::set<std::string> own = deployments_of(state, ask.plan);
    for (const DeployPlanFound& each : state.find_by_environment(record->environment)) {
      if (each.id == ask.plan) continue;
      // An up keeps to its own deployment.
      if (is_active(each.record) && (!is_of_up(each.record) || share(own, deployments_of(state, each.id)))) {
        return refuse(each.id.text() + " is being executed in " + record->environment);
      }
      // Without nodes there is nothing of it to undo.
      if (each.record.roots == 0 || each.record.number <= record->number) continue;
      const Phase phase = each.record.currentPhase;
      if (phase != Phase::complete && phase != Phase::partial && phase != Phase::stuck) continue;
      const bool same_app = each.record.suiteName == record->suiteName && !is_of_up(each.record) && !is_of_up(*record);
      if (same_app || share(own, deployments_of(state, each.id))) {
        return refuse(each.id.text() + (is_of_up(each.record) ? ", an up of " + each.record.suiteName + "," : "") +
                      " was executed after it; roll that one back first");
      }
    }
    record->startedAt = state.now();
  }
  record->currentPhase = Phase::undoing;
  record->running = 0;
  if (record->parallel == 0) record->parallel = kParallel;
  state.put(ask.plan, *record);
  state.backlog(ask.plan).clear();
  return lang::Opened{};
}

Rollback::Outcome DeployPlan::finish_rollback(const Rollback& ask, const Rollback::Outcome& outcome, State& state) {
  auto record = state.get(ask.plan);
  if (!record) return outcome;
  auto undone = nodes_that(state, ask.plan, {DeployPlanStatus::undone});
  const bool ok = ended_of(outcome) == Rollback::Ended::ok;
  record->currentPhase = ok ? Phase::rolledBack : Phase::stuck;
  record->endedAt = state.now();
  state.put(ask.plan, *record);
  if (!record->asked) release(state, record->environment);
  if (ok) return Rollback::Ok{.plan = ask.plan, .rolledBack = std::move(undone)};
  std::string reason = reason_of(outcome);
  for (const DeployPlanNFound& each : state.find_by_of_plan(ask.plan)) {
    if (each.record.status == DeployPlanStatus::stuck && reason.empty()) reason = each.record.trouble;
  }
  return Rollback::Partial{.plan = ask.plan,
                           .rolledBack = std::move(undone),
                           .stuck = nodes_that(state, ask.plan, {DeployPlanStatus::stuck}),
                           .reason = reason};
}

Cancel::Result DeployPlan::cancel(const Cancel& ask, State& state) {
  auto record = state.get(ask.plan);
  if (!record) return Cancel::Notfound{.plan = ask.plan};
  const std::string phase = std::string(boost::describe::enum_to_string(record->currentPhase, ""));
  switch (record->currentPhase) {
    case Phase::planned:
      record->currentPhase = Phase::cancelled;
      record->endedAt = state.now();
      break;
    case Phase::queued:
    case Phase::running:
      record->cancelling = true;
      record->due = record->turn.has_value();
      if (ask.keep.value_or(false)) record->onFailure = DeployPlanOnFailure::stop;
      if (record->reason.empty()) record->reason = "it was cancelled";
      break;
    default:
      return Cancel::Over{.plan = ask.plan, .phase = phase, .message = ask.plan.text() + " has ended: " + phase};
  }
  state.put(ask.plan, *record);
  return Cancel::Ok{.plan = ask.plan, .phase = phase};
}

Status::Result DeployPlan::status(const Status& ask, const State& state) {
  auto record = state.get(ask.plan);
  if (!record) return Status::Notfound{.plan = ask.plan};
  const double share =
      record->summary.nodes == 0 ? 1 : static_cast<double>(record->done) / static_cast<double>(record->summary.nodes);
  return Status::Ok{.plan = ask.plan,
                    .phase = std::string(boost::describe::enum_to_string(record->currentPhase, "")),
                    .progress = share,
                    .activeNodes = nodes_that(state, ask.plan, {DeployPlanStatus::running, DeployPlanStatus::undoing})};
}

// ------------------------------------------------------------------------------------------------------------- an up

Raise::Begun DeployPlan::begin_raise(const Raise& ask, State& state) {
  const DeployPlanId id = next_id(state);
  const auto manifest = bundle::parse_manifest(ask.manifest);
  const std::string version = manifest ? manifest->version.text : "";
  plan::GraphMaker maker;
  const uint32_t deploy = maker.add(plan::NodeKind::deploy_concept, ask.bundle);
  const uint32_t transport = maker.add(plan::NodeKind::configure_transport, ask.bundle);
  const uint32_t split = maker.add(plan::NodeKind::traffic_split, ask.bundle);
  maker.edge(deploy, transport);
  maker.edge(transport, split);
  const plan::Graph graph = *std::move(maker).finish().graph;
  const bool made = !ask.deployment;
  const plan::Change change{.sign = made ? plan::ChangeSign::create : plan::ChangeSign::change,
                            .component = ask.bundle,
                            .fields = {{"version", "", version}}};
  state.put(id, {.suiteName = ask.bundle,
                 .kitVersion = version,
                 .environment = ask.environment,
                 .createdAt = state.now(),
                 .createdBy = ask.by,
                 .strategy = "immediate",
                 .summary = {.create = made ? 1 : 0,
                             .change = made ? 0 : 1,
                             .nodes = static_cast<int64_t>(graph.size()),
                             .edges = static_cast<int64_t>(graph.edges()),
                             .waves = static_cast<int64_t>(graph.waves())},
                 .currentPhase = Phase::running,
                 .number = last_number(state, ask.environment) + 1,
                 .origin = std::string(kOriginUp),
                 .change = ask.change,
                 .asked = state.request(),
                 .parallel = 1,
                 .roots = 1});
  state.papers(id).push({.name = "changes", .text = write(to_json(std::vector<plan::Change>{change}))});
  write_graph(state, id, graph);
  state.components(id).push({.component = ask.bundle,
                             .archive = ask.archive,
                             .signature = ask.signature.value_or(""),
                             .customer = ask.customer,
                             .settings = "{}",
                             .runtimeRefs = "{}",
                             .deployment = ask.deployment.value_or(""),
                             .version = version});
  return lang::Opened{};
}

Raise::Outcome DeployPlan::finish_raise(const Raise& ask, const Raise::Outcome& outcome, State& state) {
  for (DeployPlanFound& each : state.find_by_environment(ask.environment)) {
    if (each.record.change != ask.change) continue;
    const bool ok = ended_of(outcome) == Raise::Ended::ok;
    if (ok && !each.record.changed.value_or(true)) {
      forget(state, each.id);
      return Raise::Ok{.plan = each.id};
    }
    const std::string why = each.record.reason.empty() ? reason_of(outcome) : each.record.reason;
    if (ok) {
      each.record.currentPhase = Phase::complete;
    } else {
      if (each.record.currentPhase == Phase::stopped) each.record.currentPhase = Phase::partial;
      // A call that was taken back has no plan that could be undone.
      if (is_active(each.record) || each.record.cancelling) each.record.currentPhase = Phase::cancelled;
      each.record.reason = why;
    }
    each.record.asked.reset();
    each.record.change.reset();
    each.record.endedAt = state.now();
    state.put(each.id, each.record);
    forget_all_but(state, ask.environment, kKeptUps,
                   [](const DeployPlanRecord& plan) { return is_of_up(plan) && !is_active(plan); });
    if (ok) return Raise::Ok{.plan = each.id};
    return Raise::Failed{.plan = each.id, .reason = why};
  }
  return outcome;
}

// ------------------------------------------------------------------------------------------------------- the turn

AwaitTurn::Begun DeployPlan::begin_await_turn(const AwaitTurn& ask, State& state) {
  auto record = state.get(ask.plan);
  if (!record || record->cancelling) return AwaitTurn::Cancelled{.plan = ask.plan};
  record->turn = state.request();
  state.put(ask.plan, *record);
  release(state, record->environment);
  record = state.get(ask.plan);
  if (!record->due) return lang::Opened{};
  record->turn.reset();
  record->due = false;
  state.put(ask.plan, *record);
  return AwaitTurn::Ok{.plan = ask.plan};
}

AwaitTurn::Outcome DeployPlan::finish_await_turn(const AwaitTurn& ask, const AwaitTurn::Outcome& outcome,
                                                 State& state) {
  auto record = state.get(ask.plan);
  if (!record) return outcome;
  record->turn.reset();
  record->due = false;
  const bool gone = record->cancelling && ended_of(outcome) == AwaitTurn::Ended::ok;
  state.put(ask.plan, *record);
  if (gone) return AwaitTurn::Cancelled{.plan = ask.plan};
  return outcome;
}

bool holds_environment(const DeployPlanRecord& plan) { return is_active(plan) && !is_of_up(plan); }

bool is_active(const DeployPlanRecord& plan) {
  return plan.currentPhase == Phase::running || plan.currentPhase == Phase::broken ||
         plan.currentPhase == Phase::undoing;
}

void release(State& state, const std::string& environment) {
  std::optional<DeployPlanFound> next;
  for (DeployPlanFound& each : state.find_by_environment(environment)) {
    if (holds_environment(each.record)) return;
    if (each.record.currentPhase != Phase::queued || !each.record.turn || each.record.cancelling) continue;
    if (!next || each.record.number < next->record.number) next = std::move(each);
  }
  if (!next) return;
  next->record.due = true;
  next->record.currentPhase = Phase::running;
  state.put(next->id, next->record);
}

}  // namespace sluice::deploy::deploy_plan
