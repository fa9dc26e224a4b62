// A flow as the view `flow` tells it: all that happened in it and all that it waits for. Times are RFC 3339; what is
// not there is left out.
#pragma once

#include <boost/describe.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "host/flows/flow_view.h"
#include "lang/run/values.h"

namespace sluice::host {

using lang::DateTime;
using Texts = std::vector<std::string>;

struct EndDocument {
  std::string variant;
  json::value fields;
  std::optional<bool> maybeDone;  // or in part
};
BOOST_DESCRIBE_STRUCT(EndDocument, (), (variant, fields, maybeDone))

struct AskedByDocument {
  std::string sync;
  Texts matched;  // records: the invocation's id, with a ? after it if it is its request
  uint64_t rows = 0;
  uint64_t firing = 0;  // its place among the firings
};
BOOST_DESCRIBE_STRUCT(AskedByDocument, (), (sync, matched, rows, firing))

struct LateDocument {
  EndDocument end;
  std::string by;
  DateTime at;
};
BOOST_DESCRIBE_STRUCT(LateDocument, (), (end, by, at))

struct InvocationDocument {
  std::string id;
  std::string action;
  json::value input;
  std::optional<std::string> kind;
  std::optional<AskedByDocument> askedBy;
  std::optional<std::string> undoes;
  std::optional<std::string> beneath;  // the request that it was made for
  std::optional<DateTime> askedAt, beganAt, endedAt, dueAt;
  std::optional<EndDocument> end;
  std::optional<std::string> state;  // of one that has not ended: what it waits for
  std::optional<std::string> by, answeredBy, note;
  std::optional<Texts> guards;
  std::optional<int64_t> attempts;
  std::optional<std::vector<LateDocument>> late;
};
BOOST_DESCRIBE_STRUCT(InvocationDocument, (),
                      (id, action, input, kind, askedBy, undoes, beneath, askedAt, beganAt, endedAt, dueAt, end, state,
                       by, answeredBy, note, guards, attempts, late))

// One of the three: an invocation, an answer to one, or a follow-up flow.
struct PlannedDocument {
  std::optional<std::string> invoke, action, answer, variant, followUp;
  std::optional<json::value> fields;
};
BOOST_DESCRIBE_STRUCT(PlannedDocument, (), (invoke, action, answer, variant, followUp, fields))

struct FiringDocument {
  std::string sync;
  std::optional<std::string> trigger;  // the record that completed the match
  Texts matched;
  uint64_t rows = 0;
  DateTime at;
  std::vector<PlannedDocument> then;
  std::optional<std::string> failure;
};
BOOST_DESCRIBE_STRUCT(FiringDocument, (), (sync, trigger, matched, rows, at, then, failure))

struct FollowUpDocument {
  std::string flow;
  std::string state;
};
BOOST_DESCRIBE_STRUCT(FollowUpDocument, (), (flow, state))

struct AwaitedDocument {
  std::string sync;
  std::string pattern;
};
BOOST_DESCRIBE_STRUCT(AwaitedDocument, (), (sync, pattern))

struct WaitDocument {
  std::string id;
  std::string text;
  std::optional<std::vector<AwaitedDocument>> awaitedBy;  // the syncs that go on from how it ends
};
BOOST_DESCRIBE_STRUCT(WaitDocument, (), (id, text, awaitedBy))

struct EventDocument {
  std::string event;
  DateTime at;
  std::optional<std::string> caller, reason, note;
  std::optional<int64_t> attempt;
  std::optional<DateTime> dueAt;
  std::string text;
};
BOOST_DESCRIBE_STRUCT(EventDocument, (), (event, at, caller, reason, note, attempt, dueAt, text))

struct MissDocument {
  std::string sync;
  std::string missing;
};
BOOST_DESCRIBE_STRUCT(MissDocument, (), (sync, missing))

struct FollowsDocument {
  std::string flow;
  std::string sync;
};
BOOST_DESCRIBE_STRUCT(FollowsDocument, (), (flow, sync))

struct FlowDocument {
  std::string flow;
  std::string state;      // running, waiting, stuck, settled or failed
  std::string stateText;  // in words: "settled, 2 follow-ups pending"
  std::optional<std::string> action, caller, reason, syncs;
  std::optional<std::string> kit;          // the folder of the kit whose syncs it goes on under
  std::optional<FollowsDocument> follows;  // of a follow-up
  DateTime beganAt;
  std::optional<DateTime> settledAt;
  uint64_t steps = 0;
  std::optional<InvocationDocument> failure;
  std::vector<InvocationDocument> invocations;
  std::vector<FiringDocument> firings;
  std::vector<FollowUpDocument> followUps;
  std::vector<WaitDocument> waits;
  std::vector<EventDocument> events;
  Texts lastLines;                                      // what a program said last that could not be started
  std::optional<std::vector<MissDocument>> didNotFire;  // where the syncs are known
  Texts notes;                                          // what could not be told, and why
};
BOOST_DESCRIBE_STRUCT(FlowDocument, (),
                      (flow, state, stateText, action, caller, reason, syncs, kit, follows, beganAt, settledAt, steps,
                       failure, invocations, firings, followUps, waits, events, lastLines, didNotFire, notes))

FlowDocument flow_document(const FlowView& flow);
InvocationDocument invocation_document(const engine::History& history, size_t invocation);

}  // namespace sluice::host
