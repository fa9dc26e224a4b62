// Deployment/up: what is asked for stands in the row of its change, and so does what was reached, so that however it
// ends finish knows what to say and what to give back.
#include <algorithm>

#include "base/basis_points.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/terminal.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"
#include "deploy/bundle_shelf.h"
#include "deploy/concepts/deployment/deployment_rows.h"
#include "deploy/concepts/deployment/deployment_work.h"
#include "deploy/next_in_words.h"
#include "deploy/run_settings.h"

namespace sluice::deploy::deployment {
namespace {

constexpr int64_t kMostDrain_s = 86'400;

// Empty if it is a JSON object, or nothing.
std::string fault_of_object(const std::optional<std::string>& text, const std::string& name) {
  if (!text) return "";
  auto document = parse_json(*text, name);
  if (!document) return to_string(document.error());
  return document->root.is_object() ? "" : name + " is a JSON object by name";
}

std::string fault_of(const Up& ask) {
  if (!is_blob_digest(ask.archive)) return "the archive is named by its digest, sha256: and 64 digits";
  if (!ask.signature.value_or("").empty() && !is_blob_digest(*ask.signature)) {
    return "the signatures are named by their digest, sha256: and 64 digits";
  }
  if (std::string fault = fault_of_object(ask.set, "set"); !fault.empty()) return fault;
  if (std::string fault = fault_of_object(ask.runtimeRefs, "runtimeRefs"); !fault.empty()) return fault;
  if (std::string fault = fault_of_object(ask.running, "running"); !fault.empty()) return fault;
  if (ask.running) {
    auto sound = read_run_settings(parse_json(*ask.running, "running")->root);
    if (!sound) return "running: " + to_string(sound.error());
  }
  if (ask.canaryBps && (*ask.canaryBps < 1 || *ask.canaryBps >= kAllBasisPoints)) {
    return "a canary gets 1 to 9999 bps";
  }
  if (ask.drainSeconds && (*ask.drainSeconds < 0 || *ask.drainSeconds > kMostDrain_s)) {
    return "a revision drains for 0 to 86400 seconds";
  }
  return "";
}

// What two calls must have in common to be one: all but who called.
std::string digest_of(Up ask) {
  ask.caller.reset();
  return crypto::to_hex(crypto::sha256(write(to_json(ask))));
}

// The one that asked for the same last, if nothing else was asked for in the environment since.
std::optional<lang::Request> leader_of(const State& state, const DeploymentCRecord& change) {
  std::optional<DeploymentCFound> last;
  for (const DeploymentCFound& each : state.all_c()) {
    if (each.record.target.environment != change.target.environment) continue;
    if (!last || each.record.number > last->record.number) last = each;
  }
  if (!last || last->record.wish.digest != change.wish.digest) return std::nullopt;
  return last->record.leader ? last->record.leader : last->record.ask;
}

// Routes of a manifest; no hosts: any.
RouteBinding routes_of(const bundle::Manifest& manifest) {
  RouteBinding routes;
  bool any_host = false;
  auto add = [](std::vector<std::string>& to, const std::string& text) {
    if (std::ranges::find(to, text) == to.end()) to.push_back(text);
  };
  for (const bundle::Route& route : manifest.routes) {
    any_host = any_host || !route.host;
    if (route.host) add(routes.hosts, route.host->text);
    add(routes.path_prefixes, route.path.text);
  }
  if (any_host) routes.hosts.clear();
  return routes;
}

// Whom the bundle is deployed for: who was named, else the only one that it is deployed for already.
Result<std::string> customer_for(const State& state, const std::string& environment, const std::string& bundle,
                                 const std::string& named) {
  if (!named.empty() && !is_object_name(named)) {
    return Error{.code = Code::invalid,
                 .message = "'" + printable(named) + "' cannot be a customer: a name has letters, digits, -, _ and ."};
  }
  if (!named.empty()) return named;
  std::vector<std::string> customers;
  for (const DeploymentFound& each : state.find_by_environment(environment)) {
    if (each.record.bundle == bundle) customers.push_back(each.record.customer);
  }
  if (customers.size() == 1) return customers.front();
  if (customers.size() > 1) {
    std::string names;
    for (const std::string& each : customers) names += (names.empty() ? "" : ", ") + each;
    return Error{.code = Code::conflict,
                 .message = bundle + " is deployed in " + environment + " for " + std::to_string(customers.size()) +
                            " customers: " + names + "; next: name one of them with --customer-id"};
  }
  if (environment == kLocalEnvironment) return std::string(kLocalCustomer);
  return Error{.code = Code::invalid,
               .message = "outside local a deployment is for a customer; next: name the customer with --customer-id"};
}

std::optional<DeploymentFound> deployment_of(const State& state, const DeploymentTarget& target) {
  for (const DeploymentFound& each : state.find_by_environment(target.environment)) {
    if (each.record.bundle == target.bundle && each.record.customer == target.customer) return each;
  }
  return std::nullopt;
}

// The binding that a deployment is to have, if that is another than it has. One whose bundle names none keeps its own,
// and so does one of which a canary gets a share.
Result<std::optional<RouteBinding>> wanted_routes(const DeploymentCRecord& change, const DeploymentRecord& deployment) {
  const RouteBinding now = binding_of(deployment.route);
  if (change.offer.pathPrefixes.empty() || change.wish.weightBps < kAllBasisPoints)
    return std::optional<RouteBinding>();
  auto wanted = normal_binding({change.offer.hosts, change.offer.pathPrefixes, now.tenant, now.team});
  if (!wanted) return wanted.error();
  if (*wanted == now) return std::optional<RouteBinding>();
  return std::optional(*wanted);
}

// Whether a canary's bundle asks for other routes than its deployment has.
bool routes_wait(const State& state, DeploymentCRecord change) {
  auto deployment = state.get(DeploymentId(change.reached.deployment));
  if (!deployment || change.wish.weightBps == kAllBasisPoints) return false;
  change.wish.weightBps = kAllBasisPoints;
  auto routes = wanted_routes(change, *deployment);
  return routes && *routes;
}

// How it ended in words that another call for the same can take over.
std::string text_of(const Up::Outcome& outcome) {
  if (const auto* ok = get_if<Up::Ok>(&outcome)) return write(json::object{{"ok", to_json(*ok)}});
  if (const auto* bad = get_if<Up::Failed>(&outcome)) return write(json::object{{"failed", to_json(*bad)}});
  if (const auto* bad = get_if<Up::Unverified>(&outcome)) return write(json::object{{"unverified", to_json(*bad)}});
  if (const auto* bad = get_if<Up::Refused>(&outcome)) return write(json::object{{"refused", to_json(*bad)}});
  if (const auto* bad = get_if<Up::Invalid>(&outcome)) return write(json::object{{"invalid", to_json(*bad)}});
  return write(json::object{{"none", nullptr}});
}

template <class Variant>
std::optional<Variant> told_as(const json::object& told, std::string_view name) {
  const json::value* value = told.if_contains(name);
  if (value == nullptr) return std::nullopt;
  return ::sluice::read<Variant>(*value).value();
}

Up::Outcome outcome_of(const std::string& text) {
  const json::value told = parse_json(text, "outcome").value().root;
  const json::object& named = told.as_object();
  if (auto ok = told_as<Up::Ok>(named, "ok")) return *ok;
  if (auto bad = told_as<Up::Failed>(named, "failed")) return *bad;
  if (auto bad = told_as<Up::Unverified>(named, "unverified")) return *bad;
  if (auto bad = told_as<Up::Refused>(named, "refused")) return *bad;
  if (auto bad = told_as<Up::Invalid>(named, "invalid")) return *bad;
  return Up::Failed{.check = "engine", .message = "the call that asked for the same has ended"};
}

// A revision's config that has nothing but how it runs.
std::string config_saying(const DeploymentWish& wish) { return R"({"running":)" + wish.running.value_or("{}") + "}"; }

std::vector<std::string> lines_of(const std::optional<DeploymentTrouble>& trouble) {
  return trouble ? trouble->lastLines : std::vector<std::string>();
}

Up::Outcome told_of(const DeploymentTrouble& trouble) {
  const std::string message = with_words(trouble.message, "; traffic stays as it was");
  switch (trouble.kind) {
    case DeploymentTroubleKind::failed:
      return Up::Failed{
          .revision = trouble.revision, .check = trouble.check, .message = message, .lastLines = trouble.lastLines};
    case DeploymentTroubleKind::unverified:
      return Up::Unverified{.revision = trouble.revision, .message = message};
    case DeploymentTroubleKind::invalid:
      return Up::Invalid{.message = message};
    case DeploymentTroubleKind::refused:
      break;
  }
  return Up::Refused{.message = message};
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------- up

Up::Begun Deployment::begin_up(const Up& ask, State& state) {
  if (std::string fault = fault_of(ask); !fault.empty()) return Up::Invalid{.message = fault};
  DeploymentCRecord change{
      .kind = DeploymentKind::up,
      .target = {.environment = ask.environment, .customer = ask.customer.value_or("")},
      .ask = state.request(),
      .wish = {.source = ask.archive + (ask.signature.value_or("").empty() ? "" : "," + *ask.signature),
               .settings = ask.set.value_or("{}"),
               .runtimeRefs = ask.runtimeRefs.value_or("{}"),
               .unset = ask.unset.value_or(std::vector<std::string>()),
               .weightBps = ask.canaryBps.value_or(kAllBasisPoints),
               .drainSeconds = ask.drainSeconds,
               .keepRoutes = ask.keepRoutes.value_or(false),
               .hold = ask.hold.value_or(false),
               .by = ask.caller.value_or(""),
               .digest = digest_of(ask),
               .running = ask.running},
      .offer = {.hosts = ask.hosts.value_or(std::vector<std::string>()),
                .pathPrefixes = ask.pathPrefixes.value_or(std::vector<std::string>())},
  };
  change.leader = leader_of(state, change);
  if (change.wish.hold) change.step = state.request();
  enqueue(state, std::move(change));
  return lang::Opened{};
}

Up::Outcome Deployment::finish_up(const Up&, const Up::Outcome& outcome, State& state) {
  auto found = change_of(state, state.request());
  if (!found) return outcome;
  const DeploymentCRecord& change = found->record;
  Up::Outcome told = outcome;
  if (!change.outcome.empty()) {
    told = outcome_of(change.outcome);
  } else if (change.trouble) {
    told = told_of(*change.trouble);
  } else if (ended_of(outcome) == Up::Ended::ok) {
    Up::Ok ok{.deployment = DeploymentId(change.reached.deployment),
              .bundle = change.target.bundle,
              .customer = change.target.customer,
              .revision = change.reached.revision,
              .sequence = change.reached.sequence,
              .signature = change.reached.signature,
              .changed = change.reached.changed,
              .routesWait = routes_wait(state, change),
              .fresh = change.reached.fresh,
              .made = change.reached.made,
              .shifted = change.reached.shifted,
              .before = before_of(state, *found),
              .routeBefore = route_before_of(change),
              .replicasBefore = change.replicasBefore};
    for (const DeploymentSplitItem& each : state.split(found->id).values()) {
      ok.entries.push_back({.revision = each.revision, .weightBps = each.weightBps});
    }
    told = ok;
  } else if (ended_of(outcome) == Up::Ended::engine) {
    give_routes_back(state, change);
    told = Up::Failed{.revision = change.reached.revision, .check = "engine", .message = reason_of(outcome)};
  }
  dequeue(state, *found, text_of(told));
  return told;
}

// ------------------------------------------------------------------------------------------------------- its halves

Hold::Begun Deployment::begin_hold(const Hold& ask, State& state) {
  auto change = state.get(ask.change);
  if (!change) return Hold::Failed{.message = "the call has ended"};
  change->step = state.request();
  change->holding = true;
  state.put(ask.change, *change);
  return lang::Opened{};
}

Hold::Outcome Deployment::finish_hold(const Hold& ask, const Hold::Outcome& outcome, State& state) {
  auto change = state.get(ask.change);
  if (!change) return outcome;
  change->holding.reset();
  state.put(ask.change, *change);
  if (ended_of(outcome) == Hold::Ended::ok) {
    return Hold::Ok{.deployment = DeploymentId(change->reached.deployment),
                    .revision = change->reached.revision,
                    .fresh = change->reached.fresh,
                    .made = change->reached.made,
                    .replicasBefore = change->replicasBefore};
  }
  return Hold::Failed{.message = change->trouble ? change->trouble->message : reason_of(outcome),
                      .lastLines = lines_of(change->trouble)};
}

Take::Begun Deployment::begin_take(const Take& ask, State& state) {
  auto change = state.get(ask.change);
  if (!change) return Take::Failed{.message = "the call has ended"};
  change->step = state.request();
  state.put(ask.change, *change);
  return lang::Opened{};
}

Take::Outcome Deployment::finish_take(const Take& ask, const Take::Outcome& outcome, State& state) {
  auto change = state.get(ask.change);
  if (!change) return outcome;
  if (ended_of(outcome) == Take::Ended::ok) {
    return Take::Ok{.deployment = DeploymentId(change->reached.deployment),
                    .revision = change->reached.revision,
                    .changed = change->reached.changed,
                    .shifted = change->reached.shifted,
                    .before = before_of(state, {ask.change, *change}),
                    .routeBefore = route_before_of(*change)};
  }
  const auto* failed = get_if<Take::Failed>(&outcome);
  const std::string why = failed != nullptr ? failed->message : reason_of(outcome);
  if (!change->reached.shifted) {
    give_routes_back(state, *change);
    change->routesBefore.reset();
  }
  change->trouble = {.kind = DeploymentTroubleKind::refused, .revision = change->reached.revision, .message = why};
  state.put(ask.change, *change);
  return Take::Failed{.message = why};
}

// -------------------------------------------------------------------------------------------- storage before it is up

NameStorage::Result Deployment::name_storage(const NameStorage& ask, State& state) {
  auto customer = customer_for(state, ask.environment, ask.bundle, ask.customer.value_or(""));
  if (!customer) return NameStorage::Refused{.message = customer.error().message};
  const DeploymentTarget target{.environment = ask.environment, .bundle = ask.bundle, .customer = *customer};
  if (auto found = deployment_of(state, target)) {
    return NameStorage::Ok{.storage = storage_of(found->id, found->record), .named = false};
  }
  for (const DeploymentKeptDataItem& each : state.kept_data().values()) {
    if (each.deleting || each.environment != target.environment || each.bundle != target.bundle) continue;
    if (each.customer == target.customer) return NameStorage::Ok{.storage = each.storage, .named = false};
  }
  const std::string storage = storage_of(DeploymentId(state.request().text()), {});
  state.kept_data().push({.environment = target.environment,
                          .bundle = target.bundle,
                          .customer = target.customer,
                          .storage = storage,
                          .since = state.now(),
                          .deleting = false});
  return NameStorage::Ok{.storage = storage, .named = true};
}

ReturnName::Result Deployment::return_name(const ReturnName& ask, State& state) {
  if (!ask.named.value_or(false)) return ReturnName::Ok{};
  for (const auto& each : state.kept_data()) {
    if (each.value.storage != ask.storage) continue;
    state.kept_data().erase(each.number);
    break;
  }
  return ReturnName::Ok{};
}

// ----------------------------------------------------------------------------------------------------------- read

Read::Begun Deployment::begin_read(const Read& ask, State& state) {
  auto record = state.get(ask.change);
  if (!record) return Read::Result(Read::Unreadable{.change = ask.change, .message = "the call has ended"});
  return ReadWork{.change = ask.change.text(), .source = record->wish.source};
}

Read::Performed Deployment::perform_read(const ReadWork& work, Effect& effect) {
  const DeploymentCId change(work.change);
  auto seen = effect.tool<BundleShelf>().look(work.source);
  if (!seen) return Read::Unreadable{.change = change, .message = to_string(seen.error())};
  const RouteBinding routes = routes_of(seen->manifest);
  return Read::Ok{.change = change,
                  .bundle = seen->manifest.name.text,
                  .manifest = seen->manifest_text,
                  .tree = seen->tree,
                  .hosts = routes.hosts,
                  .pathPrefixes = routes.path_prefixes};
}

Read::Outcome Deployment::finish_read(const Read& ask, const Read::Outcome& outcome, State& state) {
  auto record = state.get(ask.change);
  if (!record) return outcome;
  const auto* ok = get_if<Read::Ok>(&outcome);
  if (ok == nullptr) {
    if (ended_of(outcome) != Read::Ended::engine) return outcome;
    return Read::Unreadable{.change = ask.change, .message = reason_of(outcome)};
  }
  auto customer = customer_for(state, record->target.environment, ok->bundle, record->target.customer);
  if (!customer && customer.error().code == Code::invalid) {
    return Read::Unreadable{.change = ask.change, .message = customer.error().message};
  }
  if (!customer) return Read::Ambiguous{.change = ask.change, .message = customer.error().message};
  record->target.bundle = ok->bundle;
  record->target.customer = *customer;
  record->offer.manifest = ok->manifest;
  record->offer.tree = ok->tree;
  if (!record->wish.keepRoutes && record->offer.pathPrefixes.empty()) {
    record->offer.hosts = ok->hosts;
    record->offer.pathPrefixes = ok->pathPrefixes;
  }
  state.put(ask.change, *record);
  release(state);
  return outcome;
}

// -------------------------------------------------------------------------------------------------------- the steps

Prepare::Result Deployment::prepare(const Prepare& ask, State& state) {
  auto refuse = [&](std::string message) {
    return Prepare::Refused{.change = ask.change, .message = std::move(message)};
  };
  auto change = state.get(ask.change);
  if (!change) return refuse("the call has ended");
  auto found = deployment_of(state, change->target);
  if (!found) {
    change->reached.made = true;
    state.put(ask.change, *change);
    const bool named = !change->offer.pathPrefixes.empty();
    Prepare::Absent absent{.change = ask.change,
                           .environment = change->target.environment,
                           .bundle = change->target.bundle,
                           .customer = change->target.customer,
                           .hosts = change->offer.hosts,
                           .pathPrefixes = named ? change->offer.pathPrefixes : std::vector<std::string>{"/"}};
    if (!named && clash_of(state, absent.environment, {{}, {"/"}, "", ""}, DeploymentId())) {
      absent.hosts = {absent.bundle + ".localhost"};
    }
    return absent;
  }
  if (found->record.status != DeploymentStatus::active) {
    return refuse(change->target.bundle + " (" + found->id.text() + ") is not active");
  }
  auto routes = wanted_routes(*change, found->record);
  if (!routes) return refuse(routes.error().message);
  if (*routes) {
    if (auto clash = clash_of(state, change->target.environment, **routes, found->id)) return refuse(clash->message);
  }
  change->reached.deployment = found->id.text();
  // What runs goes on as it is; the revision that comes has its own number.
  if (found->record.replicas && run_settings_of(config_saying(change->wish)).replicas) {
    change->replicasBefore = found->record.replicas;
    found->record.replicas.reset();
    state.put(found->id, found->record);
  }
  state.put(ask.change, *change);
  return Prepare::Ok{.change = ask.change, .deployment = found->id};
}

Route::Result Deployment::route(const Route& ask, State& state) {
  auto refuse = [&](std::string message) {
    return Route::Refused{.change = ask.change, .message = std::move(message)};
  };
  auto change = state.get(ask.change);
  if (!change) return refuse("the call has ended");
  const DeploymentId id(change->reached.deployment);
  auto record = state.get(id);
  if (!record) return refuse("the deployment " + id.text() + " was removed in the meantime");
  change->reached.revision = ask.revision;
  change->reached.sequence = ask.sequence;
  change->reached.signature = ask.signature;
  change->reached.fresh = ask.fresh;
  state.put(ask.change, *change);
  auto routes = wanted_routes(*change, *record);
  if (!routes) return refuse(routes.error().message);
  if (change->wish.hold || change->holding.value_or(false)) return Route::Held{.change = ask.change};
  if (*routes) {
    if (auto clash = clash_of(state, record->environment, **routes, id)) return refuse(clash->message);
    change->routesBefore = {.hosts = record->route.hosts,
                            .pathPrefixes = record->route.pathPrefixes,
                            .tenant = record->route.tenant,
                            .team = record->route.team};
    change->reached.changed = true;
    record->route = route_of(**routes);
    record->generation++;
    state.put(id, *record);
    state.put(ask.change, *change);
  }
  return Route::Ok{.change = ask.change,
                   .deployment = id,
                   .revision = ask.revision,
                   .weightBps = change->wish.weightBps,
                   .by = change->wish.by};
}

Acknowledge::Result Deployment::acknowledge(const Acknowledge& ask, State& state) {
  auto change = state.get(ask.change);
  if (!change || change->reached.acknowledged) return Acknowledge::Again{.change = ask.change};
  change->reached.acknowledged = true;
  change->reached.changed = change->reached.changed || ask.shifted;
  change->reached.shifted = ask.shifted;
  state.put(ask.change, *change);
  for (const auto& each : ask.entries) {
    state.split(ask.change).push({.revision = each.revision, .weightBps = each.weightBps});
  }
  for (const auto& each : ask.before.value_or(std::vector<DeploymentBeforeItem>())) {
    state.split_before(ask.change).push({.revision = each.revision, .weightBps = each.weightBps});
  }
  return Acknowledge::Ok{.change = ask.change,
                         .deployment = DeploymentId(change->reached.deployment),
                         .whole = change->wish.weightBps == kAllBasisPoints};
}

GiveUp::Result Deployment::give_up(const GiveUp& ask, State& state) {
  auto change = state.get(ask.change);
  if (!change || change->trouble) return GiveUp::Ok{.change = ask.change};
  give_routes_back(state, *change);
  change->routesBefore.reset();
  change->replicasBefore.reset();
  change->trouble = {.kind = static_cast<DeploymentTroubleKind>(ask.kind),  // the same list
                     .revision = ask.revision,
                     .check = ask.check,
                     .message = ask.message,
                     .lastLines = ask.lastLines};
  state.put(ask.change, *change);
  const auto& reached = change->reached;
  if (reached.fresh) return GiveUp::Warm{.change = ask.change, .revision = reached.revision};
  if (reached.made && !reached.deployment.empty()) {
    return GiveUp::Made{.change = ask.change, .deployment = DeploymentId(reached.deployment)};
  }
  return GiveUp::Ok{.change = ask.change};
}

}  // namespace sluice::deploy::deployment
