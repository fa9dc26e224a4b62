// What the views of the journal tell: who decided what and how that ended, whether the journal holds, and how recorded
// time stands to the system's clock.
#pragma once

#include <boost/describe.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "lang/run/values.h"

namespace sluice::host {

struct AuditQuery {
  std::string flow;  // its id, a part of it, or latest; empty: all
  std::optional<lang::DateTime> since;
  uint64_t from = 1;    // the first record
  uint64_t limit = 0;   // at most so many; 0: all
  bool newest = false;  // the last of them, still in their order
  static constexpr std::string_view kDefaulted[] = {"flow", "from", "limit", "newest"};
};
BOOST_DESCRIBE_STRUCT(AuditQuery, (), (flow, since, from, limit, newest))

struct AuditedStep {
  uint64_t seq = 0;
  lang::DateTime at;
  std::string caller;
  std::optional<std::string> token;  // by which the caller was known; none for calls on this machine
  std::optional<std::string> reason;
  std::string step;
  std::optional<std::string> environment;  // that it was about
  std::optional<std::string> about;        // the revision or the deployment, as people call it: "hello@2"
  std::optional<std::string> action, flow, id;
  std::optional<json::value> input;
  std::optional<std::string> outcome;     // how it ended; none while it is open
  std::optional<lang::DateTime> endedAt;  // if it did so later
  std::optional<int64_t> count;           // of denials, or of the bytes that were put
};
BOOST_DESCRIBE_STRUCT(AuditedStep, (),
                      (seq, at, caller, token, reason, step, environment, about, action, flow, id, input, outcome,
                       endedAt, count))

struct AuditReportQuery {
  std::string heads;    // the text of a copy of audit.heads that was kept elsewhere; empty: the home's own
  std::string key;      // the public key in PEM whose signatures count; empty: the operator's
  bool copied = false;  // heads were given, though they may be none
  static constexpr std::string_view kDefaulted[] = {"heads", "key", "copied"};
};
BOOST_DESCRIBE_STRUCT(AuditReportQuery, (), (heads, key, copied))

struct DifferentRow {
  std::string relation;
  std::string key;
  std::string what;
};
BOOST_DESCRIBE_STRUCT(DifferentRow, (), (relation, key, what))

struct JournalFault {
  uint64_t seq = 0;
  std::string what;
};
BOOST_DESCRIBE_STRUCT(JournalFault, (), (seq, what))

struct AuditReportDocument {
  bool holds = false;
  uint64_t records = 0;
  uint64_t packed = 0;
  uint64_t heads = 0;
  uint64_t unsignedHeads = 0;
  uint64_t provenTo = 0;
  std::string chain;
  uint64_t rows = 0;
  bool stateBound = false;  // whether the journal says what was written
  std::vector<DifferentRow> rowsThatDiffer;
  std::vector<uint64_t> missingHeads;
  std::vector<std::string> notProven;
  bool torn = false;  // the last line of the heads has no end, and counts for nothing
  std::optional<JournalFault> fault;

  // There are heads, but whoever signed them is not known here: they prove nothing.
  bool by_strangers() const { return heads == 0 && unsignedHeads > 0; }
  // A head is signed with the first record of a home, and at the end of every command.
  bool lacks_heads() const { return records > 0 && heads == 0 && unsignedHeads == 0; }
};
BOOST_DESCRIBE_STRUCT(AuditReportDocument, (),
                      (holds, records, packed, heads, unsignedHeads, provenTo, chain, rows, stateBound, rowsThatDiffer,
                       missingHeads, notProven, torn, fault))

struct CorrectionDocument {
  uint64_t seq = 0;
  int64_t byMs = 0;
};
BOOST_DESCRIBE_STRUCT(CorrectionDocument, (), (seq, byMs))

struct JumpDocument {
  lang::DateTime at;
  int64_t byMs = 0;
  bool over = false;
  std::string what;
};
BOOST_DESCRIBE_STRUCT(JumpDocument, (), (at, byMs, over, what))

struct ClockDocument {
  lang::DateTime recorded, system;
  bool apart = false;  // by more than five minutes
  std::vector<CorrectionDocument> corrections;
  std::optional<JumpDocument> jump;
};
BOOST_DESCRIBE_STRUCT(ClockDocument, (), (recorded, system, apart, corrections, jump))

}  // namespace sluice::host
