// Deployment/serve and takeBack. A takeBack keeps in its row how far it has come, so that what a router or a runtime
// says twice counts once.
#include "base/basis_points.h"
#include "deploy/concepts/deployment/deployment_rows.h"

namespace sluice::deploy::deployment {
void give_routes_back(State& state, const DeploymentCRecord& change) {
  if (change.replicasBefore) {
    state.edit(DeploymentId(change.reached.deployment),
               [&](DeploymentRecord& record) { record.replicas = change.replicasBefore; });
  }
  if (!change.routesBefore) return;
  const DeploymentRoutesBefore& before = *change.routesBefore;
  state.edit(DeploymentId(change.reached.deployment), [&](DeploymentRecord& record) {
    record.route = {before.hosts, before.pathPrefixes, before.tenant, before.team};
    record.generation++;
  });
}

std::vector<DeploymentBeforeItem> before_of(const State& state, const DeploymentCFound& change) {
  std::vector<DeploymentBeforeItem> before;
  for (const DeploymentSplitBeforeItem& each : state.split_before(change.id).values()) {
    before.push_back({.revision = each.revision, .weightBps = each.weightBps});
  }
  return before;
}

std::optional<DeploymentRouteBefore> route_before_of(const DeploymentCRecord& change) {
  if (!change.routesBefore) return std::nullopt;
  const DeploymentRoutesBefore& before = *change.routesBefore;
  return DeploymentRouteBefore{before.hosts, before.pathPrefixes, before.tenant, before.team};
}

// ---------------------------------------------------------------------------------------------------------- serve

Serve::Begun Deployment::begin_serve(const Serve& ask, State& state) {
  auto record = state.get(ask.deployment);
  if (!record) return Serve::NotFound{.deployment = ask.deployment};
  enqueue(state, {.kind = DeploymentKind::serve,
                  .target = target_of(*record),
                  .ask = state.request(),
                  .wish = {.weightBps = kAllBasisPoints, .by = ask.by.value_or("")},
                  .offer = {.hosts = ask.hosts, .pathPrefixes = ask.pathPrefixes},
                  .reached = {.deployment = ask.deployment.text(), .revision = ask.revision},
                  .step = state.request()});
  return lang::Opened{};
}

Serve::Outcome Deployment::finish_serve(const Serve& ask, const Serve::Outcome& outcome, State& state) {
  auto found = change_of(state, state.request());
  if (!found) return outcome;
  Serve::Outcome told = outcome;
  if (ended_of(outcome) == Serve::Ended::ok) {
    Serve::Ok ok{.deployment = ask.deployment,
                 .revision = ask.revision,
                 .shifted = found->record.reached.shifted,
                 .before = before_of(state, *found),
                 .routeBefore = route_before_of(found->record)};
    if (ask.before && !ask.before->empty()) {
      ok.shifted = true;
      ok.before = *ask.before;
    }
    for (const DeploymentSplitItem& each : state.split(found->id).values()) {
      ok.entries.push_back({.revision = each.revision, .weightBps = each.weightBps});
    }
    told = ok;
  } else {
    if (!found->record.reached.shifted) give_routes_back(state, found->record);
    if (ended_of(outcome) == Serve::Ended::engine) told = Serve::Refused{.message = reason_of(outcome)};
  }
  dequeue(state, *found, "");
  return told;
}

ProveRoutes::Result Deployment::prove_routes(const ProveRoutes& ask, State& state) {
  auto record = state.get(ask.deployment);
  if (!record) return ProveRoutes::NotFound{.deployment = ask.deployment};
  auto refuse = [&](const std::string& message) {
    return ProveRoutes::Refused{.deployment = ask.deployment, .message = message};
  };
  if (record->status != DeploymentStatus::active) return refuse(ask.deployment.text() + " is not active");
  if (ask.pathPrefixes.empty()) return ProveRoutes::Ok{.deployment = ask.deployment};
  auto wanted = normal_binding({ask.hosts, ask.pathPrefixes, record->route.tenant, record->route.team});
  if (!wanted) return refuse(wanted.error().message);
  if (auto clash = clash_of(state, record->environment, *wanted, ask.deployment)) return refuse(clash->message);
  return ProveRoutes::Ok{.deployment = ask.deployment};
}

// ------------------------------------------------------------------------------------------------------- takeBack

TakeBack::Begun Deployment::begin_take_back(const TakeBack& ask, State& state) {
  auto record = ask.deployment ? state.get(*ask.deployment) : std::nullopt;
  if (!record) return TakeBack::Ok{};
  DeploymentCRecord change{.kind = DeploymentKind::takeBack,
                           .target = target_of(*record),
                           .ask = state.request(),
                           .reached = {.deployment = ask.deployment->text(),
                                       .made = ask.made.value_or(false),
                                       .revision = ask.revision.value_or(""),
                                       .fresh = ask.fresh.value_or(false),
                                       .shifted = ask.shifted.value_or(false)}};
  if (ask.change) change.inTurnOf = ask.change->text();
  if (ask.replicasBefore) {
    state.edit(*ask.deployment, [&](DeploymentRecord& there) { there.replicas = ask.replicasBefore; });
  }
  if (ask.routeBefore) {
    change.routesBefore = {ask.routeBefore->hosts, ask.routeBefore->pathPrefixes, ask.routeBefore->tenant,
                           ask.routeBefore->team};
  }
  const DeploymentCId id = enqueue(state, std::move(change));
  for (const auto& each : ask.before.value_or(std::vector<DeploymentBeforeItem>())) {
    state.split_before(id).push({.revision = each.revision, .weightBps = each.weightBps});
  }
  return lang::Opened{};
}

TakeBack::Outcome Deployment::finish_take_back(const TakeBack&, const TakeBack::Outcome& outcome, State& state) {
  if (auto found = change_of(state, state.request())) dequeue(state, *found, "");
  if (ended_of(outcome) != TakeBack::Ended::engine) return outcome;
  return TakeBack::Stuck{.message = reason_of(outcome)};
}

NextBack::Result Deployment::next_back(const NextBack& ask, State& state) {
  auto change = state.get(ask.change);
  // What has been done is one less than what comes next.
  if (!change || static_cast<int>(change->back) != static_cast<int>(ask.done))
    return NextBack::Again{.change = ask.change};
  const DeploymentId id(change->reached.deployment);
  const auto& reached = change->reached;
  for (;;) {
    const DeploymentBack now = change->back;
    if (now == DeploymentBack::end) return NextBack::Ok{.change = ask.change};
    change->back = static_cast<DeploymentBack>(static_cast<int>(now) + 1);
    state.put(ask.change, *change);
    if (now == DeploymentBack::split && (reached.shifted || change->routesBefore)) {
      give_routes_back(state, *change);
      NextBack::Split split{.deployment = id};
      for (const DeploymentSplitBeforeItem& each : state.split_before(ask.change).values()) {
        split.entries.push_back({.revision = each.revision, .weightBps = each.weightBps});
        if (each.weightBps > 0) split.revisions.push_back(each.revision);
      }
      if (split.entries.empty()) return NextBack::Nothing{.deployment = id};
      return split;
    }
    if (now == DeploymentBack::revision && reached.fresh) return NextBack::Revision{.revision = reached.revision};
    if (now == DeploymentBack::deployment && reached.made) return NextBack::Deployment{.deployment = id};
  }
}

}  // namespace sluice::deploy::deployment
