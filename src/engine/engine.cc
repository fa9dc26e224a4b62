// The writer's thread, and waiting for it.
#include "engine/engine.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <future>

#include "base/thread_name.h"
#include "engine/journal/history.h"
#include "engine/journal/record_reader.h"
#include "engine/rules/snapshot_query.h"

namespace sluice::engine {
namespace {

constexpr auto kPause = std::chrono::milliseconds(100);
constexpr uint64_t kRecordsAHead = 1'000;
constexpr int64_t kTidyEvery_ms = int64_t{3600} * 1000;
constexpr const char* kTidiedMeta = "tidied";  // when the store was, last
constexpr auto kSilentEnd = std::chrono::seconds(1);
constexpr int64_t kLongestSleep_ms = 60'000;
constexpr auto kPauseWhenFull = std::chrono::milliseconds(500);

}  // namespace

Engine::Engine(EngineParts parts)
    : parts_(std::move(parts)),
      effects_(std::make_unique<EffectThreads>(
          parts_.limits.effect_threads,
          [bell = bell_](bool idle) {
            std::shared_lock lock(bell->mutex);
            if (bell->engine == nullptr) return;
            if (idle) {
              bell->engine->help();
            } else {
              bell->engine->wake();
            }
          },
          [this] {
            if (!parts_.may_act) return;
            if (auto may = parts_.may_act(); !may) parts_.fatal(may.error().message);
          })) {
  bell_->engine = this;
}

Result<std::unique_ptr<Engine>> Engine::start(EngineParts parts, std::shared_ptr<const lang::CheckedKit> kit) {
  std::unique_ptr<Engine> engine(new Engine(std::move(parts)));
  Engine& self = *engine;
  self.kit_ = kit;
  self.committer_ = std::make_unique<Committer>(*self.parts_.store, [&self] { self.wake(); });
  self.machine_ = std::make_unique<Machine>(MachineParts{.store = self.parts_.store,
                                                         .blobs = self.parts_.blobs,
                                                         .clock = self.parts_.clock,
                                                         .boot = self.parts_.boot,
                                                         .random = self.parts_.random,
                                                         .effects = self.effects_.get(),
                                                         .committer = self.committer_.get(),
                                                         .tools = self.parts_.tools,
                                                         .concepts = self.parts_.concepts,
                                                         .may = self.parts_.may,
                                                         .committed = [&self] { self.committed(); },
                                                         .log = self.parts_.log,
                                                         .kit_folder = self.parts_.kit_folder,
                                                         .limits = self.parts_.limits},
                                            std::move(kit));
  if (self.parts_.heads != nullptr && self.parts_.heads->last()) {
    self.machine_->note_head(self.parts_.heads->last()->seq);
  }
  if (auto recovered = self.machine_->recover(); !recovered) return recovered.error();
  // What was read back may stand otherwise than its rows say: whoever looks from here on sees it as it is.
  self.committed();
  // What the first turn runs is watched, too.
  self.watcher_ = std::thread([&self] { self.watch_over_handlers(); });
  if (auto decided = self.decide_first(); !decided) return decided.error();
  if (auto turned = self.machine_->turn(); !turned) return turned.error();
  self.set_hash_ = self.machine_->sync_set().hash();
  self.writer_ = std::thread([&self] { self.run(); });
  self.keeper_ = std::thread([&self] { self.keep_house(); });
  return engine;
}

// Before the first turn, which launches and fires what was due while nothing ran: an operator who cancels an effect
// must not set it off by that.
Result<void> Engine::decide_first() {
  if (!parts_.first) return {};
  auto refused = std::make_shared<std::optional<Error>>();
  Decision first = *std::exchange(parts_.first, std::nullopt);
  first.on_done = [refused, on_done = std::move(first.on_done)](const Result<uint64_t>& done) {
    if (!done) *refused = done.error();
    if (on_done) on_done(done);
  };
  machine_->decide(std::move(first));
  return *refused ? Result<void>(**refused) : Result<void>();
}

Engine::~Engine() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    woken_ = true;
  }
  work_.notify_all();
  changed_.notify_all();
  house_.notify_all();
  if (writer_.joinable()) {
    wait_for_writer();
    writer_.join();
  }
  {
    std::lock_guard lock(mutex_);
    writing_ = false;
  }
  house_.notify_all();
  if (watcher_.joinable()) watcher_.join();
  if (keeper_.joinable()) keeper_.join();
  committer_.reset();  // it wakes the writer, with what is gone after this
  {
    std::lock_guard lock(bell_->mutex);
    bell_->engine = nullptr;
  }
  if (!machine_ || machine_->attempts_under_way() == 0) return;
  // A thread cannot be ended from outside. What it works on stays for as long as the process.
  (void)machine_.release();
  (void)effects_.release();
}

void Engine::wait_for_writer() {
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, kSilentEnd, [this] { return !writing_; }) || waited_for_.empty()) return;
  std::string text = waited_for_;
  lock.unlock();
  if (parts_.note) parts_.note(text);
}

namespace {

// "waiting for Courier/deliver of flow 01J…, at most 58 s more; what it is part of is kept"
std::string text_of_attempts(const std::vector<Machine::WaitedFor>& attempts, int64_t now_ms) {
  if (attempts.empty()) return "";
  int64_t until_ms = std::ranges::max(attempts, {}, &Machine::WaitedFor::until_ms).until_ms;
  std::string text =
      "waiting for " + std::string(attempts.front().action) + " of flow " + sluice::to_string(attempts.front().flow);
  if (attempts.size() > 1) text += " and " + std::to_string(attempts.size() - 1) + " more";
  return text + ", at most " + std::to_string((std::max<int64_t>(until_ms - now_ms, 0) + 999) / 1000) +
         " s; its flow is kept in the store";
}

}  // namespace

void Engine::wake() {
  {
    std::lock_guard lock(mutex_);
    if (woken_) return;
    woken_ = true;
    if (!free_) return;  // who runs the machine looks again before it leaves it
  }
  work_.notify_one();
}

// A thread that has nothing else to do runs the machine itself while the writer sleeps: that is quicker than to wake
// it, and what comes of it finds a thread that is awake.
void Engine::help() {
  std::vector<std::function<void(Machine&)>> inbox;
  {
    std::lock_guard lock(mutex_);
    if (!free_ || stopping_) {
      woken_ = true;
      if (free_) work_.notify_one();
      return;
    }
    free_ = false;
    woken_ = false;
    inbox.swap(inbox_);
  }
  for (auto& item : inbox) item(*machine_);
  auto turned = machine_->turn();
  if (turned && *turned) turned = machine_->turn();
  auto due_ms = machine_->next_due_ms();
  std::lock_guard lock(mutex_);
  free_ = true;
  bool sooner = due_ms && (!sleeps_until_ms_ || *due_ms < *sleeps_until_ms_);
  // What is left is the writer's, and so is an error, which it meets again.
  woken_ = woken_ || !turned || *turned || sooner;
  if (woken_ || !inbox_.empty()) work_.notify_one();
}

void Engine::committed() {
  std::lock_guard lock(mutex_);
  position_ = machine_->position();
  chain_ = machine_->chain();
  keep_time();
  trouble_.reset();
  if (waiting_ > 0) changed_.notify_all();
  if (position_ >= head_due_) house_.notify_all();
}

void Engine::keep_time() {
  now_ms_ = machine_->now_ms();
  holds_retention_ = machine_->time().holds_retention();
}

void Engine::run() {
  name_this_thread("writer");
  std::vector<std::function<void(Machine&)>> inbox;
  bool told = false;  // at its end: of what was denied
  while (true) {
    bool stopping = false;
    {
      std::lock_guard lock(mutex_);
      inbox.swap(inbox_);
      woken_ = false;
      stopping = stopping_;
    }
    if (stopping) {
      // What is under way is waited for, and its results are kept.
      machine_->stop_launching();
      auto attempts = machine_->waited_for();
      bool idle = inbox.empty() && attempts.empty() && !machine_->is_committing();
      if (idle && told) break;
      if (idle) machine_->write_denials();
      told = told || idle;
      std::lock_guard lock(mutex_);
      waited_for_ = text_of_attempts(attempts, machine_->time().steady_ms());
    }
    for (auto& item : inbox) item(*machine_);
    inbox.clear();
    auto turned = machine_->turn();
    if (!turned) {
      if (auto broken = parts_.store->broken()) parts_.fatal(broken->message);
      if (parts_.log) parts_.log("nothing of the last batch was committed: " + to_string(turned.error()));
      {
        std::lock_guard lock(mutex_);
        trouble_ = turned.error();
        changed_.notify_all();
      }
      parts_.clock->sleep_ms(kPauseWhenFull.count());
      continue;
    }
    if (*turned) continue;
    std::unique_lock lock(mutex_);
    keep_time();
    if (!machine_->is_committing()) {
      trouble_.reset();
      if (told) continue;
    }
    auto something = [this] { return free_ && (woken_ || !inbox_.empty()); };
    sleeps_until_ms_ = machine_->next_due_ms();
    free_ = true;
    if (stopping) {
      work_.wait_for(lock, kPause, something);
    } else if (!sleeps_until_ms_) {
      work_.wait(lock, something);
    } else {
      int64_t wait_ms =
          std::clamp<int64_t>(*sleeps_until_ms_ - parts_.clock->monotonic_ns() / 1'000'000, 0, kLongestSleep_ms);
      work_.wait_for(lock, std::chrono::milliseconds(wait_ms), something);
    }
    woken_ = true;  // so that a thread that helps says when it is done
    work_.wait(lock, [this] { return free_; });
    free_ = false;
  }
  std::lock_guard lock(mutex_);
  writing_ = false;
  changed_.notify_all();
}

// A pure handler that never returns holds everything up: the process ends with its name, and the step never happened.
void Engine::watch_over_handlers() {
  const RunningHandler& running = machine_->running_handler();
  std::unique_lock lock(mutex_);
  while (writing_) {
    house_.wait_for(lock, kPause);
    const std::string* action = running.action;
    int64_t ms = (parts_.clock->monotonic_ns() - running.since_ns) / 1'000'000;
    if (action == nullptr || ms < parts_.longest_handler_ms || running.action != action) continue;
    parts_.fatal("the handler of " + *action + " has not returned for " + std::to_string(ms / 1000) +
                 " s; its step was not committed");
  }
}

// Signs heads as the journal grows, and packs and forgets what is due. Ends after the writer, so that the last head is
// that of the last record.
void Engine::keep_house() {
  constexpr int64_t kMinute_ms = 60'000;
  int64_t due_ns = parts_.clock->monotonic_ns() + kMinute_ms * 1'000'000;
  sign_head();  // of what a process that was killed has left
  while (true) {
    bool ending = false;
    {
      std::unique_lock lock(mutex_);
      uint64_t last = parts_.heads != nullptr && parts_.heads->last() ? parts_.heads->last()->seq : 0;
      int64_t wait_ms = std::clamp<int64_t>((due_ns - parts_.clock->monotonic_ns()) / 1'000'000, 0, kMinute_ms);
      head_due_ = parts_.heads == nullptr || head_failed_ ? UINT64_MAX : last == 0 ? 1 : last + kRecordsAHead;
      house_.wait_for(lock, std::chrono::milliseconds(wait_ms), [&] { return !writing_ || position_ >= head_due_; });
      head_due_ = UINT64_MAX;  // until that one is signed
      ending = !writing_;
    }
    sign_head();
    if (ending && tidy_is_due()) tidy_store();
    if (ending) return;
    if (parts_.clock->monotonic_ns() < due_ns) continue;
    due_ns = parts_.clock->monotonic_ns() + kMinute_ms * 1'000'000;
    head_failed_ = false;
    wake();  // to look at the clock
    tidy_store();
  }
}

void Engine::sign_head() {
  if (parts_.heads == nullptr || parts_.operator_key == nullptr) return;
  Head head;
  {
    std::lock_guard lock(mutex_);
    head = {.seq = position_, .chain = chain_, .at_ms = now_ms_};
  }
  if (head.seq == 0 || (parts_.heads->last() && parts_.heads->last()->seq >= head.seq)) return;
  if (auto done = parts_.heads->append(sign(head, *parts_.operator_key)); !done) {
    head_failed_ = true;  // tried again in a minute
    if (parts_.log) parts_.log("the journal's head could not be signed: " + to_string(done.error()));
  } else {
    machine_->note_head(head.seq);
  }
}

// Commands come and go within a minute: then the last one of an hour does what is due.
bool Engine::tidy_is_due() const {
  auto snapshot = parts_.store->read();
  auto last = snapshot ? (*snapshot)->meta(kTidiedMeta) : Result<std::optional<std::string>>(snapshot.error());
  if (!last) return false;
  int64_t last_ms = 0;
  if (*last) std::from_chars((*last)->data(), (*last)->data() + (*last)->size(), last_ms);
  return parts_.clock->wall_ms() - last_ms >= kTidyEvery_ms || last_ms > parts_.clock->wall_ms();
}

void Engine::tidy_store() {
  std::lock_guard loading(loading_);
  int64_t now_ms = 0;
  std::string current;
  {
    std::lock_guard lock(mutex_);
    if (holds_retention_) return;
    now_ms = now_ms_;
    current = set_hash_;
  }
  auto forget = [&]() -> Result<void> {
    auto snapshot = parts_.store->read();
    if (!snapshot) return snapshot.error();
    auto sets = unneeded_sync_sets(**snapshot, current);
    if (!sets) return sets.error();
    snapshot->reset();
    if (auto forgotten = parts_.store->forget(now_ms, *sets); !forgotten) return forgotten;
    return parts_.store->commit({.meta = {{std::string(kTidiedMeta), std::to_string(parts_.clock->wall_ms())}}});
  };
  auto packed = pack_settled(*parts_.store, now_ms, parts_.retention);
  auto forgotten = forget();
  if (!packed && parts_.log) parts_.log("settled flows could not be packed: " + to_string(packed.error()));
  if (!forgotten && parts_.log) {
    parts_.log("old keys and sync sets could not be removed: " + to_string(forgotten.error()));
  }
}

template <typename Value, typename Ask>
Result<Value> Engine::ask(const Ask& put) {
  auto promise = std::make_shared<std::promise<Result<Value>>>();
  auto future = promise->get_future();
  auto told = [promise](const Result<Value>& value) { promise->set_value(value); };
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return Error{.code = Code::unavailable, .message = "the engine is stopping"};
    inbox_.push_back([put, told](Machine& machine) { put(machine, told); });
    woken_ = true;
    if (free_) work_.notify_one();
  }
  try {
    return future.get();
  } catch (const std::future_error&) {
    return Error{.code = Code::unavailable, .message = "the engine stopped before it was done"};
  }
}

namespace {

Call call_of(Request request) {
  return Call{.action = std::move(request.action),
              .input = std::move(request.input),
              .caller = std::move(request.caller),
              .key = std::move(request.key),
              .expect_generation = request.expect_generation,
              .of_kit = request.of_kit};
}

}  // namespace

Result<Outcome> Engine::invoke(Request request) {
  return ask<Outcome>([&](Machine& machine, const auto& told) {
    Call call = call_of(std::move(request));
    call.on_end = told;
    machine.call(std::move(call));
  });
}

Result<Ulid> Engine::start(Request request) {
  return ask<Ulid>([&](Machine& machine, const auto& told) {
    Call call = call_of(std::move(request));
    call.on_start = told;
    machine.call(std::move(call));
  });
}

Result<uint64_t> Engine::decide(Decision decision) {
  return ask<uint64_t>([&](Machine& machine, const auto& told) {
    decision.on_done = told;
    machine.decide(std::move(decision));
  });
}

Result<uint64_t> Engine::record_put(const Caller& caller, const std::string& digest, uint64_t bytes) {
  if (parts_.may && !parts_.may(caller, "put", {})) return deny(caller, "put");
  return ask<uint64_t>([&](Machine& machine, const auto& told) { machine.record_put(caller, digest, bytes, told); });
}

Result<void> Engine::load(std::shared_ptr<const lang::CheckedKit> kit,
                          const std::vector<const lang::ConceptBinding*>& more) {
  std::lock_guard loading(loading_);
  auto loaded = ask<bool>([&](Machine& machine, const auto& told) {
    auto done = machine.load(kit, more);
    std::lock_guard lock(mutex_);
    set_hash_ = machine.sync_set().hash();
    if (done) {
      kit_ = kit;
      for (const lang::ConceptBinding* each : more) {
        if (std::ranges::find(parts_.concepts, each) == parts_.concepts.end()) parts_.concepts.push_back(each);
      }
    }
    told(done ? Result<bool>(true) : Result<bool>(done.error()));
  });
  return loaded ? Result<void>() : Result<void>(loaded.error());
}

std::shared_ptr<const lang::CheckedKit> Engine::kit() const {
  std::lock_guard lock(mutex_);
  return kit_;
}

Error Engine::deny(const Caller& caller, const std::string& what) {
  auto denied = ask<Outcome>([&](Machine& machine, const auto& told) {
    machine.refuse({.action = what, .input = {}, .caller = caller, .on_end = told});
  });
  return denied.error();
}

Result<lang::Completion> Engine::query(const std::string& action, const json::object& input, const Caller& caller) {
  const lang::ActionBinding* handler = nullptr;
  {
    std::lock_guard lock(mutex_);
    handler = find_query(parts_.concepts, action);
  }
  if (handler == nullptr) return no_such_query(action);
  if (auto may = parts_.may ? parts_.may(caller, action, input) : Result<void>(); !may) {
    (void)deny(caller, action);
    return may.error();
  }
  auto snapshot = parts_.store->read();
  if (!snapshot) return snapshot.error();
  return run_query(*handler, action, input,
                   {.snapshot = *std::move(snapshot),
                    .blobs = parts_.blobs,
                    .indexed = machine_->indexed(),
                    .now_ms = parts_.clock->wall_ms()});
}

template <typename Done>
void Engine::wait_for_commit(std::unique_lock<std::mutex>& lock, int64_t at_most_ms, const Done& done) {
  ++waiting_;
  changed_.wait_for(lock, std::chrono::milliseconds(at_most_ms), [&] { return stopping_ || done(); });
  --waiting_;
}

std::optional<Error> Engine::trouble() const {
  std::lock_guard lock(mutex_);
  return trouble_;
}

uint64_t Engine::position() const {
  std::lock_guard lock(mutex_);
  return position_;
}

uint64_t Engine::wait_for(uint64_t position, int64_t at_most_ms) {
  std::unique_lock lock(mutex_);
  wait_for_commit(lock, at_most_ms, [&] { return position_ >= position; });
  return position_;
}

Result<store::FlowStatus> Engine::wait(const Ulid& flow, Until until, const std::function<bool()>& stop) {
  while (true) {
    uint64_t seen = position();
    auto snapshot = parts_.store->read();
    if (!snapshot) return snapshot.error();
    auto row = (*snapshot)->flow(flow);
    if (!row) return row.error();
    if (!*row) {
      return Error{.code = Code::not_found, .message = "there is no flow " + sluice::to_string(flow)};
    }
    store::FlowStatus status = (*row)->status;
    bool done = !store::is_open(status) || status == store::FlowStatus::stuck ||
                (until == Until::quiet && status == store::FlowStatus::waiting);
    if (done && until == Until::all) {
      bool pending = false;
      auto read = (*snapshot)->open_flows([&](const store::FlowRow& child) {
        pending = child.status != store::FlowStatus::stuck && follows_from(**snapshot, child, flow);
        return !pending;
      });
      if (!read) return read.error();
      done = !pending;
    }
    if (done || (stop && stop())) return status;
    snapshot->reset();
    std::unique_lock lock(mutex_);
    if (stopping_) return status;
    wait_for_commit(lock, kPause.count(), [&] { return position_ > seen; });
  }
}

Result<void> Engine::watch(uint64_t from, const store::Visit<store::JournalRow>& visit,
                           const std::function<bool()>& stop) {
  uint64_t next = from;
  while (!stop()) {
    uint64_t seen = position();
    if (seen >= next) {
      auto snapshot = parts_.store->read();
      if (!snapshot) return snapshot.error();
      bool more = true;
      RecordReader records(**snapshot);
      std::optional<Error> unreadable;
      auto read = (*snapshot)->journal_from(next, [&](const store::JournalRow& row) {
        next = row.seq + 1;
        auto record = records.read(row);
        if (!record) {
          unreadable = record.error();
          return false;
        }
        store::JournalRow whole = row;
        if (row.record.empty()) whole.record = *record;
        more = visit(whole);
        return more;
      });
      if (!read) return read;
      if (unreadable) return *unreadable;
      if (!more) return {};
      continue;
    }
    std::unique_lock lock(mutex_);
    if (stopping_) return {};
    wait_for_commit(lock, kPause.count(), [&] { return position_ >= next; });
  }
  return {};
}

}  // namespace sluice::engine
