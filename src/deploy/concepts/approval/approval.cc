// Approval keeps who asked for what, and who agreed. It runs nothing: the host runs what is approved, as the requester,
// and says what became of it.
#include <algorithm>

#include "approval.gen.h"

namespace sluice::deploy::approval {
namespace {

// Programs do not agree. Two tokens of one person have one name, and count once.
bool is_person(const std::string& name) { return name.starts_with("user:") || name.starts_with("uid:"); }

std::string status_after(const Ask::Outcome& outcome) {
  switch (ended_of(outcome)) {
    case Ask::Ended::ok:
      return "approved";
    case Ask::Ended::rejected:
      return "rejected";
    case Ask::Ended::expired:
      return "expired";
    case Ask::Ended::engine:
      break;
  }
  return "cancelled";
}

}  // namespace

Ask::Begun Approval::begin_ask(const Ask& ask, State& state) {
  state.add(ApprovalRecord{.ask = state.request(),
                           .requester = ask.requester,
                           .action = ask.action,
                           .input = ask.input,
                           .seen = ask.seen,
                           .reason = ask.reason,
                           .environment = ask.environment,
                           .wholeAction = ask.wholeAction,
                           .wholeInput = ask.wholeInput,
                           .needed = ask.needed,
                           .status = "waiting",
                           .askedAt = state.now(),
                           .expiresAt = lang::DateTime{state.now().ms + ask.seconds * 1000}});
  return lang::Opened{};
}

// Whatever ends it, also an operator who cancels its flow, is written down.
Ask::Outcome Approval::finish_ask(const Ask&, const Ask::Outcome& outcome, State& state) {
  for (const ApprovalFound& each : state.find_by_ask(state.request())) {
    ApprovalRecord record = each.record;
    record.status = status_after(outcome);
    state.put(each.id, record);
  }
  return outcome;
}

// Its completion is the event.
Announce::Result Approval::announce(const Announce& ask, State&) {
  return Announce::Ok{.approval = ask.approval,
                      .requester = ask.requester,
                      .action = ask.action,
                      .environment = ask.environment,
                      .message = ask.message};
}

Vote::Result Approval::vote(const Vote& ask, State& state) {
  const std::string who = ask.caller.value_or("");
  auto record = state.get(ask.approval);
  if (!record) {
    return Vote::NotFound{.approval = ask.approval, .message = "there is no approval " + ask.approval.text()};
  }
  if (record->status != "waiting") {
    return Vote::Over{.approval = ask.approval,
                      .status = record->status,
                      .message = "the call is " + record->status + "; there is nothing to decide"};
  }
  if (!is_person(who)) {
    return Vote::NotAPerson{.approval = ask.approval, .message = who + " is no person, and only people approve"};
  }
  if (!ask.agree) {
    return Vote::Rejected{.approval = ask.approval,
                          .by = who,
                          .message = who + " said no" + (ask.reason ? ": " + *ask.reason : std::string())};
  }
  if (who == record->requester) {
    return Vote::OwnRequest{.approval = ask.approval, .message = who + " asked for it, and others must approve it"};
  }
  std::vector<std::string> people = state.yes(ask.approval).values();
  if (std::ranges::find(people, who) == people.end()) {
    people.push_back(who);
    state.yes(ask.approval).assign(people);
  }
  if (static_cast<int64_t>(people.size()) >= record->needed) {
    return Vote::Ok{.approval = ask.approval, .by = std::move(people)};
  }
  return Vote::Counted{.approval = ask.approval, .yes = static_cast<int64_t>(people.size()), .needed = record->needed};
}

Conclude::Result Approval::conclude(const Conclude& ask, State& state) {
  auto record = state.get(ask.approval);
  if (!record) return Conclude::NotFound{.approval = ask.approval};
  record->status = ask.status;
  record->outcome = ask.outcome;
  state.put(ask.approval, *record);
  return Conclude::Ok{.approval = ask.approval, .status = ask.status};
}

}  // namespace sluice::deploy::approval
