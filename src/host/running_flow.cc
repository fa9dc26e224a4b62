// Follows the openings and the ends of invocations.
#include "host/running_flow.h"

#include <algorithm>
#include <boost/json.hpp>
#include <ranges>
#include <vector>

#include "base/terminal.h"
#include "engine/record_reader.h"

namespace sluice::host {

void RunningFlow::take(const engine::Step& step) {
  using Kind = engine::Step::Kind;
  for (const engine::Fired& fired : step.fired) {
    for (const engine::Planned& planned : fired.then) {
      const json::value* name = planned.fields.if_contains("name");
      if (planned.action != "Timer/wait" || name == nullptr || !name->is_string()) continue;
      timer_names_[planned.id] = std::string(name->get_string());
    }
  }
  if (step.kind == Kind::late || step.kind == Kind::denied) return;
  if (step.end) {
    open_.erase(step.invocation);
    timer_names_.erase(step.invocation);
    if (step.invocation == flow_) ended_ = {*step.end, step.seq};
    return;
  }
  if (step.kind == Kind::begin) {
    Open open{.action = step.action, .due_ms = step.due_ms};
    if (auto name = timer_names_.find(step.invocation); name != timer_names_.end()) open.timer = name->second;
    open_[step.invocation] = std::move(open);
  }
  auto about = open_.find(step.invocation);
  if (about == open_.end()) return;
  about->second.seq = step.seq;
  if (step.kind == Kind::again) about->second.problem = step.note;
}

Result<uint64_t> RunningFlow::catch_up(store::Store& store) {
  auto snapshot = store.read();
  if (!snapshot) return snapshot.error();
  auto row = (*snapshot)->flow(flow_);
  if (!row) return row.error();
  std::vector<std::string> records;
  engine::RecordReader reader(**snapshot);
  for (uint64_t seq = *row ? (*row)->head : 0; seq != 0;) {
    auto entry = (*snapshot)->journal(seq);
    if (!entry) return entry.error();
    if (!*entry) {
      return Error{.code = Code::verification_failed,
                   .message = "the journal lacks record " + std::to_string(seq),
                   .next = "sluice audit verify"};
    }
    auto record = reader.read(**entry);
    if (!record) return record.error();
    records.emplace_back(*record);
    seq = (*entry)->prev;
  }
  for (const std::string& record : std::views::reverse(records)) {
    auto step = engine::read_step(record);
    if (!step) return step.error();
    take(*step);
  }
  return (*snapshot)->position() + 1;
}

std::string RunningFlow::waits_for(int64_t now_ms) const {
  auto newest = std::ranges::max_element(open_, {}, [](const auto& each) { return each.second.seq; });
  if (newest == open_.end()) return "";
  const Open& open = newest->second;
  if (open.action == "Timer/wait") {
    int64_t left_s = (std::max<int64_t>(open.due_ms - now_ms, 0) + 999) / 1000;
    return "the timer " + printable(open.timer) + ", " + std::to_string(left_s) + " s more";
  }
  if (!open.problem.empty()) return open.action + ", which is tried again: " + printable(open.problem);
  return open.action;
}

}  // namespace sluice::host
