// Denials counts the calls that were not allowed, by caller and action: the first of a minute is recorded at once, and
// those that follow within it by one record that counts them, once it is over.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sluice::engine {

class Denials {
 public:
  using Who = std::pair<std::string, std::string>;  // caller, action
  struct Told {
    Who who;
    uint64_t count = 0;
  };

  bool empty() const { return counts_.empty(); }
  // What is to be recorded now: of the minute before, and this one if it is the first of its minute.
  std::vector<Told> deny(const Who& who, int64_t now_ms);
  // What is to be recorded of minutes that are over, or of all.
  std::vector<Told> take(int64_t now_ms, bool all);
  // It could not be recorded, and is to be told later.
  void put_back(const Told& told, int64_t now_ms);

  static int64_t minute_end_ms(int64_t now_ms) { return (minute_of(now_ms) + 1) * kMinute_ms; }

 private:
  static constexpr int64_t kMinute_ms = 60'000;
  static int64_t minute_of(int64_t now_ms) { return now_ms / kMinute_ms; }

  struct Count {
    uint64_t more = 0;  // than the one that is recorded
    int64_t minute = -1;
  };
  std::map<Who, Count> counts_;
};

}  // namespace sluice::engine
