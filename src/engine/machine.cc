// The machine's outside: the kit that it runs, calls, and what is open.
#include "engine/machine.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/canonical_json.h"
#include "base/json.h"
#include "base/utf8.h"
#include "crypto/sha256.h"
#include "engine/caller_words.h"
#include "engine/journal/record_reader.h"
#include "engine/named_row.h"
#include "engine/rules/kept_set.h"

namespace sluice::engine {
namespace {

constexpr int64_t kKeyLife_ms = int64_t{7} * 24 * 3600 * 1000;

// What decides whether two calls with one key are the same.
// Without what is sealed: a hash of a value that can be guessed gives it away.
std::string request_hash(const Call& call, const lang::ActionBinding* handler) {
  json::object told = call.input;
  if (handler != nullptr) {
    for (const std::string& name : handler->sealed) told.erase(name);
  }
  auto input = canonical(json::value(told));
  return crypto::to_string(crypto::sha256(call.action + (input ? *input : write(json::value(told)))));
}

// Whether these concepts are those that run, in their order, and then perhaps more from outside: what is open in flows
// knows them by their numbers.
bool has_all(const std::vector<lang::KitConcept>& now, const std::vector<lang::KitConcept>& running) {
  auto same = [](const lang::KitConcept& a, const lang::KitConcept& b) {
    return a.tree == b.tree && a.outside == b.outside;
  };
  if (now.size() < running.size() || !std::equal(running.begin(), running.end(), now.begin(), same)) return false;
  return std::all_of(now.begin() + static_cast<std::ptrdiff_t>(running.size()), now.end(),
                     [](const lang::KitConcept& each) { return each.outside; });
}

}  // namespace

Machine::Machine(MachineParts parts, std::shared_ptr<const lang::CheckedKit> kit)
    : parts_(std::move(parts)),
      kit_(std::move(kit)),
      sealed_(std::make_unique<SealedValues>(*parts_.clock)),
      attempt_parts_(std::make_unique<AttemptParts>(AttemptParts{.store = parts_.store,
                                                                 .blobs = parts_.blobs,
                                                                 .clock = parts_.clock,
                                                                 .tools = parts_.tools,
                                                                 .sealed = sealed_.get(),
                                                                 .concepts = parts_.concepts,
                                                                 .indexed = nullptr})),
      time_(*parts_.clock, parts_.boot) {
  ids_.emplace(time_.recorded(), *parts_.random);
}

Machine::~Machine() = default;

Result<void> Machine::load(std::shared_ptr<const lang::CheckedKit> kit,
                           const std::vector<const lang::ConceptBinding*>& more) {
  if (auto landed = land(); !landed) {
    fail_batch(landed.error());
    return landed;
  }
  auto set = SyncSet::compile(kit);
  if (!set) return set.error();
  auto guards = GuardSet::compile(kit);
  if (!guards) return guards.error();
  if (set_ && !has_all(kit->kit().concepts, kit_->kit().concepts)) {
    return Error{.code = Code::invalid,
                 .message = "the new kit has other concepts than the one that runs",
                 .next = "restart Sluice to load other concepts; only syncs, guards and packs can be loaded anew"};
  }
  // What the store must hold for the new rules to run comes first: if that fails the old ones go on.
  IndexedFields indexed = indexed_fields(kit->symbols());
  auto snapshot = parts_.store->read();
  if (!snapshot) return snapshot.error();
  store::Batch batch;
  auto kept = (*snapshot)->sync_set((*set)->hash());
  if (!kept) return kept.error();
  if (!*kept) batch.sync_sets.emplace_back((*set)->hash(), (*set)->text());
  if (auto added = index_new_fields(**snapshot, indexed, batch); !added) return added;
  if (!parts_.kit_folder.empty()) {
    auto row = remember_kit(**snapshot, (*set)->hash(), parts_.kit_folder);
    if (!row) return row.error();
    if (*row) batch.meta.push_back(**std::move(row));
  }
  if (!batch.sync_sets.empty() || !batch.meta.empty()) {
    if (auto done = parts_.store->commit(batch); !done) return done;
  }

  for (const lang::ConceptBinding* each : more) {
    if (std::ranges::find(parts_.concepts, each) == parts_.concepts.end()) parts_.concepts.push_back(each);
  }
  kit_ = std::move(kit);
  set_ = *std::move(set);
  guards_ = *std::move(guards);
  next_steps_.emplace(*kit_);

  actions_.load(symbols(), parts_.concepts);
  for (size_t c = 0; c < symbols().concepts.size(); ++c) {
    auto loaded = std::ranges::find(parts_.concepts, symbols().concepts[c].name, &lang::ConceptBinding::name);
    if (loaded != parts_.concepts.end()) slots_.set_limit(c, static_cast<size_t>((*loaded)->parallel));
  }
  // Attempts that are under way hold on to the fields that they began with.
  if (!attempt_parts_->indexed) attempt_parts_->indexed = std::make_shared<const IndexedFields>(indexed);
  if (state_) {
    state_->index(std::move(indexed));
  } else {
    state_ = std::make_unique<Transaction>(*parts_.store, parts_.blobs, std::move(indexed));
  }
  return {};
}

IndexedFields Machine::indexed_fields(const lang::Symbols& symbols) const {
  IndexedFields indexed;
  auto add = [&](const std::string& relation, const std::string& field) {
    auto& fields = indexed[relation];
    if (std::ranges::find(fields, field) == fields.end()) fields.push_back(field);
  };
  for (size_t c = 0; c < symbols.concepts.size(); ++c) {
    const lang::ConceptSymbol& owner = symbols.concepts[c];
    for (size_t r = 0; r < owner.relations.size(); ++r) {
      for (size_t field : owner.relations[r].indexed) {
        add(relation_name(symbols, c, r), owner.relations[r].fields[field].name);
      }
    }
  }
  for (const lang::ConceptBinding* loaded : parts_.concepts) {
    for (const lang::RelationBinding& relation : loaded->relations) {
      for (const std::string& field : relation.lookups) add(relation.name, field);
    }
  }
  return indexed;
}

// Rows that were written when a field was not looked up by yet get their look-ups now. Which fields have them is in
// the store's meta data.
Result<void> Machine::index_new_fields(store::Snapshot& snapshot, const IndexedFields& now_indexed,
                                       store::Batch& batch) {
  json::object indexed;
  for (const auto& [relation, fields] : now_indexed) {
    indexed[relation] = json::array(fields.begin(), fields.end());
  }
  auto text = snapshot.meta("indexed");
  if (!text) return text.error();
  std::string now = write(indexed);
  if (*text && **text == now) return {};
  json::object before;
  if (*text) {
    auto parsed = parse_stored(**text, "the list of look-ups");
    if (!parsed) return parsed.error();
    if (parsed->is_object()) before = std::move(parsed->get_object());
  }
  for (const auto& [relation, fields] : now_indexed) {
    const json::value* had = before.if_contains(relation);
    for (const std::string& field : fields) {
      if (had != nullptr && std::ranges::find(had->get_array(), json::value(field)) != had->get_array().end()) continue;
      std::optional<Error> unreadable;
      auto read = snapshot.scan(relation, "", [&](const store::StateRow& row) {
        auto value = read_value(row.value, parts_.blobs);
        if (!value) {
          unreadable = value.error();
          return false;
        }
        if (auto lookup = lookup_of(*value, field)) batch.lookups.push_back({relation, field, *lookup, row.key, true});
        return true;
      });
      if (!read) return read;
      if (unreadable) return *unreadable;
    }
  }
  batch.meta.emplace_back("indexed", std::move(now));
  return {};
}

// ----------------------------------------------------------------------------------------------------------- calls

void Machine::call(Call call) {
  auto refuse = [&](const Error& error) {
    if (call.on_start) call.on_start(error);
    if (call.on_end) call.on_end(error);
  };
  if (stale_) {
    return refuse({.code = Code::unavailable,
                   .message = "the store cannot be read now",
                   .next = "check the disk that the store is on, then run it again"});
  }
  auto action = actions_.find(call.action);
  if (!action || symbols().concepts[action->concept_].built_in) {
    return refuse({.code = Code::not_found, .message = "there is no action " + call.action, .next = "sluice kit show"});
  }
  if (symbols().action(*action).runs == lang::Runs::query) {
    return refuse({.code = Code::invalid, .message = call.action + " only reads: it is asked, not run"});
  }
  if (!is_utf8(call.input) || !valid_utf8(call.key)) {
    return refuse({.code = Code::invalid, .message = "the arguments of " + call.action + " are not UTF-8"});
  }
  if (size_t most = parts_.limits.result_bytes; text_bytes(call.input, most) > most) {
    return refuse({.code = Code::limit,
                   .message = too_large("what " + call.action + " is asked", most),
                   .next = "keep what is large in a file, and give its digest"});
  }
  if (auto sound = check_key(call.key); !sound) return refuse(sound.error());
  for (const lang::FieldSymbol& param : symbols().action(*action).params) {
    if (!is_filled_in(symbols(), param) || !call.input.contains(param.name)) continue;
    return refuse({.code = Code::invalid,
                   .message = call.action + ": " + param.name + " is for the engine to fill in, with who calls",
                   .next = "leave " + param.name + " out",
                   .path = "/" + param.name});
  }
  if (call.expect_generation && !named_row(symbols(), *action, call.input)) {
    return refuse({.code = Code::usage,
                   .message = call.action + " names no row of its own, so there is no generation to expect",
                   .next = "run it without an expected generation"});
  }
  tick();
  if (auto sound = check_caller(symbols().action(*action), call.action); !sound && !call.of_kit) {
    return deny(call, sound.error());
  }
  if (parts_.may) {
    if (auto may = parts_.may(call.caller, call.action, call.input); !may) return deny(call, may.error());
  }
  const lang::ActionBinding* handler = actions_.binding(*action);
  if (handler != nullptr && handler->check) {
    if (auto fits = handler->check(call.input); !fits) return refuse(fits.error());
  }
  if (!call.key.empty() && join_by_key(call)) return;

  Step opening{.flow = ids_->next(), .action = call.action, .caller = call.caller};
  opening.invocation = opening.flow;
  opening.root =
      Root{.input = call.input, .key = call.key, .sync_set = set_->hash(), .expect_generation = call.expect_generation};
  for (const lang::FieldSymbol& param : symbols().action(*action).params) {
    if (!is_filled_in(symbols(), param)) continue;
    opening.root->input[param.name] = param.name == kCallerArgument ? call.caller.name : call.key;
  }
  if (handler != nullptr) {
    uint64_t number = kSealedWithCall;
    for (const std::string& name : handler->sealed) {
      json::value* value = opening.root->input.if_contains(name);
      if (value == nullptr || !value->is_string()) continue;
      SealedHandle handle{opening.flow, number++};
      sealed_->put(handle, value->get_string());
      *value = to_string(handle);
    }
  }
  auto flow = flow_of(opening, set_);
  if (!call.key.empty()) {
    keys_[{call.caller.name, call.key}] = {call.caller.name, call.key, request_hash(call, handler),
                                           flow->id,         flow->id, now_ms() + kKeyLife_ms};
  }
  calling_.push_back(flow->id);
  callers_[flow->id].push_back(std::move(call));
  busy_.insert(flow->id);
  flows_.emplace(flow->id, std::move(flow));
}

Error Machine::may_not(const Call& call) {
  return {.code = Code::denied,
          .message = call.caller.name + " may not call " + call.action,
          .next = "ask the owner of this home, who is its admin"};
}

void Machine::deny(const Call& call, const Error& error) {
  write_denials(denials_.deny({call.caller.name, call.action}, now_ms()));
  auto tell = [on_start = call.on_start, on_end = call.on_end, error] {
    if (on_start) on_start(error);
    if (on_end) on_end(error);
  };
  after_commit_.emplace_back(tell);
  if_it_fails_.emplace_back([tell](const Error&) { tell(); });
}

void Machine::write_denials(const std::vector<Denials::Told>& denials) {
  for (const Denials::Told& each : denials) {
    Step step{.seq = journal_.next_seq(), .at_ms = now_ms(), .kind = Step::Kind::denied, .action = each.who.second};
    step.caller.name = each.who.first;
    step.count = each.count;
    write_record(step, 0);
    if_it_fails_.emplace_back([this, each](const Error&) { denials_.put_back(each, now_ms()); });
  }
  arm_denials();
}

void Machine::refuse(const Call& call) {
  tick();
  deny(call, may_not(call));
}

void Machine::record_put(const Caller& caller, const std::string& digest, uint64_t bytes,
                         const std::function<void(const Result<uint64_t>&)>& on_done) {
  tick();
  Step step{.seq = journal_.next_seq(), .at_ms = now_ms(), .kind = Step::Kind::put, .caller = caller};
  step.note = digest;
  step.count = bytes;
  write_record(step, 0);
  after_commit_.emplace_back([on_done, position = step.seq] { on_done(position); });
  if_it_fails_.emplace_back([on_done](const Error& error) { on_done(error); });
}

void Machine::arm_denials() {
  if (!denials_.empty()) arm(Denials::minute_end_ms(now_ms()), {Timer::Kind::denials, {}, {}});
}

// ------------------------------------------------------------------------------------------------------------ time

void Machine::tick() {
  if (!time_.tick()) return;
  const ClockJump& jump = *time_.jump();
  Step step{.seq = journal_.next_seq(), .at_ms = now_ms(), .kind = Step::Kind::clock};
  step.note = jump.over ? "recorded time agrees with the system's clock again" : jump.what;
  write_clock(step);
  log(step.note);
}

// What is known of the clock is a row of state, too, which this step changes.
void Machine::write_clock(Step& step) {
  step.wall_ms = time_.wall_ms();
  state_->begin_step({}, step.seq, step.at_ms);
  state_->rows().put(kClockRelation, kJumpKey, to_row(*time_.jump()));
  step.wrote = state_->keep_step();
  write_record(step, 0);
}

// The operator says that the system's clock is right. Times that were recorded before mean others from here on: what is
// open is read back in the terms of the new time, and what settled in a future that never was has settled now.
Result<void> Machine::correct_clock(const Decision& decision) {
  if (!time_.is_apart()) {
    return Error{.code = Code::conflict,
                 .message = "recorded time and the system's clock agree to within five minutes; nothing was changed",
                 .next = "sluice audit clock"};
  }
  Step step{.seq = journal_.next_seq(), .kind = Step::Kind::clock, .caller = decision.caller};
  step.by = "operator";
  step.note = "recorded time is corrected: it was " + utc_text(now_ms());
  time_.correct(step.seq);
  step.at_ms = now_ms();
  write_clock(step);
  batch_.meta.emplace_back(kAttemptTimeMeta, std::to_string(now_ms()));
  auto snapshot = parts_.store->read();
  if (!snapshot) throw UnreadableStore(snapshot.error());
  auto read = (*snapshot)->flows_oldest_first(std::nullopt, [&](const store::FlowRow& row) {
    if (row.settled_at_ms <= now_ms()) return true;
    batch_.flows.push_back(row);
    batch_.flows.back().settled_at_ms = now_ms();
    return true;
  });
  if (!read) throw UnreadableStore(read.error());
  ids_.emplace(time_.recorded(), *parts_.random);
  rereads_ = true;
  return {};
}

// A key that was used joins the call to what it began. True: the call has been taken care of.
bool Machine::join_by_key(const Call& call) {
  auto tell = [&](const Error& error) {
    if (call.on_start) call.on_start(error);
    if (call.on_end) call.on_end(error);
    return true;
  };
  std::optional<store::KeyRow> used;
  if (auto fresh = keys_.find({call.caller.name, call.key}); fresh != keys_.end()) {
    used = fresh->second;
  } else {
    auto snapshot = parts_.store->read();
    if (!snapshot) return tell(snapshot.error());
    auto row = (*snapshot)->key(call.caller.name, call.key);
    if (!row) return tell(row.error());
    used = *std::move(row);
  }
  if (!used || (used->expires_ms < now_ms() && !time_.holds_retention())) return false;
  // What the key began may be on its way; until it has landed nobody knows how it ended.
  if (auto landed = land(); !landed) {
    fail_batch(landed.error());
    return tell(landed.error());
  }
  // What came sealed with the first call is compared while it is in memory. Afterwards nobody can tell whether this is
  // the same, so it is not.
  const lang::ActionBinding* handler = actions_.binding(*actions_.find(call.action));
  uint64_t number = kSealedWithCall;
  auto is_same = [&](const std::string& name) {
    const json::value* given = call.input.if_contains(name);
    if (given == nullptr || !given->is_string()) return true;
    auto kept = sealed_->get({used->flow, number++});
    return kept && crypto::equal_constant_time(*kept, given->get_string());
  };
  if (used->request_hash != request_hash(call, handler) ||
      (handler != nullptr && !std::ranges::all_of(handler->sealed, is_same))) {
    return tell({.code = Code::conflict,
                 .message = "the key " + call.key + " was used for another request",
                 .next = "use a new --idempotency-key for a new request"});
  }
  // Until the first step is committed nobody may hear of the flow.
  Call joined = call;
  if (std::ranges::find(calling_, used->flow) == calling_.end()) {
    if (call.on_start) call.on_start(used->flow);
    joined.on_start = nullptr;
  }
  Flow* flow = find_flow(used->flow);
  bool ends_now = std::ranges::find(ended_, used->invocation, &Outcome::invocation) != ended_.end();
  if (ends_now || (flow != nullptr && flow->find(used->invocation) != nullptr)) {
    callers_[used->invocation].push_back(std::move(joined));
  } else if (call.on_end) {
    call.on_end(ended_outcome(used->flow, used->invocation));
  }
  return true;
}

// How an invocation ended that is not open any more, from the journal.
Result<Outcome> Machine::ended_outcome(const Ulid& flow, const Ulid& invocation) {
  auto outcome_in = [&](const Result<std::string_view>& record) -> std::optional<Outcome> {
    auto step = record ? read_step(*record) : Result<Step>(record.error());
    if (!step || step->invocation != invocation || !step->end || step->kind == Step::Kind::late) return std::nullopt;
    return Outcome{flow, invocation, *step->end, step->seq};
  };
  auto snapshot = parts_.store->read();
  if (!snapshot) return snapshot.error();
  auto row = (*snapshot)->flow(flow);
  if (!row) return row.error();
  RecordReader records(**snapshot);
  std::optional<Outcome> cancelled;  // while it stood still: nothing else says how it ended
  for (uint64_t seq = *row ? (*row)->head : 0; seq != 0;) {
    auto entry = (*snapshot)->journal(seq);
    if (!entry) return entry.error();
    if (!*entry) break;
    auto record = records.read(**entry);
    if (auto outcome = outcome_in(record)) return *outcome;
    auto step = record && !cancelled ? read_step(*record) : Result<Step>(Error{});
    if (step && step->kind == Step::Kind::cancel) {
      cancelled = Outcome{flow, invocation, {"engine.cancelled", {}, true}, step->seq};
    }
    seq = (*entry)->prev;
  }
  if (cancelled) return *cancelled;
  return Error{.code = Code::verification_failed,
               .message = "the journal does not say how flow " + sluice::to_string(flow) + " ended",
               .next = "sluice audit verify"};
}

// ------------------------------------------------------------------------------------------------------- what is open

std::vector<Machine::OpenInvocation> Machine::open_invocations() const {
  std::vector<OpenInvocation> all;
  for (const auto& [flow_id, flow] : flows_) {
    for (const auto& [id, open] : flow->open) {
      all.push_back({flow_id, id, actions_.name(open->action), open->phase,
                     open->beneath == nullptr ? Ulid{} : open->beneath->id, open->due_ms});
    }
  }
  std::ranges::sort(all, {}, [](const OpenInvocation& each) { return std::pair(each.flow, each.id); });
  return all;
}

std::vector<Machine::WaitedFor> Machine::waited_for() const {
  std::vector<WaitedFor> all;
  for (const auto& [id, running] : running_) {
    if (running.who.until_ms > time_.steady_ms()) all.push_back(running.who);
  }
  std::ranges::sort(all, {}, [](const WaitedFor& each) { return std::tie(each.action, each.flow); });
  return all;
}

std::optional<store::FlowStatus> Machine::status_of(const Ulid& flow) const {
  auto found = flows_.find(flow);
  return found == flows_.end() ? std::nullopt : std::optional(found->second->status());
}

}  // namespace sluice::engine
