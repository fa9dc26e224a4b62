// The syncs of apps' kits. What the engine runs follows the files that AppKitShelf keeps; the rows say what they are to
// be.
#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_reader.h"
#include "deploy/app_kit_shelf.h"
#include "deploy/concepts/deploy_plan/deploy_plan_work.h"

namespace sluice::deploy::deploy_plan {
namespace {

DeployPlanRId id_of(const std::string& environment, const std::string& kit, const std::string& rule) {
  return DeployPlanRId(namespace_of(environment, kit) + "_" + rule);
}

Result<std::string> put(const RuleWork& work, Effect& effect) {
  std::optional<AppRule> rule;
  if (!work.spec.empty()) {
    auto parsed = parse_json(work.spec, "rule");
    auto read_rule = parsed ? read<AppRule>(parsed->root) : Result<AppRule>(parsed.error());
    if (!read_rule) return read_rule.error();
    rule = *std::move(read_rule);
  }
  return effect.tool<AppKitShelf>().put(
      {.environment = work.environment, .app = work.app, .kit = work.kit, .rule = work.rule}, rule);
}

void keep(State& state, const RuleWork& work, const std::string& digest) {
  const DeployPlanRId id = id_of(work.environment, work.kit, work.rule);
  auto before = state.get(id);
  state.put(id, {.space = work.environment,
                 .ofApp = work.app,
                 .ofKit = work.kit,
                 .rule = work.rule,
                 .active = !work.spec.empty(),
                 .digest = digest,
                 .spec = work.spec,
                 .generation = before ? before->generation + 1 : 1,
                 .since = state.now()});
}

}  // namespace

Register::Begun DeployPlan::begin_register(const Register& ask, State& state) {
  auto before = state.get(id_of(ask.environment, ask.kit, ask.rule));
  if (before && before->active && before->ofApp != ask.app) {
    return Register::Refused{.message = "the kit " + ask.kit + " in " + ask.environment + " is that of the app " +
                                        before->ofApp + "; give the kit another name"};
  }
  return RegisterWork{.wanted = {ask.environment, ask.app, ask.kit, ask.rule, ask.spec},
                      .digestBefore = before ? before->digest : "",
                      .specBefore = before ? before->spec : ""};
}

Register::Performed DeployPlan::perform_register(const RegisterWork& work, Effect& effect) {
  auto name = put(work.wanted, effect);
  if (!name && name.error().code == Code::unavailable) return lang::Again{.reason = name.error().message};
  if (!name) return Register::Refused{.message = to_string(name.error())};
  return Register::Ok{.environment = work.wanted.environment,
                      .app = work.wanted.app,
                      .kit = work.wanted.kit,
                      .rule = work.wanted.rule,
                      .name = *name,
                      .digestBefore = work.digestBefore,
                      .specBefore = work.specBefore};
}

Register::Outcome DeployPlan::finish_register(const Register& ask, const Register::Outcome& outcome, State& state) {
  if (get_if<Register::Ok>(&outcome) == nullptr) return outcome;
  keep(state, {ask.environment, ask.app, ask.kit, ask.rule, ask.spec}, ask.digest);
  return outcome;
}

Restore::Begun DeployPlan::begin_restore(const Restore& ask, State&) {
  return RestoreWork{.wanted = {ask.environment, ask.app, ask.kit, ask.rule, ask.specBefore}};
}

Restore::Performed DeployPlan::perform_restore(const RestoreWork& work, Effect& effect) {
  auto name = put(work.wanted, effect);
  if (!name && name.error().code == Code::unavailable) return lang::Again{.reason = name.error().message};
  if (!name) return Restore::Refused{.message = to_string(name.error())};
  return Restore::Ok{.name = *name};
}

Restore::Outcome DeployPlan::finish_restore(const Restore& ask, const Restore::Outcome& outcome, State& state) {
  if (get_if<Restore::Ok>(&outcome) == nullptr) return outcome;
  keep(state, {ask.environment, ask.app, ask.kit, ask.rule, ask.specBefore}, ask.digestBefore);
  return outcome;
}

Rules::Result DeployPlan::rules(const Rules&, const State& state) {
  Rules::Ok ok;
  for (const auto& [id, record] : state.all_r()) {
    if (!record.active) continue;
    ok.rules.push_back({.name = id,
                        .environment = record.space,
                        .app = record.ofApp,
                        .kit = record.ofKit,
                        .rule = record.rule,
                        .since = record.since});
  }
  return ok;
}

}  // namespace sluice::deploy::deploy_plan
