// One look at each replica's folder.
#include "deploy/providers/runtime/local/local_watch.h"

#include <algorithm>
#include <boost/json.hpp>

#include "deploy/providers/runtime/local/local_host.h"
#include "deploy/views/runtime_registry.h"
#include "local_runtime.gen.h"

namespace sluice::deploy::local_runtime {
namespace {

constexpr int64_t kFirstWait_ms = 2'000, kLongestWait_ms = 300'000;
constexpr int64_t kMs_ns = 1'000'000;
constexpr std::string_view kKind = "local";  // as local_runtime.concept says

}  // namespace

void LocalWatch::look(const Tell& tell) {
  if (replicas_.are_to_rest()) return;
  auto names = replicas_.list();
  if (!names) return;
  const int64_t now_ms = clock_.monotonic_ns() / kMs_ns;
  std::set<std::string> down, services, silent, answering;
  for (const std::string& name : *names) {
    auto state = replicas_.look(name);
    if (!state) continue;
    (state->phase == process::Phase::running && state->healthy ? answering : silent).insert(service_of_replica(name));
    if (!process::is_over(state->phase)) continue;
    down.insert(name);
    if (first_ || state->phase == process::Phase::lost || seen_.contains(name)) {
      services.insert(service_of_replica(name));
    }
  }
  std::erase_if(told_, [&](const auto& each) {
    return std::ranges::none_of(down, [&](const std::string& name) { return service_of_replica(name) == each.first; });
  });
  seen_ = std::move(down);
  first_ = false;
  for (const std::string& service : services) {
    Told& told = told_[service];
    if (now_ms < told.next_ms) continue;
    told.wait_ms = std::min(told.wait_ms == 0 ? kFirstWait_ms : 2 * told.wait_ms, kLongestWait_ms);
    told.next_ms = now_ms + told.wait_ms;
    tell("LocalRuntime/repair", {{"service", service}});
  }
  for (const std::string& each : answering) silent.erase(each);
  std::set<std::string> instances;
  for (const std::string& each : silent) {
    if (auto instance = instances_.find(each); instance != instances_.end()) instances.insert(instance->second);
  }
  for (const std::string& each : silence_.due(instances, now_ms)) tell("Health/suspect", {{"instance", each}});
}

void LocalWatch::compare(const lang::Snapshot& committed, const Tell& tell) {
  lang::ReadOnlyRows rows(committed.rows_of("LocalRuntime"));
  const State state(rows);
  instances_.clear();
  for (const LocalRuntimeFound& service : state.all()) {
    instances_[service.id.text()] = service.record.instance;
    auto known = views::known_replicas(committed, service.record.instance);
    if (service.record.busy || !known) continue;
    std::vector<views::KnownReplica> runs;
    for (const LocalRuntimeProgram& each : state.programs(service.id).values()) {
      runs.push_back({each.name, each.endpoint});
    }
    if (*known == runs) continue;
    tell("Runtime/observed", {{"instance", service.record.instance},
                              {"endpoint", service.record.endpoint},
                              {"replicas", json::value_from(runs)}});
  }
  const auto known = views::known_storages(committed, std::string(kKind));
  for (const auto& each : state.storages()) {
    if (!known.contains(each.value)) tell("Runtime/stored", {{"storage", each.value}, {"runtimeType", kKind}});
  }
}

}  // namespace sluice::deploy::local_runtime
