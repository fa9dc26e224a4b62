// Effects: whose turn it is, the attempt on its thread, and what becomes of its result.
#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "engine/attempt.h"
#include "engine/backoff.h"
#include "engine/journal/value.h"
#include "engine/machine.h"

namespace sluice::engine {
namespace {

using lang::EngineOutcome;

constexpr Backoff kEffectBackoff{.first_ms = 200, .longest_ms = 30'000};

// What an attempt says about itself goes into the journal: as much of it as a person would read.
constexpr size_t kLongestReason = 4096;

std::string cut(std::string text) {
  if (text.size() <= kLongestReason) return text;
  size_t end = kLongestReason;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  text.resize(end);
  return text + " …";
}

// Runs on the attempt's thread. What a handler throws becomes a fault.
AttemptResult perform(const lang::ActionBinding& handler, const json::value& work, lang::Attempt& attempt,
                      size_t most_bytes) {
  auto sized = [&](lang::Completion completion) -> AttemptResult {
    if (text_bytes(completion.fields, most_bytes) > most_bytes) {
      return AttemptFault{too_large("its result", most_bytes)};
    }
    if (!is_utf8(completion.fields)) return AttemptFault{"its result is not UTF-8"};
    return completion;
  };
  try {
    if (handler.retry == lang::Retry::probe && attempt.number() > 1) {
      auto found = handler.probe(work, attempt);
      if (!found) return AttemptFault{cut(to_string(found.error()))};
      if (auto* done = get_if<lang::Done<lang::Completion>>(&*found)) return sized(std::move(done->outcome));
      if (get_if<lang::Unsure>(&*found) != nullptr) return AttemptUnsure{};
    }
    auto result = handler.perform(work, attempt);
    if (!result) return AttemptFault{cut(to_string(result.error()))};
    if (auto* again = std::get_if<lang::Again>(&*result)) {
      again->reason = cut(std::move(again->reason));
      return std::move(*again);
    }
    return sized(std::move(std::get<lang::Completion>(*result)));
  } catch (const std::exception& error) {
    return AttemptFault{cut(error.what())};
  } catch (...) {
    return AttemptFault{"an unknown exception"};
  }
}

}  // namespace

void Machine::make_ready(Flow& flow, Invocation& invocation) {
  if (invocation.in_line) return;
  invocation.in_line = true;
  slots_.push(invocation.action.concept_, flow.id, invocation.id);
}

void Machine::start_ready() {
  while (auto next = slots_.take(parts_.limits.effect_threads)) {
    Flow* flow = find_flow(next->flow);
    Invocation* invocation = flow == nullptr ? nullptr : flow->find(next->invocation);
    if (invocation != nullptr) invocation->in_line = false;
    if (invocation == nullptr || invocation->ending || running_.contains(next->invocation)) {
      slots_.release(next->concept_);
      continue;
    }
    starting_.push_back(*next);
    start(*flow, *invocation);
  }
}

void Machine::start(Flow& flow, Invocation& invocation) {
  const lang::ActionBinding& handler = *actions_.binding(invocation.action);
  int64_t number = invocation.attempts + 1;
  if (handler.retry == lang::Retry::never) {
    Step step = new_step(flow, invocation.id, Step::Kind::started);
    step.action = actions_.name(invocation.action);
    step.attempt = number;
    append(flow, std::move(step));
  }
  // That a harmless repeat begins is not journaled. Whoever recovers sees by the time that it was due.
  if (number > 1) {
    std::erase_if(batch_.meta, [](const auto& row) { return row.first == kAttemptTimeMeta; });
    batch_.meta.emplace_back(kAttemptTimeMeta, std::to_string(now_ms()));
  }
  invocation.attempts = number;
  auto cancelled = std::make_shared<std::atomic<bool>>(false);
  running_[invocation.id] = {
      cancelled, {flow.id, actions_.name(invocation.action), time_.steady_of(deadline_ms(invocation).value_or(0))}};
  Job job{[this, &handler, cancelled, number, work = invocation.work, flow_id = flow.id, caller = flow.caller.name,
           id = invocation.id, concept_ = invocation.action.concept_] {
    EngineAttempt attempt(*attempt_parts_, id, number, cancelled,
                          {.flow = sluice::to_string(flow_id), .caller = caller});
    AttemptResult result = perform(handler, *work, attempt, parts_.limits.result_bytes);
    std::lock_guard lock(inbox_mutex_);
    inbox_.push_back({flow_id, id, concept_, number, std::move(result)});
  }};
  jobs_.push_back(std::move(job));
}

std::optional<int64_t> Machine::deadline_ms(const Invocation& effect) const {
  const lang::ActionBinding* handler = actions_.binding(effect.action);
  return handler == nullptr ? std::nullopt : std::optional(effect.opened_ms + handler->deadline_s * 1000);
}

void Machine::cancel_attempt(const Ulid& invocation) {
  auto running = running_.find(invocation);
  if (replaying_ || running == running_.end()) return;
  after_commit_.emplace_back([flag = running->second.cancelled] { flag->store(true); });
}

void Machine::attempt_ended(const EffectResult& result) {
  Flow* flow = find_flow(result.flow);
  if (flow == nullptr) return late_after_settling(result);
  Invocation* invocation = flow->find(result.invocation);
  const auto* completion = std::get_if<lang::Completion>(&result.result);
  if (invocation == nullptr || invocation->ending) {
    auto end =
        completion == nullptr ? std::nullopt : std::optional(End{completion->variant, completion->fields, false});
    return write_late(*flow, result.invocation, "effect", std::move(end));
  }
  // Attempts that are harmless to repeat are not journaled: a flow that was read back meanwhile has not counted this.
  invocation->attempts = std::max(invocation->attempts, result.number);
  const auto* again = std::get_if<lang::Again>(&result.result);
  if (again != nullptr && !invocation->orphaned) {
    return retry_or_end(*flow, *invocation, "effect", again->reason, again->after_ms);
  }
  lang::Ending ending;
  if (completion != nullptr) {
    ending = *completion;
  } else if (again != nullptr) {
    ending = lang::EngineEnd{EngineOutcome::cancelled, "what it is part of has ended", false};
  } else if (const auto* fault = std::get_if<AttemptFault>(&result.result)) {
    ending = lang::EngineEnd{EngineOutcome::fault, fault->message, true};
  } else {
    ending = lang::EngineEnd{EngineOutcome::unknown, "a probe could not tell whether it was done", true};
  }
  invocation->ending = true;
  flow->work.emplace_back(Finish{invocation->id, std::move(ending), "effect", {}});
  touch(*flow);
}

// After an attempt that did nothing, or that a crash interrupted: another one later, or the end.
void Machine::retry_or_end(Flow& flow, Invocation& invocation, const std::string& by, const std::string& why,
                           int64_t after_ms) {
  Step step = new_step(flow, invocation.id, Step::Kind::again);
  step.action = actions_.name(invocation.action);
  step.by = by;
  step.note = why;
  step.attempt = std::max<int64_t>(invocation.attempts, 1);
  int64_t due_ms = now_ms() + std::max(after_ms, kEffectBackoff.after_ms(step.attempt));
  bool more = step.attempt < parts_.limits.max_attempts && due_ms < deadline_ms(invocation).value_or(0);
  if (more) step.due_ms = due_ms;
  append(flow, std::move(step));
  bool poison = invocation.crashes >= parts_.limits.max_crashes;
  if (more && !poison) return;
  bool nothing_done = invocation.again == invocation.attempts;
  invocation.ending = true;
  invocation.due_ms = 0;
  flow.work.emplace_back(
      Finish{invocation.id,
             nothing_done ? lang::EngineEnd{EngineOutcome::unavailable, why, false}
                          : lang::EngineEnd{EngineOutcome::unknown,
                                            poison ? "the process ended " + std::to_string(invocation.crashes) +
                                                         " times while it was under way"
                                                   : why,
                                            true},
             by,
             {}});
  touch(flow);
}

// What came after the whole flow had settled is still recorded with it.
void Machine::late_after_settling(const EffectResult& result) {
  land_or_throw();
  auto snapshot = parts_.store->read();
  if (!snapshot) throw UnreadableStore(snapshot.error());
  auto row = (*snapshot)->flow(result.flow);
  if (!row) throw UnreadableStore(row.error());
  if (!*row || (*row)->packed) return;
  // The batch may have changed it: by another late result, or by an operator who opened it again.
  store::FlowRow changed = **row;
  for (const store::FlowRow& fresh : batch_.flows) {
    if (fresh.id == result.flow) changed = fresh;
  }
  Step step{.seq = journal_.next_seq(),
            .at_ms = now_ms(),
            .flow = result.flow,
            .invocation = result.invocation,
            .kind = Step::Kind::late};
  step.by = "effect";
  if (const auto* completion = std::get_if<lang::Completion>(&result.result)) {
    step.end = End{completion->variant, completion->fields, false};
  }
  write_record(step, changed.head);
  changed.head = step.seq;
  batch_.flows.push_back(std::move(changed));
}

}  // namespace sluice::engine
