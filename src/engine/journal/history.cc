// Steps are applied in order. An invocation is first met where it is asked for: in the flow's root, in a firing, or in
// the work of a Flow/undo, which asks for its compensations one after the other.
#include "engine/journal/history.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/json.h"
#include "engine/journal/journal_search.h"

namespace sluice::engine {
namespace {

constexpr std::string_view kEnginePrefix = "engine.";

// A step's note has a sentence for each firing that failed: "sync `All`: it reads …; sync `Next`: …".
std::string failure_of(const Fired& fired, std::string_view note) {
  const std::string title = "sync `" + fired.sync + "`: ";
  size_t at = note.find(title);
  if (!fired.then.empty() || at == std::string_view::npos) return "";
  note.remove_prefix(at + title.size());
  return std::string(note.substr(0, note.find("; sync `")));
}

class Builder {
 public:
  explicit Builder(History& history) : history_(history) {}

  void apply(const Step& step) {
    if (history_.steps++ == 0) {
      history_.flow = step.flow;
      history_.caller = step.caller;
      history_.began_at_ms = step.at_ms;
    }
    history_.last_at_ms = step.at_ms;
    if (step.root && !step.root->sync_set.empty()) history_.sync_set = step.root->sync_set;
    switch (step.kind) {
      case Step::Kind::child:
        history_.child = step.child;
        if (step.child) history_.sync_set = step.child->sync_set;
        return event(step);
      case Step::Kind::move:
        history_.sync_set = step.note;
        return event(step);
      case Step::Kind::again:
        // Of a follow-up flow itself, not of one of its actions.
        if (history_.child && step.invocation == step.flow) return event(step);
        break;
      case Step::Kind::dead:
      case Step::Kind::drop:
      case Step::Kind::cancel:
      case Step::Kind::denied:
        return event(step);
      case Step::Kind::dispatch:
        event(step);
        return fire(step, std::nullopt);
      case Step::Kind::resolve:
        event(step);
        return fire(step, history_.find(step.invocation));
      default:
        break;
    }
    size_t at = invocation(step);
    run(history_.invocations[at], step);
    fire(step, at);
    undo(step, at);
  }

 private:
  void event(const Step& step) {
    history_.events.push_back({.kind = step.kind,
                               .at_ms = step.at_ms,
                               .caller = step.caller,
                               .note = step.note,
                               .attempt = step.attempt,
                               .due_ms = step.due_ms});
  }

  // The invocation that a step is about. One that nothing asked for came from outside.
  size_t invocation(const Step& step) {
    if (auto known = history_.find(step.invocation)) return *known;
    PastInvocation made{.id = step.invocation, .action = step.action, .asked_seq = step.seq, .asked_at_ms = step.at_ms};
    if (step.root) made.input = step.root->input;
    return add(std::move(made));
  }

  size_t add(PastInvocation made) {
    size_t at = history_.invocations.size();
    history_.by_id.emplace(made.id, at);
    history_.invocations.push_back(std::move(made));
    return at;
  }

  void run(PastInvocation& one, const Step& step) {
    if (step.kind == Step::Kind::late) {
      one.late.push_back({.end = step.end.value_or(End{}), .by = step.by, .seq = step.seq, .at_ms = step.at_ms});
      return;
    }
    if (one.began_at_ms == 0) one.began_at_ms = step.at_ms;
    one.by = step.by;
    one.note = step.note;
    if (step.attempt != 0) one.attempts = step.attempt;
    one.due_ms = step.end ? 0 : step.due_ms;
    if (step.kind == Step::Kind::act) one.kind = PastInvocation::Kind::pure;
    if (step.kind == Step::Kind::begin && !step.end) {
      // Flow/undo alone is answered and has work: what it is to undo.
      one.kind = step.due_ms != 0                          ? PastInvocation::Kind::timer
                 : step.work && step.action != kUndoAction ? PastInvocation::Kind::effect
                                                           : PastInvocation::Kind::request;
      if (one.kind == PastInvocation::Kind::request) one.request_seq = step.seq;
    }
    if (!step.end) return;
    one.end = step.end;
    one.guards = step.guards;
    one.ended_seq = step.seq;
    one.ended_at_ms = step.at_ms;
  }

  // What fires on a request is beneath it; what fires on a completion is where that invocation was.
  void fire(const Step& step, std::optional<size_t> on) {
    std::optional<RecordId> trigger;
    std::optional<size_t> beneath;
    if (on) {
      const PastInvocation& one = history_.invocations[*on];
      bool ended = step.end || step.kind == Step::Kind::resolve;
      trigger = RecordId{one.id, ended ? RecordKind::completion : RecordKind::request};
      beneath = ended ? one.beneath : on;
    }
    for (const Fired& fired : step.fired) {
      size_t number = history_.firings.size();
      history_.firings.push_back({.sync = fired.sync,
                                  .trigger = trigger,
                                  .matched = fired.matched,
                                  .rows = fired.rows,
                                  .then = fired.then,
                                  .failure = failure_of(fired, step.note),
                                  .seq = step.seq,
                                  .at_ms = step.at_ms});
      if (on) history_.invocations[*on].fired.push_back(number);
      for (const Planned& planned : fired.then) {
        if (planned.kind == Planned::Kind::child) history_.children.push_back(planned.id);
        if (planned.kind == Planned::Kind::answer) history_.answers.emplace(planned.id, number);
        if (planned.kind != Planned::Kind::invoke || history_.find(planned.id)) continue;
        add({.id = planned.id,
             .action = planned.action,
             .input = planned.fields,
             .asked_by = number,
             .beneath = beneath,
             .asked_seq = step.seq,
             .asked_at_ms = step.at_ms});
      }
    }
  }

  // A Flow/undo that opens asks for its first compensation; one that ends in ok lets it ask for the next.
  void undo(const Step& step, size_t at) {
    if (step.kind == Step::Kind::late) return;
    if (step.action == kUndoAction && step.work && !step.end) {
      undoing_[at].items = compensations_of(step.invocation, *step.work);
      return compensate(at, step);
    }
    const PastInvocation& one = history_.invocations[at];
    bool goes_on = !one.undoes.empty() && one.beneath && step.end && step.end->variant == "ok";
    if (goes_on && !history_.invocations[*one.beneath].end) compensate(*one.beneath, step);
  }

  void compensate(size_t undo, const Step& step) {
    Undoing& undoing = undoing_[undo];
    if (undoing.next == undoing.items.size()) return;
    Compensation& next = undoing.items[undoing.next++];
    if (history_.find(next.id)) return;
    add({.id = next.id,
         .action = next.action,
         .input = std::move(next.input),
         .undoes = next.of,
         .beneath = undo,
         .asked_seq = step.seq,
         .asked_at_ms = step.at_ms});
  }

  struct Undoing {
    std::vector<Compensation> items;
    size_t next = 0;
  };
  History& history_;
  std::map<size_t, Undoing> undoing_;  // by the invocation of the Flow/undo
};

std::optional<lang::ActionRef> find_action(const lang::Symbols& symbols, std::string_view name) {
  size_t slash = name.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  auto owner = symbols.find_concept(name.substr(0, slash));
  if (!owner) return std::nullopt;
  auto action = symbols.find_action(*owner, name.substr(slash + 1));
  if (!action) return std::nullopt;
  return lang::ActionRef{*owner, *action};
}

// Sets how a completion ended; false if the action has no such variant.
bool set_outcome(Record& record, std::string_view variant, const lang::Symbols& symbols) {
  if (variant.starts_with(kEnginePrefix)) {
    record.engine = lang::engine_outcome_named(variant.substr(kEnginePrefix.size()));
  } else {
    record.variant = lang::find_variant(symbols.action(record.action), variant);
  }
  return record.engine || record.variant;
}

std::string_view text_at(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return {};
  return {value->get_string().data(), value->get_string().size()};
}

json::object object_at(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_object() ? value->get_object() : json::object();
}

// A record as a follow-up flow's root holds it; null if the kit does not know it any more.
RecordRef record_in(const json::value& value, const lang::Symbols& symbols) {
  if (!value.is_object()) return nullptr;
  const json::object& fields = value.get_object();
  auto action = find_action(symbols, text_at(fields, "action"));
  auto id = parse_record_id(text_at(fields, "record"));
  if (!action || !id) return nullptr;
  Record record{.invocation = id->invocation, .kind = id->kind, .action = *action, .input = object_at(fields, "input")};
  record.output = object_at(fields, "output");
  if (const json::value* seq = fields.if_contains("seq"); seq != nullptr && seq->is_int64()) {
    record.seq = static_cast<uint64_t>(seq->get_int64());
  }
  if (record.kind == RecordKind::completion && !set_outcome(record, text_at(fields, "variant"), symbols))
    return nullptr;
  return std::make_shared<const Record>(std::move(record));
}

// Makes the records of one history in the order in which they came to be, so that causes are there when asked for.
class RecordMaker {
 public:
  RecordMaker(const History& history, const SyncSet& set)
      : history_(history), set_(set), causes_(history.invocations.size()), caused_(history.invocations.size()) {}

  std::vector<RecordRef> make() {
    struct Due {
      uint64_t seq;
      size_t invocation;
      RecordKind kind;
    };
    std::vector<Due> due;
    for (size_t i = 0; i < history_.invocations.size(); ++i) {
      const PastInvocation& one = history_.invocations[i];
      if (one.request_seq != 0) due.push_back({one.request_seq, i, RecordKind::request});
      if (one.end) due.push_back({one.ended_seq, i, RecordKind::completion});
    }
    std::ranges::sort(due, {}, &Due::seq);
    std::vector<RecordRef> records;
    for (const Due& each : due) {
      RecordRef record = make(each.invocation, each.kind);
      if (!record) continue;
      made_[id_of(*record)] = record;
      records.push_back(std::move(record));
    }
    return records;
  }

  // After make().
  std::map<size_t, RecordRef> make_open() {
    std::map<size_t, RecordRef> records;
    for (size_t at : history_.open()) {
      if (RecordRef record = make(at, RecordKind::completion)) records[at] = std::move(record);
    }
    return records;
  }

 private:
  RecordRef make(size_t at, RecordKind kind) {
    const PastInvocation& one = history_.invocations[at];
    const lang::Symbols& symbols = set_.kit().symbols();
    auto action = find_action(symbols, one.action);
    if (!action) return nullptr;
    Record record{.invocation = one.id, .kind = kind, .action = *action, .input = one.input, .causes = causes_of(at)};
    if (kind == RecordKind::request) {
      record.seq = one.request_seq;
      return std::make_shared<const Record>(std::move(record));
    }
    if (!one.end) return std::make_shared<const Record>(std::move(record));
    record.seq = one.ended_seq;
    record.output = one.end->fields;
    if (!set_outcome(record, one.end->variant, symbols)) return nullptr;
    return std::make_shared<const Record>(std::move(record));
  }

  Causes causes_of(size_t at) {
    if (caused_[at]) return causes_[at];
    caused_[at] = true;
    const PastInvocation& one = history_.invocations[at];
    if (!one.undoes.empty() && one.beneath) {
      auto undo = made_.find({history_.invocations[*one.beneath].id, RecordKind::request});
      return causes_[at] = undo == made_.end() ? nullptr : set_.causes_of({undo->second}, undo->second);
    }
    if (!one.asked_by) return nullptr;
    if (!history_.firings[*one.asked_by].trigger) return causes_[at] = inherited();
    std::vector<RecordRef> matched;
    for (const RecordId& id : history_.firings[*one.asked_by].matched) {
      if (auto found = made_.find(id); found != made_.end()) matched.push_back(found->second);
    }
    RecordRef beneath;
    if (one.beneath) {
      auto found = made_.find({history_.invocations[*one.beneath].id, RecordKind::request});
      if (found != made_.end()) beneath = found->second;
    }
    return causes_[at] = set_.causes_of(matched, beneath);
  }

  // What the actions of a follow-up flow are caused by.
  Causes inherited() const {
    if (!history_.child) return nullptr;
    std::vector<RecordRef> causes;
    for (const json::value& each : history_.child->causes) causes.push_back(record_in(each, set_.kit().symbols()));
    return std::make_shared<const std::vector<RecordRef>>(std::move(causes));
  }

  const History& history_;
  const SyncSet& set_;
  std::map<RecordId, RecordRef> made_;
  std::vector<Causes> causes_;
  std::vector<bool> caused_;
};

Result<std::vector<Step>> read_packed(store::Snapshot& snapshot, const store::FlowRow& flow, const Unpack& unpack) {
  auto blob = snapshot.packed(flow.id);
  if (!blob) return blob.error();
  if (!*blob) {
    return Error{.code = Code::invalid, .message = "the packed records of flow " + to_string(flow.id) + " are missing"};
  }
  if (!unpack) {
    return Error{.code = Code::unavailable, .message = "flow " + to_string(flow.id) + " is packed and cannot be read"};
  }
  auto records = unpack(**blob);
  if (!records) return records.error();
  std::vector<Step> steps;
  for (const std::string& record : *records) {
    auto step = read_step(record);
    if (!step) return step.error();
    steps.push_back(*std::move(step));
  }
  return steps;
}

}  // namespace

std::string summary_text(const store::FlowRow& flow, std::string_view name) {
  auto summary = parse_json(flow.summary);
  const json::object* fields = summary ? summary->root.if_object() : nullptr;
  const json::value* value = fields == nullptr ? nullptr : fields->if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

bool follows_from(store::Snapshot& snapshot, store::FlowRow row, const Ulid& flow) {
  constexpr std::string_view kParent = "\"parent\":\"";
  while (true) {
    size_t at = row.summary.find(kParent);
    if (at == std::string::npos) return false;
    auto parent = Ulid::parse(std::string_view(row.summary).substr(at + kParent.size(), Ulid::kTextLength));
    if (!parent) return false;
    if (*parent == flow) return true;
    auto above = snapshot.flow(*parent);
    if (!above || !*above) return false;
    row = **above;
  }
}

Result<std::vector<Step>> read_flow(store::Snapshot& snapshot, const store::FlowRow& flow, const Unpack& unpack) {
  if (flow.packed) return read_packed(snapshot, flow, unpack);
  std::vector<Step> steps;
  for (uint64_t seq = flow.head; seq != 0;) {
    auto row = snapshot.journal(seq);
    if (!row) return row.error();
    // A link that does not lead back would never end.
    if (!*row || (*row)->flow != flow.id || (*row)->prev >= seq) {
      return Error{.code = Code::invalid,
                   .message = "record " + std::to_string(seq) + " of flow " + to_string(flow.id) +
                              " is missing or not linked as it must be",
                   .next = "sluice audit verify"};
    }
    auto step = read_step((*row)->record);
    if (!step) return step.error();
    steps.push_back(*std::move(step));
    seq = (*row)->prev;
  }
  std::ranges::reverse(steps);
  return steps;
}

std::optional<size_t> History::find(const Ulid& invocation) const {
  auto found = by_id.find(invocation);
  if (found == by_id.end()) return std::nullopt;
  return found->second;
}

std::optional<size_t> History::first_failure() const {
  std::optional<size_t> first;
  for (size_t i = 0; i < invocations.size(); ++i) {
    const PastInvocation& one = invocations[i];
    if (!one.end || one.end->variant == "ok") continue;
    bool matched = std::ranges::any_of(one.fired, [&](size_t firing) {
      return firings[firing].trigger == RecordId{one.id, RecordKind::completion};
    });
    if (!matched && (!first || one.ended_seq < invocations[*first].ended_seq)) first = i;
  }
  return first;
}

std::vector<size_t> History::open() const {
  std::vector<size_t> found;
  for (size_t i = 0; i < invocations.size(); ++i) {
    if (invocations[i].is_open()) found.push_back(i);
  }
  return found;
}

std::vector<RecordId> History::dead_ends() const {
  std::vector<RecordId> found;
  std::map<size_t, size_t> last;  // by request: what ended last beneath it
  for (size_t i = 0; i < invocations.size(); ++i) {
    const PastInvocation& one = invocations[i];
    if (!one.end) continue;
    RecordId id{one.id, RecordKind::completion};
    bool matched =
        std::ranges::any_of(one.fired, [&](size_t firing) { return firings[firing].trigger == std::optional(id); });
    if (!matched && one.end->variant != "ok") found.push_back(id);
    if (!one.beneath) continue;
    auto [latest, first] = last.try_emplace(*one.beneath, i);
    if (!first && invocations[latest->second].ended_seq < one.ended_seq) latest->second = i;
  }
  for (const auto& [request, ended] : last) {
    if (invocations[request].by == "unanswered") found.push_back({invocations[ended].id, RecordKind::completion});
  }
  return found;
}

std::optional<size_t> History::answered_by(const Ulid& request) const {
  auto found = answers.find(request);
  if (found == answers.end()) return std::nullopt;
  return found->second;
}

History history_of(const std::vector<Step>& steps) {
  History history;
  Builder builder(history);
  for (const Step& step : steps) builder.apply(step);
  return history;
}

std::vector<RecordRef> records_of(const History& history, const SyncSet& set) {
  return RecordMaker(history, set).make();
}

std::map<size_t, RecordRef> open_records_of(const History& history, const SyncSet& set) {
  RecordMaker maker(history, set);
  maker.make();
  return maker.make_open();
}

}  // namespace sluice::engine
