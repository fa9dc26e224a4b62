// Views of flows and of the journal. They are the host's, since every kit has flows: `flows`, `flow`, `why`,
// `dead-letters`, `under-way`, `last-change`, `audit`, `audit-report` and `clock`.
#pragma once

#include <boost/describe.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "host/flows/flow_document.h"
#include "host/moment.h"

namespace sluice::host {

// The newest first.
struct FlowsQuery {
  bool failed = false;  // only those that failed or are stuck
  std::optional<DateTime> since;
  int64_t limit = 50;
  std::string before;  // a flow: those that began before it
  static constexpr std::string_view kDefaulted[] = {"failed", "limit", "before"};
};
BOOST_DESCRIBE_STRUCT(FlowsQuery, (), (failed, since, limit, before))

struct ListedFlow {
  std::string flow;
  std::string state;
  std::string action;
  std::string caller;
  DateTime beganAt;
  std::optional<DateTime> settledAt;
  std::optional<std::string> failure;
};
BOOST_DESCRIBE_STRUCT(ListedFlow, (), (flow, state, action, caller, beganAt, settledAt, failure))

struct FlowQuery {
  std::string flow;     // its id, a part of it, or latest
  bool misses = false;  // also the syncs that did not fire, and those that go on from what is open
  std::string kit;      // the folder of the kit whose syncs these are; empty: the flow's own
  static constexpr std::string_view kDefaulted[] = {"misses", "kit"};
};
BOOST_DESCRIBE_STRUCT(FlowQuery, (), (flow, misses, kit))

struct WhyQuery {
  std::string about;   // a flow, an invocation, a revision, a deployment, an environment or a router
  bool rules = false;  // name the syncs and guards that decided it
  std::string kit;
  std::string customer;  // of several with one name, that of this customer
  static constexpr std::string_view kDefaulted[] = {"rules", "kit", "customer"};
};
BOOST_DESCRIBE_STRUCT(WhyQuery, (), (about, rules, kit, customer))

struct WhyDocument {
  std::string kind;  // flow, invocation, revision, deployment, environment or router
  std::string id;
  std::optional<std::string> name;   // of an object: "hello@2"
  std::optional<std::string> flow;   // that made it so
  std::optional<std::string> state;  // of that flow
  Texts said;
  Texts notes;
};
BOOST_DESCRIBE_STRUCT(WhyDocument, (), (kind, id, name, flow, state, said, notes))

struct NothingAsked {};
BOOST_DESCRIBE_STRUCT(NothingAsked, (), ())

// A follow-up that was given up.
struct DeadLetter {
  std::string flow;
  std::string parent;
  std::string sync;
  std::string caller;
  std::string why;
};
BOOST_DESCRIBE_STRUCT(DeadLetter, (), (flow, parent, sync, caller, why))

struct LastChangeQuery {
  std::string relation;  // "Env", "Deployment"
  std::string key;
};
BOOST_DESCRIBE_STRUCT(LastChangeQuery, (), (relation, key))

// Who changed a row last.
struct LastChange {
  std::string flow;
  std::string action;
  std::string by;
  DateTime at;
};
BOOST_DESCRIBE_STRUCT(LastChange, (), (flow, action, by, at))

struct UnderWayQuery {
  std::vector<std::string> also;  // flows to tell of even if they are not under way any more
  static constexpr std::string_view kDefaulted[] = {"also"};
};
BOOST_DESCRIBE_STRUCT(UnderWayQuery, (), (also))

struct FlowUnderWay {
  std::string flow;
  std::string state;
  bool under_way = false;
};
BOOST_DESCRIBE_STRUCT(FlowUnderWay, (), (flow, state, under_way))

// Flows in which something can still happen without anybody's doing: those that run, and those that wait for time.
Result<std::vector<Ulid>> flows_under_way(store::Snapshot& snapshot);

// Views of which the list is made (host/moment.h).
std::vector<HostView> flow_views();
std::vector<HostView> audit_views();

}  // namespace sluice::host
