// Searching the journal by time.
#include "engine/journal/journal_search.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <span>

#include "crypto/sha256.h"
#include "engine/engine_time.h"
#include "engine/journal/record_reader.h"

namespace sluice::engine {
namespace {

Error lacks(uint64_t seq) {
  return {.code = Code::verification_failed,
          .message = "the journal lacks record " + std::to_string(seq),
          .next = "sluice audit verify"};
}

Result<Step> step_of(RecordReader& records, const store::JournalRow& row) {
  auto record = records.read(row);
  if (!record) return record.error();
  return read_step(*record);
}

Result<int64_t> time_at(store::Snapshot& snapshot, RecordReader& records, uint64_t seq) {
  auto row = snapshot.journal(seq);
  if (!row) return row.error();
  if (!*row) return lacks(seq);
  auto step = step_of(records, **row);
  if (!step) return step.error();
  return step->at_ms;
}

}  // namespace

namespace {

// The first record of [low, high), in which time does not go back, that is not older.
Result<uint64_t> first_since(store::Snapshot& snapshot, RecordReader& records, uint64_t low, uint64_t high,
                             int64_t since_ms) {
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    auto at_ms = time_at(snapshot, records, middle);
    if (!at_ms) return at_ms.error();
    if (*at_ms < since_ms) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

Result<std::optional<Step>> find_begin(store::Snapshot& snapshot, const Ulid& invocation) {
  RecordReader records(snapshot);
  auto kept = kept_time(snapshot);
  if (!kept) return kept.error();
  // Where an operator corrected recorded time it may have gone back.
  std::vector<uint64_t> corrected;
  for (const TimeCorrection& each : kept->corrections) corrected.push_back(each.seq);
  corrected.push_back(snapshot.position() + 1);
  std::string id = sluice::to_string(invocation);
  std::optional<Step> found;
  std::optional<Error> wrong;
  uint64_t begin = 1;
  for (uint64_t end : corrected) {
    auto from = first_since(snapshot, records, begin, end, invocation.wall_ms());
    if (!from) return from.error();
    auto read = snapshot.journal_from(*from, [&](const store::JournalRow& row) {
      if (row.seq >= end) return false;
      auto record = records.read(row);
      if (record && record->find(id) == std::string_view::npos) return true;
      auto step = record ? read_step(*record) : Result<Step>(record.error());
      if (!step) {
        wrong = step.error();
        return false;
      }
      bool first = step->kind == Step::Kind::act || step->kind == Step::Kind::begin;
      if (step->invocation != invocation || !first) return true;
      found = *std::move(step);
      return false;
    });
    if (!read) return read.error();
    if (wrong) return *wrong;
    if (found) break;
    begin = end;
  }
  return found;
}

Result<int64_t> number_in(const std::string& text, const std::string& what) {
  int64_t number = 0;
  auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec == std::errc() && read.ptr == text.data() + text.size()) return number;
  return Error{.code = Code::verification_failed,
               .message = what + " is damaged in the store: \"" + text + "\" is no number",
               .next = "go back to a copy of the store"};
}

Result<JournalEnd> journal_end(store::Snapshot& snapshot) {
  JournalEnd end{.seq = snapshot.position()};
  if (end.seq == 0) return end;
  auto last = snapshot.journal(end.seq);
  if (!last) return last.error();
  if (!*last) {
    return Error{.code = Code::verification_failed,
                 .message = "the journal's last record is missing",
                 .next = "sluice audit verify"};
  }
  end.chain = (*last)->record.empty() ? (*last)->packed_hash : chain_of((*last)->record);
  RecordReader records(snapshot);
  // What is damaged has no time; whoever verifies the journal finds that.
  if (auto step = step_of(records, **last)) end.at_ms = step->at_ms;
  return end;
}

Result<std::vector<Step>> steps_from(store::Snapshot& snapshot, uint64_t head) {
  std::vector<Step> steps;
  RecordReader records(snapshot);
  for (uint64_t seq = head; seq != 0;) {
    auto row = snapshot.journal(seq);
    if (!row) return row.error();
    if (!*row) return lacks(seq);
    seq = (*row)->prev;
    auto step = step_of(records, **row);
    if (!step) return step.error();
    steps.push_back(*std::move(step));
  }
  std::ranges::reverse(steps);
  return steps;
}

std::vector<Compensation> compensations_of(const Ulid& undo, const json::value& work) {
  std::vector<Compensation> all;
  auto text = [](const json::object& item, std::string_view name) {
    const json::value* value = item.if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
  };
  const json::object* fields = work.if_object();
  const json::value* items = fields == nullptr ? nullptr : fields->if_contains("undo");
  if (items == nullptr || !items->is_array()) return all;
  for (const json::value& each : items->get_array()) {
    if (!each.is_object()) continue;
    const json::object& item = each.get_object();
    const json::value* input = item.if_contains("input");
    crypto::Sha256 digest = crypto::sha256(sluice::to_string(undo) + "/undo/" + std::to_string(all.size()));
    all.push_back({.id = Ulid::from(undo.wall_ms(), std::span(digest).first<Ulid::kRandomBytes>()),
                   .of = text(item, "of"),
                   .action = text(item, "action"),
                   .input = input != nullptr && input->is_object() ? input->get_object() : json::object()});
  }
  return all;
}

std::map<Ulid, Invoked> invocations_of(const std::vector<Step>& steps) {
  std::map<Ulid, Invoked> all;
  for (const Step& step : steps) {
    if (step.root) all[step.invocation] = {step.action, step.root->input, {}, std::nullopt, step.seq};
    if (step.action == kUndoAction && step.kind == Step::Kind::begin && step.work) {
      for (Compensation& each : compensations_of(step.invocation, *step.work)) {
        all[each.id] = {each.action, std::move(each.input), step.invocation, std::nullopt, 0, true};
      }
    }
    auto own = all.find(step.invocation);
    bool decided = step.kind == Step::Kind::resolve;
    if (own != all.end() && step.end && step.kind != Step::Kind::late && !decided) {
      own->second.end = step.end;
      own->second.seq = step.seq;
    }
    bool on_request = !step.end && !decided && step.kind != Step::Kind::dispatch;
    for (const Fired& fired : step.fired) {
      for (const Planned& planned : fired.then) {
        if (planned.kind != Planned::Kind::invoke) continue;
        Ulid beneath = on_request ? step.invocation : own == all.end() ? Ulid{} : own->second.beneath;
        all[planned.id] = {planned.action, planned.fields, beneath, std::nullopt, 0};
      }
    }
  }
  return all;
}

}  // namespace sluice::engine
