// One that is not known yet is due at once.
#include "host/use_notes.h"

namespace sluice::host {

std::vector<std::string> UseNotes::due(const std::set<std::string>& used, int64_t now_ns) {
  waiting_.insert(used.begin(), used.end());
  std::vector<std::string> all;
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    auto [noted, fresh] = noted_ns_.try_emplace(*each, now_ns);
    if (!fresh && now_ns - noted->second < kNoteUseEvery_ns) {
      ++each;
      continue;
    }
    noted->second = now_ns;
    all.push_back(*each);
    each = waiting_.erase(each);
  }
  return all;
}

}  // namespace sluice::host
