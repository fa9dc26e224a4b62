// Engine is the machine on a thread of its own, the writer, and the door to it for everyone else: any thread may call
// in, and waits only for what it asked for.
//
//   auto engine = Engine::start({.store = …, .concepts = …}, kit);
//   auto outcome = (*engine)->invoke({.action = "Order/place", .input = …, .caller = …});
//
// The writer takes what is queued and commits, without waiting for more, so that what comes meanwhile shares the next
// commit. While it sleeps an attempt's thread that has nothing else to do runs the machine in its place. It ends the
// process (through `fatal`) when it cannot know any more what is on the disk, and when a pure handler does not return.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/journal/audit.h"
#include "engine/journal/retention.h"
#include "engine/machine.h"

namespace sluice::engine {

struct EngineParts {
  store::Store* store = nullptr;
  store::BlobStore* blobs = nullptr;
  Clock* clock = nullptr;
  Boot boot;                 // of this machine; not known: each start is taken for a new boot
  Random* random = nullptr;  // for ids
  const lang::Tools* tools = nullptr;
  std::vector<const lang::ConceptBinding*> concepts;
  May may;
  std::function<void(const std::string&)> log;
  // The same, but it should be seen now: the end is waited for.
  std::function<void(const std::string&)> note;
  // Asked before each attempt at an effect; an error: this process may not act any more, and must end. Null: it may.
  std::function<Result<void>()> may_act;
  // The process must end, and why. Must not return.
  std::function<void(const std::string&)> fatal;
  // Where the journal's head is signed every 1,000 records and every minute; null: nowhere.
  HeadLog* heads = nullptr;
  const crypto::PrivateKey* operator_key = nullptr;
  // An operator's decision that is taken before anything goes on; its on_done hears of it before start() returns.
  std::optional<Decision> first;
  // Where the kit is, for those who look for the kit of a flow; may be empty.
  std::string kit_folder;
  Retention retention;
  Limits limits;
  int64_t longest_handler_ms = 10'000;
};

struct Request {
  std::string action;
  json::object input;
  Caller caller;
  std::string key;
  std::optional<uint64_t> expect_generation;
  bool of_kit = false;  // an observer of the kit calls: it may call what only syncs call
};

class Engine {
 public:
  // A first decision that cannot be taken is its error, and nothing has been run.
  static Result<std::unique_ptr<Engine>> start(EngineParts parts, std::shared_ptr<const lang::CheckedKit> kit);
  // Waits for attempts under way, so that none of them is cut off; after a second it says for which. One that has not
  // returned by its deadline is left behind on its thread: the process should end soon.
  ~Engine();

  // The completion of what was asked for, once it is committed.
  Result<Outcome> invoke(Request request);
  // The flow, once its request is committed.
  Result<Ulid> start(Request request);
  // Reads committed state; nothing is journaled but that somebody may not.
  Result<lang::Completion> query(const std::string& action, const json::object& input, const Caller& caller);
  // Writes down that this caller may not do something that is no action; answers what they are told.
  Error deny(const Caller& caller, const std::string& what);
  Result<uint64_t> decide(Decision decision);
  // Writes down that this caller has put bytes into the home, if they may: the position.
  Result<uint64_t> record_put(const Caller& caller, const std::string& digest, uint64_t bytes);
  // New flows run under this kit's syncs, and all under its guards. It may have more concepts from outside than the one
  // that runs, with these handlers, which must outlive the engine.
  Result<void> load(std::shared_ptr<const lang::CheckedKit> kit,
                    const std::vector<const lang::ConceptBinding*>& more = {});
  // The kit that runs now.
  std::shared_ptr<const lang::CheckedKit> kit() const;

  enum class Until : uint8_t {
    quiet,    // it is settled, or only waits for time or for people
    settled,  // it is settled
    all,      // and so are its follow-ups
  };
  // Waits until the flow is that far, or until `stop` says so, which is asked after every commit and every 100 ms.
  Result<store::FlowStatus> wait(const Ulid& flow, Until until, const std::function<bool()>& stop = {});

  // Records from this position on, in order, as they are committed; ends when visit returns false or `stop` true.
  Result<void> watch(uint64_t from, const store::Visit<store::JournalRow>& visit, const std::function<bool()>& stop);

  // Why nothing is committed now, though it is tried again and again; none while all is well.
  std::optional<Error> trouble() const;

  // The newest committed position; waits until it is at least this.
  uint64_t position() const;
  uint64_t wait_for(uint64_t position, int64_t at_most_ms);

 private:
  explicit Engine(EngineParts parts);
  void run();
  void wait_for_writer();
  void watch_over_handlers();
  void keep_house();
  void sign_head();
  bool tidy_is_due() const;
  void tidy_store();
  Result<void> decide_first();
  template <typename Value, typename Ask>
  Result<Value> ask(const Ask& put);
  void wake();
  void help();
  void committed();  // by whoever runs the machine
  void keep_time();  // by the same, with the lock held
  // Waits for a commit, with the lock held, until `done` or for so long.
  template <typename Done>
  void wait_for_commit(std::unique_lock<std::mutex>& lock, int64_t at_most_ms, const Done& done);

  // What attempts ring when they end; it outlives an engine that leaves one behind.
  struct Bell {
    std::shared_mutex mutex;
    Engine* engine = nullptr;
  };

  EngineParts parts_;
  std::shared_ptr<Bell> bell_ = std::make_shared<Bell>();
  std::unique_ptr<EffectThreads> effects_;
  std::unique_ptr<Committer> committer_;
  std::unique_ptr<Machine> machine_;

  std::mutex loading_;  // the current sync set does not change while others are forgotten
  mutable std::mutex mutex_;
  std::condition_variable work_;     // for the writer
  std::condition_variable changed_;  // for those who wait for commits
  std::condition_variable house_;    // for those who look after the writer
  size_t waiting_ = 0;               // for commits
  uint64_t head_due_ = 0;            // the position at which the next head is signed
  bool head_failed_ = false;         // of the house keeper alone
  std::vector<std::function<void(Machine&)>> inbox_;
  bool woken_ = false;
  bool free_ = false;                       // nobody runs the machine: the writer sleeps
  std::optional<int64_t> sleeps_until_ms_;  // then, on the steady clock; none: until it is woken
  bool stopping_ = false;
  bool writing_ = true;     // the writer has not ended yet
  std::string waited_for_;  // while it ends: the attempts under way
  std::optional<Error> trouble_;
  uint64_t position_ = 0;  // of the last commit
  std::string chain_;      // of its last record
  int64_t now_ms_ = 0;     // recorded time
  bool holds_retention_ = false;
  std::string set_hash_;  // of the current syncs
  std::shared_ptr<const lang::CheckedKit> kit_;

  std::thread writer_, watcher_, keeper_;
};

}  // namespace sluice::engine
