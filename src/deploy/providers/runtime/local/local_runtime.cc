// LocalRuntime remembers which replicas belong to which instance; LocalHost runs them. Names of replicas are chosen in
// begin and journaled, so an effect that is performed again after a crash finds what it has started.
#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

#include "base/json.h"
#include "base/json_reader.h"
#include "deploy/packs.h"
#include "deploy/providers/runtime/local/local_given.h"
#include "deploy/providers/runtime/local/local_host.h"
#include "deploy/providers/runtime/local/local_runtime_work.h"
#include "deploy/providers/runtime/local/local_settings.h"
#include "deploy/views/container_engine.h"
#include "deploy/views/living_revisions.h"
#include "deploy/views/revision_statement.h"
#include "deploy/views/telemetry.h"
#include "process/port.h"

namespace sluice::deploy::local_runtime {

namespace {

constexpr int64_t kSlow_us = 500'000;
constexpr size_t kMostFormer = 10;
// Later than any deadline: no attempt of this process would help, so the engine ends the action at once.
constexpr int64_t kNotByThisProcess_ms = std::numeric_limits<int64_t>::max() / 4;

std::optional<LocalRuntimeFound> service_of(const State& state, const std::string& instance) {
  auto found = state.find_by_instance(instance);
  if (found.empty()) return std::nullopt;
  return found.front();
}

std::vector<std::string> names_of(const State& state, const LocalRuntimeId& service) {
  std::vector<std::string> names;
  for (const auto& each : state.programs(service).values()) names.push_back(each.name);
  return names;
}

// One thing at a time is done to a service: the effect that does it stands in its row until its finish takes it out. A
// repair makes way: it finds its work taken over, and leaves it.
bool take(State& state, const LocalRuntimeFound& service, bool repairs = false) {
  if (service.record.busy && (repairs || !service.record.repairing)) return false;
  state.edit(service.id, [&](LocalRuntimeRecord& record) {
    record.busy = state.request();
    record.repairing = repairs;
  });
  return true;
}

// The service, given back by the effect that had taken it.
std::optional<LocalRuntimeFound> given_back(State& state, std::optional<LocalRuntimeFound> service) {
  if (service && service->record.busy == state.request()) {
    state.edit(service->id, [](LocalRuntimeRecord& record) { record.busy.reset(); });
    service->record.busy.reset();
  }
  return service;
}

// An end that only the engine could give, after which nobody knows how far it came.
template <class Outcome>
const lang::EngineEnd* given_up(const Outcome& outcome) {
  const auto* end = get_if<lang::EngineEnd>(&outcome);
  return end != nullptr && end->maybe_done ? end : nullptr;
}

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

// The number of a name among the storages; -1 if it is none.
int64_t storage_number(const State& state, const std::string& name) {
  for (const auto& each : state.storages()) {
    if (each.value == name) return each.number;
  }
  return -1;
}

// Whether a folder may have this name.
bool is_plain(const std::string& name) { return read<bundle::Name>(json::value(name)).has_value(); }

// The machine that a storage is on, if that is known.
std::optional<std::string> machine_of_storage(const State& state, const std::string& name) {
  for (const auto& each : state.storage_machines()) {
    if (each.value.storage == name) return each.value.machine;
  }
  return std::nullopt;
}

void keep_storage(State& state, const std::string& name, const std::optional<std::string>& machine) {
  if (storage_number(state, name) < 0) state.storages().push(name);
  if (machine && !machine_of_storage(state, name))
    state.storage_machines().push({.storage = name, .machine = *machine});
}

void drop_storage(State& state, const std::string& name) {
  if (const int64_t number = storage_number(state, name); number >= 0) state.storages().erase(number);
  for (const auto& each : state.storage_machines()) {
    if (each.value.storage != name) continue;
    state.storage_machines().erase(each.number);
    return;
  }
}

std::string storage_of(const LocalRuntimeFound& service) {
  return service.record.storage.empty() ? service.id.text() : service.record.storage;
}

std::string deployment_name(const LocalRuntimeId& service, int64_t serial) {
  return service.text() + "." + std::to_string(serial);
}

// The deployment that a replica is of, "01J….2" of "01J….2.0", and its number.
std::string deployment_of(const std::string& replica) { return replica.substr(0, replica.rfind('.')); }
int64_t serial_of(const std::string& deployment) {
  int64_t serial = 0;
  const size_t behind_dot = deployment.rfind('.') + 1;  // without one it is the beginning
  std::from_chars(deployment.data() + behind_dot, deployment.data() + deployment.size(), serial);
  return serial;
}

// Deployments take turns in the two halves of the ports.
std::optional<int64_t> first_port(const LocalRuntimeRecord& record, int64_t serial) {
  if (!record.port) return std::nullopt;
  return *record.port + (serial % 2) * record.ports;
}

// Counts the deployment, so that its name is its own, and says what is to be done.
DeployWork open_deployment(State& state, const LocalRuntimeFound& service, const std::string& artifact,
                           const std::string& hash = "") {
  auto before = names_of(state, service.id);
  int64_t serial = service.record.serial + 1;
  // After one that failed it would be the turn of the half that is in use.
  if (!before.empty() && (serial - serial_of(deployment_of(before.front()))) % 2 == 0) serial++;
  state.edit(service.id, [&](LocalRuntimeRecord& record) { record.serial = serial; });
  return {.artifact = artifact,
          .hash = hash,
          .service = service.id.text(),
          .name = deployment_name(service.id, serial),
          .replicas = service.record.replicas,
          .port = first_port(service.record, serial),
          .config = service.record.config,
          .storage = storage_of(service),
          .variables = service.record.variables,
          .health = service.record.health,
          .secrets = service.record.secrets};
}

// What runs, as it is to go on.
DeployWork work_on_running(const State& state, const LocalRuntimeFound& service) {
  auto names = names_of(state, service.id);
  const std::string deployment = names.empty() ? "" : deployment_of(names.front());
  const auto count = static_cast<int64_t>(names.size());
  return {.artifact = service.record.artifact,
          .hash = service.record.artifactHash,
          .service = service.id.text(),
          .name = deployment,
          .replicas = count,
          .port = first_port(service.record, serial_of(deployment)),
          .kept = count,
          .config = service.record.config,
          .storage = storage_of(service),
          .variables = service.record.variables,
          .health = service.record.health,
          .secrets = service.record.secrets,
          .names = std::move(names)};
}

// The number of a replica in its deployment: 1 of "01J….2.1".
int64_t number_of(const std::string& replica) { return serial_of(replica); }

std::vector<LocalRuntimeProgram> programs_of(const std::vector<Placed>& placed) {
  std::vector<LocalRuntimeProgram> programs;
  for (const Placed& each : placed) {
    programs.push_back({.name = each.name, .endpoint = each.endpoint, .pid = each.pid, .log = each.log});
  }
  return programs;
}

// Keeps what runs, and says where it is, which is all that Runtime needs to know of it.
template <class Ok>
void keep_programs(State& state, const LocalRuntimeId& service, Ok& ok) {
  state.programs(service).assign(ok.programs);
  for (const LocalRuntimeProgram& each : ok.programs) {
    ok.replicas.push_back({.name = each.name, .endpoint = each.endpoint});
  }
}

// What is told where another replica of the control plane would have to do the work, if that is so.
std::optional<lang::Again> elsewhere(const LocalHost& host, const std::optional<std::string>& machine) {
  if (!machine || host.machine().empty() || *machine == host.machine()) return std::nullopt;
  return lang::Again{.reason = "it is on the machine of the replica " + *machine + ", and " + host.machine() +
                               " leads: it is left alone until " + *machine + " leads again",
                     .after_ms = kNotByThisProcess_ms};
}

std::optional<lang::Again> service_elsewhere(const LocalHost& host, const std::string& service, Effect& effect) {
  lang::ReadOnlyRows rows(effect.read().rows_of("LocalRuntime"));
  const auto found = State(rows).get(LocalRuntimeId(service));
  return found ? elsewhere(host, found->machine) : std::nullopt;
}

std::optional<lang::Again> storage_elsewhere(const LocalHost& host, const std::string& storage, Effect& effect) {
  lang::ReadOnlyRows rows(effect.read().rows_of("LocalRuntime"));
  return elsewhere(host, machine_of_storage(State(rows), storage));
}

std::optional<std::string> own_machine(const LocalHost& host) {
  return host.machine().empty() ? std::nullopt : std::optional(host.machine());
}

using Brought = LocalHost::Brought;

std::string text_of(const Misfortune& misfortune) {
  std::string text = misfortune.reason;
  for (const std::string& line : misfortune.last_lines) text += "\n" + line;
  return text;
}

// Empty if it is started for none.
std::string environment_of(const DeployWork& work) {
  if (!work.variables) return "";
  const json::value variables = json::parse(*work.variables);
  const json::value* name = variables.as_object().if_contains("SLUICE_ENVIRONMENT");
  return name == nullptr ? "" : std::string(name->as_string());
}

// All that is needed to start it, or what is missing.
std::variant<Deployment, Lacking> deployment_for(LocalHost& host, const Bundle& bundle, const DeployWork& work,
                                                 Effect& effect) {
  auto given = given_for(host, bundle.manifest, work.service, work.config, work.secrets, effect);
  if (auto* lacking = std::get_if<Lacking>(&given)) return *lacking;
  Deployment deployment{.name = work.name,
                        .replicas = work.replicas,
                        .port = work.port,
                        .kept = work.kept,
                        .first = work.first,
                        .names = work.names,
                        .given = std::get<Given>(std::move(given))};
  deployment.given.storage = work.storage;
  deployment.given.health = work.health;
  if (work.variables) {
    const json::value variables = json::parse(*work.variables);
    for (const auto& each : variables.as_object()) {
      deployment.given.variables.emplace(each.key(), each.value().as_string());
    }
  }
  if (bundle.manifest.image) deployment.given.engine = views::container_engine(effect.read(), environment_of(work));
  if (auto revision = deployment.given.variables.find("SLUICE_REVISION");
      revision != deployment.given.variables.end()) {
    deployment.given.statement = views::statement_of(effect.read(), revision->second);
  }
  // What a bundle or an operator says of telemetry itself comes first.
  lang::ReadOnlyRows rows(effect.read().rows_of("LocalRuntime"));
  if (auto service = State(rows).get(LocalRuntimeId(work.service))) {
    for (const auto& [name, text] : views::otel_variables(effect.read(), service->instance)) {
      if (!bundle.manifest.env.contains(name)) deployment.given.variables.emplace(name, text);
    }
  }
  return deployment;
}

// What is brought up, or why that cannot be tried.
std::variant<Brought, Lacking> bring_up(LocalHost& host, const Bundle& bundle, const DeployWork& work, Effect& effect) {
  auto deployment = deployment_for(host, bundle, work, effect);
  if (auto* lacking = std::get_if<Lacking>(&deployment)) return *lacking;
  return host.bring_up(bundle, std::get<Deployment>(deployment), [&] { return effect.cancelled(); });
}

// The same for those who say of every failure only why: the replicas, or the reason.
std::variant<std::vector<Placed>, std::string> bring_up_or_say(LocalHost& host, const DeployWork& work,
                                                               Effect& effect) {
  auto bundle = host.open(work.artifact, work.hash);
  if (!bundle) return to_string(bundle.error());
  auto tried = bring_up(host, *bundle, work, effect);
  if (auto* lacking = std::get_if<Lacking>(&tried)) return text_of(*lacking);
  auto& brought = std::get<Brought>(tried);
  if (auto* misfortune = std::get_if<Misfortune>(&brought)) return text_of(*misfortune);
  return std::get<std::vector<Placed>>(std::move(brought));
}

// Ends what there is of the service besides this deployment: the one before, and what an effect that was given up left.
Result<void> take_down_others(LocalHost& host, const DeployWork& work) {
  auto names = host.replicas_of(work.service);
  if (!names) return names.error();
  std::erase_if(*names, [&](const std::string& name) { return deployment_of(name) == work.name; });
  return host.take_down(*names);
}

// Removes what archives were unpacked to and nobody can go back to any more; `gone` is a service that goes.
Result<void> tidy(LocalHost& host, Effect& effect, const std::string& gone = "") {
  lang::ReadOnlyRows rows(effect.read().rows_of("LocalRuntime"));
  const State state(rows);
  std::set<std::string> kept;
  for (const LocalRuntimeFound& each : state.all()) {
    if (each.id.text() == gone) continue;
    kept.insert(each.record.artifactHash);
    for (const LocalRuntimeFormerVersion& past : state.former_versions(each.id).values())
      kept.insert(past.artifactHash);
  }
  return host.forget_unpacked(kept);
}

// Whether a repair's work is its own still, as the committed state says: whoever took it over did so before it began to
// work itself.
bool is_still_its(const std::string& service, Effect& effect) {
  lang::ReadOnlyRows rows(effect.read().rows_of("LocalRuntime"));
  const State state(rows);
  auto found = state.get(LocalRuntimeId(service));
  return found && found->busy == lang::Request(effect.id());
}

Deploy::Performed told(const Misfortune& misfortune) {
  switch (misfortune.kind) {
    case Misfortune::Kind::home:
      return Deploy::HomeUnusable{.reason = misfortune.reason};
    case Misfortune::Kind::port:
      return Deploy::PortInUse{.port = misfortune.port};
    case Misfortune::Kind::cannot_start:
      return Deploy::CannotStart{.replica = misfortune.replica, .reason = misfortune.reason};
    case Misfortune::Kind::crash_loop:
      return Deploy::CrashLoop{
          .replica = misfortune.replica, .reason = misfortune.reason, .lastLines = misfortune.last_lines};
    case Misfortune::Kind::out_of_memory:
      return Deploy::OutOfMemory{
          .replica = misfortune.replica, .reason = misfortune.reason, .lastLines = misfortune.last_lines};
    case Misfortune::Kind::health_timeout:
      return Deploy::HealthTimeout{
          .replica = misfortune.replica, .reason = misfortune.reason, .lastLines = misfortune.last_lines};
    case Misfortune::Kind::image_not_found:
      return Deploy::ImageNotFound{.reason = misfortune.reason};
    case Misfortune::Kind::registry_denied:
      return Deploy::RegistryDenied{.reason = misfortune.reason};
    case Misfortune::Kind::pull_failed:
      return Deploy::PullFailed{.reason = misfortune.reason};
    case Misfortune::Kind::platform_missing:
      return Deploy::PlatformMissing{.reason = misfortune.reason};
    case Misfortune::Kind::no_engine:
      return Deploy::EngineUnavailable{.reason = misfortune.reason};
    case Misfortune::Kind::gone:
      break;
  }
  return lang::Again{.reason = misfortune.reason};
}

// Brings the new deployment up and ends the one before.
Deploy::Performed run_instead(LocalHost& host, const DeployWork& work, Effect& effect) {
  auto bundle = host.open(work.artifact);
  if (!bundle) return Deploy::BadBundle{.artifact = work.artifact, .reason = to_string(bundle.error())};
  if (const std::string environment = environment_of(work);
      !bundle->manifest.image && views::runs_containers_alone(effect.read(), environment)) {
    return Deploy::BadBundle{.artifact = work.artifact,
                             .reason = "it has no image, and " + std::string(kContainerDeployer) + " of " +
                                       environment + " runs containers alone"};
  }
  auto tried = bring_up(host, *bundle, work, effect);
  if (auto* lacking = std::get_if<Lacking>(&tried)) {
    if (!lacking->config.empty()) return Deploy::InvalidConfig{.message = lacking->config};
    return Deploy::SecretsMissing{.names = lacking->secrets, .reason = text_of(*lacking)};
  }
  const Brought& brought = std::get<Brought>(tried);
  if (const auto* misfortune = std::get_if<Misfortune>(&brought)) return told(*misfortune);
  const auto& placed = std::get<std::vector<Placed>>(brought);
  if (auto stopped = take_down_others(host, work); !stopped) return lang::Again{.reason = stopped.error().message};
  return Deploy::Ok{.endpoint = placed.front().endpoint, .artifactHash = bundle->hash, .programs = programs_of(placed)};
}

}  // namespace

Provision::Begun LocalRuntime::begin_provision(const Provision& ask, State&) {
  if (auto settings = parse_local_settings(ask.config); !settings) {
    return Provision::Result(Provision::InvalidConfig{.message = to_string(settings.error())});
  }
  return ProvisionWork{.config = ask.config};
}

Provision::Performed LocalRuntime::perform_provision(const ProvisionWork& work, Effect& effect) {
  auto& host = effect.tool<LocalHost>();
  if (auto usable = host.check_home(); !usable) return Provision::HomeUnusable{.reason = usable.error().message};
  auto settings = parse_local_settings(work.config);
  if (settings && settings->storage) {
    if (auto other = storage_elsewhere(host, settings->storage->text, effect)) return *other;
  }
  if (settings && settings->port) {
    for (int64_t i = 0; i < 2 * int64_t{settings->replicas}; ++i) {
      const auto port = static_cast<uint16_t>(*settings->port + i);
      if (process::is_port_taken(port)) return Provision::PortInUse{.port = port};
    }
  }
  return Provision::Ok{.machine = own_machine(host)};
}

Provision::Outcome LocalRuntime::finish_provision(const Provision& ask, const Provision::Outcome& outcome,
                                                  State& state) {
  auto settings = parse_local_settings(ask.config);
  if (ended_of(outcome) != Provision::Ended::ok || !settings) return outcome;
  const auto machine = get<Provision::Ok>(outcome).machine;
  auto found = service_of(state, ask.instance);
  LocalRuntimeId service = found ? found->id : state.add({.instance = ask.instance});
  state.edit(service, [&](LocalRuntimeRecord& record) {
    record.machine = machine;
    record.replicas = record.ports = settings->replicas;
    record.port.reset();
    if (settings->port) record.port = *settings->port;
    record.config = settings->config_text();
    record.storage = settings->storage ? settings->storage->text : "";
    record.variables.reset();
    if (!settings->variables.empty()) record.variables = json::serialize(json::value_from(settings->variables));
    record.health.reset();
    if (settings->health) record.health = json::serialize(*settings->health);
    if (!record.storage.empty()) keep_storage(state, record.storage, machine);
  });
  return Provision::Ok{.service = service,
                       .endpoint = "local:" + service.text(),
                       .storage = settings->storage ? settings->storage->text : "",
                       .machine = machine};
}

Deploy::Begun LocalRuntime::begin_deploy(const Deploy& ask, State& state) {
  auto service = service_of(state, ask.instance);
  if (!service) return Deploy::Result(Deploy::Notfound{.instance = ask.instance});
  if (!take(state, *service)) return Deploy::Result(Deploy::Busy{.instance = ask.instance});
  DeployWork work = open_deployment(state, *service, ask.artifact);
  if (ask.secrets) work.secrets = ask.secrets;
  return work;
}

Deploy::Performed LocalRuntime::perform_deploy(const DeployWork& work, Effect& effect) {
  auto& host = effect.tool<LocalHost>();
  if (auto other = service_elsewhere(host, work.service, effect)) return *other;
  const LocalHost::Turn turn(host, work.service);
  Deploy::Performed performed = run_instead(host, work, effect);
  (void)tidy(host, effect);
  return performed;
}

Deploy::Outcome LocalRuntime::finish_deploy(const Deploy& ask, const Deploy::Outcome& outcome, State& state) {
  auto service = given_back(state, service_of(state, ask.instance));
  if (!service) return outcome;
  if (const auto* end = given_up(outcome)) return Deploy::Abandoned{.service = service->id, .reason = end->message};
  if (ended_of(outcome) != Deploy::Ended::ok) return outcome;
  auto ok = get<Deploy::Ok>(outcome);
  ok.service = service->id;
  if (const LocalRuntimeRecord& before = service->record; !before.artifact.empty()) {
    auto past = state.former_versions(service->id).values();
    past.push_back({.version = before.version, .artifact = before.artifact, .artifactHash = before.artifactHash});
    if (past.size() > kMostFormer) past.erase(past.begin());
    state.former_versions(service->id).assign(past);
  }
  state.edit(service->id, [&](LocalRuntimeRecord& record) {
    record.version = ask.version;
    record.artifact = ask.artifact;
    record.artifactHash = ok.artifactHash;
    record.endpoint = ok.endpoint;
    if (ask.secrets) record.secrets = ask.secrets;
  });
  keep_programs(state, service->id, ok);
  return ok;
}

Rollback::Begun LocalRuntime::begin_rollback(const Rollback& ask, State& state) {
  auto service = service_of(state, ask.instance);
  auto past = service ? state.former_versions(service->id).values() : std::vector<LocalRuntimeFormerVersion>{};
  if (past.empty()) return Rollback::Result(Rollback::NoPrevious{.instance = ask.instance});
  if (!take(state, *service)) return Rollback::Result(Rollback::Busy{.instance = ask.instance});
  return RollbackWork{.deploy = open_deployment(state, *service, past.back().artifact, past.back().artifactHash)};
}

Rollback::Performed LocalRuntime::perform_rollback(const RollbackWork& work, Effect& effect) {
  auto& host = effect.tool<LocalHost>();
  if (auto other = service_elsewhere(host, work.deploy.service, effect)) return *other;
  const LocalHost::Turn turn(host, work.deploy.service);
  auto brought = bring_up_or_say(host, work.deploy, effect);
  if (auto* reason = std::get_if<std::string>(&brought)) return Rollback::Failed{.reason = *reason};
  const auto& placed = std::get<std::vector<Placed>>(brought);
  if (auto stopped = take_down_others(host, work.deploy); !stopped) {
    return lang::Again{.reason = stopped.error().message};
  }
  return Rollback::Ok{.endpoint = placed.front().endpoint, .programs = programs_of(placed)};
}

Rollback::Outcome LocalRuntime::finish_rollback(const Rollback& ask, const Rollback::Outcome& outcome, State& state) {
  auto service = given_back(state, service_of(state, ask.instance));
  if (!service) return outcome;
  if (ended_of(outcome) == Rollback::Ended::failed) {
    auto failed = get<Rollback::Failed>(outcome);
    failed.instance = ask.instance;
    return failed;
  }
  if (const auto* end = given_up(outcome)) return Rollback::Abandoned{.service = service->id, .reason = end->message};
  if (ended_of(outcome) != Rollback::Ended::ok) return outcome;
  auto ok = get<Rollback::Ok>(outcome);
  ok.service = service->id;
  auto past = state.former_versions(service->id).values();
  const LocalRuntimeFormerVersion back = past.back();
  past.pop_back();
  state.former_versions(service->id).assign(past);
  ok.restoredVersion = back.version;
  state.edit(service->id, [&](LocalRuntimeRecord& record) {
    record.version = back.version;
    record.artifact = back.artifact;
    record.artifactHash = back.artifactHash;
    record.endpoint = ok.endpoint;
  });
  keep_programs(state, service->id, ok);
  return ok;
}

Scale::Begun LocalRuntime::begin_scale(const Scale& ask, State& state) {
  auto service = service_of(state, ask.instance);
  if (!service || service->record.artifact.empty()) {
    return Scale::Result(Scale::Notfound{.instance = ask.instance});
  }
  if (ask.replicas < 1 || ask.replicas > kMostReplicas) {
    return Scale::Result(Scale::Invalid{.message = "expected 1 to 1000 replicas"});
  }
  if (service->record.port && ask.replicas > service->record.ports) {
    return Scale::Result(Scale::Invalid{.message = "its ports are for " + std::to_string(service->record.ports) +
                                                   " replicas; provision it anew with more"});
  }
  if (!take(state, *service)) return Scale::Result(Scale::Busy{.instance = ask.instance});
  auto names = names_of(state, service->id);
  ScaleWork work{.deploy = work_on_running(state, *service)};
  work.deploy.replicas = ask.replicas;
  for (size_t i = static_cast<size_t>(ask.replicas); i < names.size(); ++i) work.excess.push_back(names[i]);
  return work;
}

Scale::Performed LocalRuntime::perform_scale(const ScaleWork& work, Effect& effect) {
  auto& host = effect.tool<LocalHost>();
  if (auto other = service_elsewhere(host, work.deploy.service, effect)) return *other;
  const LocalHost::Turn turn(host, work.deploy.service);
  auto brought = bring_up_or_say(host, work.deploy, effect);
  if (auto* reason = std::get_if<std::string>(&brought)) return Scale::Failed{.reason = *reason};
  for (const std::string& each : work.excess) host.await_unused(each, [&] { return effect.cancelled(); });
  if (auto stopped = host.take_down(work.excess); !stopped) return lang::Again{.reason = stopped.error().message};
  const auto& placed = std::get<std::vector<Placed>>(brought);
  return Scale::Ok{.endpoint = placed.front().endpoint, .programs = programs_of(placed)};
}

Scale::Outcome LocalRuntime::finish_scale(const Scale& ask, const Scale::Outcome& outcome, State& state) {
  auto service = given_back(state, service_of(state, ask.instance));
  if (!service) return outcome;
  if (ended_of(outcome) == Scale::Ended::failed) {
    auto failed = get<Scale::Failed>(outcome);
    failed.instance = ask.instance;
    return failed;
  }
  if (const auto* end = given_up(outcome)) return Scale::Abandoned{.service = service->id, .reason = end->message};
  if (ended_of(outcome) != Scale::Ended::ok) return outcome;
  auto ok = get<Scale::Ok>(outcome);
  ok.service = service->id;
  state.edit(service->id, [&](LocalRuntimeRecord& record) {
    record.replicas = ask.replicas;
    record.endpoint = ok.endpoint;
  });
  keep_programs(state, service->id, ok);
  return ok;
}

// A renewal has a number of its own, as a deployment has: replicas that have it have the new secrets.
Renew::Begun LocalRuntime::begin_renew(const Renew& ask, State& state) {
  auto fail = [&](const std::string& reason) {
    return Renew::Result(Renew::Failed{.instance = ask.instance, .reason = reason});
  };
  auto service = service_of(state, ask.instance);
  if (!service || service->record.artifact.empty()) return fail("nothing runs of it on this machine");
  LocalRuntimeRecord& record = service->record;
  if (!record.renewal || record.renewing != ask.secrets || record.round != ask.round) {
    record.renewal = ++record.serial;
    record.renewing = ask.secrets;
    record.round = ask.round;
  }
  const auto names = names_of(state, service->id);
  auto stale = std::ranges::find_if(
      names, [&](const std::string& name) { return serial_of(deployment_of(name)) != *record.renewal; });
  if (stale == names.end()) {
    if (ask.secrets) record.secrets = ask.secrets;
    record.renewing.reset();
    record.round.reset();
    record.renewal.reset();
    state.put(service->id, record);
    return Renew::Result(Renew::Done{.instance = ask.instance});
  }
  state.put(service->id, record);
  if (!take(state, *service)) return fail("something else is being done to it");
  const int64_t number = number_of(*stale);
  return RenewWork{.deploy = {.artifact = record.artifact,
                              .hash = record.artifactHash,
                              .service = service->id.text(),
                              .name = deployment_name(service->id, *record.renewal),
                              .replicas = number + 1,
                              .port = first_port(record, *record.renewal),
                              .config = record.config,
                              .storage = storage_of(*service),
                              .variables = record.variables,
                              .health = record.health,
                              .secrets = ask.secrets,
                              .first = number},
                   .replica = *stale};
}

Renew::Performed LocalRuntime::perform_renew(const RenewWork& work, Effect& effect) {
  auto& host = effect.tool<LocalHost>();
  if (auto other = service_elsewhere(host, work.deploy.service, effect)) return *other;
  const LocalHost::Turn turn(host, work.deploy.service);
  auto bundle = host.open(work.deploy.artifact, work.deploy.hash);
  if (!bundle) return Renew::Failed{.reason = to_string(bundle.error())};
  // Of no service: what its replicas were started with is what is to be replaced.
  DeployWork fresh = work.deploy;
  fresh.service.clear();
  auto tried = bring_up(host, *bundle, fresh, effect);
  if (auto* lacking = std::get_if<Lacking>(&tried)) return Renew::Failed{.reason = text_of(*lacking)};
  const Brought& brought = std::get<Brought>(tried);
  if (const auto* misfortune = std::get_if<Misfortune>(&brought)) {
    return Renew::Failed{.reason = misfortune->reason, .lastLines = misfortune->last_lines};
  }
  return Renew::Replaced{.replica = work.replica, .programs = programs_of(std::get<std::vector<Placed>>(brought))};
}

Renew::Outcome LocalRuntime::finish_renew(const Renew& ask, const Renew::Outcome& outcome, State& state) {
  auto service = given_back(state, service_of(state, ask.instance));
  if (ended_of(outcome) == Renew::Ended::failed) {
    auto failed = get<Renew::Failed>(outcome);
    failed.instance = ask.instance;
    return failed;
  }
  // Whatever the engine says: who renews waits for a variant.
  if (const auto* end = get_if<lang::EngineEnd>(&outcome)) {
    return Renew::Abandoned{.service = service ? service->id : LocalRuntimeId(), .reason = end->message};
  }
  if (!service || ended_of(outcome) != Renew::Ended::replaced) return outcome;
  auto replaced = get<Renew::Replaced>(outcome);
  auto programs = state.programs(service->id).values();
  for (LocalRuntimeProgram& each : programs) {
    if (each.name == replaced.replica) each = replaced.programs.front();
  }
  replaced.instance = ask.instance;
  replaced.endpoint = programs.front().endpoint;
  replaced.programs = programs;
  state.edit(service->id, [&](LocalRuntimeRecord& record) { record.endpoint = replaced.endpoint; });
  keep_programs(state, service->id, replaced);
  return replaced;
}

Reload::Begun LocalRuntime::begin_reload(const Reload& ask, State& state) {
  auto service = service_of(state, ask.instance);
  if (!service || service->record.artifact.empty()) return Reload::Result(Reload::Notfound{.instance = ask.instance});
  return ReloadWork{.deploy = work_on_running(state, *service)};
}

Reload::Performed LocalRuntime::perform_reload(const ReloadWork& work, Effect& effect) {
  auto& host = effect.tool<LocalHost>();
  if (auto other = service_elsewhere(host, work.deploy.service, effect)) return *other;
  const LocalHost::Turn turn(host, work.deploy.service);
  auto bundle = host.open(work.deploy.artifact, work.deploy.hash);
  if (!bundle) return Reload::Failed{.reason = to_string(bundle.error())};
  auto config = config_for(bundle->manifest, work.deploy.config, effect);
  if (!config) return Reload::Failed{.reason = to_string(config.error())};
  for (const std::string& each : work.deploy.names) {
    auto told = host.replicas().reconfigure(each, write(*config));
    if (!told) return Reload::Failed{.reason = to_string(told.error())};
  }
  return Reload::Ok{};
}

Reload::Outcome LocalRuntime::finish_reload(const Reload& ask, const Reload::Outcome& outcome, State&) {
  Reload::Outcome told = outcome;
  if (auto* ok = get_if<Reload::Ok>(&told)) ok->instance = ask.instance;
  if (auto* failed = get_if<Reload::Failed>(&told)) failed->instance = ask.instance;
  return told;
}

Release::Begun LocalRuntime::begin_release(const Release& ask, State& state) {
  auto service = service_of(state, ask.instance);
  const bool listed = service && std::ranges::count(names_of(state, service->id), ask.replica) > 0;
  if (!service || listed || service_of_replica(ask.replica) != service->id.text()) {
    return Release::Result(Release::Ok{.instance = ask.instance});
  }
  return ReleaseWork{.service = service->id.text(), .replica = ask.replica};
}

Release::Performed LocalRuntime::perform_release(const ReleaseWork& work, Effect& effect) {
  auto& host = effect.tool<LocalHost>();
  if (auto other = service_elsewhere(host, work.service, effect)) return *other;
  const LocalHost::Turn turn(host, work.service);
  host.await_unused(work.replica, [&] { return effect.cancelled(); });
  if (auto stopped = host.take_down({work.replica}); !stopped) return lang::Again{.reason = stopped.error().message};
  return Release::Ok{};
}

// What could not be stopped is ended by the next repair: nobody lists it.
Release::Outcome LocalRuntime::finish_release(const Release& ask, const Release::Outcome&, State&) {
  return Release::Ok{.instance = ask.instance};
}

Repair::Begun LocalRuntime::begin_repair(const Repair& ask, State& state) {
  auto found = state.get(ask.service);
  if (!found) return Repair::Result(Repair::Notfound{.service = ask.service});
  const LocalRuntimeFound service{.id = ask.service, .record = *found};
  if (!take(state, service, true)) return Repair::Result(Repair::Busy{.service = ask.service});
  return RepairWork{.deploy = work_on_running(state, service), .any_port = !found->port};
}

Repair::Performed LocalRuntime::perform_repair(const RepairWork& work, Effect& effect) {
  auto& host = effect.tool<LocalHost>();
  if (auto other = service_elsewhere(host, work.deploy.service, effect)) return *other;
  const LocalHost::Turn turn(host, work.deploy.service);
  const LocalRuntimeId service(work.deploy.service);
  if (!is_still_its(work.deploy.service, effect)) return Repair::Busy{.service = service};
  if (work.deploy.replicas == 0) return Repair::Ok{};
  auto bundle = host.open(work.deploy.artifact, work.deploy.hash);
  if (!bundle) return Repair::Failed{.reason = to_string(bundle.error())};
  auto deployment = deployment_for(host, *bundle, work.deploy, effect);
  if (auto* lacking = std::get_if<Lacking>(&deployment)) return Repair::Failed{.reason = text_of(*lacking)};
  Brought brought = host.bring_back(*bundle, std::get<Deployment>(deployment), work.any_port,
                                    [&] { return effect.cancelled() || turn.is_waited_for(); });
  if (turn.is_waited_for()) return Repair::Busy{.service = service};
  if (auto* misfortune = std::get_if<Misfortune>(&brought)) return Repair::Failed{.reason = text_of(*misfortune)};
  const auto& placed = std::get<std::vector<Placed>>(brought);
  // What an effect that was given up left running, and nobody wants.
  auto left = host.replicas_of(work.deploy.service);
  if (!left) return lang::Again{.reason = left.error().message};
  std::erase_if(*left, [&](const std::string& name) { return std::ranges::count(placed, name, &Placed::name) > 0; });
  if (auto stopped = host.take_down(*left); !stopped) return lang::Again{.reason = stopped.error().message};
  return Repair::Ok{.endpoint = placed.front().endpoint, .programs = programs_of(placed)};
}

Repair::Outcome LocalRuntime::finish_repair(const Repair& ask, const Repair::Outcome& outcome, State& state) {
  auto found = state.get(ask.service);
  if (!found) return outcome;
  const bool its = found->busy == state.request();
  const auto service = given_back(state, LocalRuntimeFound{.id = ask.service, .record = *found});
  // Taken over after its work was done: who took it over says what runs.
  if (!its && ended_of(outcome) == Repair::Ended::ok) return Repair::Busy{.service = ask.service};
  if (ended_of(outcome) == Repair::Ended::failed) {
    auto failed = get<Repair::Failed>(outcome);
    failed.service = ask.service;
    return failed;
  }
  if (ended_of(outcome) != Repair::Ended::ok) return outcome;
  auto ok = get<Repair::Ok>(outcome);
  ok.service = ask.service;
  ok.instance = service->record.instance;
  if (ok.endpoint.empty()) ok.endpoint = service->record.endpoint;
  state.edit(ask.service, [&](LocalRuntimeRecord& record) { record.endpoint = ok.endpoint; });
  keep_programs(state, ask.service, ok);
  return ok;
}

Destroy::Begun LocalRuntime::begin_destroy(const Destroy& ask, State& state) {
  auto service = service_of(state, ask.instance);
  if (!service) return DestroyWork{};
  if (!take(state, *service)) return Destroy::Result(Destroy::Busy{.instance = ask.instance});
  return DestroyWork{.service = service->id.text(), .storage = service->record.storage.empty()};
}

Destroy::Performed LocalRuntime::perform_destroy(const DestroyWork& work, Effect& effect) {
  if (work.service.empty()) return Destroy::Ok{};
  auto& host = effect.tool<LocalHost>();
  if (auto other = service_elsewhere(host, work.service, effect)) return *other;
  const LocalHost::Turn turn(host, work.service);
  auto names = host.replicas_of(work.service);
  if (!names) return Destroy::Stuck{.reason = to_string(names.error())};
  if (auto gone = host.take_down(*names); !gone) return Destroy::Stuck{.reason = to_string(gone.error())};
  if (auto gone = tidy(host, effect, work.service); !gone) return Destroy::Stuck{.reason = to_string(gone.error())};
  if (work.storage) {
    if (auto gone = host.forget_storage(work.service); !gone) return Destroy::Stuck{.reason = gone.error().message};
  }
  return Destroy::Ok{};
}

Destroy::Outcome LocalRuntime::finish_destroy(const Destroy& ask, const Destroy::Outcome& outcome, State& state) {
  auto service = given_back(state, service_of(state, ask.instance));
  if (ended_of(outcome) == Destroy::Ended::stuck) {
    auto stuck = get<Destroy::Stuck>(outcome);
    stuck.instance = ask.instance;
    return stuck;
  }
  if (ended_of(outcome) != Destroy::Ended::ok) return outcome;
  if (service) {
    state.programs(service->id).clear();
    state.former_versions(service->id).clear();
    state.erase(service->id);
  }
  return Destroy::Ok{.instance = ask.instance};
}

MakeStorage::Begun LocalRuntime::begin_make_storage(const MakeStorage& ask, State& state) {
  const std::string name = lower(ask.storage);
  if (!is_plain(name) || !std::ranges::all_of(ask.names, is_plain)) {
    return MakeStorage::Result(MakeStorage::Failed{.storage = ask.storage, .reason = "a storage has a plain name"});
  }
  keep_storage(state, name, std::nullopt);
  return MakeStorageWork{.storage = name, .names = ask.names};
}

MakeStorage::Performed LocalRuntime::perform_make_storage(const MakeStorageWork& work, Effect& effect) {
  auto& host = effect.tool<LocalHost>();
  if (auto other = storage_elsewhere(host, work.storage, effect)) return *other;
  auto made = host.make_storage(work.storage, work.names);
  if (!made) return MakeStorage::Failed{.storage = work.storage, .reason = made.error().message};
  return MakeStorage::Ok{.storage = work.storage, .machine = own_machine(host)};
}

MakeStorage::Outcome LocalRuntime::finish_make_storage(const MakeStorage& ask, const MakeStorage::Outcome& outcome,
                                                       State& state) {
  if (const auto* ok = get_if<MakeStorage::Ok>(&outcome)) keep_storage(state, lower(ask.storage), ok->machine);
  return outcome;
}

UnmakeStorage::Begun LocalRuntime::begin_unmake_storage(const UnmakeStorage& ask, State& state) {
  const std::string name = lower(ask.storage);
  if (storage_number(state, name) < 0) {
    return UnmakeStorage::Result(UnmakeStorage::Ok{.storage = ask.storage, .empty = true});
  }
  if (!state.find_by_storage(name).empty()) {
    return UnmakeStorage::Result(UnmakeStorage::Ok{.storage = ask.storage, .empty = false});
  }
  return UnmakeStorageWork{.storage = name};
}

UnmakeStorage::Performed LocalRuntime::perform_unmake_storage(const UnmakeStorageWork& work, Effect& effect) {
  auto& host = effect.tool<LocalHost>();
  if (auto other = storage_elsewhere(host, work.storage, effect)) return *other;
  auto empty = host.unmake_storage(work.storage);
  if (!empty) return UnmakeStorage::Failed{.storage = work.storage, .reason = empty.error().message};
  return UnmakeStorage::Ok{.storage = work.storage, .empty = *empty};
}

UnmakeStorage::Outcome LocalRuntime::finish_unmake_storage(const UnmakeStorage& ask,
                                                           const UnmakeStorage::Outcome& outcome, State& state) {
  const auto* ok = get_if<UnmakeStorage::Ok>(&outcome);
  if (ok == nullptr || !ok->empty) return outcome;
  drop_storage(state, lower(ask.storage));
  return outcome;
}

// Only what was provisioned with a name of its own is under that name, so no other folder can be meant.
ForgetStorage::Begun LocalRuntime::begin_forget_storage(const ForgetStorage& ask, State& state) {
  const std::string name = lower(ask.storage);
  if (storage_number(state, name) < 0) return ForgetStorage::Result(ForgetStorage::Ok{.storage = ask.storage});
  if (!state.find_by_storage(name).empty()) {
    return ForgetStorage::Result(
        ForgetStorage::Stuck{.storage = ask.storage, .reason = "something that uses it is there"});
  }
  return ForgetStorageWork{.storage = name};
}

ForgetStorage::Performed LocalRuntime::perform_forget_storage(const ForgetStorageWork& work, Effect& effect) {
  auto& host = effect.tool<LocalHost>();
  if (auto other = storage_elsewhere(host, work.storage, effect)) return *other;
  auto gone = host.forget_storage(work.storage);
  if (!gone) return ForgetStorage::Stuck{.storage = work.storage, .reason = gone.error().message};
  return ForgetStorage::Ok{.storage = work.storage};
}

ForgetStorage::Outcome LocalRuntime::finish_forget_storage(const ForgetStorage& ask,
                                                           const ForgetStorage::Outcome& outcome, State& state) {
  if (ended_of(outcome) != ForgetStorage::Ended::ok) return outcome;
  drop_storage(state, lower(ask.storage));
  return outcome;
}

ForgetImages::Begun LocalRuntime::begin_forget_images(const ForgetImages&, State&) { return ForgetImagesWork{}; }

ForgetImages::Performed LocalRuntime::perform_forget_images(const ForgetImagesWork&, Effect& effect) {
  LocalImages* images = effect.tool<LocalHost>().images();
  if (images == nullptr) return ForgetImages::Ok{};
  auto gone = images->forget(views::living_revisions(effect.read()));
  if (!gone) return ForgetImages::EngineUnavailable{.reason = gone.error().message};
  return ForgetImages::Ok{.images = static_cast<int64_t>(gone->size())};
}

ForgetImages::Outcome LocalRuntime::finish_forget_images(const ForgetImages&, const ForgetImages::Outcome& outcome,
                                                         State&) {
  return outcome;
}

Check::Begun LocalRuntime::begin_check(const Check& ask, State& state) {
  auto service = service_of(state, ask.instance);
  auto names = service ? names_of(state, service->id) : std::vector<std::string>{};
  // While replicas are started again it is not known yet where they are.
  if (names.empty() || (service->record.busy && service->record.repairing))
    return Check::Result(Check::Unreachable{.instance = ask.instance});
  return CheckWork{.names = names};
}

Check::Performed LocalRuntime::perform_check(const CheckWork& work, Effect& effect) {
  auto& host = effect.tool<LocalHost>();
  if (auto other = service_elsewhere(host, service_of_replica(work.names.front()), effect)) return *other;
  auto slowest_us = host.ask_health(work.names);
  if (!slowest_us) return Check::Unreachable{};
  if (*slowest_us > kSlow_us) return Check::Degraded{.latencyMs = *slowest_us / 1000};
  return Check::Ok{.latencyMs = *slowest_us / 1000};
}

Check::Outcome LocalRuntime::finish_check(const Check& ask, const Check::Outcome& outcome, State&) {
  Check::Outcome told = outcome;
  if (auto* ok = get_if<Check::Ok>(&told)) ok->instance = ask.instance;
  if (auto* degraded = get_if<Check::Degraded>(&told)) degraded->instance = ask.instance;
  if (auto* unreachable = get_if<Check::Unreachable>(&told)) unreachable->instance = ask.instance;
  return told;
}

Show::Result LocalRuntime::show(const Show& ask, const State& state) {
  auto service = service_of(state, ask.instance);
  if (!service) return Show::Notfound{.instance = ask.instance};
  return Show::Ok{.service = service->id,
                  .replicas = service->record.replicas,
                  .version = service->record.version,
                  .artifact = service->record.artifact,
                  .programs = state.programs(service->id).values()};
}

}  // namespace sluice::deploy::local_runtime
