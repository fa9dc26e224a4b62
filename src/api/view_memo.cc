// Whoever is to read marks the entry first, so that the others wait for that read instead of beginning their own.
#include "api/view_memo.h"

#include <algorithm>

namespace sluice::api {
namespace {

constexpr size_t kMostEntries = 512;
constexpr size_t kMostBytes = size_t{32} << 20;

}  // namespace

Result<std::shared_ptr<const ViewAnswer>> ViewMemo::get(const std::string& key, int64_t age_ms, const Read& read) {
  const int64_t asked_ns = clock_.monotonic_ns();
  const int64_t oldest_ns = asked_ns - std::min(age_ms, kMostAge_ms) * 1'000'000;
  {
    std::unique_lock lock(mutex_);
    for (;;) {
      auto known = entries_.find(key);
      if (known == entries_.end()) break;
      if (known->second.answer && known->second.read_ns >= oldest_ns) return known->second.answer;
      if (!known->second.reading) break;
      read_.wait(lock);
    }
    make_room(asked_ns);
    entries_[key].reading = true;
  }
  const int64_t began_ns = clock_.monotonic_ns();
  auto answer = read();
  std::lock_guard lock(mutex_);
  read_.notify_all();
  if (!answer) {
    entries_.erase(key);
    return answer.error();
  }
  auto kept = std::make_shared<const ViewAnswer>(*std::move(answer));
  entries_[key] = {.answer = kept, .read_ns = began_ns};
  return kept;
}

void ViewMemo::make_room(int64_t now_ns) {
  std::erase_if(entries_, [&](const auto& each) {
    return !each.second.reading && now_ns - each.second.read_ns > kMostAge_ms * 1'000'000;
  });
  size_t bytes = 0;
  for (const auto& [key, entry] : entries_) bytes += entry.answer ? entry.answer->body.size() : 0;
  if (entries_.size() < kMostEntries && bytes < kMostBytes) return;
  std::erase_if(entries_, [](const auto& each) { return !each.second.reading; });
}

}  // namespace sluice::api
