// Child flows: an eventual firing opens one, so that its parent can settle. The where runs at dispatch. What a dispatch
// asks for is done when it ends in a declared variant; what surely was not done is dispatched again later, what may
// have been done goes to the dead letters at once.
#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "engine/backoff.h"
#include "engine/machine.h"

namespace sluice::engine {
namespace {

constexpr Backoff kChildBackoff{.first_ms = 1'000, .longest_ms = 600'000};

// What was asked for, whatever its id.
std::string asked_for(const std::string& action, const json::object& input) { return action + write(input); }

json::value cause_json(const Record& record, const lang::Symbols& symbols) {
  json::object out{{"record", to_string(id_of(record))},
                   {"action", symbols.name(record.action)},
                   {"input", record.input},
                   {"output", record.output},
                   {"seq", record.seq}};
  if (record.variant) out["variant"] = symbols.action(record.action).variants[*record.variant].name;
  if (record.engine) out["variant"] = "engine." + std::string(lang::name_of(*record.engine));
  return out;
}

}  // namespace

Step Machine::child_step(const Flow& parent, const Match& match, const Ulid& id) const {
  Step step{.at_ms = now_ms(), .flow = id, .invocation = id, .kind = Step::Kind::child};
  step.caller = parent.caller;
  step.child = ChildRoot{.parent = parent.id, .sync = parent.set->name(match.sync), .sync_set = parent.set_hash};
  for (const RecordRef& record : match.records) step.child->matched.push_back(id_of(*record));
  const std::vector<std::string>& names = parent.set->variables(match.sync);
  for (size_t slot = 0; slot < match.bindings.size() && slot < names.size(); ++slot) {
    if (match.bindings[slot]) step.child->bindings[names[slot]] = *match.bindings[slot];
  }
  if (Causes causes = parent.set->causes_of(match.records, nullptr)) {
    for (const RecordRef& cause : *causes) {
      step.child->causes.push_back(cause ? cause_json(*cause, symbols()) : json::value());
    }
  }
  return step;
}

void Machine::open_child(Step step) {
  step.seq = journal_.next_seq();
  auto made = flow_of(step, set_->hash() == step.child->sync_set ? set_ : flows_.at(step.child->parent)->set);
  Flow& flow = *made;
  flows_[flow.id] = std::move(made);
  append(flow, std::move(step));
}

Causes Machine::causes_of(const Flow& flow) const {
  const ChildRoot& root = flow.child->root;
  std::vector<RecordRef> causes;
  for (const json::value& each : root.causes) {
    causes.emplace_back();
    if (!each.is_object()) continue;
    auto action = actions_.find(std::string_view(each.at("action").as_string()));
    if (!action) continue;
    auto id = parse_record_id(std::string_view(each.at("record").as_string()));
    if (!id) continue;
    auto record = std::make_shared<Record>();
    record->invocation = id->invocation;
    record->kind = id->kind;
    record->action = *action;
    record->input = each.at("input").as_object();
    record->output = each.at("output").as_object();
    record->seq = each.at("seq").to_number<uint64_t>();
    if (const json::value* variant = each.get_object().if_contains("variant")) {
      std::string_view name = variant->as_string();
      if (name.starts_with("engine.")) {
        record->engine = lang::engine_outcome_named(name.substr(7));
      } else {
        record->variant = lang::find_variant(symbols().action(*action), name);
      }
    }
    causes.back() = std::move(record);
  }
  // Another set numbers its causes in its own way.
  if (root.sync_set != flow.set_hash) return flow.set->causes_of(causes, nullptr);
  return std::make_shared<const std::vector<RecordRef>>(std::move(causes));
}

void Machine::dispatch(Flow& flow) {
  ChildState& child = *flow.child;
  if (child.cancelled) return;
  auto sync = flow.set->find(child.root.sync);
  Step step = new_step(flow, flow.id, Step::Kind::dispatch);
  step.attempt = child.attempt + 1;
  Fired fired{.sync = child.root.sync, .matched = child.root.matched};
  state_->begin_step(flow.id, step.seq, now_ms());
  if (sync) {
    Match match{.sync = *sync};
    for (const RecordId& id : child.root.matched) {
      auto record = std::make_shared<Record>();
      record->invocation = id.invocation;
      record->kind = id.kind;
      match.records.push_back(std::move(record));
    }
    for (const std::string& name : flow.set->variables(*sync)) {
      const json::value* value = child.root.bindings.if_contains(name);
      match.bindings.push_back(value == nullptr ? std::nullopt : std::optional(*value));
    }
    size_t rows = 0;
    AskRoom room = ask_room();
    auto follow_ups = flow.set->follow_ups(match, *state_, &rows, &room);
    fired.rows = rows;
    if (follow_ups) {
      plan(flow, match, *std::move(follow_ups), fired, step.attempt);
    } else {
      step.note = follow_ups.error().message;
    }
  } else {
    step.note = "there is no sync " + child.root.sync + " any more";
  }
  std::erase_if(fired.then, [&](const Planned& planned) {
    return planned.kind == Planned::Kind::invoke && child.done.contains(asked_for(planned.action, planned.fields));
  });
  step.fired.push_back(std::move(fired));
  append(flow, std::move(step));
}

void Machine::apply_dispatch(Flow& flow, Step& step) {
  ChildState& child = *flow.child;
  child.attempt = step.attempt;
  child.due_ms = 0;
  child.repeat.clear();
  child.undone.clear();
  child.give_up = false;
  if (!step.note.empty()) {
    // Nothing was asked for: it is done another time, or is a letter that nobody can deliver.
    child.repeat = step.note;
    flow.work.emplace_back(RepeatChild{});
    return;
  }
  Causes causes = causes_of(flow);
  Origin origin = Origin::outside();
  for (Planned& planned : step.fired.front().then) {
    if (planned.kind != Planned::Kind::invoke) continue;
    Invocation* invocation = invoke(flow, planned, nullptr, causes, origin);
    if (invocation == nullptr) return;
    invocation->first = true;
    ++child.firsts_open;
  }
  for (Planned& planned : step.fired.front().then) {
    if (planned.kind == Planned::Kind::answer) queue_answer(flow, origin, planned, false);
  }
}

bool Machine::child_action_ended(Flow& flow, const Record& completion, const End& end) {
  ChildState& child = *flow.child;
  --child.firsts_open;
  auto sync = flow.set->find(child.root.sync);
  bool again =
      !child.cancelled && (end.variant.starts_with("engine.") || (sync && flow.set->retries_on(*sync, end.variant)));
  if (again) {
    child.undone.insert(completion.invocation);
    child.repeat = actions_.name(completion.action) + " => " + end.variant;
    if (const json::value* message = end.fields.if_contains("message"); message != nullptr && message->is_string()) {
      child.repeat += ": " + std::string(message->get_string());
    }
    child.give_up = child.give_up || end.maybe_done;
  } else {
    child.done.insert(asked_for(actions_.name(completion.action), completion.input));
  }
  if (child.firsts_open == 0 && !child.repeat.empty()) flow.work.emplace_back(RepeatChild{});
  return again;
}

void Machine::repeat_child(Flow& flow) {
  const ChildState& child = *flow.child;
  bool more = !child.give_up && child.attempt < parts_.limits.max_child_attempts;
  Step step = new_step(flow, flow.id, more ? Step::Kind::again : Step::Kind::dead);
  step.attempt = child.attempt;
  step.note = child.repeat;
  if (more) {
    step.by = "effect";
    step.due_ms = now_ms() + kChildBackoff.after_ms(child.attempt);
  }
  append(flow, std::move(step));
}

}  // namespace sluice::engine
