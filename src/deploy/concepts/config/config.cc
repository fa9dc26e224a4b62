// Config keeps two kinds of values apart: what an operator has said, and what the deployer has found out. Each has its
// own generation. The row is made with the first value of either kind.
#include <algorithm>

#include "config.gen.h"
#include "deploy/host_config.h"

namespace sluice::deploy::config {
namespace {

ConfigRecord record_of(const State& state, const ConfigId& id) { return state.get(id).value_or(ConfigRecord{}); }

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
  std::ranges::sort(wanted, {}, &ConfigValue::key);
  ConfigRecord record = record_of(state, ask.environment);
  record.generation++;
  state.put(ask.environment, record);
  state.values(ask.environment).assign(wanted);
  return Set::Ok{.environment = ask.environment, .generation = record.generation};
}

Discover::Result Config::discover(const Discover& ask, State& state) {
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
  return Discover::Ok{.environment = ask.environment};
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
