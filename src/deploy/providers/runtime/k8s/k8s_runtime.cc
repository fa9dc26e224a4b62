// K8sRuntime remembers which deployment of an instance runs; PodHost runs it. Serials are chosen in begin and
// journaled, so an effect that is performed again after a crash finds what it has made.
#include <algorithm>

#include "base/json.h"
#include "bundle/manifest/answers.h"
#include "deploy/pack_config.h"
#include "deploy/providers/runtime/k8s/k8s_runtime_work.h"
#include "deploy/providers/runtime/k8s/k8s_settings.h"
#include "deploy/providers/runtime/k8s/pod_host.h"
#include "deploy/run_settings.h"
#include "deploy/secret_names.h"
#include "deploy/views/bundle_settings.h"
#include "deploy/views/telemetry.h"
#include "render/taint.h"

namespace sluice::deploy::k8s_runtime {

namespace {

constexpr int64_t kSlow_us = 500'000;
constexpr size_t kMostFormer = 10;

std::optional<K8sRuntimeFound> service_of(const State& state, const std::string& instance) {
  auto found = state.find_by_instance(instance);
  if (found.empty()) return std::nullopt;
  return found.front();
}

bool take(State& state, const K8sRuntimeFound& service) {
  if (service.record.busy) return false;
  state.edit(service.id, [&](K8sRuntimeRecord& record) { record.busy = state.request(); });
  return true;
}

std::optional<K8sRuntimeFound> given_back(State& state, std::optional<K8sRuntimeFound> service) {
  if (service && service->record.busy == state.request()) {
    state.edit(service->id, [](K8sRuntimeRecord& record) { record.busy.reset(); });
  }
  return service;
}

std::optional<lang::Sealed> credential_of(const State& state, const std::string& environment) {
  auto account = state.get(K8sRuntimeAId(environment));
  return account ? std::optional(account->credential) : std::nullopt;
}

// Where the environment's pods are. From here on the cluster is asked with its credential.
Result<views::PodPlace> place_of(const std::string& environment, const std::optional<lang::Sealed>& credential,
                                 Effect& effect) {
  const views::PodPlace place = views::pod_place(effect.read(), environment);
  PodCredential held;
  try {
    if (credential) held = {.handle = credential->handle(), .token = effect.open(*credential)};
  } catch (const std::runtime_error& error) {
    return Error{.code = Code::unavailable,
                 .message = "the credential that " + environment + " is deployed with cannot be read: " + error.what() +
                            "; next: Credentials/rotate environment=" + environment};
  }
  effect.tool<PodHost>().hold(place, held);
  return place;
}

DeployWork work_of(const State& state, const K8sRuntimeFound& service, const std::string& artifact, int64_t serial) {
  return {.service = service.id.text(),
          .environment = service.record.environment,
          .artifact = artifact,
          .serial = serial,
          .replicas = service.record.replicas,
          .config = service.record.config,
          .variables = service.record.variables,
          .health = service.record.health,
          .secrets = service.record.secrets,
          .credential = credential_of(state, service.record.environment)};
}

// Counts the deployment, so that its objects have names of their own.
DeployWork open_deployment(State& state, const K8sRuntimeFound& service, const std::string& artifact) {
  const int64_t serial = service.record.serial + 1;
  state.edit(service.id, [&](K8sRuntimeRecord& record) { record.serial = serial; });
  return work_of(state, service, artifact, serial);
}

struct Lacking {
  std::string config;
  std::vector<std::string> secrets;
  std::string reason;
};

// Those secrets that the bundle names.
std::variant<process::Secrets, Lacking> secrets_for(const bundle::Manifest& manifest,
                                                    const std::optional<lang::Sealed>& sealed, Effect& effect) {
  process::Secrets known;
  Lacking lacking{.reason = "none were given"};
  if (sealed) {
    try {
      auto all = process::unseal(effect.open(*sealed));
      if (all) known = *std::move(all);
      lacking.reason = all ? "others were given" : all.error().message;
    } catch (const std::runtime_error& error) {
      lacking.reason = error.what();
    }
  }
  process::Secrets named;
  for (const bundle::VariableName& name : manifest.secrets) {
    auto found = known.find(name.text);
    if (found == known.end()) {
      lacking.secrets.push_back(name.text);
    } else {
      named.insert(*found);
    }
  }
  for (const bundle::Question& each : manifest.config) {
    if (!each.secret) continue;
    if (auto found = known.find(bundle::secret_variable(each)); found != known.end()) named.insert(*found);
  }
  if (!lacking.secrets.empty()) return lacking;
  return named;
}

Result<json::object> config_for(const bundle::Manifest& manifest, const std::string& config, Effect& effect) {
  auto object = parse_json(config.empty() ? "{}" : config, "config");
  if (!object) return object.error();
  json::object told = object->root.as_object();
  for (auto& each : told) {
    if (!is_runtime_reference(each.value())) continue;
    const std::string reference(each.value().get_string());
    auto found = views::found_by(effect.read(), reference);
    if (!found) return Error{.code = Code::not_found, .message = "nothing has found out " + reference};
    each.value() = *found;
  }
  return bundle::complete_answers(manifest, std::move(told));
}

std::variant<PodPlan, Lacking> plan_for(const PodBundle& bundle, const DeployWork& work, const std::string& name_space,
                                        Effect& effect) {
  PodPlan plan{.service = work.service,
               .serial = work.serial,
               .name_space = name_space,
               .image = bundle.image,
               .replicas = work.replicas,
               .manifest = bundle.manifest};
  auto secrets = secrets_for(bundle.manifest, work.secrets, effect);
  if (auto* lacking = std::get_if<Lacking>(&secrets)) return *lacking;
  plan.secrets = std::get<process::Secrets>(std::move(secrets));
  auto config = config_for(bundle.manifest, work.config, effect);
  if (!config) return Lacking{.config = to_string(config.error())};
  plan.config = write(*config);
  if (work.variables) {
    const json::value variables = json::parse(*work.variables);
    for (const auto& each : variables.as_object()) plan.variables.emplace(each.key(), each.value().as_string());
  }
  // What a bundle or an operator says of telemetry itself comes first.
  lang::ReadOnlyRows rows(effect.read().rows_of("K8sRuntime"));
  if (auto service = State(rows).get(K8sRuntimeId(work.service))) {
    for (const auto& [name, text] : views::otel_variables(effect.read(), service->instance)) {
      if (!bundle.manifest.env.contains(name)) plan.variables.emplace(name, text);
    }
  }
  if (work.health) {
    auto said = parse_json(*work.health, "health");
    auto health = said ? health_over(bundle.manifest.health, said->root) : said.error();
    if (!health) return Lacking{.config = to_string(health.error())};
    plan.manifest.health = *health;
  }
  return plan;
}

std::vector<K8sRuntimeReplica> replicas_of(const std::vector<Pod>& pods) {
  std::vector<K8sRuntimeReplica> replicas;
  for (const Pod& each : pods) replicas.push_back({.name = each.name, .endpoint = each.endpoint});
  return replicas;
}

Deploy::Performed told(const Misfortune& misfortune) {
  switch (misfortune.kind) {
    case Misfortune::Kind::crash_loop:
      return Deploy::PodCrashLoop{
          .replica = misfortune.pod, .reason = misfortune.reason, .lastLines = misfortune.last_lines};
    case Misfortune::Kind::image:
      return Deploy::ImagePullFailed{.replica = misfortune.pod, .reason = misfortune.reason};
    case Misfortune::Kind::quota:
      return Deploy::ResourceQuotaExceeded{.reason = misfortune.reason};
    case Misfortune::Kind::unschedulable:
      return Deploy::Unschedulable{.replica = misfortune.pod, .reason = misfortune.reason};
    case Misfortune::Kind::not_ready:
      return Deploy::NotReady{
          .replica = misfortune.pod, .reason = misfortune.reason, .lastLines = misfortune.last_lines};
    case Misfortune::Kind::unreachable:
      return Deploy::PodUnreachable{.replica = misfortune.pod, .reason = misfortune.reason};
    case Misfortune::Kind::refused:
      return Deploy::Refused{.reason = misfortune.reason};
    case Misfortune::Kind::unavailable:
      return Deploy::ClusterUnavailable{.reason = misfortune.reason};
    case Misfortune::Kind::cancelled:
      break;
  }
  return lang::Again{.reason = misfortune.reason};
}

// A cluster repeats what it does not like, and programs print what they were given.
void hide(const process::Secrets& secrets, Misfortune& misfortune) {
  rendering::Taint taint;
  for (const auto& [name, value] : secrets) taint.add(value);
  misfortune.reason = taint.redacted(misfortune.reason);
  for (std::string& line : misfortune.last_lines) line = taint.redacted(line);
}

using Brought = std::variant<std::vector<Pod>, Misfortune, Lacking, Error>;

// Brings the deployment up; on failure what is new goes again.
Brought run(const DeployWork& work, Effect& effect, std::string& hash) {
  auto& host = effect.tool<PodHost>();
  auto bundle = host.open(work.artifact);
  if (!bundle) return bundle.error();
  hash = bundle->hash;
  auto found = place_of(work.environment, work.credential, effect);
  if (!found) return Misfortune{.kind = Misfortune::Kind::unavailable, .reason = found.error().message};
  const views::PodPlace& place = *found;
  auto plan = plan_for(*bundle, work, place.name_space, effect);
  if (auto* lacking = std::get_if<Lacking>(&plan)) return *lacking;
  auto brought = host.bring_up(place, std::get<PodPlan>(plan), [&] { return effect.cancelled(); });
  if (auto* misfortune = std::get_if<Misfortune>(&brought)) {
    hide(std::get<PodPlan>(plan).secrets, *misfortune);
    // A repeat goes on with what is there; nobody repeats any other failure.
    if (misfortune->kind != Misfortune::Kind::cancelled) {
      if (auto gone = host.take_down_one(place, work.service, work.serial); !gone) {
        misfortune->reason += "; what is new could not be removed: " + gone.error().message;
      }
    }
    return *misfortune;
  }
  return std::get<std::vector<Pod>>(std::move(brought));
}

// Brings the deployment up, and removes those before.
Brought run_instead(const DeployWork& work, Effect& effect, std::string& hash) {
  Brought brought = run(work, effect, hash);
  if (!std::holds_alternative<std::vector<Pod>>(brought)) return brought;
  const views::PodPlace place = views::pod_place(effect.read(), work.environment);
  if (auto gone = effect.tool<PodHost>().take_down(place, work.service, work.serial); !gone) {
    return Misfortune{.kind = Misfortune::Kind::cancelled, .reason = gone.error().message};
  }
  return brought;
}

std::string text_of(const Brought& brought) {
  if (const auto* error = std::get_if<Error>(&brought)) return to_string(*error);
  if (const auto* lacking = std::get_if<Lacking>(&brought)) {
    if (!lacking->config.empty()) return lacking->config;
    std::string names;
    for (const std::string& each : lacking->secrets) names += (names.empty() ? "" : ", ") + each;
    return "it has no " + names + " among its secrets: " + lacking->reason;
  }
  return std::get<Misfortune>(brought).reason;
}

bool is_again(const Brought& brought) {
  const auto* misfortune = std::get_if<Misfortune>(&brought);
  return misfortune != nullptr && misfortune->kind == Misfortune::Kind::cancelled;
}

// Keeps what runs.
void keep(State& state, const K8sRuntimeId& service, const std::string& endpoint, int64_t serial,
          const std::vector<K8sRuntimePod>& pods) {
  state.edit(service, [&](K8sRuntimeRecord& record) {
    record.endpoint = endpoint;
    record.running = serial;
  });
  state.pods(service).assign(pods);
}

std::vector<K8sRuntimePod> pods_of(const std::vector<K8sRuntimeReplica>& replicas) {
  std::vector<K8sRuntimePod> pods;
  for (const K8sRuntimeReplica& each : replicas) pods.push_back({.name = each.name, .endpoint = each.endpoint});
  return pods;
}

}  // namespace

Provision::Result K8sRuntime::provision(const Provision& ask, State& state) {
  auto settings = parse_k8s_settings(ask.config);
  if (!settings) return Provision::InvalidConfig{.message = to_string(settings.error())};
  auto found = service_of(state, ask.instance);
  const K8sRuntimeId service = found ? found->id : state.add({.instance = ask.instance});
  state.edit(service, [&](K8sRuntimeRecord& record) {
    auto environment = settings->variables.find("SLUICE_ENVIRONMENT");
    record.environment = environment == settings->variables.end() ? "" : environment->second;
    record.replicas = settings->replicas;
    record.config = settings->config ? write(*settings->config) : "{}";
    record.variables.reset();
    if (!settings->variables.empty()) record.variables = json::serialize(json::value_from(settings->variables));
    record.health.reset();
    if (settings->health) record.health = json::serialize(*settings->health);
  });
  return Provision::Ok{.service = service, .endpoint = "k8s:" + service.text(), .storage = ""};
}

Deploy::Begun K8sRuntime::begin_deploy(const Deploy& ask, State& state) {
  auto service = service_of(state, ask.instance);
  if (!service) return Deploy::Result(Deploy::Notfound{.instance = ask.instance});
  if (!take(state, *service)) return Deploy::Result(Deploy::Busy{.instance = ask.instance});
  DeployWork work = open_deployment(state, *service, ask.artifact);
  if (ask.secrets) work.secrets = ask.secrets;
  return work;
}

Deploy::Performed K8sRuntime::perform_deploy(const DeployWork& work, Effect& effect) {
  std::string hash;
  Brought brought = run_instead(work, effect, hash);
  if (const auto* error = std::get_if<Error>(&brought)) {
    return Deploy::BadBundle{.artifact = work.artifact, .reason = to_string(*error)};
  }
  if (const auto* lacking = std::get_if<Lacking>(&brought)) {
    if (!lacking->config.empty()) return Deploy::InvalidConfig{.message = lacking->config};
    return Deploy::SecretsMissing{.names = lacking->secrets, .reason = text_of(brought)};
  }
  if (const auto* misfortune = std::get_if<Misfortune>(&brought)) return told(*misfortune);
  const auto& pods = std::get<std::vector<Pod>>(brought);
  return Deploy::Ok{.endpoint = pods.front().endpoint, .artifactHash = hash, .replicas = replicas_of(pods)};
}

Deploy::Outcome K8sRuntime::finish_deploy(const Deploy& ask, const Deploy::Outcome& outcome, State& state) {
  auto service = given_back(state, service_of(state, ask.instance));
  if (!service) return outcome;
  if (const auto* end = get_if<lang::EngineEnd>(&outcome); end != nullptr && end->maybe_done) {
    return Deploy::Abandoned{.service = service->id, .reason = end->message};
  }
  if (ended_of(outcome) != Deploy::Ended::ok) return outcome;
  auto ok = get<Deploy::Ok>(outcome);
  ok.service = service->id;
  if (const K8sRuntimeRecord& before = service->record; !before.artifact.empty()) {
    auto past = state.former_versions(service->id).values();
    past.push_back({.version = before.version, .artifact = before.artifact, .artifactHash = before.artifactHash});
    if (past.size() > kMostFormer) past.erase(past.begin());
    state.former_versions(service->id).assign(past);
  }
  state.edit(service->id, [&](K8sRuntimeRecord& record) {
    record.version = ask.version;
    record.artifact = ask.artifact;
    record.artifactHash = ok.artifactHash;
    if (ask.secrets) record.secrets = ask.secrets;
  });
  keep(state, service->id, ok.endpoint, service->record.serial, pods_of(ok.replicas));
  return ok;
}

Rollback::Begun K8sRuntime::begin_rollback(const Rollback& ask, State& state) {
  auto service = service_of(state, ask.instance);
  auto past = service ? state.former_versions(service->id).values() : std::vector<K8sRuntimeFormerVersion>{};
  if (past.empty()) return Rollback::Result(Rollback::NoPrevious{.instance = ask.instance});
  if (!take(state, *service)) return Rollback::Result(Rollback::Busy{.instance = ask.instance});
  return RollbackWork{.deploy = open_deployment(state, *service, past.back().artifact)};
}

Rollback::Performed K8sRuntime::perform_rollback(const RollbackWork& work, Effect& effect) {
  std::string hash;
  Brought brought = run_instead(work.deploy, effect, hash);
  if (is_again(brought)) return lang::Again{.reason = text_of(brought)};
  const auto* pods = std::get_if<std::vector<Pod>>(&brought);
  if (pods == nullptr) return Rollback::Failed{.reason = text_of(brought)};
  return Rollback::Ok{.endpoint = pods->front().endpoint, .replicas = replicas_of(*pods)};
}

Rollback::Outcome K8sRuntime::finish_rollback(const Rollback& ask, const Rollback::Outcome& outcome, State& state) {
  auto service = given_back(state, service_of(state, ask.instance));
  if (!service) return outcome;
  if (const auto* end = get_if<lang::EngineEnd>(&outcome); end != nullptr && end->maybe_done) {
    return Rollback::Failed{.instance = ask.instance, .reason = end->message};
  }
  if (ended_of(outcome) == Rollback::Ended::failed) {
    auto failed = get<Rollback::Failed>(outcome);
    failed.instance = ask.instance;
    return failed;
  }
  if (ended_of(outcome) != Rollback::Ended::ok) return outcome;
  auto ok = get<Rollback::Ok>(outcome);
  auto past = state.former_versions(service->id).values();
  const K8sRuntimeFormerVersion restored = past.back();
  past.pop_back();
  state.former_versions(service->id).assign(past);
  state.edit(service->id, [&](K8sRuntimeRecord& record) {
    record.version = restored.version;
    record.artifact = restored.artifact;
    record.artifactHash = restored.artifactHash;
  });
  keep(state, service->id, ok.endpoint, service->record.serial, pods_of(ok.replicas));
  ok.service = service->id;
  ok.restoredVersion = restored.version;
  return ok;
}

Scale::Begun K8sRuntime::begin_scale(const Scale& ask, State& state) {
  auto service = service_of(state, ask.instance);
  if (!service || service->record.artifact.empty()) return Scale::Result(Scale::Notfound{.instance = ask.instance});
  if (ask.replicas < 1 || ask.replicas > kMostReplicas) {
    return Scale::Result(Scale::Invalid{.message = "expected 1 to 1000 replicas"});
  }
  if (!take(state, *service)) return Scale::Result(Scale::Busy{.instance = ask.instance});
  ScaleWork work{.deploy = work_of(state, *service, service->record.artifact, service->record.running)};
  work.deploy.replicas = ask.replicas;
  return work;
}

Scale::Performed K8sRuntime::perform_scale(const ScaleWork& work, Effect& effect) {
  auto& host = effect.tool<PodHost>();
  auto bundle = host.open(work.deploy.artifact);
  if (!bundle) return Scale::Failed{.reason = to_string(bundle.error())};
  auto place = place_of(work.deploy.environment, work.deploy.credential, effect);
  if (!place) return Scale::Failed{.reason = place.error().message};
  auto sized = host.resize(*place, work.deploy.service, work.deploy.serial, work.deploy.replicas);
  if (!sized) return Scale::Failed{.reason = to_string(sized.error())};
  auto brought = host.await(*place, work.deploy.service, work.deploy.serial, work.deploy.replicas,
                            bundle->manifest.health.start_within.length.count(), [&] { return effect.cancelled(); });
  if (const auto* misfortune = std::get_if<Misfortune>(&brought)) {
    if (misfortune->kind == Misfortune::Kind::cancelled) return lang::Again{.reason = misfortune->reason};
    return Scale::Failed{.reason = misfortune->reason};
  }
  const auto& pods = std::get<std::vector<Pod>>(brought);
  return Scale::Ok{.endpoint = pods.front().endpoint, .replicas = replicas_of(pods)};
}

Scale::Outcome K8sRuntime::finish_scale(const Scale& ask, const Scale::Outcome& outcome, State& state) {
  auto service = given_back(state, service_of(state, ask.instance));
  if (!service) return outcome;
  if (ended_of(outcome) == Scale::Ended::failed) {
    auto failed = get<Scale::Failed>(outcome);
    failed.instance = ask.instance;
    return failed;
  }
  if (ended_of(outcome) != Scale::Ended::ok) return outcome;
  auto ok = get<Scale::Ok>(outcome);
  ok.service = service->id;
  state.edit(service->id, [&](K8sRuntimeRecord& record) { record.replicas = ask.replicas; });
  keep(state, service->id, ok.endpoint, service->record.running, pods_of(ok.replicas));
  return ok;
}

Renew::Begun K8sRuntime::begin_renew(const Renew& ask, State& state) {
  auto service = service_of(state, ask.instance);
  if (!service || service->record.artifact.empty() || !take(state, *service)) {
    return Renew::Result(
        Renew::Failed{.instance = ask.instance, .reason = "nothing runs, or something else is being done to it"});
  }
  RenewWork work{.deploy = open_deployment(state, *service, service->record.artifact)};
  if (ask.secrets) work.deploy.secrets = ask.secrets;
  return work;
}

Renew::Performed K8sRuntime::perform_renew(const RenewWork& work, Effect& effect) {
  std::string hash;
  Brought brought = run(work.deploy, effect, hash);
  if (is_again(brought)) return lang::Again{.reason = text_of(brought)};
  const auto* pods = std::get_if<std::vector<Pod>>(&brought);
  if (pods == nullptr) {
    Renew::Failed failed{.reason = text_of(brought)};
    if (const auto* misfortune = std::get_if<Misfortune>(&brought)) failed.lastLines = misfortune->last_lines;
    return failed;
  }
  return Renew::Ok{.endpoint = pods->front().endpoint, .replicas = replicas_of(*pods)};
}

Renew::Outcome K8sRuntime::finish_renew(const Renew& ask, const Renew::Outcome& outcome, State& state) {
  auto service = given_back(state, service_of(state, ask.instance));
  if (const auto* end = get_if<lang::EngineEnd>(&outcome)) {
    return Renew::Failed{.instance = ask.instance, .reason = end->message};
  }
  if (ended_of(outcome) == Renew::Ended::failed) {
    auto failed = get<Renew::Failed>(outcome);
    failed.instance = ask.instance;
    return failed;
  }
  auto ok = get<Renew::Ok>(outcome);
  ok.instance = ask.instance;
  if (!service) return ok;
  if (ask.secrets) state.edit(service->id, [&](K8sRuntimeRecord& record) { record.secrets = ask.secrets; });
  keep(state, service->id, ok.endpoint, service->record.serial, pods_of(ok.replicas));
  return ok;
}

Tidy::Begun K8sRuntime::begin_tidy(const Tidy& ask, State& state) {
  auto service = service_of(state, ask.instance);
  // What is done to it meanwhile has a serial of its own, and removes or tidies what was before.
  if (!service || !take(state, *service)) return TidyWork{};
  return TidyWork{.service = service->id.text(),
                  .environment = service->record.environment,
                  .kept = service->record.running,
                  .credential = credential_of(state, service->record.environment)};
}

Tidy::Performed K8sRuntime::perform_tidy(const TidyWork& work, Effect& effect) {
  if (work.service.empty()) return Tidy::Ok{};
  auto place = place_of(work.environment, work.credential, effect);
  auto gone = place ? effect.tool<PodHost>().take_down(*place, work.service, work.kept) : place.error();
  if (!gone) return Tidy::Stuck{.reason = to_string(gone.error())};
  return Tidy::Ok{};
}

Tidy::Outcome K8sRuntime::finish_tidy(const Tidy& ask, const Tidy::Outcome& outcome, State& state) {
  (void)given_back(state, service_of(state, ask.instance));
  Tidy::Outcome told = outcome;
  if (auto* ok = get_if<Tidy::Ok>(&told)) ok->instance = ask.instance;
  if (auto* stuck = get_if<Tidy::Stuck>(&told)) stuck->instance = ask.instance;
  return told;
}

Destroy::Begun K8sRuntime::begin_destroy(const Destroy& ask, State& state) {
  auto service = service_of(state, ask.instance);
  if (!service) return DestroyWork{};
  if (!take(state, *service)) return Destroy::Result(Destroy::Busy{.instance = ask.instance});
  return DestroyWork{.service = service->id.text(),
                     .environment = service->record.environment,
                     .credential = credential_of(state, service->record.environment)};
}

Destroy::Performed K8sRuntime::perform_destroy(const DestroyWork& work, Effect& effect) {
  if (work.service.empty()) return Destroy::Ok{};
  auto place = place_of(work.environment, work.credential, effect);
  auto gone = place ? effect.tool<PodHost>().take_down(*place, work.service, 0) : place.error();
  if (!gone) return Destroy::Stuck{.reason = to_string(gone.error())};
  return Destroy::Ok{};
}

Destroy::Outcome K8sRuntime::finish_destroy(const Destroy& ask, const Destroy::Outcome& outcome, State& state) {
  auto service = given_back(state, service_of(state, ask.instance));
  if (ended_of(outcome) == Destroy::Ended::stuck) {
    auto stuck = get<Destroy::Stuck>(outcome);
    stuck.instance = ask.instance;
    return stuck;
  }
  if (ended_of(outcome) != Destroy::Ended::ok) return outcome;
  if (service) state.erase(service->id);
  return Destroy::Ok{.instance = ask.instance};
}

Check::Begun K8sRuntime::begin_check(const Check& ask, State& state) {
  auto service = service_of(state, ask.instance);
  if (!service || service->record.artifact.empty()) return Check::Result(Check::Unreachable{.instance = ask.instance});
  return CheckWork{.service = service->id.text(),
                   .environment = service->record.environment,
                   .serial = service->record.running,
                   .replicas = service->record.replicas,
                   .credential = credential_of(state, service->record.environment)};
}

Check::Performed K8sRuntime::perform_check(const CheckWork& work, Effect& effect) {
  auto place = place_of(work.environment, work.credential, effect);
  auto slowest_us = place ? effect.tool<PodHost>().reach(*place, work.service, work.serial, work.replicas)
                          : Result<int64_t>(place.error());
  if (!slowest_us) return Check::Unreachable{};
  if (*slowest_us > kSlow_us) return Check::Degraded{.latencyMs = *slowest_us / 1000};
  return Check::Ok{.latencyMs = *slowest_us / 1000};
}

Check::Outcome K8sRuntime::finish_check(const Check& ask, const Check::Outcome& outcome, State&) {
  Check::Outcome told = outcome;
  if (auto* ok = get_if<Check::Ok>(&told)) ok->instance = ask.instance;
  if (auto* unreachable = get_if<Check::Unreachable>(&told)) unreachable->instance = ask.instance;
  if (auto* degraded = get_if<Check::Degraded>(&told)) degraded->instance = ask.instance;
  return told;
}

// While something is done to it, whoever does it says where its pods are.
Observe::Result K8sRuntime::observe(const Observe& ask, State& state) {
  auto record = state.get(ask.service);
  const auto seen = pods_of(ask.replicas);
  if (!record || record->busy || seen.empty() || state.pods(ask.service).values() == seen) {
    return Observe::Unchanged{.service = ask.service};
  }
  const std::string endpoint = seen.front().endpoint;
  keep(state, ask.service, endpoint, record->running, seen);
  Observe::Ok ok{.instance = record->instance, .endpoint = endpoint};
  for (const auto& each : seen) ok.replicas.push_back({.name = each.name, .endpoint = each.endpoint});
  return ok;
}

Entrust::Result K8sRuntime::entrust(const Entrust& ask, State& state) {
  if (ask.credential) {
    state.put(ask.environment, {.credential = *ask.credential, .entrustedAt = state.now()});
  } else if (state.has(ask.environment)) {
    state.erase(ask.environment);
  }
  return Entrust::Ok{.environment = ask.environment};
}

Hold::Begun K8sRuntime::begin_hold(const Hold& ask, State& state) {
  return HoldWork{.environment = ask.environment.text(), .credential = credential_of(state, ask.environment.text())};
}

Hold::Performed K8sRuntime::perform_hold(const HoldWork& work, Effect& effect) {
  if (auto place = place_of(work.environment, work.credential, effect); !place) {
    return Hold::Lost{.environment = K8sRuntimeAId(work.environment), .message = place.error().message};
  }
  return Hold::Ok{.environment = K8sRuntimeAId(work.environment)};
}

Hold::Outcome K8sRuntime::finish_hold(const Hold&, const Hold::Outcome& outcome, State&) { return outcome; }

}  // namespace sluice::deploy::k8s_runtime
