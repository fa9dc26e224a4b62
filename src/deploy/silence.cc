// A wait longer than the first one means that somebody was told already.
#include "deploy/silence.h"

#include <algorithm>

namespace sluice::deploy {
namespace {

constexpr int64_t kFirstWait_ms = 10'000, kLongestWait_ms = 300'000;

}  // namespace

std::vector<std::string> Silence::due(const std::set<std::string>& silent, int64_t now_ms) {
  std::vector<std::string> all;
  for (const std::string& instance : silent) {
    since_.try_emplace(instance, Looked{.next_ms = now_ms + kFirstWait_ms, .wait_ms = kFirstWait_ms});
  }
  for (auto& [instance, looked] : since_) {
    const bool was_told = looked.wait_ms > kFirstWait_ms;
    if (!(silent.contains(instance) ? now_ms >= looked.next_ms : was_told)) continue;
    looked.wait_ms = std::min(2 * looked.wait_ms, kLongestWait_ms);
    looked.next_ms = now_ms + looked.wait_ms;
    all.push_back(instance);
  }
  std::erase_if(since_, [&](const auto& each) { return !silent.contains(each.first); });
  return all;
}

}  // namespace sluice::deploy
