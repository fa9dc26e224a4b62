// What manifests say of an environment, and which versions were promoted to it. Promotion itself is decided by
// promotion.sync: here it is kept.
#include <boost/json.hpp>

#include "base/json.h"
#include "deploy/concepts/env/env_work.h"
#include "deploy/views/resolved_manifest.h"

namespace sluice::deploy::env {
namespace {

// The variant of `Action` that says why a manifest cannot be resolved.
template <class Action>
typename Action::Result unresolved(const std::string& environment, const views::ResolvedManifest& told) {
  const EnvId id(environment);
  if (!told.not_there.empty()) return typename Action::NotFound{.environment = id, .message = told.not_there};
  if (!told.missing_base.empty()) return typename Action::MissingBase{.environment = id, .message = told.missing_base};
  if (!told.conflicts.empty()) {
    return typename Action::ConflictingOverrides{.environment = id, .conflicts = told.conflicts};
  }
  return typename Action::Invalid{.environment = id, .errors = told.faults};
}

}  // namespace

// -------------------------------------------------------------------------------------------------- resolve and diff

Resolve::Begun Env::begin_resolve(const Resolve& ask, State&) {
  return ResolveWork{.environment = ask.environment.text(),
                     .manifest = ask.manifest.value_or(""),
                     .file = ask.file.value_or(""),
                     .plan = ask.plan.value_or("")};
}

Resolve::Performed Env::perform_resolve(const ResolveWork& work, Effect& effect) {
  auto told = views::resolve_manifest(
      effect.read(),
      {.environment = work.environment, .manifest = work.manifest, .file = work.file, .plan = work.plan});
  if (!told.resolved) return unresolved<Resolve>(work.environment, told);
  return Resolve::Ok{.environment = EnvId(work.environment), .resolved = write(told.resolved->root)};
}

Resolve::Outcome Env::finish_resolve(const Resolve&, const Resolve::Outcome& outcome, State&) { return outcome; }

Diff::Begun Env::begin_diff(const Diff& ask, State&) {
  return DiffWork{
      .a = ask.envA.text(), .b = ask.envB.text(), .manifest = ask.manifest.value_or(""), .file = ask.file.value_or("")};
}

Diff::Performed Env::perform_diff(const DiffWork& work, Effect& effect) {
  auto of = [&](const std::string& environment) {
    return views::resolve_manifest(
        effect.read(), {.environment = environment, .manifest = work.manifest, .file = work.file, .plan = ""});
  };
  const views::ResolvedManifest a = of(work.a), b = of(work.b);
  if (!a.resolved) return unresolved<Diff>(work.a, a);
  if (!b.resolved) return unresolved<Diff>(work.b, b);
  return Diff::Ok{.differences = plan::differences(*a.resolved, work.a, *b.resolved, work.b)};
}

Diff::Outcome Env::finish_diff(const Diff&, const Diff::Outcome& outcome, State&) { return outcome; }

// ---------------------------------------------------------------------------------------------------------- promote

Promote::Begun Env::begin_promote(const Promote& ask, State& state) {
  for (const EnvId& each : {ask.fromEnv, ask.toEnv}) {
    if (state.has(each)) continue;
    return Promote::Result(Promote::NotFound{.environment = each, .message = "there is no environment " + each.text()});
  }
  if (ask.fromEnv != ask.toEnv) return lang::Opened{};
  return Promote::Result(Promote::VersionMismatch{.fromEnv = ask.fromEnv,
                                                  .toEnv = ask.toEnv,
                                                  .details = ask.toEnv.text() + " cannot be promoted to itself",
                                                  .reasons = {}});
}

Promote::Outcome Env::finish_promote(const Promote& ask, const Promote::Outcome& outcome, State& state) {
  if (const auto* end = get_if<lang::EngineEnd>(&outcome)) {
    return Promote::NotValidated{.fromEnv = ask.fromEnv, .suiteName = ask.suiteName, .message = end->message};
  }
  const auto* ok = get_if<Promote::Ok>(&outcome);
  if (ok == nullptr) return outcome;
  for (const auto& each : state.kit_versions(ask.toEnv)) {
    if (each.value.kit == ask.suiteName) state.kit_versions(ask.toEnv).erase(each.number);
  }
  state.kit_versions(ask.toEnv).push({.kit = ask.suiteName,
                                      .version = ok->version,
                                      .promotedFrom = ask.fromEnv.text(),
                                      .promotedBy = ask.caller.value_or(""),
                                      .promotedAt = state.now()});
  return outcome;
}

}  // namespace sluice::deploy::env
