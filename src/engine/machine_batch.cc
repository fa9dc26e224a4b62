// The batch: a turn gathers it, it goes to the store, and what waited for that is done, or it never happened.
#include <algorithm>
#include <boost/json.hpp>
#include <cassert>
#include <iterator>

#include "base/json.h"
#include "engine/machine.h"

namespace sluice::engine {

Result<bool> Machine::turn() {
  bool landed = flight_ && parts_.committer->is_done();
  if (landed) {
    if (auto done = land(); !done) {
      fail_batch(done.error());
      return done.error();
    }
  }
  if (stale_) {
    if (auto read = read_back(false); !read) return read.error();
  }
  tick();
  try {
    take_results();
    take_due();
    int64_t began_ns = parts_.clock->monotonic_ns();
    size_t began_at = batch_.journal.size();
    while (!busy_.empty() && batch_.journal.size() - began_at < parts_.limits.batch_steps &&
           parts_.clock->monotonic_ns() - began_ns < parts_.limits.batch_ms * 1'000'000) {
      Flow& flow = *flows_.at(*busy_.begin());
      if (flow.work.empty() || !flow.standstill.empty()) {
        busy_.erase(busy_.begin());
      } else {
        work_off(flow);
      }
    }
    start_ready();
  } catch (const UnreadableStore& unreadable) {
    fail_batch(unreadable.error);
    return unreadable.error;
  }
  if (batch_.journal.empty() && after_commit_.empty() && jobs_.empty() && !settling_) return landed;
  if (flight_ && batch_.journal.size() < parts_.limits.batch_steps) return landed;
  bool rereads = rereads_;
  auto done = land();
  if (done) done = take_off();
  if (done && flight_ && flight_->committed) done = land();
  if (!done) {
    fail_batch(done.error());
    return done.error();
  }
  if (rereads) {
    if (auto read = read_back(false); !read) return read.error();
    settling_ = true;  // one that stood still goes on, and its row is to say so
  }
  return true;
}

void Machine::touch(Flow& flow) {
  if (!replaying_) touched_.insert(flow.id);
  if (!flow.work.empty() && flow.standstill.empty()) busy_.insert(flow.id);
}

void Machine::arm(int64_t due_ms, const Timer& timer) { timers_.arm(timer, time_.steady_of(due_ms)); }

// What has ended waits for nothing.
void Machine::disarm(const Flow& flow, const Invocation& invocation) {
  for (Timer::Kind kind : {Timer::Kind::wait, Timer::Kind::retry, Timer::Kind::deadline}) {
    timers_.disarm({kind, flow.id, invocation.id});
  }
}

std::optional<int64_t> Machine::next_due_ms() const { return busy_.empty() ? timers_.next_ms() : time_.steady_ms(); }

void Machine::take_results() {
  size_t before = taken_.size();
  {
    std::lock_guard lock(inbox_mutex_);
    std::ranges::move(inbox_, std::back_inserter(taken_));
    inbox_.clear();
  }
  for (size_t i = before; i < taken_.size(); ++i) {
    slots_.release(taken_[i].concept_);
    running_.erase(taken_[i].invocation);
  }
  for (size_t i = before; i < taken_.size(); ++i) attempt_ended(taken_[i]);
}

void Machine::take_due() {
  while (auto due = timers_.take(time_.steady_ms())) {
    const Timer& timer = *due;
    if (timer.kind == Timer::Kind::denials) {
      write_denials(denials_.take(now_ms(), false));
      continue;
    }
    Flow* flow = find_flow(timer.flow);
    if (flow == nullptr) continue;
    if (timer.kind == Timer::Kind::child) {
      if (flow->child && flow->child->due_ms != 0) {
        flow->child->due_ms = 0;
        flow->work.emplace_back(Dispatch{});
        touch(*flow);
      }
      continue;
    }
    Invocation* invocation = flow->find(timer.invocation);
    if (invocation == nullptr || invocation->ending) continue;
    if (timer.kind == Timer::Kind::retry) {
      invocation->due_ms = 0;
      make_ready(*flow, *invocation);
      continue;
    }
    invocation->ending = true;
    if (timer.kind == Timer::Kind::wait) {
      flow->work.emplace_back(
          Finish{timer.invocation, lang::Completion{"ok", {{"at", lang::to_text({now_ms()})}}}, "timer", {}});
    } else {
      cancel_attempt(timer.invocation);
      flow->work.emplace_back(Finish{timer.invocation, end_of_time(*invocation), "deadline", {}});
    }
    touch(*flow);
  }
}

// What every attempt promised to have left undone, or what none began, is surely not done.
lang::EngineEnd Machine::end_of_time(const Invocation& effect) const {
  bool untouched = !running_.contains(effect.id) && !effect.started && effect.again == effect.attempts;
  if (!untouched) return {lang::EngineOutcome::timeout, "its deadline passed", true};
  std::string why = effect.attempts == 0 ? "its deadline passed before it began" : effect.again_because;
  return {lang::EngineOutcome::unavailable, std::move(why), false};
}

std::vector<Ulid> Machine::collect_flows() {
  std::vector<Ulid> settled;
  for (const Ulid& id : touched_) {
    Flow& flow = *flows_.at(id);
    if (flow.head == 0) continue;
    store::FlowStatus status = flow.status();
    bool plain = store::is_open(status) && flow.is_plain();
    if (plain && flow.listed == status) {
      batch_.heads.push_back({id, flow.head});
      continue;
    }
    flow.listed = plain ? std::optional(status) : std::nullopt;
    json::object summary{{"action", flow.root_action}, {"caller", flow.caller.name}};
    if (!flow.failure.empty()) summary["failure"] = flow.failure;
    if (!flow.standstill.empty()) summary["standstill"] = flow.standstill;
    if (flow.child) {
      summary["parent"] = sluice::to_string(flow.child->root.parent);
      summary["sync"] = flow.child->root.sync;
      if (flow.child->dead) summary["dead"] = flow.child->repeat;
    }
    batch_.flows.push_back({.id = id,
                            .head = flow.head,
                            .status = status,
                            .sync_set = flow.set_hash,
                            .settled_at_ms = store::is_open(status) ? 0 : now_ms(),
                            .summary = write(summary)});
    if (!store::is_open(status)) settled.push_back(id);
  }
  return settled;
}

Result<void> Machine::take_off() {
  assert(!flight_ && !replaying_);
  if (auto kept = time_.take_unkept()) batch_.meta.emplace_back(kTimeMeta, *std::move(kept));
  if (auto collected = state_->collect(batch_); !collected) return collected;
  std::vector<Ulid> settled = collect_flows();
  auto begun = std::ranges::stable_partition(calling_, [&](const Ulid& id) { return flows_.at(id)->head == 0; });
  std::vector<Ulid> calling(begun.begin(), begun.end());
  calling_.erase(begun.begin(), begun.end());
  // Nothing else can come of what is under way: to wait here is quicker than to be woken.
  bool alone = parts_.committer == nullptr || rereads_ || running_.size() == starting_.size();
  flight_ = Flight{.batch = std::exchange(batch_, {}),
                   .seq = journal_.seq(),
                   .chain = journal_.chain(),
                   .settled = std::move(settled),
                   .calling = std::move(calling),
                   .after_commit = std::exchange(after_commit_, {}),
                   .if_it_fails = std::exchange(if_it_fails_, {}),
                   .jobs = std::exchange(jobs_, {}),
                   .ended = std::exchange(ended_, {}),
                   .taken = std::exchange(taken_, {}),
                   .starting = std::exchange(starting_, {}),
                   .touched = std::exchange(touched_, {}),
                   .committed = std::nullopt};
  settling_ = false;
  state_->take_off();
  if (alone) {
    flight_->committed = parts_.store->commit(flight_->batch);
  } else {
    parts_.committer->begin(flight_->batch);
  }
  return {};
}

Result<void> Machine::land() {
  if (!flight_) return {};
  Result<void> done = flight_->committed ? *flight_->committed : parts_.committer->wait();
  Flight flight = *std::exchange(flight_, std::nullopt);
  if (!done) {
    recall(std::move(flight));
    return done;
  }
  state_->committed();
  resumed_ = true;
  journal_.committed(flight.seq, std::move(flight.chain));
  if (parts_.committed) parts_.committed();
  for (const store::KeyRow& row : flight.batch.keys) keys_.erase({row.caller, row.key});
  for (const Ulid& id : flight.settled) {
    if (touched_.contains(id)) continue;  // something came late; it settles again with that
    busy_.erase(id);
    flows_.erase(id);
  }
  parts_.effects->launch_all(std::move(flight.jobs));
  for (const Ulid& id : flight.calling) {
    for (Call& call : callers_[id]) {
      if (auto on_start = std::exchange(call.on_start, nullptr)) on_start(id);
    }
  }
  for (auto& action : flight.after_commit) action();
  for (const Outcome& outcome : flight.ended) {
    auto waiting = callers_.extract(outcome.invocation);
    if (waiting.empty()) continue;
    for (const Call& call : waiting.mapped()) {
      if (call.on_end) call.on_end(outcome);
    }
  }
  return {};
}

void Machine::land_or_throw() {
  if (auto landed = land(); !landed) throw UnreadableStore(landed.error());
}

void Machine::recall(Flight flight) {
  auto before = [](auto& what, auto& those) {
    those.insert(those.end(), std::make_move_iterator(what.begin()), std::make_move_iterator(what.end()));
    what = std::move(those);
  };
  before(calling_, flight.calling);
  before(if_it_fails_, flight.if_it_fails);
  before(taken_, flight.taken);
  before(starting_, flight.starting);
  touched_.merge(flight.touched);
}

// The batch never happened: what came in with it is told or put back, and memory is read from the store again. After a
// failed sync nobody knows whether it did, and the process is about to end.
void Machine::fail_batch(const Error& failed) {
  (void)land();
  bool unknown = parts_.store->broken().has_value();
  Error error = failed;
  if (unknown) {
    error = {.code = Code::timeout,
             .message = "whether this was committed is not known: " + failed.message,
             .next = "run it again with the same --idempotency-key; sluice audit list shows whether it happened"};
  }
  for (const EffectResult& result : taken_) {
    slots_.hold(result.concept_);
    running_[result.invocation] = {std::make_shared<std::atomic<bool>>(false), {result.flow, "", 0}};
  }
  for (const EffectSlots::Waiting& each : starting_) {
    slots_.release(each.concept_);
    running_.erase(each.invocation);
  }
  starting_.clear();
  {
    std::lock_guard lock(inbox_mutex_);
    inbox_.insert(inbox_.begin(), std::make_move_iterator(taken_.begin()), std::make_move_iterator(taken_.end()));
  }
  taken_.clear();
  auto told = std::move(if_it_fails_);
  if_it_fails_.clear();
  for (auto& tell : told) tell(error);
  for (const Ulid& id : std::exchange(calling_, {})) {
    auto waiting = callers_.extract(id);
    for (const Call& each : waiting.mapped()) {
      if (each.on_start) each.on_start(error);
      if (each.on_end) each.on_end(error);
    }
  }
  keys_.clear();
  // Whoever waits for a flow of the batch hears that it does not go on now.
  for (const Ulid& id : touched_) {
    auto waiting = callers_.extract(id);
    if (waiting.empty()) continue;
    Error kept = error;
    if (!unknown) {
      kept.message +=
          "; flow " + sluice::to_string(id) + " is kept as it was after its last step, and goes on when it can";
    }
    kept.next = "sluice flow show " + sluice::to_string(id);
    for (const Call& call : waiting.mapped()) {
      if (call.on_end) call.on_end(kept);
    }
  }
  if (auto read = read_back(false); !read)
    log("after a failed commit the store cannot be read: " + to_string(read.error()));
}

}  // namespace sluice::engine
