// Follows the plan on a copy of what is deployed, so that each change is complete and the end of it is known.
#include "deploy/views/environment_checks.h"

#include <boost/json.hpp>
#include <map>
#include <set>
#include <utility>

#include "base/json.h"
#include "bundle/trust/verdict.h"
#include "crypto/sha256.h"
#include "deploy/pack_config.h"
#include "deploy/routes.h"
#include "deploy/secret_names.h"
#include "deploy/views/bundle_settings.h"
#include "deployment.gen.h"
#include "env.gen.h"

namespace sluice::deploy::views {
namespace {

using deployment::DeploymentRecord;

class Follower {
 public:
  Follower(const States& states, const EnvironmentPlan& plan, BundleShelf& shelf, const bundle::TrustRoot& trusted)
      : states_(states), plan_(plan), shelf_(shelf), trusted_(trusted), now_ms_(states.env().now().ms) {
    for (const auto& each : states.deployment().find_by_environment(plan.environment)) {
      deployed_[{each.record.bundle, each.record.customer}] = each.record;
    }
  }

  Result<std::vector<PlannedChange>> run() {
    for (const PlannedChange& each : plan_.changes) {
      if (auto done = follow(each); !done) return done.error();
    }
    if (auto sound = check_routes(); !sound) return sound.error();
    return std::move(steps_);
  }

 private:
  using Key = std::pair<std::string, std::string>;  // bundle and customer

  Result<void> follow(const PlannedChange& change) {
    PlannedChange step = change;
    const Key key(change.bundle, change.customer);
    // Parts of a down.
    if (change.action == "Traffic/clear" || change.action == "Revision/archive") return {};
    if (change.action == "Revision/stage") {
      return Error{.code = Code::invalid,
                   .message = "the bundle_source_uri of " + change.bundle +
                              " names a file; put its bytes into the home, and name it by its digest, sha256:…"};
    }
    if (change.action == "Deployment/add") deployed_[key] = DeploymentRecord{};
    if (change.action == "Deployment/add" || change.action == "Deployment/update") complete(deployed_[key], step.input);
    if (change.action == "Deployment/archive" || change.action == "Deployment/remove") deployed_.erase(key);
    if (change.action == "Deployment/up") {
      if (auto fits = check_archive(step, deployed_[key].configOverrides); !fits) return fits;
    }
    if (!change.bundle.empty()) {
      step.input["bundle"] = change.bundle;
      step.input["customer"] = change.customer;
    }
    steps_.push_back(std::move(step));
    return {};
  }

  // Takes over what the input says, and gives it what it leaves as it is.
  static void complete(DeploymentRecord& record, json::object& input) {
    auto take_list = [&](const char* name, std::vector<std::string>& list) {
      if (const json::value* given = input.if_contains(name)) {
        list.clear();
        for (const json::value& each : given->as_array()) list.emplace_back(each.as_string());
      }
      input[name] = json::value_from(list);
    };
    auto take_text = [&](const char* name, std::string& text) {
      if (const json::value* given = input.if_contains(name)) text = std::string(given->as_string());
      input[name] = text;
    };
    take_list("hosts", record.route.hosts);
    take_list("pathPrefixes", record.route.pathPrefixes);
    take_text("tenant", record.route.tenant);
    take_text("team", record.route.team);
    take_text("configOverrides", record.configOverrides);
    if (const json::value* parties = input.if_contains("parties")) {
      record.revenueShare.parties.clear();
      for (const json::value& each : parties->as_array()) {
        record.revenueShare.parties.push_back(
            {.partyId = std::string(each.at("partyId").as_string()), .basisPoints = each.at("basisPoints").as_int64()});
      }
    } else {
      json::array all;
      for (const auto& each : record.revenueShare.parties) {
        all.push_back(json::object{{"partyId", each.partyId}, {"basisPoints", each.basisPoints}});
      }
      input["parties"] = std::move(all);
    }
  }

  // Also finds out which secrets it needs.
  Result<void> check_archive(PlannedChange& change, const std::string& overrides) {
    const std::string archive(change.input.at("archive").as_string());
    const json::value* signature = change.input.if_contains("signature");
    auto seen = shelf_.look(signature == nullptr ? archive : archive + "," + std::string(signature->as_string()));
    if (!seen) return seen.error();
    if (seen->manifest.name.text != change.bundle) {
      return Error{.code = Code::invalid,
                   .message = archive + " is the bundle " + seen->manifest.name.text + ", not " + change.bundle};
    }
    if (auto vouched = check_signature(*seen, archive, change.bundle); !vouched) return vouched;
    const std::string config = write(json::object{
        {"non_secret", parse_json(std::string(change.input.at("set").as_string())).value().root},
        {"runtime_refs", parse_json(std::string(change.input.at("runtimeRefs").as_string())).value().root}});
    auto resolved = resolve_config(seen->manifest, {plan_.environment, config, overrides,
                                                    environment_answers(states_, plan_.environment, change.bundle)});
    if (!resolved) {
      Error error = resolved.error();
      error.message = "the settings of " + change.bundle + ": " + error.message;
      return error;
    }
    for (const auto& [variable, reference] : resolved->secret_refs) {
      auto named = parse_secret_reference(reference);
      if (named && named->environment == plan_.environment) change.secrets.push_back(named->name);
    }
    return {};
  }

  // As staging will look at it: in local what is not verified may run.
  Result<void> check_signature(const SeenBundle& seen, const std::string& archive, const std::string& bundle) const {
    auto tree = crypto::parse_sha256(seen.tree), bytes = crypto::parse_sha256(archive);
    if (plan_.environment == "local" || !tree || !bytes) return {};
    const bundle::Claim claim{.tree = *tree, .archive = *bytes, .bundle = bundle, .environment = plan_.environment};
    auto verdict = bundle::verify(trusted_, seen.sidecar, claim, now_ms_);
    const auto* refusal = std::get_if<bundle::Refusal>(&verdict);
    if (refusal == nullptr) return {};
    return Error{.code = Code::verification_failed, .message = refusal->message};
  }

  Result<void> check_routes() const {
    for (auto one = deployed_.begin(); one != deployed_.end(); ++one) {
      for (auto other = std::next(one); other != deployed_.end(); ++other) {
        if (one->second.status == deployment::DeploymentStatus::archived ||
            other->second.status == deployment::DeploymentStatus::archived) {
          continue;
        }
        auto first = binding(one->second), second = binding(other->second);
        if (!first) return first.error();
        if (!second) return second.error();
        if (auto shared = shared_route(*first, *second)) {
          return Error{.code = Code::conflict,
                       .message = *shared + " would be the route of " + one->first.first + " for " + one->first.second +
                                  " and of " + other->first.first + " for " + other->first.second};
        }
      }
    }
    return {};
  }

  static Result<RouteBinding> binding(const DeploymentRecord& record) {
    return normal_binding({record.route.hosts, record.route.pathPrefixes, record.route.tenant, record.route.team});
  }

  const States& states_;
  const EnvironmentPlan& plan_;
  BundleShelf& shelf_;
  const bundle::TrustRoot& trusted_;
  int64_t now_ms_;
  std::map<Key, DeploymentRecord> deployed_;
  std::vector<PlannedChange> steps_;
};

}  // namespace

Result<std::vector<PlannedChange>> steps_of(const States& states, const EnvironmentPlan& plan, BundleShelf& shelf,
                                            const bundle::TrustRoot& trusted) {
  return Follower(states, plan, shelf, trusted).run();
}

std::vector<NeededSecret> secrets_of(const States& states, const EnvironmentPlan& plan,
                                     const std::vector<PlannedChange>& steps) {
  std::string home = plan.environment;
  std::set<std::string> names;
  for (const PlannedChange& each : steps) {
    names.insert(each.secrets.begin(), each.secrets.end());
    const json::value* slot = each.input.if_contains("slot");
    if (slot != nullptr && *slot == json::value("secrets")) return {};
    // A new one begins with the packs of what it extends.
    const json::value* base = each.action == "Env/create" ? each.input.if_contains("extends") : nullptr;
    if (base != nullptr) home = std::string(base->as_string());
  }
  auto record = states.env().get(env::EnvId(home));
  if (!record || !record->secretsType) return {};
  std::vector<NeededSecret> needed;
  for (const std::string& each : names) needed.push_back({each, *record->secretsType});
  return needed;
}

}  // namespace sluice::deploy::views
