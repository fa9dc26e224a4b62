// The handlers of the toy: a row for each instance.
#include "toy_runtime.gen.h"

namespace sluice::toy::toy_runtime {

Make::Result ToyRuntime::make(const Make& ask, State& state) {
  if (ask.config == "huge") return Make::NoRoom{.config = ask.config};
  return Make::Ok{.box = state.add({.instance = ask.instance}), .endpoint = "http://toy.example"};
}

Fill::Result ToyRuntime::fill(const Fill& ask, State& state) {
  if (ask.version == "thin") return Fill::Torn{.reason = "it is too thin"};
  for (const auto& each : state.find_by_instance(ask.instance)) {
    state.edit(each.id, [&](ToyRuntimeRecord& record) { record.version = ask.version; });
    return Fill::Ok{.box = each.id, .endpoint = "http://toy.example"};
  }
  return Fill::Torn{.reason = "there is no such box"};
}

Empty::Result ToyRuntime::empty(const Empty& ask, State& state) {
  for (const auto& each : state.find_by_instance(ask.instance)) {
    return Empty::Ok{.box = each.id, .restored = each.record.version};
  }
  return Empty::Nothing{};
}

Smash::Result ToyRuntime::smash(const Smash& ask, State& state) {
  for (const auto& each : state.find_by_instance(ask.instance)) state.erase(each.id);
  return Smash::Ok{.instance = ask.instance};
}

Ping::Result ToyRuntime::ping(const Ping& ask, State& state) {
  if (state.find_by_instance(ask.instance).empty()) return Ping::Silent{.instance = ask.instance};
  return Ping::Ok{.instance = ask.instance, .latencyMs = 1};
}

List::Result ToyRuntime::list(const List&, const State& state) {
  List::Ok ok;
  for (const auto& each : state.all()) ok.instances.push_back(each.record.instance);
  return ok;
}

}  // namespace sluice::toy::toy_runtime
