// What a row and its summary say.
#include "host/flow_rows.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/clock.h"
#include "base/json.h"
#include "engine/journal/history.h"
#include "engine/journal/record_reader.h"

namespace sluice::host {
namespace {

constexpr std::array<std::string_view, 5> kFlowStates = {"running", "waiting", "stuck", "settled", "failed"};

}  // namespace

std::string_view state_name(store::FlowStatus status) { return kFlowStates[static_cast<size_t>(status)]; }

std::optional<store::FlowStatus> state_named(std::string_view name) {
  const auto* found = std::ranges::find(kFlowStates, name);
  if (found == kFlowStates.end()) return std::nullopt;
  return static_cast<store::FlowStatus>(found - kFlowStates.begin());
}

std::string failure_of(const store::FlowRow& row) {
  for (const char* why : {"failure", "dead", "standstill"}) {
    if (std::string text = engine::summary_text(row, why); !text.empty()) return text;
  }
  return "";
}

json::object flow_row_json(const store::FlowRow& row) {
  json::object object{{"flow", to_string(row.id)},
                      {"state", state_name(row.status)},
                      {"action", engine::summary_text(row, "action")},
                      {"caller", engine::summary_text(row, "caller")},
                      {"beganAt", utc_text(row.id.wall_ms())}};
  if (row.settled_at_ms != 0) object["settledAt"] = utc_text(row.settled_at_ms);
  if (std::string failure = failure_of(row); !failure.empty()) object["failure"] = failure;
  return object;
}

Result<json::array> flow_records(store::Snapshot& snapshot, const store::FlowRow& row) {
  json::array records;
  engine::RecordReader reader(snapshot);
  for (uint64_t seq = row.head; seq != 0;) {
    auto entry = snapshot.journal(seq);
    if (!entry) return entry.error();
    auto record = *entry ? reader.read(**entry)
                         : Result<std::string_view>(Error{.code = Code::verification_failed,
                                                          .message = "the journal lacks record " + std::to_string(seq),
                                                          .next = "sluice audit verify"});
    if (!record) return record.error();
    auto parsed = parse_json(*record);
    if (!parsed) return parsed.error();
    records.push_back(std::move(parsed->root));
    seq = (*entry)->prev;
  }
  std::ranges::reverse(records);
  return records;
}

}  // namespace sluice::host
