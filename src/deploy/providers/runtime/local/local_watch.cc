// One look at each replica's folder.
#include "deploy/providers/runtime/local/local_watch.h"

#include <algorithm>
#include <boost/json.hpp>

#include "deploy/providers/runtime/local/local_host.h"

namespace sluice::deploy::local_runtime {
namespace {

constexpr int64_t kFirstWait_ms = 2'000, kLongestWait_ms = 300'000;
constexpr int64_t kMs_ns = 1'000'000;

}  // namespace

void LocalWatch::look(const Tell& tell) {
  if (replicas_.are_to_rest()) return;
  auto names = replicas_.list();
  if (!names) return;
  const int64_t now_ms = clock_.monotonic_ns() / kMs_ns;
  std::set<std::string> down, services;
  for (const std::string& name : *names) {
    auto state = replicas_.look(name);
    if (!state || !process::is_over(state->phase)) continue;
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
}

}  // namespace sluice::deploy::local_runtime
