// LocalRuntime remembers which replicas belong to which instance; LocalHost runs them. Names of replicas are chosen in
// begin and journaled, so an effect that is performed again after a crash finds what it has started.
#include <charconv>

#include "base/json.h"
#include "base/json_reader.h"
#include "deploy/providers/runtime/local/local_host.h"
#include "deploy/providers/runtime/local/local_runtime_work.h"
#include "process/port.h"

namespace sluice::deploy::local_runtime {

// What an instance is provisioned with.
struct LocalSettings {
  uint32_t replicas = 1;
  std::optional<uint16_t> port;
  static constexpr std::string_view kDefaulted[] = {"replicas"};
};
BOOST_DESCRIBE_STRUCT(LocalSettings, (), (replicas, port))

namespace {

constexpr int64_t kMostReplicas = 1000;
constexpr int64_t kMostPort = 65535;
constexpr int64_t kSlow_us = 500'000;

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

Result<LocalSettings> settings_of(const std::string& config) {
  auto document = parse_json(config.empty() ? "{}" : config, "config");
  if (!document) return document.error();
  auto settings = read<LocalSettings>(*document);
  if (!settings) return settings;
  if (settings->replicas < 1 || settings->replicas > kMostReplicas) {
    return Error{.code = Code::invalid, .message = "expected 1 to 1000 replicas", .path = "/replicas"};
  }
  if (settings->port && *settings->port + 2 * int64_t{settings->replicas} - 1 > kMostPort) {
    return Error{.code = Code::invalid, .message = "there are not twice as many ports as replicas", .path = "/port"};
  }
  return settings;
}

std::string deployment_name(const LocalRuntimeId& service, int64_t serial) {
  return service.text() + "." + std::to_string(serial);
}

// The deployment that a replica is of, "01J….2" of "01J….2.0", and its number.
std::string deployment_of(const std::string& replica) { return replica.substr(0, replica.rfind('.')); }
int64_t serial_of(const std::string& deployment) {
  int64_t serial = 0;
  const char* end = deployment.data() + deployment.size();
  std::from_chars(deployment.data() + deployment.rfind('.') + 1, end, serial);
  return serial;
}

// Deployments take turns in the two halves of the ports.
std::optional<int64_t> first_port(const LocalRuntimeRecord& record, int64_t serial) {
  if (!record.port) return std::nullopt;
  return *record.port + (serial % 2) * record.replicas;
}

// Counts the deployment, so that its name is its own, and says what is to be done.
DeployWork open_deployment(State& state, const LocalRuntimeFound& service, const std::string& artifact) {
  auto before = names_of(state, service.id);
  int64_t serial = service.record.serial + 1;
  // After one that failed it would be the turn of the half that is in use.
  if (!before.empty() && (serial - serial_of(deployment_of(before.front()))) % 2 == 0) serial++;
  state.edit(service.id, [&](LocalRuntimeRecord& record) { record.serial = serial; });
  return {.artifact = artifact,
          .name = deployment_name(service.id, serial),
          .replicas = service.record.replicas,
          .port = first_port(service.record, serial),
          .before = std::move(before)};
}

std::vector<LocalRuntimeProgram> programs_of(const std::vector<Placed>& placed) {
  std::vector<LocalRuntimeProgram> programs;
  for (const Placed& each : placed) {
    programs.push_back({.name = each.name, .endpoint = each.endpoint, .pid = each.pid, .log = each.log});
  }
  return programs;
}

using Brought = std::variant<std::vector<Placed>, Misfortune>;

Brought bring_up(LocalHost& host, const Bundle& bundle, const DeployWork& work, Effect& effect) {
  return host.bring_up(bundle, {.name = work.name, .replicas = work.replicas, .port = work.port, .kept = work.kept},
                       [&] { return effect.cancelled(); });
}

std::string text_of(const Misfortune& misfortune) {
  std::string text = misfortune.reason;
  for (const std::string& line : misfortune.last_lines) text += "\n" + line;
  return text;
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
    case Misfortune::Kind::gone:
      break;
  }
  return lang::Again{.reason = misfortune.reason};
}

}  // namespace

Provision::Begun LocalRuntime::begin_provision(const Provision& ask, State&) {
  if (auto settings = settings_of(ask.config); !settings) {
    return Provision::Result(Provision::InvalidConfig{.message = to_string(settings.error())});
  }
  return ProvisionWork{.config = ask.config};
}

Provision::Performed LocalRuntime::perform_provision(const ProvisionWork& work, Effect& effect) {
  auto& host = effect.tool<LocalHost>();
  if (auto usable = host.check_home(); !usable) return Provision::HomeUnusable{.reason = usable.error().message};
  auto settings = settings_of(work.config);
  if (settings && settings->port) {
    for (int64_t i = 0; i < 2 * int64_t{settings->replicas}; ++i) {
      const auto port = static_cast<uint16_t>(*settings->port + i);
      if (process::is_port_taken(port)) return Provision::PortInUse{.port = port};
    }
  }
  return Provision::Ok{};
}

Provision::Outcome LocalRuntime::finish_provision(const Provision& ask, const Provision::Outcome& outcome,
                                                  State& state) {
  auto settings = settings_of(ask.config);
  if (ended_of(outcome) != Provision::Ended::ok || !settings) return outcome;
  auto found = service_of(state, ask.instance);
  LocalRuntimeId service = found ? found->id : state.add({.instance = ask.instance});
  state.edit(service, [&](LocalRuntimeRecord& record) {
    record.replicas = settings->replicas;
    record.port.reset();
    if (settings->port) record.port = *settings->port;
  });
  return Provision::Ok{.service = service, .endpoint = "local:" + service.text()};
}

Deploy::Begun LocalRuntime::begin_deploy(const Deploy& ask, State& state) {
  auto service = service_of(state, ask.instance);
  if (!service) return Deploy::Result(Deploy::Notfound{.instance = ask.instance});
  return open_deployment(state, *service, ask.artifact);
}

Deploy::Performed LocalRuntime::perform_deploy(const DeployWork& work, Effect& effect) {
  auto& host = effect.tool<LocalHost>();
  auto bundle = host.open(work.artifact);
  if (!bundle) return Deploy::BadBundle{.artifact = work.artifact, .reason = to_string(bundle.error())};
  Brought brought = bring_up(host, *bundle, work, effect);
  if (auto* misfortune = std::get_if<Misfortune>(&brought)) return told(*misfortune);
  const auto& placed = std::get<std::vector<Placed>>(brought);
  if (auto stopped = host.take_down(work.before); !stopped) return lang::Again{.reason = stopped.error().message};
  return Deploy::Ok{.endpoint = placed.front().endpoint, .programs = programs_of(placed)};
}

Deploy::Outcome LocalRuntime::finish_deploy(const Deploy& ask, const Deploy::Outcome& outcome, State& state) {
  auto service = service_of(state, ask.instance);
  if (ended_of(outcome) != Deploy::Ended::ok || !service) return outcome;
  auto ok = std::get<Deploy::Ok>(outcome);
  ok.service = service->id;
  state.edit(service->id, [&](LocalRuntimeRecord& record) {
    if (!record.artifact.empty()) {
      record.previousVersion = record.version;
      record.previousArtifact = record.artifact;
    }
    record.version = ask.version;
    record.artifact = ask.artifact;
    record.endpoint = ok.endpoint;
  });
  state.programs(service->id).assign(ok.programs);
  return ok;
}

Rollback::Begun LocalRuntime::begin_rollback(const Rollback& ask, State& state) {
  auto service = service_of(state, ask.instance);
  if (!service || !service->record.previousArtifact) {
    return Rollback::Result(Rollback::NoPrevious{.instance = ask.instance});
  }
  return RollbackWork{.deploy = open_deployment(state, *service, *service->record.previousArtifact)};
}

Rollback::Performed LocalRuntime::perform_rollback(const RollbackWork& work, Effect& effect) {
  auto& host = effect.tool<LocalHost>();
  auto bundle = host.open(work.deploy.artifact);
  if (!bundle) return Rollback::Failed{.reason = to_string(bundle.error())};
  Brought brought = bring_up(host, *bundle, work.deploy, effect);
  if (auto* misfortune = std::get_if<Misfortune>(&brought)) return Rollback::Failed{.reason = text_of(*misfortune)};
  const auto& placed = std::get<std::vector<Placed>>(brought);
  if (auto stopped = host.take_down(work.deploy.before); !stopped)
    return lang::Again{.reason = stopped.error().message};
  return Rollback::Ok{.endpoint = placed.front().endpoint, .programs = programs_of(placed)};
}

Rollback::Outcome LocalRuntime::finish_rollback(const Rollback& ask, const Rollback::Outcome& outcome, State& state) {
  auto service = service_of(state, ask.instance);
  if (!service) return outcome;
  if (ended_of(outcome) == Rollback::Ended::failed) {
    auto failed = std::get<Rollback::Failed>(outcome);
    failed.instance = ask.instance;
    return failed;
  }
  if (ended_of(outcome) != Rollback::Ended::ok) return outcome;
  auto ok = std::get<Rollback::Ok>(outcome);
  ok.service = service->id;
  ok.restoredVersion = service->record.previousVersion.value_or("");
  state.edit(service->id, [&](LocalRuntimeRecord& record) {
    record.version = ok.restoredVersion;
    record.artifact = record.previousArtifact.value_or("");
    record.previousVersion.reset();
    record.previousArtifact.reset();
    record.endpoint = ok.endpoint;
  });
  state.programs(service->id).assign(ok.programs);
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
  if (service->record.port && ask.replicas > service->record.replicas) {
    return Scale::Result(Scale::Invalid{.message = "its ports are for " + std::to_string(service->record.replicas) +
                                                   " replicas; provision it anew with more"});
  }
  auto names = names_of(state, service->id);
  const std::string deployment = deployment_of(names.front());
  ScaleWork work{.deploy = {.artifact = service->record.artifact,
                            .name = deployment,
                            .replicas = ask.replicas,
                            .port = first_port(service->record, serial_of(deployment)),
                            .kept = static_cast<int64_t>(names.size())}};
  for (size_t i = static_cast<size_t>(ask.replicas); i < names.size(); ++i) work.excess.push_back(names[i]);
  return work;
}

Scale::Performed LocalRuntime::perform_scale(const ScaleWork& work, Effect& effect) {
  auto& host = effect.tool<LocalHost>();
  auto bundle = host.open(work.deploy.artifact);
  if (!bundle) return Scale::Failed{.reason = to_string(bundle.error())};
  Brought brought = bring_up(host, *bundle, work.deploy, effect);
  if (auto* misfortune = std::get_if<Misfortune>(&brought)) return Scale::Failed{.reason = text_of(*misfortune)};
  if (auto stopped = host.take_down(work.excess); !stopped) return lang::Again{.reason = stopped.error().message};
  return Scale::Ok{.programs = programs_of(std::get<std::vector<Placed>>(brought))};
}

Scale::Outcome LocalRuntime::finish_scale(const Scale& ask, const Scale::Outcome& outcome, State& state) {
  auto service = service_of(state, ask.instance);
  if (!service) return outcome;
  if (ended_of(outcome) == Scale::Ended::failed) {
    auto failed = std::get<Scale::Failed>(outcome);
    failed.instance = ask.instance;
    return failed;
  }
  if (ended_of(outcome) != Scale::Ended::ok) return outcome;
  auto ok = std::get<Scale::Ok>(outcome);
  ok.service = service->id;
  // With ports of their own the block stays as large as it was provisioned.
  if (!service->record.port) {
    state.edit(service->id, [&](LocalRuntimeRecord& record) { record.replicas = ask.replicas; });
  }
  state.programs(service->id).assign(ok.programs);
  return ok;
}

Destroy::Begun LocalRuntime::begin_destroy(const Destroy& ask, State& state) {
  auto service = service_of(state, ask.instance);
  return DestroyWork{.names = service ? names_of(state, service->id) : std::vector<std::string>{}};
}

Destroy::Performed LocalRuntime::perform_destroy(const DestroyWork& work, Effect& effect) {
  auto gone = effect.tool<LocalHost>().take_down(work.names);
  if (!gone) return Destroy::Stuck{.reason = to_string(gone.error())};
  return Destroy::Ok{};
}

Destroy::Outcome LocalRuntime::finish_destroy(const Destroy& ask, const Destroy::Outcome& outcome, State& state) {
  if (ended_of(outcome) == Destroy::Ended::stuck) {
    auto stuck = std::get<Destroy::Stuck>(outcome);
    stuck.instance = ask.instance;
    return stuck;
  }
  if (ended_of(outcome) != Destroy::Ended::ok) return outcome;
  if (auto service = service_of(state, ask.instance)) {
    state.programs(service->id).clear();
    state.erase(service->id);
  }
  return Destroy::Ok{.instance = ask.instance};
}

Check::Begun LocalRuntime::begin_check(const Check& ask, State& state) {
  auto service = service_of(state, ask.instance);
  auto names = service ? names_of(state, service->id) : std::vector<std::string>{};
  if (names.empty()) return Check::Result(Check::Unreachable{.instance = ask.instance});
  return CheckWork{.names = names};
}

Check::Performed LocalRuntime::perform_check(const CheckWork& work, Effect& effect) {
  auto slowest_us = effect.tool<LocalHost>().slowest_us(work.names);
  if (!slowest_us) return Check::Unreachable{};
  if (*slowest_us > kSlow_us) return Check::Degraded{.latencyMs = *slowest_us / 1000};
  return Check::Ok{.latencyMs = *slowest_us / 1000};
}

Check::Outcome LocalRuntime::finish_check(const Check& ask, const Check::Outcome& outcome, State&) {
  return std::visit(
      [&]<class Ended>(Ended ended) -> Check::Outcome {
        if constexpr (!std::same_as<Ended, lang::EngineEnd>) ended.instance = ask.instance;
        return ended;
      },
      outcome);
}

}  // namespace sluice::deploy::local_runtime
