// Runtime keeps the registry. One thing at a time is done to an instance: the request that is doing it stands in its
// row, and whatever way that request ends, finish takes it out again.
#include <optional>

#include "runtime.gen.h"

namespace sluice::deploy::runtime {
namespace {

constexpr std::string_view kBusy = "something else is being done to it";
constexpr std::string_view kNone = "there is no such instance";
constexpr int64_t kWholeWeight = 10'000;  // basis points

// The row that a request has taken, to be given back.
std::optional<RuntimeFound> taken_by(const State& state, const std::string& concept_name) {
  for (const RuntimeFound& each : state.find_by_concept(concept_name)) {
    if (each.record.busy == state.request()) return each;
  }
  return std::nullopt;
}

// Takes the row for this request, or says why not.
std::optional<std::string> take(State& state, const RuntimeId& instance, RuntimeStatus status) {
  auto found = state.get(instance);
  if (!found) return std::string(kNone);
  if (found->busy) return std::string(kBusy);
  state.edit(instance, [&](RuntimeRecord& record) {
    record.busy = state.request();
    record.status = status;
  });
  return std::nullopt;
}

void give_back(State& state, const RuntimeId& instance) {
  state.edit(instance, [](RuntimeRecord& record) {
    record.busy.reset();
    record.status = record.version.empty() ? RuntimeStatus::provisioned : RuntimeStatus::running;
  });
}

// Notes the data that a runtime keeps under a name, once.
void note_storage(State& state, const std::string& storage, const std::string& type) {
  for (const auto& each : state.storages()) {
    if (each.value.storage == storage && each.value.runtimeType == type) return;
  }
  state.storages().push({.storage = storage, .runtimeType = type});
}

void forget_noted(State& state, const std::string& storage, const std::string& type) {
  for (const auto& each : state.storages()) {
    if (each.value.storage != storage || each.value.runtimeType != type) continue;
    state.storages().erase(each.number);
    return;
  }
}

template <class Outcome>
std::string reason_of(const Outcome& outcome) {
  const auto* end = get_if<lang::EngineEnd>(&outcome);
  return end ? end->message : "";
}

}  // namespace

Provision::Begun Runtime::begin_provision(const Provision& ask, State& state) {
  if (ask.concept_.empty()) {
    return Provision::ProvisionFailed{.runtimeType = ask.runtimeType, .reason = "expected the name of a component"};
  }
  for (const RuntimeFound& each : state.find_by_concept(ask.concept_)) {
    if (each.record.runtimeType != ask.runtimeType) continue;
    if (each.record.busy) {
      return Provision::ProvisionFailed{
          .concept_ = ask.concept_, .runtimeType = ask.runtimeType, .reason = std::string(kBusy)};
    }
    return Provision::AlreadyProvisioned{.instance = each.id, .endpoint = each.record.endpoint};
  }
  state.add({.concept_ = ask.concept_,
             .runtimeType = ask.runtimeType,
             .status = RuntimeStatus::provisioning,
             .busy = state.request()});
  return lang::Opened{};
}

Provision::Outcome Runtime::finish_provision(const Provision& ask, const Provision::Outcome& outcome, State& state) {
  auto taken = taken_by(state, ask.concept_);
  if (!taken) return outcome;
  if (ended_of(outcome) == Provision::Ended::ok) {
    auto ok = get<Provision::Ok>(outcome);
    ok.instance = taken->id;
    state.edit(taken->id, [&](RuntimeRecord& record) { record.endpoint = ok.endpoint; });
    if (!ok.storage.empty()) note_storage(state, ok.storage, ask.runtimeType);
    give_back(state, taken->id);
    return ok;
  }
  state.erase(taken->id);
  if (ended_of(outcome) != Provision::Ended::engine) return outcome;
  // Which types are loaded is for the routing syncs to know: one that none of them takes stays unanswered.
  const bool unanswered = get<lang::EngineEnd>(outcome).outcome == lang::EngineOutcome::unanswered;
  const std::string nobody = unanswered ? "nothing here has made it run as " + ask.runtimeType + ": " : "";
  return Provision::ProvisionFailed{
      .concept_ = ask.concept_, .runtimeType = ask.runtimeType, .reason = nobody + reason_of(outcome)};
}

Deploy::Begun Runtime::begin_deploy(const Deploy& ask, State& state) {
  if (auto refused = take(state, ask.instance, RuntimeStatus::deploying)) {
    return Deploy::DeployFailed{.instance = ask.instance, .reason = *refused};
  }
  // By this flows that began under an older set of syncs choose their route.
  state.edit(ask.instance, [&](RuntimeRecord& record) { record.entrusted = ask.secrets.has_value(); });
  return lang::Opened{};
}

Deploy::Outcome Runtime::finish_deploy(const Deploy& ask, const Deploy::Outcome& outcome, State& state) {
  auto found = state.get(ask.instance);
  if (!found || found->busy != state.request()) return outcome;
  if (ended_of(outcome) == Deploy::Ended::ok) {
    auto ok = get<Deploy::Ok>(outcome);
    ok.instance = ask.instance;
    // What has no hash, such as a folder that runs where it is, is known by its name.
    if (ok.artifactHash.empty()) ok.artifactHash = ask.artifact;
    state.edit(ask.instance, [&](RuntimeRecord& record) {
      record.endpoint = ok.endpoint;
      record.version = ask.version;
      record.artifactHash = ok.artifactHash;
      record.deployedAt = state.now();
    });
    state.history(ask.instance)
        .push({.version = ask.version, .artifactHash = ok.artifactHash, .deployedAt = state.now()});
    state.replicas(ask.instance).assign(ok.replicas);
    give_back(state, ask.instance);
    return ok;
  }
  give_back(state, ask.instance);
  if (ended_of(outcome) != Deploy::Ended::engine) return outcome;
  return Deploy::DeployFailed{.instance = ask.instance, .reason = reason_of(outcome)};
}

SetTrafficWeight::Begun Runtime::begin_set_traffic_weight(const SetTrafficWeight& ask, State& state) {
  if (ask.weight < 0 || ask.weight > kWholeWeight) {
    return SetTrafficWeight::Invalid{.message = "expected a weight from 0 to 10000, not " + std::to_string(ask.weight)};
  }
  if (!state.has(ask.instance)) {
    return SetTrafficWeight::NotRouted{.instance = ask.instance, .reason = std::string(kNone)};
  }
  return lang::Opened{};
}

SetTrafficWeight::Outcome Runtime::finish_set_traffic_weight(const SetTrafficWeight& ask,
                                                             const SetTrafficWeight::Outcome& outcome, State&) {
  const auto* end = get_if<lang::EngineEnd>(&outcome);
  if (end == nullptr || end->outcome == lang::EngineOutcome::cancelled) return outcome;
  return SetTrafficWeight::NotRouted{.instance = ask.instance, .reason = end->message};
}

Rollback::Begun Runtime::begin_rollback(const Rollback& ask, State& state) {
  if (state.has(ask.instance) && state.history(ask.instance).size() < 2) {
    return Rollback::NoHistory{.instance = ask.instance};
  }
  if (auto refused = take(state, ask.instance, RuntimeStatus::deploying)) {
    return Rollback::RollbackFailed{.instance = ask.instance, .reason = *refused};
  }
  return lang::Opened{};
}

Rollback::Outcome Runtime::finish_rollback(const Rollback& ask, const Rollback::Outcome& outcome, State& state) {
  auto found = state.get(ask.instance);
  if (!found || found->busy != state.request()) return outcome;
  if (ended_of(outcome) == Rollback::Ended::ok) {
    auto ok = get<Rollback::Ok>(outcome);
    ok.instance = ask.instance;
    auto past = state.history(ask.instance).values();
    past.pop_back();
    state.history(ask.instance).assign(past);
    state.edit(ask.instance, [&](RuntimeRecord& record) {
      record.endpoint = ok.endpoint;
      record.version = past.back().version;
      record.artifactHash = past.back().artifactHash;
      record.deployedAt = state.now();
    });
    ok.previousVersion = past.back().version;
    state.replicas(ask.instance).assign(ok.replicas);
    give_back(state, ask.instance);
    return ok;
  }
  give_back(state, ask.instance);
  if (ended_of(outcome) != Rollback::Ended::engine) return outcome;
  return Rollback::RollbackFailed{.instance = ask.instance, .reason = reason_of(outcome)};
}

Scale::Begun Runtime::begin_scale(const Scale& ask, State& state) {
  auto found = state.get(ask.instance);
  if (!found || found->version.empty()) return Scale::Notfound{.instance = ask.instance};
  if (auto refused = take(state, ask.instance, RuntimeStatus::deploying)) {
    return Scale::ScaleFailed{.instance = ask.instance, .reason = *refused};
  }
  return lang::Opened{};
}

Scale::Outcome Runtime::finish_scale(const Scale& ask, const Scale::Outcome& outcome, State& state) {
  auto found = state.get(ask.instance);
  if (!found || found->busy != state.request()) return outcome;
  give_back(state, ask.instance);
  if (ended_of(outcome) == Scale::Ended::ok) {
    const auto& ok = get<Scale::Ok>(outcome);
    state.edit(ask.instance, [&](RuntimeRecord& record) { record.endpoint = ok.endpoint; });
    state.replicas(ask.instance).assign(ok.replicas);
  }
  if (ended_of(outcome) != Scale::Ended::engine) return outcome;
  return Scale::ScaleFailed{.instance = ask.instance, .reason = reason_of(outcome)};
}

Size::Result Runtime::size(const Size& ask, State& state) {
  int64_t replicas = 0;
  for (const RuntimeFound& each : state.find_by_concept(ask.concept_)) {
    replicas += static_cast<int64_t>(state.replicas(each.id).values().size());
  }
  return Size::Ok{.concept_ = ask.concept_, .replicas = replicas};
}

Enter::Result Runtime::enter(const Enter& ask, State& state) {
  const auto found = state.get(ask.instance);
  for (const auto& each : state.replicas(ask.instance)) {
    if (found && each.value.name == ask.replica) return Enter::Ok{.instance = ask.instance, .replica = ask.replica};
  }
  const std::string whose = found ? found->concept_ : ask.instance.text();
  return Enter::Notfound{.instance = ask.instance, .message = whose + " has no replica " + ask.replica};
}

Destroy::Begun Runtime::begin_destroy(const Destroy& ask, State& state) {
  if (!state.has(ask.instance)) return Destroy::Ok{.instance = ask.instance};
  if (auto refused = take(state, ask.instance, RuntimeStatus::destroying)) {
    return Destroy::DestroyFailed{.instance = ask.instance, .reason = *refused};
  }
  return lang::Opened{};
}

Destroy::Outcome Runtime::finish_destroy(const Destroy& ask, const Destroy::Outcome& outcome, State& state) {
  auto found = state.get(ask.instance);
  if (!found || found->busy != state.request()) return outcome;
  if (ended_of(outcome) == Destroy::Ended::ok) {
    state.history(ask.instance).clear();
    state.replicas(ask.instance).clear();
    state.erase(ask.instance);
    return Destroy::Ok{.instance = ask.instance};
  }
  state.edit(ask.instance, [](RuntimeRecord& record) {
    record.busy.reset();
    record.status = RuntimeStatus::stuck;
  });
  if (ended_of(outcome) != Destroy::Ended::engine) return outcome;
  return Destroy::DestroyFailed{.instance = ask.instance, .reason = reason_of(outcome)};
}

HealthCheck::Begun Runtime::begin_health_check(const HealthCheck& ask, State& state) {
  auto found = state.get(ask.instance);
  if (!found || found->version.empty()) return HealthCheck::Unreachable{.instance = ask.instance};
  return lang::Opened{};
}

HealthCheck::Outcome Runtime::finish_health_check(const HealthCheck& ask, const HealthCheck::Outcome& outcome, State&) {
  switch (ended_of(outcome)) {
    case HealthCheck::Ended::ok: {
      auto ok = get<HealthCheck::Ok>(outcome);
      ok.instance = ask.instance;
      return ok;
    }
    case HealthCheck::Ended::degraded: {
      auto degraded = get<HealthCheck::Degraded>(outcome);
      degraded.instance = ask.instance;
      return degraded;
    }
    case HealthCheck::Ended::unreachable:
    case HealthCheck::Ended::engine:
      break;
  }
  return HealthCheck::Unreachable{.instance = ask.instance};
}

Renew::Begun Runtime::begin_renew(const Renew& ask, State& state) {
  auto found = state.get(ask.instance);
  if (found && found->version.empty()) {
    return Renew::RenewFailed{.instance = ask.instance, .reason = "nothing runs in it"};
  }
  if (auto refused = take(state, ask.instance, RuntimeStatus::deploying)) {
    return Renew::RenewFailed{.instance = ask.instance, .reason = *refused};
  }
  return lang::Opened{};
}

Renew::Outcome Runtime::finish_renew(const Renew& ask, const Renew::Outcome& outcome, State& state) {
  auto found = state.get(ask.instance);
  if (found && found->busy == state.request()) give_back(state, ask.instance);
  if (ended_of(outcome) != Renew::Ended::engine) return outcome;
  return Renew::RenewFailed{.instance = ask.instance, .reason = reason_of(outcome)};
}

Reload::Begun Runtime::begin_reload(const Reload& ask, State& state) {
  if (state.has(ask.instance)) return lang::Opened{};
  return Reload::ReloadFailed{.instance = ask.instance, .reason = "there is no instance " + ask.instance.text()};
}

Reload::Outcome Runtime::finish_reload(const Reload& ask, const Reload::Outcome& outcome, State&) {
  if (ended_of(outcome) != Reload::Ended::engine) return outcome;
  return Reload::ReloadFailed{.instance = ask.instance, .reason = reason_of(outcome)};
}

MakeStorage::Begun Runtime::begin_make_storage(const MakeStorage&, State&) { return lang::Opened{}; }

MakeStorage::Outcome Runtime::finish_make_storage(const MakeStorage& ask, const MakeStorage::Outcome& outcome,
                                                  State& state) {
  if (ended_of(outcome) == MakeStorage::Ended::engine) {
    return MakeStorage::Failed{.storage = ask.storage, .reason = reason_of(outcome)};
  }
  if (ended_of(outcome) == MakeStorage::Ended::ok) note_storage(state, ask.storage, ask.runtimeType);
  return outcome;
}

UnmakeStorage::Begun Runtime::begin_unmake_storage(const UnmakeStorage&, State&) { return lang::Opened{}; }

UnmakeStorage::Outcome Runtime::finish_unmake_storage(const UnmakeStorage& ask, const UnmakeStorage::Outcome& outcome,
                                                      State& state) {
  if (ended_of(outcome) == UnmakeStorage::Ended::engine) {
    return UnmakeStorage::Failed{.storage = ask.storage, .reason = reason_of(outcome)};
  }
  const auto* ok = get_if<UnmakeStorage::Ok>(&outcome);
  if (ok != nullptr && ok->empty) forget_noted(state, ask.storage, ask.runtimeType);
  return outcome;
}

ForgetStorage::Begun Runtime::begin_forget_storage(const ForgetStorage&, State&) { return lang::Opened{}; }

ForgetStorage::Outcome Runtime::finish_forget_storage(const ForgetStorage& ask, const ForgetStorage::Outcome& outcome,
                                                      State& state) {
  if (ended_of(outcome) == ForgetStorage::Ended::engine) {
    return ForgetStorage::Stuck{.storage = ask.storage, .reason = reason_of(outcome)};
  }
  if (ended_of(outcome) == ForgetStorage::Ended::ok) forget_noted(state, ask.storage, ask.runtimeType);
  return outcome;
}

Observed::Result Runtime::observed(const Observed& ask, State& state) {
  if (state.has(ask.instance)) {
    state.edit(ask.instance, [&](RuntimeRecord& record) { record.endpoint = ask.endpoint; });
    state.replicas(ask.instance).assign(ask.replicas);
  }
  return Observed::Ok{.instance = ask.instance, .endpoint = ask.endpoint};
}

Stored::Result Runtime::stored(const Stored& ask, State& state) {
  note_storage(state, ask.storage, ask.runtimeType);
  return Stored::Ok{.storage = ask.storage};
}

Moved::Result Runtime::moved(const Moved& ask, State& state) {
  if (state.has(ask.instance)) {
    state.edit(ask.instance, [&](RuntimeRecord& record) { record.endpoint = ask.endpoint; });
  }
  return Moved::Ok{.instance = ask.instance};
}

List::Result Runtime::list(const List&, const State& state) {
  List::Ok listed;
  for (const RuntimeFound& each : state.all()) {
    listed.instances.push_back({.instance = each.id,
                                .concept_ = each.record.concept_,
                                .runtimeType = each.record.runtimeType,
                                .endpoint = each.record.endpoint,
                                .version = each.record.version,
                                .status = each.record.status});
  }
  return listed;
}

Show::Result Runtime::show(const Show& ask, const State& state) {
  auto found = state.get(ask.instance);
  if (!found) return Show::Notfound{.instance = ask.instance};
  return Show::Ok{.instance = ask.instance,
                  .version = found->version,
                  .endpoint = found->endpoint,
                  .replicas = state.replicas(ask.instance).values(),
                  .history = state.history(ask.instance).values()};
}

}  // namespace sluice::deploy::runtime
