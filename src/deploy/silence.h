// Silence says when Health is to look at instances none of whose replicas answers: after ten seconds, again after a
// while that doubles, and once more when one answers.
//
//   for (const std::string& instance : silence_.due(silent, now_ms)) tell("Health/suspect", {{"instance", instance}});
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sluice::deploy {

class Silence {
 public:
  // `silent` are those of which none answers now; `now_ms` is of the clock that never goes back.
  std::vector<std::string> due(const std::set<std::string>& silent, int64_t now_ms);

 private:
  struct Looked {
    int64_t next_ms = 0;
    int64_t wait_ms = 0;
  };
  std::map<std::string, Looked> since_;
};

}  // namespace sluice::deploy
