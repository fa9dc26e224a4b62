// Effects run outside the writer, on threads of their own. The writer launches an attempt after the commit that decided
// on it, and hears of its result as an input; it may cancel an attempt, which only sets a flag that the attempt can
// look at.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/ulid.h"
#include "lang/run/binding.h"

namespace sluice::engine {

// How an attempt ended, as the writer needs to know it.
struct AttemptFault {
  std::string message;
};
struct AttemptUnsure {};  // a probe could not tell
using AttemptResult = std::variant<lang::Completion, lang::Again, AttemptFault, AttemptUnsure>;

struct Job {
  std::function<void()> run;  // performs, and tells the writer; never throws
};

class EffectRunner {
 public:
  virtual ~EffectRunner() = default;
  virtual void launch(Job job) = 0;
  virtual void launch_all(std::vector<Job> jobs) {
    for (Job& job : jobs) launch(std::move(job));
  }
};

// A thread an attempt, from a pool that grows on demand. Destroying it waits for the attempts under way.
class EffectThreads final : public EffectRunner {
 public:
  // `after_job` is called on the attempt's thread after each. `idle`: no other job waits for this thread, and what is
  // launched until it returns is left to it.
  using AfterJob = std::function<void(bool idle)>;
  // `before_job` likewise before each; what it does not return from is not begun.
  explicit EffectThreads(size_t most = 128, AfterJob after_job = nullptr, std::function<void()> before_job = nullptr)
      : most_(most), after_job_(std::move(after_job)), before_job_(std::move(before_job)) {}
  ~EffectThreads() override;

  void launch(Job job) override;
  void launch_all(std::vector<Job> jobs) override;
  size_t threads() const;

 private:
  void work();
  void wake_one();  // with the mutex

  const size_t most_;
  const AfterJob after_job_;
  const std::function<void()> before_job_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> jobs_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  bool waking_ = false;  // one is on its way, or about to look: jobs that are done before it comes need no other
  bool stopping_ = false;
};

// Keeps attempts until they are run one by one: for tests that decide on the order.
class EffectQueue final : public EffectRunner {
 public:
  void launch(Job job) override { jobs_.push_back(std::move(job)); }
  // Runs the n-th oldest attempt here and now; false if there is none.
  bool run(size_t n = 0);
  size_t size() const { return jobs_.size(); }
  // Forgets what was launched, as a crash does.
  void drop_all() { jobs_.clear(); }

 private:
  std::deque<Job> jobs_;
};

// Who is next for a thread: concepts take turns, within a concept flows do, and within a flow the oldest is first.
// Knows how many of a concept's effects are under way.
class EffectSlots {
 public:
  struct Waiting {
    size_t concept_ = 0;
    Ulid flow, invocation;
  };

  void set_limit(size_t concept_, size_t limit) { lines_[concept_].limit = limit; }
  void push(size_t concept_, const Ulid& flow, const Ulid& invocation);
  // Takes the next one that may run now, and counts it as under way.
  std::optional<Waiting> take(size_t most);
  void release(size_t concept_);
  void hold(size_t concept_);  // undoes a release
  void forget_waiting();

 private:
  struct Line {
    size_t limit = 32;
    size_t running = 0;
    std::map<std::pair<Ulid, uint64_t>, Ulid> waiting;  // by flow and number
    std::optional<Ulid> last;                           // the flow that had its turn
  };
  std::map<size_t, Line> lines_;
  std::optional<size_t> last_;  // the concept that had its turn
  uint64_t pushed_ = 0;
  size_t running_ = 0;
};

}  // namespace sluice::engine
