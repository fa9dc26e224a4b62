// Deciding steps: guards, handler, guards over what it wrote, completion, firings. The order is that of
// docs/internals/engine.md. Nothing here changes the flow: what is decided is written and applied (machine_apply.cc).
#include <algorithm>
#include <boost/json.hpp>
#include <span>

#include "base/json.h"
#include "crypto/sha256.h"
#include "engine/journal/history.h"
#include "engine/machine.h"
#include "engine/named_row.h"
#include "engine/rules/near_miss.h"

namespace sluice::engine {
namespace {

using lang::EngineOutcome;

// The id of what a firing asks for: the same whenever the same firing is computed.
// `attempt` counts the dispatches of a child flow.
Ulid derived_id(int64_t at_ms, const SyncSet& set, const Match& match, size_t row, size_t place, int64_t attempt) {
  const std::string& hash = set.hash(match.sync);
  std::string text;
  text.reserve(hash.size() + (match.records.size() + 3) * (Ulid::kTextLength + 2));
  text += hash;
  for (const RecordRef& record : match.records) (text += '|') += to_string(id_of(*record));
  (text += '|') += std::to_string(row);
  (text += '|') += std::to_string(place);
  if (attempt > 0) (text += '|') += std::to_string(attempt);
  crypto::Sha256 digest = crypto::sha256(text);
  return Ulid::from(at_ms, std::span(digest).first<Ulid::kRandomBytes>());
}

End engine_end(EngineOutcome outcome, std::string message, bool maybe_done = false) {
  return End{"engine." + std::string(lang::name_of(outcome)), json::object{{"message", std::move(message)}},
             maybe_done};
}

constexpr const char* kNotUtf8 = "its result is not UTF-8";

constexpr int64_t kSlowHandler_ns = 5'000'000;

// The one action that runs while the stored state is of another version; its `ok` says that it no longer is.
constexpr std::string_view kMigrate = "migrate";

}  // namespace

template <typename Handler>
auto Machine::guarded(lang::ActionRef action, const Handler& handler, std::string& fault) {
  std::optional<std::remove_cvref_t<decltype(*handler())>> value;
  int64_t began_ns = parts_.clock->monotonic_ns();
  running_handler_.since_ns = began_ns;
  running_handler_.action = &actions_.name(action);
  try {
    auto result = handler();
    if (result) {
      value = *std::move(result);
    } else {
      fault = to_string(result.error());
    }
  } catch (const UnreadableStore&) {
    running_handler_.action = nullptr;
    throw;
  } catch (const std::exception& error) {
    fault = error.what();
  } catch (...) {
    fault = "an unknown exception";
  }
  running_handler_.action = nullptr;
  if (!value && fault.empty()) fault = "an exception without a message";
  int64_t took_ns = parts_.clock->monotonic_ns() - began_ns;
  if (took_ns > kSlowHandler_ns) {
    log(actions_.name(action) + " held the writer for " + std::to_string(took_ns / 1'000'000) + " ms");
  }
  return value;
}

void Machine::work_off(Flow& flow) {
  Work work = std::move(flow.work.front());
  flow.work.pop_front();
  touch(flow);
  uint64_t before = journal_.seq();
  if (const auto* next = std::get_if<Run>(&work)) {
    run(flow, next->invocation);
  } else if (const auto* end = std::get_if<Finish>(&work)) {
    finish(flow, *end);
  } else if (const auto* reply = std::get_if<Answer>(&work)) {
    answer(flow, *reply);
  } else if (std::holds_alternative<Dispatch>(work)) {
    dispatch(flow);
  } else {
    repeat_child(flow);
  }
  if (journal_.seq() == before) settling_ = true;
}

Step Machine::new_step(const Flow& flow, const Ulid& invocation, Step::Kind kind) const {
  Step step{.seq = journal_.next_seq(), .at_ms = now_ms(), .flow = flow.id, .invocation = invocation, .kind = kind};
  return step;
}

// Why an invocation cannot run at all.
std::optional<End> Machine::unfit(const Flow& flow, const Invocation& invocation) const {
  if (!invocation.cycle.empty()) return engine_end(EngineOutcome::limit, "a cycle: " + invocation.cycle);
  auto raised = kit_->kit().suite.cascade_limit;
  uint64_t limit = raised ? static_cast<uint64_t>(*raised) : parts_.limits.cascade_actions;
  if (invocation.origin.cascade->actions >= limit) {
    return engine_end(EngineOutcome::limit, "more than " + std::to_string(limit) + " actions follow from one event");
  }
  if (flow.actions >= parts_.limits.flow_actions) {
    return engine_end(EngineOutcome::limit,
                      "the flow has more than " + std::to_string(parts_.limits.flow_actions) + " actions");
  }
  const lang::ConceptSymbol& owner = symbols().concepts[invocation.action.concept_];
  std::string missing = invocation.unavailable;
  if (missing.empty() && !owner.built_in && actions_.binding(invocation.action) == nullptr) missing = owner.name;
  if (!missing.empty()) {
    End end = engine_end(EngineOutcome::unavailable, "the concept " + missing + " is not loaded");
    end.fields["concept"] = missing;
    return end;
  }
  if (auto stored = outdated_.find(invocation.action.concept_);
      stored != outdated_.end() && symbols().action(invocation.action).name != kMigrate) {
    int64_t required = owner.source->version.value_or(0);
    End end = engine_end(EngineOutcome::needsMigration, "the state of " + owner.name + " is of version " +
                                                            std::to_string(stored->second) + ", not " +
                                                            std::to_string(required));
    end.fields["current"] = stored->second;
    end.fields["required"] = required;
    return end;
  }
  bool opens_scope = actions_.is_timer(invocation.action) || symbols().action(invocation.action).is_answered();
  if (invocation.orphaned && opens_scope) {
    return engine_end(EngineOutcome::cancelled, "what it is part of has ended");
  }
  return std::nullopt;
}

// The row that the call is about must be at the generation that the caller saw.
std::optional<End> Machine::conflict(const Invocation& invocation) {
  if (!invocation.expect_generation) return std::nullopt;
  auto row = named_row(symbols(), invocation.action, invocation.input);
  if (!row) return std::nullopt;
  Transaction::Version version = state_->version(row->relation, row->key);
  if (version.generation == *invocation.expect_generation) return std::nullopt;
  End end = engine_end(EngineOutcome::conflict, row->relation + " " + row->key + " is at generation " +
                                                    std::to_string(version.generation) + ", not " +
                                                    std::to_string(*invocation.expect_generation));
  end.fields["expected"] = *invocation.expect_generation;
  end.fields["actual"] = version.generation;
  if (auto changed = step_at(version.seq)) {
    end.fields["by"] = caller_of(changed->flow);
    end.fields["flow"] = sluice::to_string(changed->flow);
    end.fields["at"] = lang::to_text({changed->at_ms});
  }
  return end;
}

// Who began a flow, also one that has settled.
std::string Machine::caller_of(const Ulid& id) {
  if (const Flow* flow = find_flow(id)) return flow->caller.name;
  auto snapshot = parts_.store->read();
  if (!snapshot) throw UnreadableStore(snapshot.error());
  auto row = (*snapshot)->flow(id);
  if (!row) throw UnreadableStore(row.error());
  return *row ? summary_text(**row, "caller") : "";
}

// A step by its number, also one of the batch.
std::optional<Step> Machine::step_at(uint64_t seq) {
  if (seq == 0) return std::nullopt;
  land_or_throw();
  if (!batch_.journal.empty() && seq >= batch_.journal.front().seq) {
    auto step = read_step(batch_.journal[seq - batch_.journal.front().seq].record);
    return step ? std::optional(*std::move(step)) : std::nullopt;
  }
  auto snapshot = parts_.store->read();
  if (!snapshot) throw UnreadableStore(snapshot.error());
  auto row = (*snapshot)->journal(seq);
  if (!row) throw UnreadableStore(row.error());
  if (!*row || (*row)->record.empty()) return std::nullopt;
  auto step = read_step((*row)->record);
  return step ? std::optional(*std::move(step)) : std::nullopt;
}

void Machine::run(Flow& flow, const Ulid& id) {
  Invocation* invocation = flow.find(id);
  if (invocation == nullptr || invocation->ending) return;
  const lang::ActionSymbol& action = symbols().action(invocation->action);
  bool opens = action.runs == lang::Runs::effect || action.is_answered();
  Step step = new_step(flow, id, opens ? Step::Kind::begin : Step::Kind::act);
  step.action = actions_.name(invocation->action);
  if (flow.root) {
    step.caller = flow.caller;
    step.root = *std::exchange(flow.root, std::nullopt);
    if (!step.root->key.empty()) batch_.keys.push_back(keys_.at({flow.caller.name, step.root->key}));
  }
  state_->begin_step(id, step.seq, now_ms());
  if (auto end = unfit(flow, *invocation)) return complete(flow, *invocation, std::move(step), *std::move(end));
  if (auto end = conflict(*invocation)) return complete(flow, *invocation, std::move(step), *std::move(end));

  auto refuse = [&](const Refusal& refusal) {
    state_->drop_step();
    step.guards = {refusal.guard};
    step.guards.insert(step.guards.end(), refusal.also.begin(), refusal.also.end());
    End end{refusal.variant ? action.variants[*refusal.variant].name : "engine.refused", refusal.fields, false,
            refusal.next};
    complete(flow, *invocation, std::move(step), std::move(end));
  };
  if (auto refusal = guards_->before(invocation->action, invocation->input, *state_)) return refuse(*refusal);
  if (actions_.is_timer(invocation->action)) return open_timer(flow, *invocation, std::move(step));
  if (actions_.is_undo(invocation->action)) {
    step.work = plan_undo(flow, invocation->input);
    return open_request(flow, *invocation, std::move(step));
  }

  const lang::ActionBinding& handler = *actions_.binding(invocation->action);
  std::string fault;
  std::optional<lang::Completion> ended;
  std::optional<json::value> work;
  if (!opens) {
    ended = guarded(
        invocation->action, [&] { return handler.act(invocation->input, state_->rows()); }, fault);
  } else if (auto begun = guarded(
                 invocation->action, [&] { return handler.begin(invocation->input, state_->rows()); }, fault)) {
    if (auto* completion = std::get_if<lang::Completion>(&*begun)) {
      ended = std::move(*completion);
    } else {
      work = std::move(std::get<lang::Started>(*begun).work);
    }
  }
  if (ended && !lang::find_variant(action, ended->variant)) fault = undeclared(invocation->action, ended->variant);
  size_t most = parts_.limits.result_bytes;
  if (ended && text_bytes(ended->fields, most) > most) fault = too_large("its result", most);
  if (work && text_bytes(*work, most) > most) fault = too_large("its work", most);
  if (ended && !is_utf8(ended->fields)) fault = kNotUtf8;
  if (work && !is_utf8(*work)) fault = "its work is not UTF-8";
  if (!fault.empty()) {
    state_->drop_step();
    return complete(flow, *invocation, std::move(step), engine_end(EngineOutcome::fault, fault));
  }
  if (auto refusal = guards_->over(invocation->action, state_->changed(), *state_)) return refuse(*refusal);
  if (ended) return complete(flow, *invocation, std::move(step), End{ended->variant, std::move(ended->fields), false});
  if (action.is_answered()) return open_request(flow, *invocation, std::move(step));
  step.work = std::move(work);
  step.wrote = state_->keep_step();
  append(flow, std::move(step));
}

// Timer/wait: open until it is due.
void Machine::open_timer(Flow& flow, Invocation& invocation, Step step) {
  constexpr int64_t kLongest_s = int64_t{100} * 366 * 24 * 3600;
  const json::value* seconds = invocation.input.if_contains("seconds");
  if (seconds == nullptr || !seconds->is_int64()) {
    return complete(flow, invocation, std::move(step),
                    engine_end(EngineOutcome::fault, "Timer/wait needs a whole number of seconds"));
  }
  step.due_ms = now_ms() + std::clamp<int64_t>(seconds->get_int64(), 0, kLongest_s) * 1000;
  append(flow, std::move(step));
}

void Machine::open_request(Flow& flow, Invocation& invocation, Step step) {
  RecordRef record = record_of(invocation, step);
  Matched matched = fire(flow, record, step);
  step.wrote = state_->keep_step();
  append(flow, std::move(step), record, matched);
}

void Machine::complete(Flow& flow, Invocation& invocation, Step step, End end) {
  step.end = std::move(end);
  if (auto stored = outdated_.find(invocation.action.concept_);
      stored != outdated_.end() && step.end->variant == "ok" && symbols().action(invocation.action).name == kMigrate) {
    const lang::ConceptSymbol& owner = symbols().concepts[stored->first];
    batch_.meta.emplace_back("version." + owner.name, std::to_string(owner.source->version.value_or(0)));
    outdated_.erase(stored);
  }
  auto variant = lang::find_variant(symbols().action(invocation.action), step.end->variant);
  if (variant && step.end->next.empty()) {
    step.end->next = next_steps_->of(invocation.action, *variant, invocation.input, step.end->fields, now_ms());
  }
  RecordRef record = record_of(invocation, step);
  Matched matched = fire(flow, record, step);
  step.wrote = state_->keep_step();
  append(flow, std::move(step), record, matched);
}

RecordRef Machine::record_of(Invocation& invocation, const Step& step) const {
  auto record = std::make_shared<Record>(Record{.invocation = invocation.id,
                                                .kind = step.end ? RecordKind::completion : RecordKind::request,
                                                .action = invocation.action,
                                                .input = step.end ? std::move(invocation.input) : invocation.input,
                                                .variant = std::nullopt,
                                                .engine = std::nullopt,
                                                .output = {},
                                                .seq = step.seq,
                                                .causes = invocation.causes});
  if (!step.end) return record;
  record->output = step.end->fields;
  if (step.end->variant.starts_with("engine.")) {
    record->engine = lang::engine_outcome_named(std::string_view(step.end->variant).substr(7));
  } else {
    record->variant = lang::find_variant(symbols().action(invocation.action), step.end->variant);
  }
  return record;
}

Machine::Matched Machine::fire(Flow& flow, const RecordRef& record, Step& step) {
  Matched matched;
  AskRoom room = ask_room();
  for (Match& match : flow.memory->add(record)) {
    Fired fired{.sync = flow.set->name(match.sync)};
    for (const RecordRef& each : match.records) fired.matched.push_back(id_of(*each));
    if (flow.set->is_eventual(match.sync)) {
      Ulid id = derived_id(now_ms(), *flow.set, match, 0, 0, 0);
      fired.then.push_back({.kind = Planned::Kind::child, .id = id});
      children_.push_back(child_step(flow, match, id));
    } else {
      size_t rows = 0;
      auto follow_ups = flow.set->follow_ups(match, *state_, &rows, &room);
      fired.rows = rows;
      if (follow_ups) {
        plan(flow, match, *std::move(follow_ups), fired);
      } else {
        // All or nothing: a where that goes beyond its limit asks for nothing, and says so.
        step.note += (step.note.empty() ? "" : "; ") + follow_ups.error().message;
      }
    }
    step.fired.push_back(std::move(fired));
    matched.push_back({std::move(match.records), flow.set->binding_of(match.sync, match.bindings)});
  }
  return matched;
}

AskRoom Machine::ask_room() const {
  constexpr size_t kRecordsAStep = 8;  // of the largest
  return {.one = parts_.limits.result_bytes, .all = kRecordsAStep * parts_.limits.result_bytes};
}

void Machine::plan(const Flow& flow, const Match& match, std::vector<FollowUp> follow_ups, Fired& fired,
                   int64_t attempt) const {
  for (FollowUp& each : follow_ups) {
    Planned planned{.fields = std::move(each.arguments)};
    if (each.is_answer) {
      planned.kind = Planned::Kind::answer;
      planned.id = each.request;
      planned.variant = each.variant_name;
      auto target = requests_.find(each.request);
      if (target != requests_.end() && target->second != flow.id) planned.flow = target->second;
    } else {
      planned.id = derived_id(now_ms(), *flow.set, match, each.row, each.place, attempt);
      planned.action = actions_.name(each.action);
      planned.unavailable = each.unavailable.value_or("");
    }
    fired.then.push_back(std::move(planned));
  }
}

void Machine::answer(Flow& flow, const Answer& work) {
  std::string by = work.from == flow.id ? "answer" : "answer:" + sluice::to_string(work.from);
  Invocation* request = flow.find(work.request);
  if (request == nullptr || request->phase != Invocation::Phase::open) {
    Step step = new_step(flow, work.request, Step::Kind::late);
    step.by = by;
    step.end = End{work.variant, work.fields, work.maybe_done};
    return append(flow, std::move(step));
  }
  if (!lang::find_variant(symbols().action(request->action), work.variant)) {
    // Only for a request that was read from state, whose action nobody could check before.
    return finish(flow, {request->id,
                         lang::EngineEnd{EngineOutcome::fault,
                                         actions_.name(request->action) + " has no variant " + work.variant, true},
                         by,
                         {}});
  }
  finish(flow, {request->id, lang::Completion{work.variant, work.fields}, by, {}, work.maybe_done});
}

void Machine::finish(Flow& flow, const Finish& work) {
  Invocation* invocation = flow.find(work.invocation);
  if (invocation == nullptr) {
    if (work.by != "effect") return;
    const auto* completion = std::get_if<lang::Completion>(&work.ending);
    return write_late(
        flow, work.invocation, work.by,
        completion == nullptr ? std::nullopt : std::optional(End{completion->variant, completion->fields, false}));
  }
  Step step = new_step(flow, work.invocation, Step::Kind::finish);
  step.action = actions_.name(invocation->action);
  step.by = work.by;
  step.caller = work.caller;
  state_->begin_step(work.invocation, step.seq, now_ms(), true);
  lang::Ending ending = work.ending;
  bool maybe_done = work.maybe_done;
  if (auto* end = std::get_if<lang::EngineEnd>(&ending)) {
    maybe_done = end->maybe_done;
    if (end->outcome == EngineOutcome::unanswered) end->message = unanswered_cause(flow, *invocation);
  }
  // A handler that invents a variant is wrong, whatever it did.
  auto check_variant = [&] {
    const auto* completion = std::get_if<lang::Completion>(&ending);
    if (completion == nullptr || lang::find_variant(symbols().action(invocation->action), completion->variant)) return;
    maybe_done = true;
    ending = lang::EngineEnd{EngineOutcome::fault, undeclared(invocation->action, completion->variant), true};
  };
  auto check_fields = [&] {
    const auto* completion = std::get_if<lang::Completion>(&ending);
    size_t most = parts_.limits.result_bytes;
    if (completion == nullptr) return;
    bool large = text_bytes(completion->fields, most) > most;
    if (!large && is_utf8(completion->fields)) return;
    state_->drop_step();
    maybe_done = true;
    ending = lang::EngineEnd{EngineOutcome::fault, large ? too_large("its result", most) : kNotUtf8, true};
  };
  check_variant();
  const lang::ActionBinding* handler = actions_.binding(invocation->action);
  if (handler != nullptr && handler->finish && invocation->phase != Invocation::Phase::queued) {
    std::string fault;
    auto finished = guarded(
        invocation->action, [&] { return handler->finish(invocation->input, ending, state_->rows()); }, fault);
    if (!fault.empty()) {
      state_->drop_step();
      // The handler is wrong, not the world: what it was told happened has happened.
      maybe_done = maybe_done || std::holds_alternative<lang::Completion>(ending);
      ending = lang::EngineEnd{EngineOutcome::fault, fault, maybe_done};
    } else {
      ending = *std::move(finished);
      check_variant();
      check_fields();
    }
  }
  if (auto* completion = std::get_if<lang::Completion>(&ending)) {
    return complete(flow, *invocation, std::move(step),
                    End{completion->variant, std::move(completion->fields), maybe_done});
  }
  const auto& told = std::get<lang::EngineEnd>(ending);
  End end = engine_end(told.outcome, told.message, told.maybe_done || maybe_done);
  if (told.outcome == EngineOutcome::unanswered) {
    end.fields["cause"] = invocation->recent.empty() ? "" : text_of(*invocation->recent.back());
  }
  complete(flow, *invocation, std::move(step), std::move(end));
}

void Machine::write_late(Flow& flow, const Ulid& invocation, const std::string& by, std::optional<End> end) {
  Step step = new_step(flow, invocation, Step::Kind::late);
  step.by = by;
  step.end = std::move(end);
  append(flow, std::move(step));
}

// Names the last completion beneath the request, and the syncs that came nearest to going on.
std::string Machine::unanswered_cause(const Flow& flow, const Invocation& request) const {
  std::string text = "nothing is left that could answer " + actions_.name(request.action);
  if (!request.recent.empty()) text += "; last was " + text_of(*request.recent.back());
  std::vector<RecordRef> records(request.recent.begin(), request.recent.end());
  records.push_back(request.request);
  std::vector<NearMiss> nearest = near_misses(*flow.set, std::move(records));
  if (nearest.empty() && !request.recent.empty()) nearest = listeners(*flow.set, request.recent.back()->action);
  for (size_t i = 0; i < nearest.size() && i < 3; ++i) {
    text += (i == 0 ? "; nearest: " : ", ") + nearest[i].sync + " waits for `" + nearest[i].missing + "`";
  }
  return text;
}

std::string Machine::undeclared(lang::ActionRef action, const std::string& variant) const {
  return actions_.name(action) + " ended in `" + variant + "`, which is none of its variants";
}

// "Concept/action => variant"
std::string Machine::text_of(const Record& record) const {
  std::string outcome = "requested";
  if (record.engine) outcome = "engine." + std::string(lang::name_of(*record.engine));
  if (record.variant) outcome = symbols().action(record.action).variants[*record.variant].name;
  return actions_.name(record.action) + " => " + outcome;
}

}  // namespace sluice::engine
