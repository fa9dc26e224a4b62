// Deployment keeps who runs what for whom. Routes are proven unambiguous when they are set: no request can ever mean
// two deployments of one environment. Shares count from the moment at which their policy is signed; until then the
// request that has it signed stands in the row.
#include <algorithm>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/json.h"
#include "deploy/access_policy.h"
#include "deploy/concepts/deployment/deployment_rows.h"
#include "deploy/concepts/deployment/deployment_work.h"
#include "deploy/pack_config.h"
#include "deploy/views/bundle_settings.h"
#include "deploy/views/trusted_keys.h"

namespace sluice::deploy::deployment {
namespace {

constexpr size_t kMaxName = 100;
constexpr size_t kMaxOverrideBytes = 16 << 10;
constexpr size_t kMaxOverridePacks = 32;
constexpr size_t kMaxOverrideKeys = 64;
constexpr int64_t kMostReplicas = 1'000;
constexpr size_t kMaxLabels = 32;

std::vector<RevenueParty> shares_of(const std::vector<DeploymentParty>& parties) {
  std::vector<RevenueParty> shares;
  for (const DeploymentParty& each : parties) shares.push_back({each.partyId, each.basisPoints});
  return shares;
}

RevenuePolicy policy_of(const DeploymentId& id, const DeploymentRecord& record, int64_t version,
                        const std::vector<RevenueParty>& shares, lang::DateTime at) {
  return {.version = version,
          .deployment_id = id.text(),
          .env_id = record.environment,
          .bundle_id = record.bundle,
          .customer_id = record.customer,
          .revenue_share = shares,
          .created_at = utc_text(at.ms)};
}

// Empty if these are overrides: a JSON object by pack, of objects by key, within the limits.
std::string fault_of_overrides(const std::string& text) {
  if (text.empty()) return "";
  if (text.size() > kMaxOverrideBytes) return "overrides have at most 16 kB";
  auto document = parse_json(text, "overrides");
  if (!document) return to_string(document.error());
  if (!document->root.is_object()) return "overrides are a JSON object by pack";
  if (document->root.get_object().size() > kMaxOverridePacks) return "at most 32 packs are overridden";
  for (const auto& pack : document->root.get_object()) {
    if (pack.key().empty() || !pack.value().is_object()) return "overrides of a pack are a JSON object by key";
    if (pack.value().get_object().size() > kMaxOverrideKeys) return "at most 64 keys of a pack are overridden";
    for (const auto& each : pack.value().get_object()) {
      if (each.key().empty()) return "a key is not empty";
    }
  }
  return "";
}

std::string status_text(DeploymentStatus status) {
  return status == DeploymentStatus::active ? "active" : status == DeploymentStatus::paused ? "paused" : "archived";
}

// Turns a status into another, if it is one of those that lead there.
template <class Action>
typename Action::Result change_status(State& state, const DeploymentId& id,
                                      std::initializer_list<DeploymentStatus> from, DeploymentStatus to) {
  auto record = state.get(id);
  if (!record) return typename Action::NotFound{.deployment = id};
  if (std::ranges::find(from, record->status) == from.end()) {
    return typename Action::WrongStatus{.deployment = id,
                                        .status = status_text(record->status),
                                        .message = id.text() + " is " + status_text(record->status)};
  }
  record->status = to;
  record->generation++;
  state.put(id, *record);
  return typename Action::Ok{.deployment = id, .generation = record->generation};
}

}  // namespace

bool is_object_name(const std::string& text) {
  auto fits = [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.'; };
  return !text.empty() && text.size() <= kMaxName && text != "." && text != ".." && std::ranges::all_of(text, fits);
}

RouteBinding binding_of(const DeploymentRoute& route) {
  return {route.hosts, route.pathPrefixes, route.tenant, route.team};
}

DeploymentRoute route_of(const RouteBinding& binding) {
  return {
      .hosts = binding.hosts, .pathPrefixes = binding.path_prefixes, .tenant = binding.tenant, .team = binding.team};
}

std::optional<Clash> clash_of(const State& state, const std::string& environment, const RouteBinding& binding,
                              const DeploymentId& self) {
  for (const DeploymentFound& each : state.find_by_environment(environment)) {
    if (each.id == self || each.record.status == DeploymentStatus::archived) continue;
    auto shared = shared_route(binding, binding_of(each.record.route));
    if (!shared) continue;
    return Clash{each.id, *shared + " is the route of " + each.id.text() + " (" + each.record.bundle + " for " +
                              each.record.customer + ") already"};
  }
  return std::nullopt;
}

Add::Begun Deployment::begin_add(const Add& ask, State& state) {
  auto refuse = [](std::string message) { return Add::Result(Add::Invalid{.message = std::move(message)}); };
  const std::string customer = ask.customer.empty() ? std::string(kLocalCustomer) : ask.customer;
  if (!is_object_name(ask.bundle)) return refuse("a bundle has a name of letters, digits, -, _ and .");
  if (!is_object_name(customer)) return refuse("a customer has a name of letters, digits, -, _ and .");
  auto binding = normal_binding({ask.hosts, ask.pathPrefixes, ask.tenant, ask.team});
  if (!binding) return refuse(binding.error().message);
  std::vector<RevenueParty> shares = shares_of(ask.parties);
  if (shares.empty()) shares = {{"sluice", 10'000}};
  if (std::string fault = fault_of_shares(shares); !fault.empty()) return refuse(fault);
  for (const DeploymentFound& each : state.find_by_environment(ask.environment)) {
    if (each.record.bundle != ask.bundle || each.record.customer != customer) continue;
    return Add::Result(Add::Exists{.deployment = each.id,
                                   .message = ask.bundle + " is deployed in " + ask.environment + " for " + customer +
                                              " already, as " + each.id.text()});
  }
  if (auto clash = clash_of(state, ask.environment, *binding, DeploymentId())) {
    return Add::Result(Add::Ambiguous{.deployment = clash->with, .message = clash->message});
  }
  DeploymentRecord record{.environment = ask.environment,
                          .bundle = ask.bundle,
                          .customer = customer,
                          .status = DeploymentStatus::active,
                          .createdAt = state.now(),
                          .generation = 1,
                          .route = route_of(*binding),
                          .policyVersion = 1,
                          .usage = {.meterEndpoint = "usage://" + ask.environment + "/" + customer + "/" + ask.bundle},
                          .authorization = state.request().text(),
                          .signing = state.request()};
  for (const RevenueParty& each : shares) record.revenueShare.parties.push_back({each.party_id, each.basis_points});
  DeploymentId id = state.add(record);
  record.storage = take_data(state, id, record);
  state.put(id, record);
  return AddWork{.policy = policy_of(id, record, 1, shares, state.now())};
}

Add::Performed Deployment::perform_add(const AddWork& work, Effect& effect) {
  auto envelope = effect.tool<PolicySeal>().sign(work.policy);
  if (!envelope) return Add::Unsigned{.message = to_string(envelope.error())};
  return Add::Ok{.deployment = DeploymentId(work.policy.deployment_id),
                 .environment = work.policy.env_id,
                 .bundle = work.policy.bundle_id,
                 .customer = work.policy.customer_id,
                 .policyVersion = 1,
                 .policy = *envelope};
}

Add::Outcome Deployment::finish_add(const Add&, const Add::Outcome& outcome, State& state) {
  auto signing = state.find_by_signing(state.request());
  if (signing.empty()) return outcome;
  const DeploymentId id = signing.front().id;
  if (const auto* ok = get_if<Add::Ok>(&outcome)) {
    state.edit(id, [](DeploymentRecord& record) {
      record.signing.reset();
      record.generation++;
    });
    state.policies(id).push({.version = 1, .envelope = ok->policy, .signedAt = state.now()});
    return outcome;
  }
  if (signing.front().record.storage != storage_of(id, {})) leave_data(state, id, signing.front().record);
  state.erase(id);
  if (ended_of(outcome) != Add::Ended::engine) return outcome;
  return Add::Unsigned{.message = reason_of(outcome)};
}

Update::Begun Deployment::begin_update(const Update& ask, State& state) {
  auto refuse = [](std::string message) { return Update::Result(Update::Invalid{.message = std::move(message)}); };
  auto record = state.get(ask.deployment);
  if (!record) return Update::Result(Update::NotFound{.deployment = ask.deployment});
  if (record->status == DeploymentStatus::archived) {
    return Update::Result(
        Update::Archived{.deployment = ask.deployment, .message = ask.deployment.text() + " is archived"});
  }
  auto binding =
      normal_binding({ask.hosts.value_or(record->route.hosts), ask.pathPrefixes.value_or(record->route.pathPrefixes),
                      ask.tenant.value_or(record->route.tenant), ask.team.value_or(record->route.team)});
  if (!binding) return refuse(binding.error().message);
  if (ask.configOverrides) {
    if (std::string fault = fault_of_overrides(*ask.configOverrides); !fault.empty()) return refuse(fault);
  }
  std::vector<RevenueParty> shares;
  if (ask.parties) {
    shares = shares_of(*ask.parties);
    if (std::string fault = fault_of_shares(shares); !fault.empty()) return refuse(fault);
    if (record->signing) {
      return Update::Result(
          Update::Busy{.deployment = ask.deployment,
                       .message = "another revenue policy of " + ask.deployment.text() + " is being signed"});
    }
  }
  if (auto clash = clash_of(state, record->environment, *binding, ask.deployment)) {
    return Update::Result(Update::Ambiguous{.deployment = clash->with, .message = clash->message});
  }
  record->route = route_of(*binding);
  if (ask.configOverrides) record->configOverrides = *ask.configOverrides;
  record->generation++;
  const auto policies = state.policies(ask.deployment).values();
  const std::string envelope = policies.empty() ? "" : policies.back().envelope;
  std::vector<RevenueParty> before = shares_of(record->revenueShare.parties);
  if (!ask.parties || shares == before) {
    state.put(ask.deployment, *record);
    return Update::Result(Update::Ok{.deployment = ask.deployment,
                                     .generation = record->generation,
                                     .policyVersion = record->policyVersion,
                                     .policy = envelope});
  }
  record->signing = state.request();
  state.put(ask.deployment, *record);
  UpdateWork work{.policy = policy_of(ask.deployment, *record, record->policyVersion + 1, shares, state.now()),
                  .before = policy_of(ask.deployment, *record, record->policyVersion, before, {}),
                  .envelope = envelope};
  work.policy.previous_version_ref = policy_ref(envelope);
  return work;
}

Update::Performed Deployment::perform_update(const UpdateWork& work, Effect& effect) {
  auto& seal = effect.tool<PolicySeal>();
  const DeploymentId id(work.policy.deployment_id);
  auto before = seal.open(work.envelope);
  // The operator may have had another key then: what the trust root still knows, it may verify.
  if (!before && before.error().code == Code::verification_failed) {
    before = seal.open(work.envelope, views::trusted_keys(effect.read()));
  }
  if (!before && before.error().code == Code::verification_failed) {
    return Update::PolicyBroken{.deployment = id, .message = before.error().message};
  }
  if (!before) return Update::Unsigned{.message = to_string(before.error())};
  // When it was made is only in the envelope, and so is what it followed.
  RevenuePolicy expected = work.before;
  expected.created_at = before->created_at;
  expected.previous_version_ref = before->previous_version_ref;
  if (*before != expected) {
    return Update::PolicyBroken{.deployment = id,
                                .message = "the revenue policy before does not say what " + id.text() + " has"};
  }
  auto envelope = seal.sign(work.policy);
  if (!envelope) return Update::Unsigned{.message = to_string(envelope.error())};
  return Update::Ok{.deployment = id, .policyVersion = work.policy.version, .policy = *envelope};
}

Update::Outcome Deployment::finish_update(const Update& ask, const Update::Outcome& outcome, State& state) {
  auto record = state.get(ask.deployment);
  if (!record || record->signing != state.request()) return outcome;
  record->signing.reset();
  record->generation++;
  if (const auto* signed_ = get_if<Update::Ok>(&outcome)) {
    Update::Ok ok = *signed_;
    ok.generation = record->generation;
    record->policyVersion = ok.policyVersion;
    record->revenueShare.parties = *ask.parties;
    state.put(ask.deployment, *record);
    state.policies(ask.deployment).push({.version = ok.policyVersion, .envelope = ok.policy, .signedAt = state.now()});
    return ok;
  }
  state.put(ask.deployment, *record);
  if (ended_of(outcome) != Update::Ended::engine) return outcome;
  return Update::Unsigned{.message = reason_of(outcome)};
}

Configure::Begun Deployment::begin_configure(const Configure& ask, State& state) {
  auto record = state.get(ask.deployment);
  if (!record) return Configure::Result(Configure::NotFound{.deployment = ask.deployment});
  return ConfigureWork{.deployment = ask.deployment.text(),
                       .environment = record->environment,
                       .bundle = record->bundle,
                       .values = ask.values};
}

Configure::Performed Deployment::perform_configure(const ConfigureWork& work, Effect& effect) {
  const DeploymentId id(work.deployment);
  const auto asks = views::asks_of_bundle(effect.read(), work.environment, work.bundle);
  for (const DeploymentValue& each : work.values) {
    const std::string fault = fault_of_value(asks, work.environment, each.key, each.value);
    if (!fault.empty()) return Configure::Invalid{.deployment = id, .key = each.key, .message = fault};
  }
  return Configure::Ok{.deployment = id, .values = work.values};
}

Configure::Outcome Deployment::finish_configure(const Configure& ask, const Configure::Outcome& outcome, State& state) {
  auto record = state.get(ask.deployment);
  if (ended_of(outcome) != Configure::Ended::ok) return outcome;
  if (!record) return Configure::NotFound{.deployment = ask.deployment};
  auto ok = get<Configure::Ok>(outcome);
  auto document = parse_json(record->configOverrides.empty() ? "{}" : record->configOverrides, "overrides");
  json::object overrides = document && document->root.is_object() ? document->root.get_object() : json::object();
  json::object own;
  if (const json::value* known = overrides.if_contains(record->bundle); known != nullptr && known->is_object()) {
    own = known->get_object();
  }
  for (const DeploymentValue& each : ok.values) {
    own.erase(each.key);
    if (!each.value.empty()) own[each.key] = parse_json(each.value, each.key).value().root;
  }
  overrides.erase(record->bundle);
  if (!own.empty()) overrides[record->bundle] = std::move(own);
  const std::string text = overrides.empty() ? "" : write(overrides);
  if (std::string fault = fault_of_overrides(text); !fault.empty()) {
    return Configure::Invalid{.deployment = ask.deployment, .message = fault};
  }
  record->configOverrides = text;
  record->generation++;
  state.put(ask.deployment, *record);
  ok.generation = record->generation;
  return ok;
}

Pause::Result Deployment::pause(const Pause& ask, State& state) {
  return change_status<Pause>(state, ask.deployment, {DeploymentStatus::active}, DeploymentStatus::paused);
}

Resume::Result Deployment::resume(const Resume& ask, State& state) {
  return change_status<Resume>(state, ask.deployment, {DeploymentStatus::paused}, DeploymentStatus::active);
}

Label::Result Deployment::label(const Label& ask, State& state) {
  if (!state.has(ask.deployment)) return Label::NotFound{.deployment = ask.deployment};
  std::vector<std::string> labels = ask.labels;
  std::ranges::sort(labels);
  labels.erase(std::ranges::unique(labels).begin(), labels.end());
  if (labels.size() > kMaxLabels) {
    return Label::Invalid{.deployment = ask.deployment, .message = "a deployment has at most 32 labels"};
  }
  for (const std::string& each : labels) {
    if (is_label(each)) continue;
    return Label::Invalid{.deployment = ask.deployment, .message = "'" + each + "' is no label: write key=value"};
  }
  state.labels(ask.deployment).assign(labels);
  return Label::Ok{.deployment = ask.deployment, .labels = labels};
}

Scale::Result Deployment::scale(const Scale& ask, State& state) {
  auto record = state.get(ask.deployment);
  if (!record) return Scale::NotFound{.deployment = ask.deployment};
  if (ask.replicas < 1 || ask.replicas > kMostReplicas) {
    return Scale::Invalid{.deployment = ask.deployment, .message = "expected 1 to 1000 replicas"};
  }
  record->replicas = ask.replicas;
  record->scaling = true;
  state.put(ask.deployment, *record);
  return Scale::Ok{.deployment = ask.deployment, .replicas = ask.replicas};
}

BeginScale::Result Deployment::begin_scale(const BeginScale& ask, State& state) {
  auto record = state.get(ask.deployment);
  if (!record || !record->scaling || !record->replicas) return BeginScale::Ok{.deployment = ask.deployment};
  record->scaling.reset();
  state.put(ask.deployment, *record);
  return BeginScale::Due{.deployment = ask.deployment, .replicas = *record->replicas};
}

Archive::Result Deployment::archive(const Archive& ask, State& state) {
  return change_status<Archive>(state, ask.deployment, {DeploymentStatus::active, DeploymentStatus::paused},
                                DeploymentStatus::archived);
}

Remove::Result Deployment::remove(const Remove& ask, State& state) {
  auto record = state.get(ask.deployment);
  if (!record) return Remove::NotFound{.deployment = ask.deployment};
  state.policies(ask.deployment).clear();
  state.labels(ask.deployment).clear();
  leave_data(state, ask.deployment, *record);
  state.erase(ask.deployment);
  return Remove::Ok{.deployment = ask.deployment,
                    .environment = record->environment,
                    .bundle = record->bundle,
                    .customer = record->customer,
                    .storage = storage_of(ask.deployment, *record)};
}

CheckRoutes::Result Deployment::check_routes(const CheckRoutes& ask, State& state) {
  auto record = state.get(ask.deployment);
  if (!record) return CheckRoutes::NotFound{.deployment = ask.deployment};
  if (auto clash = clash_of(state, record->environment, binding_of(record->route), ask.deployment)) {
    return CheckRoutes::Ambiguous{.deployment = clash->with, .message = clash->message};
  }
  return CheckRoutes::Ok{.deployment = ask.deployment};
}

Policies::Result Deployment::policies(const Policies& ask, const State& state) {
  if (!state.has(ask.deployment)) return Policies::NotFound{.deployment = ask.deployment};
  return Policies::Ok{.deployment = ask.deployment, .policies = state.policies(ask.deployment).values()};
}

}  // namespace sluice::deploy::deployment
