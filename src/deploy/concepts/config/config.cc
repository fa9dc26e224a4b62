// Config keeps three kinds of values apart: what an operator has said, how bundles are set up, and what the deployer
// has found out. Each has its own generation. The row is made with the first value of any kind.
#include <algorithm>
#include <map>

#include "deploy/concepts/config/config_work.h"
#include "deploy/host_config.h"
#include "deploy/pack_config.h"
#include "deploy/views/bundle_settings.h"

namespace sluice::deploy::config {
namespace {

ConfigRecord record_of(const State& state, const ConfigId& id) { return state.get(id).value_or(ConfigRecord{}); }

std::string reference_to(const ConfigId& environment, const std::string& key) {
  return "runtime://" + environment.text() + "/discovered/" + key;
}

}  // namespace

Set::Result Config::set(const Set& ask, State& state) {
  std::vector<ConfigValue> wanted = state.values(ask.environment).values();
  for (const ConfigValue& each : ask.values) {
    auto value = host_value(each.key, each.value);
    if (!value) {
      return Set::Invalid{.environment = ask.environment, .key = each.key, .message = value.error().message};
    }
    std::erase_if(wanted, [&](const ConfigValue& known) { return known.key == each.key; });
    if (!value->empty()) wanted.push_back({.key = each.key, .value = *value});
  }
  std::map<std::string, std::string, std::less<>> together;
  for (const ConfigValue& each : wanted) together.emplace(each.key, each.value);
  if (auto [key, why] = unfit_together(together); !key.empty()) {
    return Set::Invalid{.environment = ask.environment, .key = key, .message = why};
  }
  std::ranges::sort(wanted, {}, &ConfigValue::key);
  ConfigRecord record = record_of(state, ask.environment);
  record.generation++;
  state.put(ask.environment, record);
  state.values(ask.environment).assign(wanted);
  return Set::Ok{.environment = ask.environment, .generation = record.generation};
}

// ------------------------------------------------------------------------------------------------- how it is set up

SetUp::Begun Config::begin_set_up(const SetUp& ask, State&) {
  return SetUpWork{.environment = ask.environment.text(), .bundle = ask.bundle, .values = ask.values};
}

SetUp::Performed Config::perform_set_up(const SetUpWork& work, Effect& effect) {
  const ConfigId id(work.environment);
  const auto asks = views::asks_of_bundle(effect.read(), work.environment, work.bundle);
  for (const ConfigValue& each : work.values) {
    const std::string fault = fault_of_value(asks, work.environment, each.key, each.value);
    if (!fault.empty()) return SetUp::Invalid{.environment = id, .key = each.key, .message = fault};
  }
  return SetUp::Ok{.environment = id, .bundle = work.bundle, .values = work.values};
}

SetUp::Outcome Config::finish_set_up(const SetUp& ask, const SetUp::Outcome& outcome, State& state) {
  if (ended_of(outcome) != SetUp::Ended::ok) return outcome;
  auto ok = get<SetUp::Ok>(outcome);
  auto answers = state.answers(ask.environment).values();
  for (const ConfigValue& each : ok.values) {
    std::erase_if(answers,
                  [&](const ConfigAnswer& known) { return known.bundle == ask.bundle && known.name == each.key; });
    if (each.value.empty()) continue;
    answers.push_back({.bundle = ask.bundle, .name = each.key, .value = each.value, .at = state.now()});
  }
  std::ranges::sort(answers, {}, [](const ConfigAnswer& each) { return std::pair(each.bundle, each.name); });
  ConfigRecord record = record_of(state, ask.environment);
  record.answersGeneration = record.answersGeneration.value_or(0) + 1;
  state.put(ask.environment, record);
  state.answers(ask.environment).assign(answers);
  ok.generation = *record.answersGeneration;
  return ok;
}

// ------------------------------------------------------------------------------------------------ what is found out

Discover::Result Config::discover(const Discover& ask, State& state) {
  bool changed = true;
  for (const auto& each : state.discovered(ask.environment)) {
    if (each.value.key == ask.key && each.value.value == ask.value) changed = false;
  }
  ConfigRecord record = record_of(state, ask.environment);
  record.discoveredGeneration++;
  state.put(ask.environment, record);
  for (const auto& each : state.discovered(ask.environment)) {
    if (each.value.key == ask.key) state.discovered(ask.environment).erase(each.number);
  }
  state.discovered(ask.environment)
      .push({.key = ask.key,
             .value = ask.value,
             .producer = ask.producer,
             .generation = record.discoveredGeneration,
             .at = state.now()});
  return Discover::Ok{
      .environment = ask.environment, .reference = reference_to(ask.environment, ask.key), .changed = changed};
}

Correct::Result Config::correct(const Correct& ask, State& state) {
  auto all = state.discovered(ask.environment).values();
  auto known = std::ranges::find(all, ask.key, [](const auto& each) { return each.key; });
  if (known == all.end() || known->value == ask.value) return Correct::Ok{.environment = ask.environment};
  ConfigRecord record = record_of(state, ask.environment);
  record.discoveredGeneration++;
  state.put(ask.environment, record);
  if (ask.value.empty()) {
    all.erase(known);
  } else {
    known->value = ask.value;
    known->generation = record.discoveredGeneration;
    known->at = state.now();
  }
  state.discovered(ask.environment).assign(all);
  return Correct::Ok{.environment = ask.environment};
}

Resolve::Result Config::resolve(const Resolve& ask, State& state) {
  std::vector<std::string> known;
  for (const auto& each : state.discovered(ask.environment)) known.push_back(each.value.key);
  Resolve::Unresolved lacks{.environment = ask.environment};
  for (const std::string& reference : ask.refs) {
    auto key = discovered_key(reference, ask.environment.text());
    if (key && std::ranges::find(known, *key) != known.end()) continue;
    lacks.missing.push_back(reference);
    if (lacks.message.empty()) {
      lacks.message = key ? "nothing has found out " + *key + " in " + ask.environment.text() : key.error().message;
    }
  }
  if (!lacks.missing.empty()) return lacks;
  return Resolve::Ok{.environment = ask.environment};
}

Absorb::Result Config::absorb(const Absorb& ask, State& state) {
  const Absorb::Ok ok{.environment = ask.environment};
  if (ask.environment == ask.other) return ok;
  bool taken = false;
  std::vector<ConfigValue> all = state.values(ask.environment).values();
  for (const ConfigValue& each : state.values(ask.other).values()) {
    if (std::ranges::find(all, each.key, &ConfigValue::key) != all.end()) continue;
    all.push_back(each);
    taken = true;
  }
  state.values(ask.other).clear();
  state.answers(ask.other).clear();
  state.discovered(ask.other).clear();
  state.erase(ask.other);
  if (!taken) return ok;
  std::ranges::sort(all, {}, &ConfigValue::key);
  ConfigRecord record = record_of(state, ask.environment);
  record.generation++;
  state.put(ask.environment, record);
  state.values(ask.environment).assign(all);
  return ok;
}

Forget::Result Config::forget(const Forget& ask, State& state) {
  state.values(ask.environment).clear();
  state.answers(ask.environment).clear();
  state.discovered(ask.environment).clear();
  state.erase(ask.environment);
  return Forget::Ok{.environment = ask.environment};
}

Show::Result Config::show(const Show& ask, const State& state) {
  return Show::Ok{.environment = ask.environment,
                  .generation = record_of(state, ask.environment).generation,
                  .values = state.values(ask.environment).values(),
                  .discovered = state.discovered(ask.environment).values()};
}

}  // namespace sluice::deploy::config
