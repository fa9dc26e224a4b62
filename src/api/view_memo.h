// ViewMemo lets many who look at the same page share one read of a view. Who takes an answer that is a little old
// (Cache-Control: max-age=1) gets the one that was read for the same caller and question less than so long ago; of
// those who ask at once, one reads and the others wait for it.
//
//   auto answer = memo.get(key, age_ms, [&] { return door.view(name, query); });
//
// It keeps answers for 5 seconds, at most 512 and about 32 MB.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace sluice::api {

struct ViewAnswer {
  uint64_t position = 0;  // of the journal, at the moment that was read
  std::string body;
};

class ViewMemo {
 public:
  static constexpr int64_t kMostAge_ms = 5'000;

  explicit ViewMemo(const Clock& clock) : clock_(clock) {}

  using Read = std::function<Result<ViewAnswer>()>;
  // An error is not kept.
  Result<std::shared_ptr<const ViewAnswer>> get(const std::string& key, int64_t age_ms, const Read& read);

 private:
  struct Entry {
    std::shared_ptr<const ViewAnswer> answer;
    int64_t read_ns = 0;  // when the read began
    bool reading = false;
  };
  void make_room(int64_t now_ns);  // with the lock held

  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable read_;
  std::map<std::string, Entry> entries_;
};

}  // namespace sluice::api
