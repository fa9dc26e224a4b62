// Reading flows back from the journal: their steps are applied again, in the order in which they were written. No
// handler and no where runs. Work that a step did is taken from its flow's queue; what is left is still to be done.
#include <algorithm>
#include <boost/json.hpp>

#include "engine/journal/history.h"
#include "engine/journal/journal_search.h"
#include "engine/machine.h"
#include "engine/rules/kept_set.h"

namespace sluice::engine {
namespace {

using lang::EngineOutcome;

}  // namespace

struct Machine::History {
  std::map<RecordId, RecordRef> records;
  std::unordered_map<Ulid, Ulid> beneath;  // of what has ended: the request that it was beneath; zero: none
};

Result<void> Machine::recover() {
  if (auto loaded = load(kit_); !loaded) return loaded;
  return read_back(true);
}

Result<void> Machine::read_back(bool restarted) {
  stale_ = true;
  restarted = restarted || !resumed_;
  std::vector<std::unique_ptr<Flow>> not_begun;
  for (const Ulid& id : calling_) not_begun.push_back(std::move(flows_.at(id)));
  flows_.clear();
  requests_.clear();
  busy_.clear();
  timers_.clear();
  slots_.forget_waiting();
  batch_ = {};
  touched_.clear();
  after_commit_.clear();
  jobs_.clear();
  if_it_fails_.clear();
  ended_.clear();
  children_.clear();
  rereads_ = false;
  settling_ = false;
  state_->rolled_back();
  for (auto& flow : not_begun) {
    busy_.insert(flow->id);
    flows_.emplace(flow->id, std::move(flow));
  }

  auto snapshot = parts_.store->read();
  if (!snapshot) return snapshot.error();
  auto end = journal_end(**snapshot);
  if (!end) return end.error();
  journal_.reset(*end);
  if (auto resumed = time_.resume(**snapshot); !resumed) return resumed;
  arm_denials();

  if (auto versions = read_versions(**snapshot); !versions) return versions;
  if (auto bound = bind_state(**snapshot); !bound) return bound;

  std::map<uint64_t, std::string> records;
  std::vector<store::FlowRow> open;
  auto read = (*snapshot)->open_flows([&](const store::FlowRow& row) {
    open.push_back(row);
    return true;
  });
  if (!read) return read;
  std::map<std::string, Result<std::shared_ptr<const SyncSet>>> sets;
  std::unordered_map<Ulid, std::shared_ptr<const SyncSet>> set_of;
  for (const store::FlowRow& row : open) {
    auto set = sets.find(row.sync_set);
    if (set == sets.end()) set = sets.emplace(row.sync_set, set_named(row.sync_set, **snapshot)).first;
    if (!set->second) {
      stand_still(row, set->second.error());
      continue;
    }
    set_of[row.id] = *set->second;
    for (uint64_t seq = row.head; seq != 0;) {
      auto entry = (*snapshot)->journal(seq);
      if (!entry) return entry.error();
      if (!*entry) {
        return Error{
            .code = Code::verification_failed,
            .message = "the journal lacks record " + std::to_string(seq) + " of flow " + sluice::to_string(row.id),
            .next = "sluice audit verify"};
      }
      seq = (*entry)->prev;
      records.emplace((*entry)->seq, std::move((*entry)->record));
    }
  }
  if (auto replayed = replay(records, set_of); !replayed) return replayed;
  std::vector<Ulid> ids;
  for (const auto& [id, flow] : flows_) ids.push_back(id);
  std::ranges::sort(ids);
  for (const Ulid& id : ids) {
    Flow& flow = *flows_.at(id);
    if (!flow.standstill.empty()) {
      if (restarted) unresumed_.insert(id);
      touch(flow);
      continue;
    }
    bool interrupted = unresumed_.erase(id) > 0 || restarted;
    std::set<Ulid> performing;
    for (const auto& [invocation_id, invocation] : flow.open) {
      if (invocation->phase == Invocation::Phase::performing) performing.insert(invocation_id);
    }
    for (const Ulid& invocation_id : performing) resume_effect(flow, *flow.find(invocation_id), interrupted);
    touch(flow);
  }
  // A flow that stood still may go on now, and one that went on may not: its row is to say so.
  for (const store::FlowRow& row : open) settling_ = settling_ || flows_.at(row.id)->status() != row.status;
  stale_ = false;
  return {};
}

// The version of each concept's stored state; of one that has none yet it is that of today.
Result<void> Machine::read_versions(store::Snapshot& snapshot) {
  outdated_.clear();
  for (size_t c = 0; c < symbols().concepts.size(); ++c) {
    const lang::ConceptSymbol& symbol = symbols().concepts[c];
    if (symbol.built_in || !symbol.source->version) continue;
    std::string name = "version." + symbol.name;
    auto stored = snapshot.meta(name);
    if (!stored) return stored.error();
    if (!*stored) {
      batch_.meta.emplace_back(name, std::to_string(*symbol.source->version));
      continue;
    }
    auto version = number_in(**stored, "the version of " + symbol.name);
    if (!version) return version.error();
    if (*version != *symbol.source->version) outdated_[c] = *version;
  }
  return {};
}

// From here on every row of state is bound to the journal by what records say that they wrote. What is there already,
// in a store of a version that did not do so, is bound as it was found.
Result<void> Machine::bind_state(store::Snapshot& snapshot) {
  constexpr const char* kBoundMeta = "state.bound";
  constexpr size_t kRowsARecord = 500;
  auto bound = snapshot.meta(kBoundMeta);
  if (!bound) return bound.error();
  if (*bound) return {};
  batch_.meta.emplace_back(kBoundMeta, std::to_string(journal_.next_seq()));
  if (journal_.committed_seq() == 0) return {};
  std::vector<Wrote> found;
  auto tell = [&] {
    Step step{.seq = journal_.next_seq(), .at_ms = now_ms(), .kind = Step::Kind::state};
    step.note = "rows of state as they were found";
    step.wrote = std::exchange(found, {});
    write_record(step, 0);
  };
  std::vector<std::string> relations;
  auto listed = snapshot.relations([&](const std::string& relation) {
    relations.push_back(relation);
    return true;
  });
  if (!listed) return listed;
  for (const std::string& relation : relations) {
    auto read = snapshot.scan(relation, "", [&](const store::StateRow& row) {
      found.push_back({relation, row.key, state_hash(row.generation, row.value)});
      if (found.size() == kRowsARecord) tell();
      return true;
    });
    if (!read) return read;
  }
  tell();
  return {};
}

// A flow whose syncs do not fit the loaded concepts waits for a decision.
void Machine::stand_still(const store::FlowRow& row, const Error& why) {
  auto flow = std::make_unique<Flow>();
  flow->id = row.id;
  flow->head = row.head;
  flow->set_hash = row.sync_set;
  flow->standstill = why.message;
  flow->root_action = summary_text(row, "action");
  flow->caller.name = summary_text(row, "caller");
  // A follow-up flow stays one: what it follows, and what it is to do.
  if (auto parent = Ulid::parse(summary_text(row, "parent"))) {
    flow->child = ChildState{.root = {.parent = *parent, .sync = summary_text(row, "sync")}};
    flow->child->repeat = summary_text(row, "dead");
    flow->child->dead = !flow->child->repeat.empty();
  }
  log("flow " + sluice::to_string(row.id) + " stands still: " + why.message);
  flows_[row.id] = std::move(flow);
  touched_.insert(row.id);
  settling_ = true;
}

Result<void> Machine::replay(const std::map<uint64_t, std::string>& records,
                             const std::unordered_map<Ulid, std::shared_ptr<const SyncSet>>& set_of) {
  std::unordered_map<Ulid, History> histories;
  replaying_ = true;
  std::optional<Error> wrong;
  for (const auto& [seq, record] : records) {
    auto step = read_step(record);
    if (!step) {
      wrong = step.error();
      break;
    }
    // In the terms of today: an operator may have corrected recorded time since.
    int64_t shift_ms = time_.kept().shift_ms(seq);
    step->at_ms += shift_ms;
    if (step->due_ms != 0) step->due_ms += shift_ms;
    Flow* flow = find_flow(step->flow);
    if (flow == nullptr) {
      auto made = flow_of(*step, set_of.at(step->flow));
      flow = made.get();
      flow->root.reset();
      flows_[step->flow] = std::move(made);
    }
    if (flow->standstill.empty()) replay_step(*flow, *step, histories[step->flow]);
    flow->head = seq;
  }
  replaying_ = false;
  return wrong ? Result<void>(*wrong) : Result<void>();
}

void Machine::replay_step(Flow& flow, Step& step, History& history) {
  if (step.kind == Step::Kind::resolve) return replay_resolve(flow, step, history);
  take_work(flow, step);
  Invocation* invocation = flow.find(step.invocation);
  if (invocation != nullptr && step.end) {
    history.beneath[step.invocation] = invocation->beneath == nullptr ? Ulid{} : invocation->beneath->id;
  }
  RecordRef record;
  bool makes_record = step.kind == Step::Kind::act || step.kind == Step::Kind::begin || step.kind == Step::Kind::finish;
  if (makes_record && invocation != nullptr && (step.end || symbols().action(invocation->action).is_answered())) {
    record = record_of(*invocation, step);
    history.records[id_of(*record)] = record;
    flow.memory->restore(record);
  }
  Matched matched;
  for (const Fired& fired : step.fired) {
    MatchedRecords& found = matched.emplace_back();
    for (const RecordId& id : fired.matched) {
      auto known = history.records.find(id);
      found.records.push_back(known == history.records.end() ? nullptr : known->second);
    }
    if (auto sync = flow.set->find(fired.sync)) found.binding = flow.set->binding_of(*sync, found.records);
  }
  apply(flow, step, record, matched);
}

// What may have been done is asked for again, or ends as the operator said, in the place where it was.
void Machine::replay_resolve(Flow& flow, Step& step, const History& history) {
  auto ended = history.records.find({step.invocation, RecordKind::completion});
  if (ended == history.records.end() || step.fired.empty() || step.fired.front().then.empty()) return;
  Invocation* beneath = nullptr;
  auto above = history.beneath.find(step.invocation);
  while (beneath == nullptr && above != history.beneath.end()) {
    beneath = flow.find(above->second);
    above = history.beneath.find(above->second);
  }
  if (flow.failure == text_of(*ended->second)) flow.failure = std::exchange(flow.failed_too, "");
  Planned& planned = step.fired.front().then.front();
  Ulid id = planned.id;
  Invocation* invocation = invoke(flow, planned, beneath, ended->second->causes, Origin::outside());
  if (invocation == nullptr) return;
  if (flow.child && flow.child->undone.erase(step.invocation) == 1) {
    // Of a follow-up flow: it is the one that the dispatch waits for, and if it was the last the letter lives again.
    invocation->first = true;
    ++flow.child->firsts_open;
    flow.child->dead = false;
    if (flow.child->undone.empty()) {
      flow.child->repeat.clear();
      flow.child->give_up = false;
    }
  }
  if (!step.end) return;
  flow.work.pop_back();
  flow.set_phase(*invocation, Invocation::Phase::performing);
  invocation->ending = true;
  flow.work.emplace_back(
      Finish{id, lang::Completion{step.end->variant, std::move(step.end->fields)}, "operator", step.caller});
}

// Takes from the flow's work what a step did.
void Machine::take_work(Flow& flow, const Step& step) {
  auto did = [&](const Work& work) {
    if (const auto* run = std::get_if<Run>(&work)) {
      return (step.kind == Step::Kind::act || step.kind == Step::Kind::begin) && run->invocation == step.invocation;
    }
    if (const auto* answer = std::get_if<Answer>(&work)) {
      return step.by.starts_with("answer") && answer->request == step.invocation;
    }
    if (const auto* finish = std::get_if<Finish>(&work)) {
      return step.kind == Step::Kind::finish && finish->invocation == step.invocation;
    }
    if (std::holds_alternative<Dispatch>(work)) return step.kind == Step::Kind::dispatch;
    return flow.child && step.invocation == flow.id &&
           (step.kind == Step::Kind::again || step.kind == Step::Kind::dead);
  };
  auto found = std::ranges::find_if(flow.work, did);
  if (found != flow.work.end()) flow.work.erase(found);
}

// By its retry rule: safe and probed effects run again under the same id; one that must not be repeated runs only if it
// had not begun. An attempt that a failed commit left under way is still under way.
void Machine::resume_effect(Flow& flow, Invocation& invocation, bool interrupted) {
  if (invocation.ending || running_.contains(invocation.id)) return;
  const lang::ActionBinding* handler = actions_.binding(invocation.action);
  auto end_unknown = [&](std::string why) {
    invocation.ending = true;
    flow.work.emplace_back(
        Finish{invocation.id, lang::EngineEnd{EngineOutcome::unknown, std::move(why), true}, "crash", {}});
  };
  if (handler == nullptr) return end_unknown("its concept is not loaded any more");
  if (invocation.due_ms > time_.resumed_ms()) return;  // its next attempt is not due yet, so that none was under way
  if (handler->retry == lang::Retry::never && invocation.started) {
    return end_unknown("the process ended while it was under way");
  }
  if (!interrupted || handler->retry == lang::Retry::never) return make_ready(flow, invocation);
  invocation.attempts = std::max<int64_t>(invocation.attempts + (invocation.due_ms != 0 ? 1 : 0), 1);
  retry_or_end(flow, invocation, "crash", "the process ended while it was under way", 0);
}

std::unique_ptr<Flow> Machine::flow_of(const Step& opening, std::shared_ptr<const SyncSet> set) const {
  auto flow = std::make_unique<Flow>();
  flow->id = opening.flow;
  flow->memory = set->new_memory();
  flow->set_hash = set->hash();
  flow->set = std::move(set);
  flow->caller = opening.caller;
  if (opening.child) {
    flow->root_action = opening.child->sync;
    flow->child = ChildState{.root = *opening.child};
    flow->work.emplace_back(Dispatch{});
    return flow;
  }
  flow->root_action = opening.action;
  flow->root = opening.root;
  auto action = actions_.find(opening.action);
  if (!action) {
    flow->standstill = "there is no action " + opening.action + " in the loaded kit";
    return flow;
  }
  auto invocation = std::make_unique<Invocation>();
  invocation->id = opening.invocation;
  invocation->action = *action;
  invocation->input = opening.root->input;
  invocation->expect_generation = opening.root->expect_generation;
  invocation->causes = flow->set->causes_of({}, nullptr);
  invocation->origin = Origin::outside();
  flow->work.emplace_back(Run{opening.invocation});
  flow->add(std::move(invocation));
  return flow;
}

// The set of this hash: the newest, or one that an older kit left behind, against the concepts of today.
Result<std::shared_ptr<const SyncSet>> Machine::set_named(const std::string& hash, store::Snapshot& snapshot) {
  if (hash == set_->hash()) return set_;
  return kept_set(snapshot, hash, kit_->kit());
}

}  // namespace sluice::engine
