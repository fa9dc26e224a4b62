// Env/apply: the document is planned outside the transaction, of committed state; the changes stand in the row of the
// apply and are made one a step. Env makes its own; what belongs to others is named, and syncs have it done.
#include <algorithm>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/yaml.h"
#include "deploy/bundle_shelf.h"
#include "deploy/concepts/env/env_work.h"
#include "deploy/views/environment_checks.h"
#include "deploy/views/trusted_keys.h"

namespace sluice::deploy::env {
namespace {

std::string text_at(const json::object& input, std::string_view name) {
  const json::value* value = input.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

std::vector<std::string> texts_at(const json::object& input, std::string_view name) {
  std::vector<std::string> texts;
  const json::value* list = input.if_contains(name);
  if (list == nullptr || !list->is_array()) return texts;
  for (const json::value& each : list->get_array()) texts.emplace_back(each.as_string());
  return texts;
}

template <class Ask>
Ask ask_of(const json::object& input) {
  return ::sluice::read<Ask>(json::value(input)).value();
}

std::optional<EnvAFound> apply_of(const State& state, const lang::Request& ask) {
  auto found = state.find_by_applying(ask);
  if (found.empty()) return std::nullopt;
  return found.front();
}

bool is_first(const State& state, const EnvAFound& one) {
  return std::ranges::none_of(state.find_by_applied_to(one.record.appliedTo),
                              [&](const EnvAFound& each) { return each.record.number < one.record.number; });
}

std::vector<EnvChange> changes_of(const State& state, const EnvAId& id, int64_t count) {
  std::vector<EnvChange> changes;
  for (const EnvStep& each : state.steps(id).values()) {
    if (static_cast<int64_t>(changes.size()) == count) break;
    changes.push_back({.sign = each.sign, .what = each.what});
  }
  return changes;
}

// How to make the environment before the document is applied, so that secrets can be put there.
std::string create_it(const State& state, const EnvAId& id) {
  for (const EnvStep& each : state.steps(id).values()) {
    if (each.action != "Env/create") continue;
    const json::object input = parse_json(each.input, "step").value().root.as_object();
    const std::string base = text_at(input, "extends");
    return "Env/create environment=" + text_at(input, "environment") + (base.empty() ? "" : " extends=" + base) +
           ", then ";
  }
  return "";
}

}  // namespace

Apply::Begun Env::begin_apply(const Apply& ask, State& state) {
  int64_t last = 0;
  for (const EnvAFound& each : state.all_a()) last = std::max(last, each.record.number);
  state.add(EnvARecord{.applying = state.request(),
                       .number = last + 1,
                       .appliedTo = ask.environment.text(),
                       .planOnly = ask.planOnly.value_or(false)});
  return lang::Opened{};
}

Apply::Outcome Env::finish_apply(const Apply& ask, const Apply::Outcome& outcome, State& state) {
  auto found = apply_of(state, state.request());
  if (!found) return outcome;
  const auto steps = state.steps(found->id).values();
  const int64_t begun = found->record.begun;
  Apply::Outcome told = outcome;
  if (ended_of(outcome) == Apply::Ended::ok) {
    const bool plan_only = found->record.planOnly;
    told = Apply::Ok{.environment = ask.environment,
                     .changes = changes_of(state, found->id, plan_only ? static_cast<int64_t>(steps.size()) : begun),
                     .planOnly = plan_only};
  } else if (ended_of(outcome) != Apply::Ended::invalid) {
    const auto* partial = get_if<Apply::Partial>(&outcome);
    const auto* end = get_if<lang::EngineEnd>(&outcome);
    told = Apply::Partial{.environment = ask.environment,
                          .changes = changes_of(state, found->id, std::max<int64_t>(begun - 1, 0)),
                          .failed = begun > 0 ? steps[static_cast<size_t>(begun - 1)].what : "",
                          .message = partial != nullptr ? partial->message
                                     : end != nullptr   ? end->message
                                                        : ""};
  }
  state.steps(found->id).clear();
  state.secrets(found->id).clear();
  state.lacks(found->id).clear();
  state.erase(found->id);
  for (EnvAFound& each : state.find_by_applied_to(ask.environment.text())) {
    if (!each.record.turn || !is_first(state, each)) continue;
    each.record.due = true;
    state.put(each.id, each.record);
  }
  return told;
}

AwaitTurn::Begun Env::begin_await_turn(const AwaitTurn& ask, State& state) {
  auto record = state.get(ask.apply);
  if (!record || is_first(state, {ask.apply, *record})) return AwaitTurn::Ok{.apply = ask.apply};
  record->turn = state.request();
  state.put(ask.apply, *record);
  return lang::Opened{};
}

AwaitTurn::Outcome Env::finish_await_turn(const AwaitTurn& ask, const AwaitTurn::Outcome& outcome, State& state) {
  state.edit(ask.apply, [](EnvARecord& record) {
    record.turn.reset();
    record.due = false;
  });
  return outcome;
}

// ----------------------------------------------------------------------------------------------------------- plan

Plan::Begun Env::begin_plan(const Plan& ask, State&) {
  return PlanWork{
      .apply = ask.apply.text(), .environment = ask.environment.text(), .document = ask.document, .prune = ask.prune};
}

Plan::Performed Env::perform_plan(const PlanWork& work, Effect& effect) {
  const EnvAId apply(work.apply);
  auto invalid = [&](const Error& error) { return Plan::Invalid{.apply = apply, .message = to_string(error)}; };
  auto file = parse_yaml(work.document, "document");
  if (!file) return invalid(file.error());
  const views::States states(effect.read());
  auto plan = views::plan_environment(states, *file, work.prune);
  if (!plan) return invalid(plan.error());
  if (plan->environment != work.environment) {
    return Plan::Invalid{.apply = apply, .message = "the document is of " + plan->environment};
  }
  auto steps = views::steps_of(states, *plan, effect.tool<BundleShelf>(), views::trust_root_in(effect.read()));
  if (!steps) return invalid(steps.error());
  Plan::Ok ok{.apply = apply};
  for (const views::PlannedChange& each : *steps) {
    ok.steps.push_back(
        {.sign = std::string(1, each.sign), .what = each.what, .action = each.action, .input = write(each.input)});
  }
  for (const views::NeededSecret& each : views::secrets_of(states, *plan, *steps)) {
    ok.secrets.push_back({.name = each.name, .provider = each.provider});
  }
  return ok;
}

Plan::Outcome Env::finish_plan(const Plan& ask, const Plan::Outcome& outcome, State& state) {
  if (const auto* ok = get_if<Plan::Ok>(&outcome); ok != nullptr && state.has(ask.apply)) {
    state.steps(ask.apply).assign(ok->steps);
    state.secrets(ask.apply).assign(ok->secrets);
  }
  const auto* end = get_if<lang::EngineEnd>(&outcome);
  if (end == nullptr) return outcome;
  return Plan::Invalid{.apply = ask.apply, .message = end->message};
}

// ----------------------------------------------------------------------------------------------------------- seek

Seek::Result Env::seek(const Seek& ask, State& state) {
  auto record = state.get(ask.apply);
  if (!record) return Seek::Lacking{.apply = ask.apply, .message = "the call has ended"};
  if (ask.lacks) state.lacks(ask.apply).push(*ask.lacks);
  const std::string& environment = record->appliedTo;
  const auto needed = state.secrets(ask.apply).values();
  const auto sought = static_cast<size_t>(record->sought.value_or(0));
  if (sought < needed.size()) {
    const EnvSecret& one = needed[sought];
    record->sought = static_cast<int64_t>(sought + 1);
    state.put(ask.apply, *record);
    return Seek::Next{
        .apply = ask.apply, .environment = EnvId(environment), .provider = one.provider, .name = one.name};
  }
  std::string names, first;
  for (const std::string& each : state.lacks(ask.apply).values()) {
    if (first.empty()) first = each;
    names += (names.empty() ? "" : ", ") + each;
  }
  if (names.empty()) return Seek::Ok{.apply = ask.apply};
  const bool is_there = state.has(EnvId(environment));
  return Seek::Lacking{.apply = ask.apply,
                       .message = environment + " needs secrets that it does not have: " + names +
                                  "; nothing was changed; next: " + (is_there ? "" : create_it(state, ask.apply)) +
                                  "Secret/put environment=" + environment + " name=" + first};
}

// ----------------------------------------------------------------------------------------------------------- step

Step::Result Env::step(const Step& ask, State& state) {
  auto record = state.get(ask.apply);
  if (!record) return Step::Refused{.apply = ask.apply, .message = "the call has ended"};
  const auto steps = state.steps(ask.apply).values();
  const EnvId environment(record->appliedTo);
  while (record->begun < static_cast<int64_t>(steps.size())) {
    const EnvStep& step = steps[static_cast<size_t>(record->begun)];
    record->begun++;
    state.put(ask.apply, *record);
    const json::object input = parse_json(step.input, "step").value().root.as_object();
    auto refuse = [&](const std::string& message) { return Step::Refused{.apply = ask.apply, .message = message}; };
    const std::string bundle = text_at(input, "bundle"), customer = text_at(input, "customer");
    if (step.action == "Env/create") {
      auto done = create(ask_of<Create>(input), state);
      if (get_if<Create::Ok>(&done) == nullptr) return refuse("the environment cannot be made");
    } else if (step.action == "Env/update") {
      auto done = update(ask_of<Update>(input), state);
      if (const auto* wrong = get_if<Update::Invalid>(&done)) return refuse(wrong->message);
    } else if (step.action == "Env/bind") {
      auto done = bind(ask_of<Bind>(input), state);
      if (get_if<Bind::Ok>(&done) == nullptr) return refuse(text_at(input, "slot") + " was bound in the meantime");
    } else if (step.action == "Env/rebind") {
      auto done = rebind(ask_of<Rebind>(input), state);
      if (get_if<Rebind::Ok>(&done) == nullptr) return refuse(text_at(input, "slot") + " is no longer bound");
    } else if (step.action == "Env/unbind") {
      unbind(ask_of<Unbind>(input), state);  // what is no longer bound is as it should be
    } else if (step.action == "Config/set") {
      Step::Configure configure{.apply = ask.apply, .environment = environment};
      for (const json::value& each : input.at("values").as_array()) {
        configure.values.push_back(
            {.key = std::string(each.at("key").as_string()), .value = std::string(each.at("value").as_string())});
      }
      return configure;
    } else if (step.action == "Deployment/add" || step.action == "Deployment/update") {
      std::vector<EnvParty> parties;
      for (const json::value& each : input.at("parties").as_array()) {
        parties.push_back(
            {.partyId = std::string(each.at("partyId").as_string()), .basisPoints = each.at("basisPoints").as_int64()});
      }
      if (step.action == "Deployment/add") {
        return Step::Add{.environment = environment,
                         .bundle = bundle,
                         .customer = customer,
                         .hosts = texts_at(input, "hosts"),
                         .pathPrefixes = texts_at(input, "pathPrefixes"),
                         .tenant = text_at(input, "tenant"),
                         .team = text_at(input, "team"),
                         .parties = parties};
      }
      return Step::Update{.environment = environment,
                          .bundle = bundle,
                          .customer = customer,
                          .hosts = texts_at(input, "hosts"),
                          .pathPrefixes = texts_at(input, "pathPrefixes"),
                          .tenant = text_at(input, "tenant"),
                          .team = text_at(input, "team"),
                          .parties = parties,
                          .overrides = text_at(input, "configOverrides")};
    } else if (step.action == "Deployment/pause") {
      return Step::Pause{.environment = environment, .bundle = bundle, .customer = customer};
    } else if (step.action == "Deployment/resume") {
      return Step::Resume{.environment = environment, .bundle = bundle, .customer = customer};
    } else if (step.action == "Deployment/archive") {
      return Step::Archive{.environment = environment, .bundle = bundle, .customer = customer};
    } else if (step.action == "Deployment/remove") {
      return Step::Remove{.environment = environment, .bundle = bundle, .customer = customer};
    } else if (step.action == "Deployment/up") {
      return Step::Raise{
          .environment = environment,
          .archive = text_at(input, "archive"),
          .signature = text_at(input, "signature"),
          .customer = customer,
          .settings = text_at(input, "set"),
          .runtimeRefs = text_at(input, "runtimeRefs"),
          .unset = texts_at(input, "unset"),
          .running = input.contains("running") ? std::optional(text_at(input, "running")) : std::nullopt};
    } else {
      return refuse("there is no action " + step.action);
    }
  }
  return Step::Done{.apply = ask.apply};
}

}  // namespace sluice::deploy::env
