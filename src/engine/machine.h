// The Machine runs flows: it takes what comes from outside (calls, results of effects, the passing of time, operators'
// decisions), runs the steps that follow, and commits them in batches. It is single threaded and deterministic: the
// same inputs at the same times give the same journal. engine.h puts it on a thread of its own.
//
// A step is decided (machine_steps.cc), written to the journal, and applied to its flow (machine_apply.cc). Applying is
// the only way in which a flow in memory changes, so that reading it back from the journal gives the same flow.
//
// A turn takes what is there into the batch and commits it once. Nothing leaves the machine before that commit: callers
// hear, effects start and timers run only after it. If the commit fails the batch never happened: memory is read back
// from the store. With a Committer a batch is on its way to the disk while the next one gathers, which sees what it
// wrote and fails with it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "base/ulid.h"
#include "engine/attempt.h"
#include "engine/committer.h"
#include "engine/denials.h"
#include "engine/effects.h"
#include "engine/engine_time.h"
#include "engine/flow.h"
#include "engine/journal/journal_tail.h"
#include "engine/journal/step.h"
#include "engine/rules/action_table.h"
#include "engine/rules/guard_set.h"
#include "engine/rules/next_steps.h"
#include "engine/rules/sync_set.h"
#include "engine/sealed.h"
#include "engine/timers.h"
#include "engine/transaction.h"
#include "lang/check/check.h"
#include "lang/run/binding.h"
#include "store/store.h"

namespace sluice::engine {

// How an invocation ended, as its caller hears it.
struct Outcome {
  Ulid flow;
  Ulid invocation;
  End end;
  uint64_t position = 0;  // of the step that ended it
};

// A call from outside. Its functions are called on the machine's thread, after the commit.
struct Call {
  std::string action;  // "Concept/action"
  json::object input;
  Caller caller;
  std::string key;  // idempotency key; empty: none
  std::optional<uint64_t> expect_generation;
  bool of_kit = false;                                // it may call what only syncs call
  std::function<void(const Result<Ulid>&)> on_start;  // the flow, once its request is committed
  std::function<void(const Result<Outcome>&)> on_end;
};

// What an operator decides about a flow or an invocation of it.
struct Decision {
  enum class Kind : uint8_t {
    cancel,         // end everything that is open in the flow
    resolve_as,     // an action whose outcome nobody knows, or that is open, ended like this
    retry,          // try such an action again; or dispatch a dead child flow again
    drop,           // give a dead child flow up for good
    move,           // go on under the newest sync set
    correct_clock,  // of no flow: the system's clock is right, and recorded time becomes what it says
  };
  Kind kind = Kind::cancel;
  Ulid flow;
  Ulid invocation;      // resolve_as, retry of an action; zero otherwise
  lang::Completion as;  // resolve_as
  Caller caller;
  std::function<void(const Result<uint64_t>&)> on_done;  // the position of its step
};

struct Limits {
  uint64_t cascade_actions = 100'000;
  uint64_t flow_actions = 5'000'000;
  size_t batch_steps = 256;
  int64_t batch_ms = 5;
  size_t effect_threads = 128;
  size_t result_bytes = size_t{8} << 20U;
  int64_t max_attempts = 5;
  int64_t max_crashes = 3;
  int64_t max_child_attempts = 20;
};

// May this caller do this? `denied` says why not. A decision about a flow is the action Flow/decide with the argument
// `flow`.
using May = std::function<Result<void>(const Caller&, const std::string& action, const json::object& input)>;

struct MachineParts {
  store::Store* store = nullptr;
  store::BlobStore* blobs = nullptr;  // may be null
  const Clock* clock = nullptr;
  Boot boot;
  Random* random = nullptr;  // for ids
  EffectRunner* effects = nullptr;
  Committer* committer = nullptr;  // without one, turn() waits for its own commit
  const lang::Tools* tools = nullptr;
  std::vector<const lang::ConceptBinding*> concepts;
  May may;  // everything is allowed without one
  // A batch is committed; nobody has heard of it yet.
  std::function<void()> committed;
  // Something that a person who runs this should know.
  std::function<void(const std::string&)> log;
  // Where the kit is: the store keeps it with the sync set, so that a flow's kit is found. May be empty.
  std::string kit_folder;
  Limits limits;
};

// The handler that runs on the machine's thread now, for whoever watches over it.
struct RunningHandler {
  std::atomic<const std::string*> action = nullptr;  // its name, which lasts
  std::atomic<int64_t> since_ns = 0;
};

class Machine {
 public:
  Machine(MachineParts parts, std::shared_ptr<const lang::CheckedKit> kit);
  ~Machine();

  // Reads the open flows back from the store. Call once, before anything else.
  Result<void> recover();

  void call(Call call);
  void decide(const Decision& decision);
  // Writes down that somebody has put bytes into the home.
  void record_put(const Caller& caller, const std::string& digest, uint64_t bytes,
                  const std::function<void(const Result<uint64_t>&)>& on_done);
  // Runs what is there, and commits it unless a batch is on its way. False: there was nothing to do, or nothing but to
  // wait for that batch. An error: a commit failed and nothing of it happened; if the store is broken the process must
  // stop.
  Result<bool> turn();
  // When turn() should be called again though nothing comes in, on the steady clock; none: nothing waits for time.
  std::optional<int64_t> next_due_ms() const;

  // New flows run under this kit's syncs, and all under its guards. Its concepts must be those of the kit before
  // it, but for more from outside, which have these handlers.
  Result<void> load(std::shared_ptr<const lang::CheckedKit> kit,
                    const std::vector<const lang::ConceptBinding*>& more = {});

  const lang::CheckedKit& kit() const { return *kit_; }
  const SyncSet& sync_set() const { return *set_; }
  // Of the last record that is committed.
  uint64_t position() const { return journal_.committed_seq(); }
  std::string chain() const { return journal_.committed_chain(); }
  const EngineTime& time() const { return time_; }
  int64_t now_ms() const { return time_.now_ms(); }
  size_t open_flows() const { return flows_.size(); }
  // What is open now, by flow and id.
  struct OpenInvocation {
    Ulid flow, id;
    std::string action;
    Invocation::Phase phase = Invocation::Phase::queued;
    Ulid beneath;        // zero: no request
    int64_t due_ms = 0;  // of a timer, and of the next attempt at an effect; 0: none

    bool operator==(const OpenInvocation&) const = default;
  };
  std::vector<OpenInvocation> open_invocations() const;
  // None: it has settled.
  std::optional<store::FlowStatus> status_of(const Ulid& flow) const;
  size_t attempts_under_way() const { return running_.size(); }
  bool is_committing() const { return flight_.has_value(); }
  // Attempts whose time was not over at the last turn; not those whose result could not be committed.
  struct WaitedFor {
    Ulid flow;
    std::string_view action;
    int64_t until_ms = 0;  // on the steady clock
  };
  std::vector<WaitedFor> waited_for() const;
  // What was denied in the running minute is written down with the next turn: the process is about to end.
  void write_denials() { write_denials(denials_.take(now_ms(), true)); }
  // Denies something that is no call: tells on_end, and the journal.
  void refuse(const Call& call);
  // A head was signed for the journal up to this record; the next record says so. From any thread.
  void note_head(uint64_t seq) { journal_.note_head(seq); }
  // No further attempt begins: the process is about to end.
  void stop_launching() { parts_.limits.effect_threads = 0; }
  const RunningHandler& running_handler() const { return running_handler_; }
  std::shared_ptr<const IndexedFields> indexed() const { return attempt_parts_->indexed; }

 private:
  struct EffectResult {
    Ulid flow, invocation;
    size_t concept_ = 0;
    int64_t number = 0;
    AttemptResult result;
  };
  // What fulfilled the `when` of each firing.
  struct MatchedRecords {
    std::vector<RecordRef> records;
    size_t binding = 0;  // SyncSet::binding_of
  };
  using Matched = std::vector<MatchedRecords>;

  // ---- deciding (machine_steps.cc)
  void work_off(Flow& flow);
  void run(Flow& flow, const Ulid& id);
  void finish(Flow& flow, const Finish& work);
  void answer(Flow& flow, const Answer& work);
  Step new_step(const Flow& flow, const Ulid& invocation, Step::Kind kind) const;
  void complete(Flow& flow, Invocation& invocation, Step step, End end);
  void open_request(Flow& flow, Invocation& invocation, Step step);
  void open_timer(Flow& flow, Invocation& invocation, Step step);
  // Matches the record and writes what fires into the step.
  Matched fire(Flow& flow, const RecordRef& record, Step& step);
  AskRoom ask_room() const;
  void plan(const Flow& flow, const Match& match, std::vector<FollowUp> follow_ups, Fired& fired,
            int64_t attempt = 0) const;
  std::optional<End> unfit(const Flow& flow, const Invocation& invocation) const;
  std::optional<End> conflict(const Invocation& invocation);
  std::optional<Step> step_at(uint64_t seq);
  std::string caller_of(const Ulid& flow);
  std::string unanswered_cause(const Flow& flow, const Invocation& request) const;
  std::string text_of(const Record& record) const;
  std::string undeclared(lang::ActionRef action, const std::string& variant) const;
  void write_late(Flow& flow, const Ulid& invocation, const std::string& by, std::optional<End> end);
  void late_after_settling(const EffectResult& result);
  // Runs a handler and watches over it. What it throws becomes `fault`.
  template <typename Handler>
  auto guarded(lang::ActionRef action, const Handler& handler, std::string& fault);

  // ---- applying (machine_apply.cc)
  // The step becomes the journal's next record, behind `prev` of its flow.
  void write_record(Step& step, uint64_t prev);
  // Writes the step and applies it. `record` is what it made, if anything.
  void append(Flow& flow, Step step, const RecordRef& record = nullptr, const Matched& matched = {});
  void apply(Flow& flow, Step& step, const RecordRef& record, const Matched& matched);
  void apply_answer(Flow& flow, const Step& step);
  void apply_again(Flow& flow, const Step& step);
  void apply_opening(Flow& flow, Invocation& invocation, Step& step, const RecordRef& record);
  void apply_firings(Flow& flow, Invocation* from, Step& step, const RecordRef& record, const Matched& matched);
  void apply_end(Flow& flow, Invocation& invocation, const Step& step, const RecordRef& record);
  void apply_cancel(Flow& flow, const Step& step);
  Invocation* invoke(Flow& flow, Planned& planned, Invocation* beneath, Causes causes, Origin origin);
  void queue_answer(Flow& flow, const Origin& origin, Planned& planned, bool maybe_done);
  void supersede(Flow& flow, Invocation& timer);
  void cancel_beneath(Flow& flow, Invocation& request);
  void check_answerable(Flow& flow, Invocation* request, const Origin& origin);
  bool is_failure(lang::ActionRef action, const End& end) const;
  // Of a completion: the invocation is about to go, and gives its input.
  RecordRef record_of(Invocation& invocation, const Step& step) const;

  // ---- effects (machine_effects.cc)
  void make_ready(Flow& flow, Invocation& invocation);
  void start_ready();
  void start(Flow& flow, Invocation& invocation);
  void attempt_ended(const EffectResult& result);
  void retry_or_end(Flow& flow, Invocation& invocation, const std::string& by, const std::string& why,
                    int64_t after_ms);
  void cancel_attempt(const Ulid& invocation);
  lang::EngineEnd end_of_time(const Invocation& effect) const;
  // The end of its time; none for an action that is not loaded.
  std::optional<int64_t> deadline_ms(const Invocation& effect) const;

  // ---- child flows (machine_children.cc)
  Step child_step(const Flow& parent, const Match& match, const Ulid& id) const;
  void open_child(Step step);
  Causes causes_of(const Flow& flow) const;
  void dispatch(Flow& flow);
  void apply_dispatch(Flow& flow, Step& step);
  void repeat_child(Flow& flow);
  // Whether what a dispatch asked for is to be repeated, so that its outcome is no failure yet.
  bool child_action_ended(Flow& flow, const Record& completion, const End& end);

  // ---- undo (machine_undo.cc)
  json::value plan_undo(const Flow& flow, const json::object& input);
  void open_undo(Flow& flow, Invocation& undo, const json::value& work);
  void next_compensation(Flow& flow, Invocation& undo);
  void compensation_ended(Flow& flow, Invocation& undo, const End& end);
  void answer_undo(Flow& flow, Invocation& undo, const std::string& reason);

  // ---- decisions (machine_decisions.cc)
  Result<void> decide_now(const Decision& decision);
  Result<void> resolve_ended(const Decision& decision);
  Result<void> cancel_standing_still(Flow& flow, const Decision& decision);
  Result<void> check_variant(lang::ActionRef action, const std::string& variant) const;

  // ---- recovery (machine_recovery.cc)
  Result<void> read_back(bool restarted);
  struct History;  // the records of a flow that is read back
  Result<void> replay(const std::map<uint64_t, std::string>& records,
                      const std::unordered_map<Ulid, std::shared_ptr<const SyncSet>>& set_of);
  void stand_still(const store::FlowRow& row, const Error& why);
  void replay_step(Flow& flow, Step& step, History& history);
  void replay_resolve(Flow& flow, Step& step, const History& history);
  Result<void> read_versions(store::Snapshot& snapshot);
  Result<void> bind_state(store::Snapshot& snapshot);
  void take_work(Flow& flow, const Step& step);
  void resume_effect(Flow& flow, Invocation& invocation, bool interrupted);
  Result<std::shared_ptr<const SyncSet>> set_named(const std::string& hash, store::Snapshot& snapshot);
  // A flow at its beginning, with its first work.
  std::unique_ptr<Flow> flow_of(const Step& opening, std::shared_ptr<const SyncSet> set) const;

  // ---- calls (machine.cc)
  bool join_by_key(const Call& call);
  Result<Outcome> ended_outcome(const Ulid& flow, const Ulid& invocation);
  static Error may_not(const Call& call);
  void deny(const Call& call, const Error& error);
  void write_denials(const std::vector<Denials::Told>& denials);
  void arm_denials();

  // ---- time (machine.cc)
  // Looks at the clock, and writes down if that was set.
  void tick();
  void write_clock(Step& step);
  Result<void> correct_clock(const Decision& decision);

  // ---- the batch (machine_batch.cc)
  // The batch as it goes to the store, and what is done when it is there.
  struct Flight {
    store::Batch batch;
    uint64_t seq = 0;   // of its last record
    std::string chain;  // of that
    std::vector<Ulid> settled, calling;
    std::vector<std::function<void()>> after_commit;
    std::vector<std::function<void(const Error&)>> if_it_fails;
    std::vector<Job> jobs;
    std::vector<Outcome> ended;
    std::vector<EffectResult> taken;
    std::vector<EffectSlots::Waiting> starting;
    std::set<Ulid> touched;                 // flows
    std::optional<Result<void>> committed;  // none: the committer knows
  };
  Result<void> take_off();
  // Waits for the batch on its way, if there is one, and does what waited for it. An error: the batch that gathers has
  // its things back, and both are to fail.
  Result<void> land();
  void land_or_throw();  // an UnreadableStore
  void recall(Flight flight);
  // The rows of the flows that the batch touches. Returns those that have settled.
  std::vector<Ulid> collect_flows();
  void fail_batch(const Error& failed);
  void touch(Flow& flow);
  void arm(int64_t due_ms, const Timer& timer);
  void disarm(const Flow& flow, const Invocation& invocation);
  void take_results();
  void take_due();

  const lang::Symbols& symbols() const { return kit_->symbols(); }
  Flow* find_flow(const Ulid& id) {
    auto found = flows_.find(id);
    return found == flows_.end() ? nullptr : found->second.get();
  }
  IndexedFields indexed_fields(const lang::Symbols& symbols) const;
  Result<void> index_new_fields(store::Snapshot& snapshot, const IndexedFields& fields, store::Batch& batch);
  void log(const std::string& text) const {
    if (parts_.log) parts_.log(text);
  }

  MachineParts parts_;
  std::shared_ptr<const lang::CheckedKit> kit_;
  std::shared_ptr<const SyncSet> set_;
  std::shared_ptr<const GuardSet> guards_;
  std::optional<NextSteps> next_steps_;
  ActionTable actions_;
  std::unique_ptr<SealedValues> sealed_;
  std::unique_ptr<AttemptParts> attempt_parts_;

  JournalTail journal_;
  EngineTime time_;
  std::optional<UlidSource> ids_;
  std::unique_ptr<Transaction> state_;
  std::unordered_map<Ulid, std::unique_ptr<Flow>> flows_;
  std::unordered_map<Ulid, Ulid> requests_;  // open requests: their flows
  std::set<Ulid> busy_;                      // flows with work, the oldest first
  Timers timers_;
  EffectSlots slots_;
  std::map<size_t, int64_t> outdated_;  // concepts whose stored state is of another version: which
  bool replaying_ = false;
  bool resumed_ = false;      // what was under way when the last process ended has been written down
  std::set<Ulid> unresumed_;  // but not of these flows, as they stand still
  bool stale_ = false;        // memory is not what the store holds, as that could not be read

  // Of the batch.
  store::Batch batch_;
  std::set<Ulid> touched_;
  std::vector<std::function<void()>> after_commit_;
  std::vector<Job> jobs_;  // to launch after the commit
  std::vector<std::function<void(const Error&)>> if_it_fails_;
  std::vector<Outcome> ended_;
  bool rereads_ = false;        // what is open is to be read back once it is committed
  std::vector<Step> children_;  // child flows that the running step opens
  std::vector<Ulid> calling_;   // flows whose first step is not committed
  std::map<std::pair<std::string, std::string>, store::KeyRow> keys_;  // of these
  bool settling_ = false;                       // work was done that needed no step: a flow's status may have changed
  std::vector<EffectResult> taken_;             // results that it takes in
  std::vector<EffectSlots::Waiting> starting_;  // attempts that begin after it

  std::optional<Flight> flight_;

  // Attempts under way, which outlive a failed commit, and callers that wait, who are told of it.
  struct Running {
    std::shared_ptr<std::atomic<bool>> cancelled;
    WaitedFor who;
  };
  std::unordered_map<Ulid, Running> running_;
  std::unordered_map<Ulid, std::vector<Call>> callers_;
  Denials denials_;

  std::mutex inbox_mutex_;
  std::vector<EffectResult> inbox_;
  RunningHandler running_handler_;
};

}  // namespace sluice::engine
