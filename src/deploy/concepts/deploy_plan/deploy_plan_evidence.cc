// What earlier plans tell: which version of an app or a kit an environment runs, and what a plan was made of.
#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_reader.h"
#include "deploy/concepts/deploy_plan/deploy_plan_rows.h"
#include "deploy/plan_draft.h"

namespace sluice::deploy::deploy_plan {
namespace {

using Phase = DeployPlanCurrentPhase;

// The numbers of "2.10.1-rc1": 2, 10, 1, 1.
std::vector<uint64_t> numbers_of(const std::string& version) {
  std::vector<uint64_t> numbers;
  bool in_number = false;
  for (char c : version) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && !in_number) numbers.push_back(0);
    if (digit) numbers.back() = numbers.back() * 10 + static_cast<uint64_t>(c - '0');
    in_number = digit;
  }
  return numbers;
}

// The last plan that was executed of an app or a kit, if nothing stands against it, and its components of that.
struct Executed {
  std::optional<DeployPlanFound> found;
  std::vector<DeployPlanComponent> components;
  std::string trouble;
};

bool is_trouble(Phase phase) {
  return phase != Phase::complete && phase != Phase::rolledBack && phase != Phase::cancelled && phase != Phase::planned;
}

Executed last_of(const State& state, const std::string& environment, const std::string& suite) {
  Executed last{
      .found = std::nullopt, .components = {}, .trouble = "no plan of " + suite + " is complete in " + environment};
  int64_t troubled = 0;
  for (DeployPlanFound& each : state.find_by_environment(environment)) {
    if (is_of_up(each.record)) continue;
    std::vector<DeployPlanComponent> components;
    for (DeployPlanComponent& component : state.components(each.id).values()) {
      const bool of_it = each.record.suiteName == suite || component.kit == suite;
      if (of_it && !component.leaving) components.push_back(std::move(component));
    }
    const int64_t number = each.record.number;
    if (components.empty() || number == 0) continue;
    if (is_trouble(each.record.currentPhase) && number > troubled) {
      troubled = number;
      last.trouble = each.id.text() + " is " + boost::describe::enum_to_string(each.record.currentPhase, "");
    } else if (each.record.currentPhase == Phase::complete && (!last.found || number > last.found->record.number)) {
      last.found = std::move(each);
      last.components = std::move(components);
    }
  }
  if (last.found && troubled > last.found->record.number) last.found.reset();
  return last;
}

}  // namespace

std::optional<PlanSource> source_of(const State& state, const DeployPlanId& plan) {
  for (const DeployPlanPaper& each : state.papers(plan).values()) {
    if (each.name == kSourcePaper) return read<PlanSource>(parse_json(each.text, each.name).value().root).value();
  }
  return std::nullopt;
}

Evidence::Result DeployPlan::evidence(const Evidence& ask, State& state) {
  auto last = last_of(state, ask.environment, ask.suite);
  if (!last.found) return Evidence::Missing{.message = last.trouble};
  Evidence::Ok ok;
  for (const DeployPlanComponent& each : last.components) ok.revisions.push_back(each.revision);
  return ok;
}

Promotable::Result DeployPlan::promotable(const Promotable& ask, State& state) {
  auto last = last_of(state, ask.environment, ask.suite);
  if (!last.found) return Promotable::Missing{.message = last.trouble};
  const std::string& version = last.found->record.kitVersion;
  auto there = last_of(state, ask.target, ask.suite);
  if (there.found && numbers_of(there.found->record.kitVersion) > numbers_of(version)) {
    return Promotable::Mismatch{.details = ask.target + " has " + there.found->record.kitVersion +
                                           ", which is newer than " + version};
  }
  return Promotable::Ok{.plan = last.found->id, .version = version};
}

}  // namespace sluice::deploy::deploy_plan
