// A call that is approved is `running` before it is started, so that after a crash it is started again under its key
// and not compared with what it has changed itself. It stays so until the call has its answer: the kit's own rules let
// pass what runs with people's approval.
#include "host/approvals.h"

#include <boost/json.hpp>

#include "base/json.h"
#include "host/observing.h"
#include "host/seen_rows.h"

namespace sluice::host {
namespace {

constexpr const char* kApprovals = "Approval";

std::string asked_text(const json::object& row, std::string_view name) {
  const json::value* value = row.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

json::object asked_row(const store::StateRow& row) {
  auto parsed = parse_json(row.value);
  return parsed && parsed->root.is_object() ? parsed->root.get_object() : json::object();
}

json::object kept_object(const std::string& text) {
  auto parsed = parse_json(text);
  return parsed && parsed->root.is_object() ? parsed->root.get_object() : json::object();
}

// The first that the condition holds for: its key.
std::string find_asked(store::Snapshot& snapshot, const std::function<bool(const json::object&)>& holds) {
  std::string found;
  (void)snapshot.scan(kApprovals, "", [&](const store::StateRow& row) {
    if (!holds(asked_row(row))) return true;
    found = row.key;
    return false;
  });
  return found;
}

}  // namespace

bool has_approvals(const lang::CheckedKit& kit) { return kit.symbols().find_concept(kApprovals).has_value(); }

Result<Answer> ask_for_approval(engine::Engine& engine, store::Store& store, const AskedCall& asked, const Call& call,
                                const json::object& seen) {
  const std::string input = write(call.input);
  auto before = store.read();
  if (!before) return before.error();
  // Who asks again for the same finds the approval that waits already.
  std::string approval = find_asked(**before, [&](const json::object& row) {
    return asked_text(row, "status") == "waiting" && asked_text(row, "requester") == asked.requester &&
           asked_text(row, "action") == call.action && asked_text(row, "input") == input;
  });
  Answer answer{.action = call.action, .variant = "approvalNeeded", .code = Code::waiting_for_approval};
  if (approval.empty()) {
    json::object ask{{"requester", asked.requester}, {"action", call.action}, {"input", input},
                     {"seen", write(seen)},          {"reason", call.reason}, {"needed", asked.needed},
                     {"seconds", asked.seconds}};
    if (!asked.environment.empty()) ask["environment"] = asked.environment;
    auto flow = engine.start({.action = "Approval/ask",
                              .input = std::move(ask),
                              .caller = {.name = std::string(kObserverName), .reason = call.reason},
                              .of_kit = true});
    if (!flow) return flow.error();
    auto after = store.read();
    if (!after) return after.error();
    approval = find_asked(**after, [&](const json::object& row) { return asked_text(row, "ask") == to_string(*flow); });
    answer.flow = *flow;
  }
  answer.position = engine.position();
  answer.fields = {{"approval", approval},
                   {"needed", asked.needed},
                   {"message", call.action + " waits until " + std::to_string(asked.needed) +
                                   (asked.needed == 1 ? " other person agrees" : " other people agree") +
                                   " to it, as the approval " + approval}};
  return answer;
}

bool Approvals::conclude(const std::string& approval, const std::string& status, const std::string& outcome) {
  auto done = engine_.invoke({.action = "Approval/conclude",
                              .input = {{"approval", approval}, {"status", status}, {"outcome", outcome}},
                              .caller = {.name = std::string(kObserverName)},
                              .of_kit = true});
  return done.has_value();
}

void Approvals::look() {
  const uint64_t position = engine_.position();
  if (position == looked_) return;
  auto snapshot = store_.read();
  if (!snapshot) return;
  std::vector<store::StateRow> due;
  auto read = (*snapshot)->scan(kApprovals, "", [&](const store::StateRow& row) {
    const std::string status = asked_text(asked_row(row), "status");
    if (status == "approved" || status == "running") due.push_back(row);
    return true;
  });
  if (!read) return;
  snapshot->reset();
  looked_ = position;
  for (const store::StateRow& each : due) run(each);
}

void Approvals::conclude_if_answered(const std::string& approval, const Ulid& flow) {
  auto snapshot = store_.read();
  if (!snapshot) return;
  auto row = (*snapshot)->flow(flow);
  if (!row || (*row && store::is_open((*row)->status) && (*row)->status != store::FlowStatus::stuck)) return;
  snapshot->reset();
  conclude(approval, "done", to_string(flow));
}

void Approvals::run(const store::StateRow& row) {
  const json::object asked = asked_row(row);
  const std::string requester = asked_text(asked, "requester"), whole = asked_text(asked, "wholeAction");
  const std::string action = whole.empty() ? asked_text(asked, "action") : whole;
  const json::object input = kept_object(asked_text(asked, whole.empty() ? "input" : "wholeInput"));
  if (auto flow = Ulid::parse(asked_text(asked, "outcome")); flow && asked_text(asked, "status") == "running") {
    return conclude_if_answered(row.key, *flow);
  }
  std::optional<uint64_t> expect;
  // What a larger call is about shows when its own part is asked for again.
  if (asked_text(asked, "status") == "approved" && !whole.empty() && !conclude(row.key, "running", "")) return;
  if (asked_text(asked, "status") == "approved" && whole.empty()) {
    auto snapshot = store_.read();
    if (!snapshot) return;
    const SeenRows now = seen_rows(**snapshot, *engine_.kit(), action, input);
    snapshot->reset();
    const std::string seen = asked_text(asked, "seen");  // empty: guards say whether it may still be run
    if (!seen.empty() && write(now.generations) != write(kept_object(seen))) {
      conclude(row.key, "stale", "it was approved for " + seen + ", and by now it is " + write(now.generations));
      return log_("approval " + row.key + ": what " + action + " is about has changed; it was not run");
    }
    expect = now.own;
    if (!conclude(row.key, "running", "")) return;
  }
  // A key makes it one call, also if this process ends before it is written down that it was run.
  auto flow = engine_.start({.action = action,
                             .input = input,
                             .caller = {.name = requester, .reason = asked_text(asked, "reason")},
                             .key = "approval " + row.key,
                             .expect_generation = expect});
  if (flow) {
    conclude(row.key, "running", to_string(*flow));
    return log_("approval " + row.key + ": " + requester + " " + action + ", flow " + to_string(*flow));
  }
  if (flow.error().code == Code::unavailable) return;  // the next look tries again
  conclude(row.key, "failed", flow.error().message);
  log_("approval " + row.key + ": " + flow.error().message);
}

}  // namespace sluice::host
