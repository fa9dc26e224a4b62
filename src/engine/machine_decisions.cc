// What operators decide: each is a step of its own, with the caller in it.
#include <boost/json.hpp>

#include "engine/machine.h"

namespace sluice::engine {

void Machine::decide(Decision decision) {
  now_ms_ = std::max(now_ms_, parts_.clock->wall_ms());
  auto tell = [on_done = decision.on_done](const Result<uint64_t>& result) {
    if (on_done) on_done(result);
  };
  Flow* flow = find_flow(decision.flow);
  if (flow == nullptr) {
    std::string id = sluice::to_string(decision.flow);
    return tell(
        Error{.code = Code::conflict, .message = "flow " + id + " is not open", .next = "sluice flow show " + id});
  }
  uint64_t before = last_seq_;
  if (auto done = decide_now(*flow, decision); !done) return tell(done.error());
  uint64_t position = last_seq_;
  if (position == before) position = 0;
  after_commit_.emplace_back([tell, position] { tell(position); });
  if_it_fails_.emplace_back([tell](const Error& error) { tell(error); });
}

Result<void> Machine::decide_now(Flow& flow, const Decision& decision) {
  std::string flow_id = sluice::to_string(flow.id);
  auto write = [&](Step step) {
    step.caller = decision.caller;
    step.by = "operator";
    append(flow, std::move(step));
  };
  Invocation* invocation = flow.find(decision.invocation);
  switch (decision.kind) {
    case Decision::Kind::cancel: {
      write(new_step(flow, flow.id, Step::Kind::cancel));
      return {};
    }
    case Decision::Kind::resolve_as: {
      if (invocation == nullptr || invocation->phase == Invocation::Phase::queued || invocation->ending) break;
      if (!lang::find_variant(symbols().action(invocation->action), decision.as.variant)) {
        return Error{.code = Code::invalid,
                     .message = symbols().name(invocation->action) + " has no variant " + decision.as.variant,
                     .next = "sluice kit show " + symbols().concepts[invocation->action.concept_].name};
      }
      invocation->ending = true;
      cancel_attempt(invocation->id);
      flow.work.emplace_front(Finish{invocation->id, decision.as, "operator", decision.caller});
      touch(flow);
      return {};
    }
    case Decision::Kind::retry: {
      if (flow.child && flow.child->dead) {
        Step step = new_step(flow, flow.id, Step::Kind::again);
        step.attempt = flow.child->attempt;
        step.due_ms = now_ms_;
        write(std::move(step));
        return {};
      }
      if (invocation == nullptr || invocation->phase != Invocation::Phase::performing ||
          running_.contains(invocation->id)) {
        break;
      }
      Step step = new_step(flow, invocation->id, Step::Kind::again);
      step.action = symbols().name(invocation->action);
      step.attempt = invocation->attempts;
      step.due_ms = now_ms_;
      write(std::move(step));
      return {};
    }
    case Decision::Kind::drop: {
      if (!flow.child || !flow.child->dead) {
        return Error{.code = Code::conflict,
                     .message = "flow " + flow_id + " is no dead letter",
                     .next = "sluice flow dead list"};
      }
      write(new_step(flow, flow.id, Step::Kind::drop));
      return {};
    }
    case Decision::Kind::move: {
      Step step = new_step(flow, flow.id, Step::Kind::move);
      step.note = set_->hash();
      flow.set_hash = set_->hash();
      write(std::move(step));
      moved_.push_back(flow.id);
      return {};
    }
  }
  return Error{
      .code = Code::conflict,
      .message = "there is nothing to decide about " + sluice::to_string(decision.invocation) + " in flow " + flow_id,
      .next = "sluice why " + flow_id};
}

}  // namespace sluice::engine
