// The newest first.
#include "deploy/views/approvals.h"

#include <algorithm>

#include "approval.gen.h"
#include "base/json.h"
#include "deploy/views/states.h"

namespace sluice::deploy::views {
namespace {

Result<std::vector<ApprovalDocument>> read_approvals(const lang::Reading& reading, const ApprovalsQuery& query) {
  const States states(reading.rows);
  std::vector<ApprovalDocument> all;
  for (const approval::ApprovalFound& each : states.approval().all()) {
    const approval::ApprovalRecord& record = each.record;
    if (!each.id.text().starts_with(query.approval)) continue;
    if (query.approval.empty() && !query.over && record.status != "waiting") continue;
    auto input = parse_json(record.input);
    ApprovalDocument one{.approval = each.id.text(),
                         .status = record.status,
                         .requester = record.requester,
                         .action = record.action,
                         .input = input ? std::move(input->root) : json::value(),
                         .reason = record.reason,
                         .needed = record.needed,
                         .yes = states.approval().yes(each.id).values(),
                         .outcome = record.outcome,
                         .flow = record.ask.text(),
                         .asked_at = record.askedAt,
                         .expires_at = record.expiresAt};
    if (record.environment) one.environment = *record.environment;
    if (record.wholeAction && record.wholeInput) {
      auto whole = parse_json(*record.wholeInput);
      one.part_of = *record.wholeAction;
      if (whole) one.whole = std::move(whole->root);
    }
    all.push_back(std::move(one));
  }
  std::ranges::reverse(all);
  return all;
}

}  // namespace

std::vector<lang::View> approval_views() {
  return {lang::make_view("approvals", "Calls that wait for people to agree, the newest first", read_approvals)};
}

}  // namespace sluice::deploy::views
