// What operators decide: each is a step of its own, with the caller in it.
#include <algorithm>
#include <boost/json.hpp>
#include <span>

#include "crypto/sha256.h"
#include "engine/journal/journal_search.h"
#include "engine/machine.h"

namespace sluice::engine {
namespace {

// That the process ended while it was under way would end it now, as something nobody knows the outcome of. An operator
// who decides about it first knows better. False: it ends for another reason.
bool take_back_crash(Flow& flow, Invocation& invocation) {
  auto found = std::ranges::find_if(flow.work, [&](const Work& work) {
    const auto* finish = std::get_if<Finish>(&work);
    return finish != nullptr && finish->invocation == invocation.id && finish->by == "crash";
  });
  if (found == flow.work.end()) return false;
  flow.work.erase(found);
  invocation.ending = false;
  return true;
}

}  // namespace

void Machine::decide(const Decision& decision) {
  tick();
  auto tell = [on_done = decision.on_done](const Result<uint64_t>& result) {
    if (on_done) on_done(result);
  };
  const json::object about{{"flow", sluice::to_string(decision.flow)}};
  if (auto may = parts_.may ? parts_.may(decision.caller, "Flow/decide", about) : Result<void>(); !may) {
    Call call{.action = "Flow/decide", .input = {}, .caller = decision.caller};
    call.on_end = [tell](const Result<Outcome>& denied) { tell(denied.error()); };
    return deny(call, may.error());
  }
  try {
    land_or_throw();
    if (auto done = decide_now(decision); !done) return tell(done.error());
  } catch (const UnreadableStore& unreadable) {
    fail_batch(unreadable.error);
    return tell(unreadable.error);
  }
  after_commit_.emplace_back([tell, position = journal_.seq()] { tell(position); });
  if_it_fails_.emplace_back([tell](const Error& error) { tell(error); });
}

Result<void> Machine::decide_now(const Decision& decision) {
  using Kind = Decision::Kind;
  if (decision.kind == Kind::correct_clock) return correct_clock(decision);
  std::string flow_id = sluice::to_string(decision.flow);
  bool about_one = decision.kind == Kind::resolve_as || (decision.kind == Kind::retry && decision.invocation != Ulid{});
  Flow* found = find_flow(decision.flow);
  if (found == nullptr) {
    if (about_one) return resolve_ended(decision);
    return Error{
        .code = Code::conflict, .message = "flow " + flow_id + " is not open", .next = "sluice flow show " + flow_id};
  }
  Flow& flow = *found;
  if (!flow.standstill.empty() && decision.kind == Kind::cancel) return cancel_standing_still(flow, decision);
  if (!flow.standstill.empty() && decision.kind != Kind::move) {
    return Error{.code = Code::conflict,
                 .message = "flow " + flow_id + " stands still: " + flow.standstill,
                 .next = "sluice flow move " + flow_id + " --to current, or sluice flow cancel " + flow_id};
  }
  auto write = [&](Step step) {
    step.caller = decision.caller;
    step.by = "operator";
    append(flow, std::move(step));
  };
  Invocation* invocation = flow.find(decision.invocation);
  if (about_one && invocation == nullptr) return resolve_ended(decision);
  bool ends = about_one && invocation->ending &&
              (actions_.binding(invocation->action) == nullptr || !take_back_crash(flow, *invocation));
  switch (decision.kind) {
    case Kind::cancel: {
      write(new_step(flow, flow.id, Step::Kind::cancel));
      return {};
    }
    case Kind::resolve_as: {
      if (invocation->phase == Invocation::Phase::queued || ends) break;
      if (auto fits = check_variant(invocation->action, decision.as.variant); !fits) return fits;
      cancel_attempt(invocation->id);
      finish(flow, {invocation->id, decision.as, "operator", decision.caller});
      return {};
    }
    case Kind::retry: {
      if (invocation == nullptr) {
        if (!flow.child || !flow.child->dead) break;
        Step step = new_step(flow, flow.id, Step::Kind::again);
        step.attempt = flow.child->attempt;
        step.due_ms = now_ms();
        write(std::move(step));
        return {};
      }
      bool under_way = ends || running_.contains(invocation->id);
      if (invocation->phase != Invocation::Phase::performing || under_way) break;
      Step step = new_step(flow, invocation->id, Step::Kind::again);
      step.action = actions_.name(invocation->action);
      step.attempt = invocation->attempts;
      step.due_ms = now_ms();
      write(std::move(step));
      return {};
    }
    case Kind::drop: {
      if (!flow.child || !flow.child->dead) {
        return Error{.code = Code::conflict,
                     .message = "flow " + flow_id + " is no dead letter",
                     .next = "sluice flow dead list"};
      }
      write(new_step(flow, flow.id, Step::Kind::drop));
      return {};
    }
    case Kind::move: {
      if (!flow.child && !actions_.find(flow.root_action)) {
        return Error{
            .code = Code::conflict,
            .message = "flow " + flow_id + " began with " + flow.root_action + ", which this kit does not have",
            .next = "name the kit that the flow belongs to with --kit"};
      }
      if (flow.child && !set_->find(flow.child->root.sync)) {
        return Error{.code = Code::conflict,
                     .message = "flow " + flow_id + " is to do what sync " + flow.child->root.sync +
                                " says, which this kit does not have",
                     .next = "name a kit that has the sync with --kit, or sluice flow cancel " + flow_id};
      }
      Step step = new_step(flow, flow.id, Step::Kind::move);
      step.note = set_->hash();
      flow.set_hash = set_->hash();
      flow.listed.reset();
      write(std::move(step));
      rereads_ = true;
      return {};
    }
    case Kind::correct_clock:
      break;
  }
  return Error{
      .code = Code::conflict,
      .message = "there is nothing to decide about " + sluice::to_string(decision.invocation) + " in flow " + flow_id,
      .next = "sluice why " + flow_id};
}

// Its syncs and actions are not there, so that no handler can hear of the end: it ends as it stands.
Result<void> Machine::cancel_standing_still(Flow& flow, const Decision& decision) {
  auto snapshot = parts_.store->read();
  if (!snapshot) throw UnreadableStore(snapshot.error());
  auto read = (*snapshot)->timers([&](const store::TimerRow& timer) {
    if (timer.flow == flow.id) batch_.timers_done.push_back(timer.invocation);
    return true;
  });
  if (!read) throw UnreadableStore(read.error());
  Step step = new_step(flow, flow.id, Step::Kind::cancel);
  step.caller = decision.caller;
  step.by = "operator";
  write_record(step, flow.head);
  flow.head = step.seq;
  std::string why = "cancelled by " + decision.caller.name;
  for (const auto& [id, invocation] : flow.open) {
    if (invocation->phase == Invocation::Phase::open) requests_.erase(id);
    if (invocation->phase == Invocation::Phase::performing) cancel_attempt(id);
    disarm(flow, *invocation);
    ended_.push_back({flow.id, id, {"engine.cancelled", {{"message", why}}, true}, step.seq});
  }
  flow.open.clear();
  flow.top.clear();
  flow.idle = 0;
  flow.work.clear();
  flow.answers_out = 0;
  flow.child.reset();
  flow.standstill.clear();
  flow.failure = why;
  unresumed_.erase(flow.id);
  touch(flow);
  return {};
}

Result<void> Machine::check_variant(lang::ActionRef action, const std::string& variant) const {
  if (lang::find_variant(symbols().action(action), variant)) return {};
  return Error{.code = Code::invalid,
               .message = actions_.name(action) + " has no variant " + variant,
               .next = "sluice kit show " + symbols().concepts[action.concept_].name};
}

// About an action that has ended, and nobody knows how: it is asked for again under a new id, or ends as the operator
// says, and syncs go on from there. Its flow may have settled, and is open again then.
Result<void> Machine::resolve_ended(const Decision& decision) {
  std::string flow_id = sluice::to_string(decision.flow);
  std::string id = sluice::to_string(decision.invocation);
  auto snapshot = parts_.store->read();
  if (!snapshot) throw UnreadableStore(snapshot.error());
  auto row = (*snapshot)->flow(decision.flow);
  if (!row) throw UnreadableStore(row.error());
  Flow* flow = find_flow(decision.flow);
  if (!*row && flow == nullptr) {
    return Error{.code = Code::not_found, .message = "there is no flow " + flow_id, .next = "sluice flow list"};
  }
  if (*row && (*row)->packed) {
    return Error{.code = Code::conflict,
                 .message = "flow " + flow_id + " has been archived",
                 .next = "sluice flow show " + flow_id};
  }
  auto steps = steps_from(**snapshot, *row ? (*row)->head : 0);
  if (!steps) throw UnreadableStore(steps.error());
  for (const store::JournalRow& fresh : batch_.journal) {
    if (fresh.flow != decision.flow) continue;
    if (auto step = read_step(fresh.record)) steps->push_back(*std::move(step));
  }
  std::map<Ulid, Invoked> all = invocations_of(*steps);
  auto ended = all.find(decision.invocation);
  if (ended == all.end() || !ended->second.end || !ended->second.end->maybe_done ||
      !ended->second.end->variant.starts_with("engine.")) {
    return Error{.code = Code::conflict,
                 .message = "there is nothing to decide about " + id + " in flow " + flow_id,
                 .next = "sluice flow show " + flow_id};
  }
  auto decided = std::ranges::find_if(*steps, [&](const Step& step) {
    return step.kind == Step::Kind::resolve && step.invocation == decision.invocation;
  });
  if (decided != steps->end()) {
    return Error{.code = Code::conflict,
                 .message = decided->caller.name + " has decided about " + id + " already",
                 .next = "sluice flow show " + flow_id};
  }
  auto action = actions_.find(ended->second.action);
  if (!action) {
    return Error{.code = Code::conflict, .message = "there is no action " + ended->second.action + " any more"};
  }

  Step step{.seq = journal_.next_seq(),
            .at_ms = now_ms(),
            .flow = decision.flow,
            .invocation = decision.invocation,
            .kind = Step::Kind::resolve,
            .action = ended->second.action,
            .caller = decision.caller};
  step.by = "operator";
  if (decision.kind == Decision::Kind::resolve_as) {
    if (auto fits = check_variant(*action, decision.as.variant); !fits) return fits;
    step.end = End{decision.as.variant, decision.as.fields, false};
  }
  crypto::Sha256 digest = crypto::sha256(id + "/resolve");
  Fired fired{.sync = "operator", .matched = {{decision.invocation, RecordKind::completion}}, .rows = 1};
  fired.then.push_back({.id = Ulid::from(now_ms(), std::span(digest).first<Ulid::kRandomBytes>()),
                        .action = ended->second.action,
                        .fields = ended->second.input});
  step.fired.push_back(std::move(fired));
  rereads_ = true;
  if (flow != nullptr) {
    append(*flow, std::move(step));
    return {};
  }
  write_record(step, steps->back().seq);
  store::FlowRow reopened = **row;
  reopened.head = step.seq;
  reopened.status = store::FlowStatus::running;
  reopened.settled_at_ms = 0;
  batch_.flows.push_back(std::move(reopened));
  return {};
}

}  // namespace sluice::engine
