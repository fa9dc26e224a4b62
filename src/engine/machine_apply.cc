// Applying a step to its flow: the one way in which a flow in memory changes, live and when it is read back. What is
// said to the world (callers, cancel flags, rows of the batch) is said only while live.
#include <algorithm>
#include <boost/json.hpp>

#include "engine/journal/value.h"
#include "engine/machine.h"

namespace sluice::engine {
namespace {

using lang::EngineOutcome;

// Completions beneath a request that are remembered to explain why nobody answered it.
constexpr size_t kRecent = 16;

// Ends that follow from a step of the flow itself; all others come from outside and begin a cascade of their own.
bool is_outside(std::string_view by) {
  return by != "answer" && by != "unanswered" && by != "cancel" && by != "superseded";
}

std::string path_text(const Path& last, uint64_t from) {
  std::string text = last.sync;
  for (const Path* at = last.parent.get(); at != nullptr; at = at->parent.get()) {
    text = at->sync + " → " + text;
    if (at->firing == from) break;
  }
  return text;
}

// A firing that stands on its own causal path goes round in a circle, unless a sync in between says [loop].
std::string cycle_in(const Path& path) {
  if (path.loop) return "";
  for (const Path* at = path.parent.get(); at != nullptr && !at->loop; at = at->parent.get()) {
    if (at->firing == path.firing && at->sync == path.sync) return path_text(path, path.firing);
  }
  return "";
}

}  // namespace

void Machine::write_record(Step& step, uint64_t prev) { batch_.journal.push_back(journal_.append(step, prev)); }

void Machine::append(Flow& flow, Step step, const RecordRef& record, const Matched& matched) {
  write_record(step, flow.head);
  std::vector<Step> children = std::move(children_);
  children_.clear();
  apply(flow, step, record, matched);
  for (Step& child : children) open_child(std::move(child));
}

void Machine::apply(Flow& flow, Step& step, const RecordRef& record, const Matched& matched) {
  flow.head = step.seq;
  if (step.by.starts_with("answer")) apply_answer(flow, step);
  Invocation* invocation = flow.find(step.invocation);
  switch (step.kind) {
    case Step::Kind::act:
    case Step::Kind::begin:
      ++flow.actions;
      ++invocation->origin.cascade->actions;
      break;
    case Step::Kind::finish:
      if (is_outside(step.by)) invocation->origin = Origin::outside();
      break;
    case Step::Kind::started:
      invocation->started = true;
      invocation->attempts = step.attempt;
      invocation->due_ms = 0;
      break;
    case Step::Kind::again:
      apply_again(flow, step);
      break;
    case Step::Kind::cancel:
      apply_cancel(flow, step);
      break;
    case Step::Kind::dispatch:
      apply_dispatch(flow, step);
      break;
    case Step::Kind::dead:
      flow.child->dead = true;
      flow.child->repeat = step.note;
      break;
    case Step::Kind::drop:
      flow.child->dead = false;
      flow.fail(flow.child->repeat);
      break;
    case Step::Kind::resolve:
      flow.resolved = true;  // it is read back once this is committed: see replay_resolve
      break;
    case Step::Kind::late:
    case Step::Kind::child:
    case Step::Kind::move:
    case Step::Kind::denied:
    case Step::Kind::clock:
    case Step::Kind::state:
    case Step::Kind::put:
      break;
  }
  if (step.kind == Step::Kind::act || step.kind == Step::Kind::begin || step.kind == Step::Kind::finish) {
    if (!step.note.empty()) flow.fail(step.note);
    if (!step.end) apply_opening(flow, *invocation, step, record);
    apply_firings(flow, invocation, step, record, matched);
    if (step.end) {
      apply_end(flow, *invocation, step, record);
    } else {
      check_answerable(flow, invocation, invocation->origin);
    }
  }
  touch(flow);
}

// An answer has had its step, whether it came in time or late.
void Machine::apply_answer(Flow& flow, const Step& step) {
  Invocation* request = flow.find(step.invocation);
  if (request != nullptr && !request->answers.empty()) {
    request->origin = std::move(request->answers.front());
    request->answers.erase(request->answers.begin());
  }
  if (step.by.size() <= 7) return;
  auto from = Ulid::parse(std::string_view(step.by).substr(7));
  Flow* answering = from ? find_flow(*from) : nullptr;
  if (answering == nullptr || answering->answers_out == 0) return;
  --answering->answers_out;
  touch(*answering);
}

void Machine::apply_again(Flow& flow, const Step& step) {
  if (flow.child && step.invocation == flow.id) {
    flow.child->dead = false;
    flow.child->due_ms = step.due_ms;
    arm(step.due_ms, {Timer::Kind::child, flow.id, flow.id});
    return;
  }
  Invocation* invocation = flow.find(step.invocation);
  invocation->attempts = step.attempt;
  invocation->started = false;
  if (step.by == "effect") {
    ++invocation->again;
    invocation->again_because = step.note;
  }
  if (step.by == "crash") ++invocation->crashes;
  if (step.by == "operator") {
    // Its time begins anew: it may have been over when the operator came.
    disarm(flow, *invocation);
    invocation->opened_ms = step.at_ms;
    if (auto until_ms = deadline_ms(*invocation)) arm(*until_ms, {Timer::Kind::deadline, flow.id, invocation->id});
  }
  invocation->due_ms = step.due_ms;
  if (step.due_ms != 0) arm(step.due_ms, {Timer::Kind::retry, flow.id, invocation->id});
}

void Machine::apply_opening(Flow& flow, Invocation& invocation, Step& step, const RecordRef& record) {
  invocation.opened_ms = step.at_ms;
  if (actions_.is_timer(invocation.action)) {
    invocation.due_ms = step.due_ms;
    supersede(flow, invocation);
    flow.set_phase(invocation, Invocation::Phase::waiting);
    arm(invocation.due_ms, {Timer::Kind::wait, flow.id, invocation.id});
    if (!replaying_) batch_.timers.push_back({invocation.id, flow.id, invocation.due_ms});
    return;
  }
  if (record) {
    flow.set_phase(invocation, Invocation::Phase::open);
    invocation.request = record;
    requests_[invocation.id] = flow.id;
    if (actions_.is_undo(invocation.action)) open_undo(flow, invocation, *step.work);
    return;
  }
  flow.set_phase(invocation, Invocation::Phase::performing);
  invocation.work = std::make_shared<const json::value>(*std::move(step.work));
  if (auto until_ms = deadline_ms(invocation)) arm(*until_ms, {Timer::Kind::deadline, flow.id, invocation.id});
  if (!replaying_) make_ready(flow, invocation);
}

// A second wait of the same name beneath the same request supersedes the first.
void Machine::supersede(Flow& flow, Invocation& timer) {
  const json::value* name = timer.input.if_contains("name");
  for (const Ulid& id : timer.beneath == nullptr ? flow.top : timer.beneath->children) {
    Invocation* other = flow.find(id);
    if (other == &timer || other->phase != Invocation::Phase::waiting || other->ending) continue;
    const json::value* others = other->input.if_contains("name");
    if (name == nullptr || others == nullptr || *name != *others) continue;
    other->ending = true;
    other->origin = timer.origin;
    flow.work.emplace_back(Finish{id, lang::Completion{"superseded", {}}, "superseded", {}});
  }
}

// Follow-ups in the order of the firings, then the answers. What a firing on a request asks for is beneath that
// request; what one on a completion asks for is where the completed invocation was.
void Machine::apply_firings(Flow& flow, Invocation* from, Step& step, const RecordRef& record, const Matched& matched) {
  bool on_request = record && record->kind == RecordKind::request;
  Invocation* beneath = on_request ? from : from->beneath;
  for (size_t f = 0; f < step.fired.size(); ++f) {
    Fired& fired = step.fired[f];
    auto sync = flow.set->find(fired.sync);
    bool loop = sync && flow.set->is_loop(*sync);
    Causes causes;
    for (Planned& planned : fired.then) {
      if (planned.kind != Planned::Kind::invoke) continue;
      if (!causes) causes = flow.set->causes_of(matched[f].records, beneath == nullptr ? nullptr : beneath->request);
      size_t firing = combine(std::hash<std::string>()(planned.action), hash_of(planned.fields));
      firing = combine(firing, matched[f].binding);
      Origin origin{from->origin.cascade, std::make_shared<Path>(firing, loop, fired.sync, from->origin.path)};
      Invocation* invocation = invoke(flow, planned, beneath, causes, origin);
      if (invocation == nullptr) return;
      invocation->orphaned = !on_request && from->orphaned;
      if (!origin.cascade->seen.insert(firing).second) invocation->cycle = cycle_in(*origin.path);
    }
  }
  // Who answers for what the engine gave up hands on that it may have been done, so that it is still undone.
  bool maybe_done = step.end && step.end->maybe_done && step.end->variant.starts_with("engine.");
  for (Fired& fired : step.fired) {
    for (Planned& planned : fired.then) {
      if (planned.kind == Planned::Kind::answer) queue_answer(flow, from->origin, planned, maybe_done);
    }
  }
}

// Null: there is no such action any more, and the flow stands still.
Invocation* Machine::invoke(Flow& flow, Planned& planned, Invocation* beneath, Causes causes, Origin origin) {
  auto action = actions_.find(planned.action);
  if (!action) {
    flow.standstill = "there is no action " + planned.action + " any more";
    return nullptr;
  }
  auto invocation = std::make_unique<Invocation>();
  invocation->id = planned.id;
  invocation->action = *action;
  invocation->unavailable = std::move(planned.unavailable);
  invocation->input = std::move(planned.fields);
  invocation->beneath = beneath;
  invocation->causes = std::move(causes);
  invocation->origin = std::move(origin);
  flow.work.emplace_back(Run{planned.id});
  return &flow.add(std::move(invocation));
}

// An answer to another flow's request is that flow's work; this one stays open until it is done.
void Machine::queue_answer(Flow& flow, const Origin& origin, Planned& planned, bool maybe_done) {
  Flow* target = planned.flow ? find_flow(*planned.flow) : &flow;
  if (target == nullptr) return;  // read back: the other flow has settled, so that it has had its step
  if (target != &flow) ++flow.answers_out;
  if (Invocation* request = target->find(planned.id)) {
    request->answers.push_back(target == &flow ? origin : Origin::outside());
  }
  target->work.emplace_back(
      Answer{planned.id, flow.id, std::move(planned.variant), std::move(planned.fields), maybe_done});
  touch(*target);
}

void Machine::apply_end(Flow& flow, Invocation& invocation, const Step& step, const RecordRef& record) {
  const End& end = *step.end;
  bool repeated = invocation.first && child_action_ended(flow, *record, end);
  // What ends because nobody needs it any more has not failed.
  bool unneeded =
      step.by == "superseded" || step.by == "cancel" || (invocation.orphaned && end.variant == "engine.cancelled");
  // What somebody called has failed even if a sync cleans up after it.
  const bool heard = !step.fired.empty() && invocation.id != flow.id;
  if (is_failure(invocation.action, end) && !heard && !repeated && !unneeded) {
    flow.fail(text_of(*record));
  }
  // Callers wait for the first invocation of a flow, and for no other.
  if (!replaying_ && invocation.id == flow.id) ended_.push_back({flow.id, invocation.id, end, step.seq});
  if (invocation.phase == Invocation::Phase::open) {
    requests_.erase(invocation.id);
    cancel_beneath(flow, invocation);
  }
  if (invocation.phase == Invocation::Phase::waiting && !replaying_) batch_.timers_done.push_back(invocation.id);
  disarm(flow, invocation);
  Invocation* beneath = invocation.beneath;
  if (beneath != nullptr) {
    beneath->recent.push_back(record);
    if (beneath->recent.size() > kRecent) beneath->recent.erase(beneath->recent.begin());
    if (invocation.compensates && !beneath->ending) compensation_ended(flow, *beneath, end);
  }
  Origin origin = invocation.origin;
  flow.remove(invocation);
  check_answerable(flow, beneath, origin);
}

bool Machine::is_failure(lang::ActionRef action, const End& end) const {
  if (end.variant == "ok") return false;
  const lang::ActionSymbol& symbol = symbols().action(action);
  auto variant = lang::find_variant(symbol, end.variant);
  return !variant || symbol.variants[*variant].code != Code::ok;
}

// Timers and requests beneath a request that ended are of no use to anyone; effects are told, and end by themselves.
void Machine::cancel_beneath(Flow& flow, Invocation& request) {
  for (const Ulid& id : request.children) {
    Invocation* child = flow.find(id);
    child->orphaned = true;
    if (child->ending) continue;
    if (child->phase == Invocation::Phase::waiting || child->phase == Invocation::Phase::open) {
      child->ending = true;
      child->origin = request.origin;
      flow.work.emplace_back(
          Finish{id, lang::EngineEnd{EngineOutcome::cancelled, "what it is part of has ended", true}, "cancel", {}});
    } else if (child->phase == Invocation::Phase::performing) {
      cancel_attempt(id);
    }
  }
}

// Everything that is open ends.
void Machine::apply_cancel(Flow& flow, const Step& step) {
  std::set<Ulid> open;
  for (const auto& [id, invocation] : flow.open) open.insert(id);
  for (const Ulid& id : open) {
    Invocation& invocation = *flow.find(id);
    if (invocation.ending) continue;
    invocation.ending = true;
    invocation.origin = Origin::outside();
    if (invocation.phase == Invocation::Phase::performing) cancel_attempt(id);
    bool begun = invocation.phase != Invocation::Phase::queued;
    flow.work.emplace_back(
        Finish{id, lang::EngineEnd{EngineOutcome::cancelled, "cancelled by " + step.caller.name, begun}, "cancel", {}});
  }
  if (flow.child) {
    flow.child->due_ms = 0;
    flow.child->dead = false;
    flow.child->cancelled = true;
  }
  flow.fail("cancelled by " + step.caller.name);
}

// A request beneath which nothing is left that could answer it ends here. `origin` is what left last.
void Machine::check_answerable(Flow& flow, Invocation* request, const Origin& origin) {
  if (request == nullptr || request->phase != Invocation::Phase::open || request->ending) return;
  if (!request->children.empty() || !request->answers.empty()) return;
  if (symbols().action(request->action).runs == lang::Runs::answered_outside) return;
  request->ending = true;
  request->origin = origin;
  flow.work.emplace_back(Finish{request->id, lang::EngineEnd{EngineOutcome::unanswered, "", true}, "unanswered", {}});
}

}  // namespace sluice::engine
