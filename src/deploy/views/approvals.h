// The view `approvals`: calls that wait for people to agree, and what became of those before.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "lang/run/view.h"

namespace sluice::deploy::views {

struct ApprovalsQuery {
  std::string approval;  // its id or the beginning of it; empty: all
  bool over = false;     // also those that wait no more
  static constexpr std::string_view kDefaulted[] = {"approval", "over"};
};
BOOST_DESCRIBE_STRUCT(ApprovalsQuery, (), (approval, over))

struct ApprovalDocument {
  std::string approval;
  std::string status;
  std::string requester;
  std::string action;
  json::value input;
  OrNull<std::string> part_of;  // a larger call, which is run as a whole
  json::value whole;            // its arguments
  std::string reason;
  OrNull<std::string> environment;
  int64_t needed = 0;
  std::vector<std::string> yes;
  std::string outcome;  // of one that was run: its flow; of others why not
  std::string flow;     // that waits
  lang::DateTime asked_at;
  lang::DateTime expires_at;
};
BOOST_DESCRIBE_STRUCT(ApprovalDocument, (),
                      (approval, status, requester, action, input, part_of, whole, reason, environment, needed, yes,
                       outcome, flow, asked_at, expires_at))

std::vector<lang::View> approval_views();

}  // namespace sluice::deploy::views
