// Finding flows and invocations by ids as people type them.
#include <algorithm>
#include <cctype>
#include <map>

#include "engine/journal/record_reader.h"
#include "engine/journal/step.h"
#include "host/flows/flow_view.h"

namespace sluice::host {
namespace {

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

bool names(std::string_view wanted, const Ulid& id) {
  std::string text = to_string(id);
  return text.starts_with(wanted) || text.ends_with(wanted);
}

Error not_found(std::string_view what, std::string_view text) {
  return {.code = Code::not_found,
          .message = "there is no " + std::string(what) + " '" + printable(text) + "'",
          .next = "sluice flow list"};
}

Error too_short(std::string_view text) {
  return {.code = Code::usage,
          .message = "'" + printable(text) + "' is too short for an id; give at least " + std::to_string(kShortestId) +
                     " characters of its beginning or its end",
          .next = "sluice flow list"};
}

Error ambiguous(std::string_view what, std::string_view text, const Ulid& one, const Ulid& other) {
  return {.code = Code::conflict,
          .message = "more than one " + std::string(what) + " has '" + printable(text) +
                     "' in its id: " + to_string(one) + " and " + to_string(other) + " among them",
          .next = "give more characters; the ends of ids differ most"};
}

constexpr std::string_view kParentField = "\"parent\":";  // of a follow-up flow's summary

}  // namespace

std::string short_id(const Ulid& id) { return to_string(id).substr(Ulid::kTextLength - 8); }

Result<store::FlowRow> find_flow(store::Snapshot& snapshot, std::string_view text) {
  std::vector<store::FlowRow> found;
  std::string wanted = upper(text);
  if (auto id = Ulid::parse(wanted)) {
    auto row = snapshot.flow(*id);
    if (!row) return row.error();
    if (!*row) return not_found("flow", text);
    return **row;
  }
  bool latest = text == kLatest;
  if (!latest && text.size() < kShortestId) return too_short(text);
  auto read = snapshot.flows_newest_first(std::nullopt, [&](const store::FlowRow& row) {
    if (!latest && names(wanted, row.id)) found.push_back(row);
    if (!latest) return found.size() < 2;
    // Of those that began in the same millisecond, what somebody asked for goes before what followed from it.
    if (!found.empty() && row.id.wall_ms() != found[0].id.wall_ms()) return false;
    bool follows = row.summary.find(kParentField) != std::string::npos;
    if (found.empty() || !follows) found = {row};
    return follows;
  });
  if (!read) return read.error();
  if (found.empty()) return latest ? not_found("flow", "latest") : not_found("flow", text);
  if (found.size() > 1) return ambiguous("flow", text, found[0].id, found[1].id);
  return found[0];
}

Result<FoundInvocation> find_invocation(store::Snapshot& snapshot, std::string_view text) {
  if (text.size() < kShortestId) return too_short(text);
  std::string wanted = upper(text);
  std::map<Ulid, Ulid> found;  // invocation to flow
  std::optional<Error> failed;
  engine::RecordReader records(snapshot);
  auto read = snapshot.journal_from(1, [&](const store::JournalRow& row) {
    auto record = records.read(row);
    if (record && record->find(wanted) == std::string_view::npos) return true;
    auto step = record ? engine::read_step(*record) : Result<engine::Step>(record.error());
    if (!step) {
      failed = step.error();
      return false;
    }
    if (step->invocation != Ulid() && names(wanted, step->invocation)) found.emplace(step->invocation, row.flow);
    for (const engine::Fired& fired : step->fired) {
      for (const engine::Planned& planned : fired.then) {
        if (planned.kind == engine::Planned::Kind::invoke && names(wanted, planned.id)) {
          found.emplace(planned.id, row.flow);
        }
      }
    }
    return found.size() < 2;
  });
  if (!read) return read.error();
  if (failed) return *failed;
  if (found.empty()) return not_found("flow, invocation or object", text);
  if (found.size() > 1) return ambiguous("invocation", text, found.begin()->first, std::next(found.begin())->first);
  auto row = snapshot.flow(found.begin()->second);
  if (!row) return row.error();
  if (!*row) return not_found("flow, invocation or object", text);
  return FoundInvocation{**row, found.begin()->first};
}

}  // namespace sluice::host
