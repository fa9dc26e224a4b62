// When the use of a token or a session is written down: at once the first time, so that people see that it works, and
// then at most once an hour, since every note is a flow in the journal. What was used in between is remembered.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sluice::host {

inline constexpr int64_t kNoteUseEvery_ns = 3'600'000'000'000;

class UseNotes {
 public:
  // Those that are to be written now, of what was used since the last call and of what waits from before.
  std::vector<std::string> due(const std::set<std::string>& used, int64_t now_ns);

 private:
  std::map<std::string, int64_t> noted_ns_;
  std::set<std::string> waiting_;
};

}  // namespace sluice::host
