// One count for a caller and an action, of one minute.
#include "engine/denials.h"

namespace sluice::engine {

std::vector<Denials::Told> Denials::deny(const Who& who, int64_t now_ms) {
  Count& count = counts_[who];
  if (count.minute == minute_of(now_ms)) {
    ++count.more;
    return {};
  }
  std::vector<Told> told;
  if (count.more > 0) told.push_back({who, count.more});
  told.push_back({who, 1});
  count = {0, minute_of(now_ms)};
  return told;
}

std::vector<Denials::Told> Denials::take(int64_t now_ms, bool all) {
  std::vector<Told> told;
  std::erase_if(counts_, [&](const auto& each) {
    const auto& [who, count] = each;
    if (!all && count.minute == minute_of(now_ms)) return false;
    if (count.more > 0) told.push_back({who, count.more});
    return true;
  });
  return told;
}

void Denials::put_back(const Told& told, int64_t now_ms) {
  Count& count = counts_[told.who];
  if (count.minute < 0) count.minute = minute_of(now_ms);
  count.more += told.count;
}

}  // namespace sluice::engine
