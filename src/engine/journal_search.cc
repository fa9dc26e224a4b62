// Searching the journal by time.
#include "engine/journal_search.h"

#include <algorithm>

namespace sluice::engine {
namespace {

// The time of the first step from `seq` on that is not packed.
Result<std::optional<int64_t>> time_from(store::Snapshot& snapshot, uint64_t seq) {
  std::optional<int64_t> at_ms;
  std::optional<Error> wrong;
  auto read = snapshot.journal_from(seq, [&](const store::JournalRow& row) {
    if (row.record.empty()) return true;
    auto step = read_step(row.record);
    if (step) {
      at_ms = step->at_ms;
    } else {
      wrong = step.error();
    }
    return false;
  });
  if (!read) return read.error();
  if (wrong) return *wrong;
  return at_ms;
}

}  // namespace

Result<std::optional<Step>> find_begin(store::Snapshot& snapshot, const Ulid& invocation) {
  // The first step at or after the time of the id, a moment earlier as the id of a call is made before its step.
  uint64_t low = 1;
  uint64_t high = snapshot.position() + 1;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    auto at_ms = time_from(snapshot, middle);
    if (!at_ms) return at_ms.error();
    if (*at_ms && **at_ms < invocation.wall_ms()) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  std::optional<Step> found;
  std::optional<Error> wrong;
  std::string id = sluice::to_string(invocation);
  auto read = snapshot.journal_from(low, [&](const store::JournalRow& row) {
    if (row.record.find(id) == std::string::npos) return true;
    auto step = read_step(row.record);
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
  return found;
}

Result<std::vector<Step>> steps_from(store::Snapshot& snapshot, uint64_t head) {
  std::vector<Step> steps;
  for (uint64_t seq = head; seq != 0;) {
    auto row = snapshot.journal(seq);
    if (!row) return row.error();
    if (!*row) {
      return Error{.code = Code::verification_failed,
                   .message = "the journal lacks record " + std::to_string(seq),
                   .next = "sluice audit verify"};
    }
    seq = (*row)->prev;
    if ((*row)->record.empty()) continue;
    auto step = read_step((*row)->record);
    if (!step) return step.error();
    steps.push_back(*std::move(step));
  }
  std::ranges::reverse(steps);
  return steps;
}

std::map<Ulid, Invoked> invocations_of(const std::vector<Step>& steps) {
  std::map<Ulid, Invoked> all;
  for (const Step& step : steps) {
    if (step.root) all[step.invocation] = {step.action, step.root->input, {}, std::nullopt, step.seq};
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
