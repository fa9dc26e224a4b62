// What `sluice router stats` shows: a table of what passes through a router, by revision, once or again and again.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/context.h"
#include "router/counters.h"

namespace sluice::cli {

// A revision as a router knows it at one moment. Counts are since its counters began.
struct RevisionSeen {
  std::string deployment;
  std::string revision;
  bool paused = false;
  bool draining = false;
  int64_t weight_bps = 0;
  int64_t in_flight = 0;
  int64_t websockets = 0;
  size_t replicas = 0;
  size_t ejected = 0;
  ::sluice::router::Counts counts;
};

struct RouterSeen {
  int64_t generation = 0;
  int64_t connections = 0;
  int64_t threads = 0;
  std::vector<std::string> quarantined;  // a line each
  std::string counters_error;            // why counts are in memory alone
  std::string state_error;               // why what it obeys is not on disk
  std::vector<RevisionSeen> revisions;
};

RouterSeen seen_in(const json::object& stats);

// What people call a revision and its deployment, by the revision's id; of one that the home does not know, nothing.
struct CalledAs {
  std::string deployment;  // the bundle's name, and the customer's if several have it
  std::string revision;    // as `sluice status` has it: hello@2
};
using NamesOfRevisions = std::map<std::string, CalledAs, std::less<>>;
NamesOfRevisions names_of_revisions(Context& context);

// Since the counters began.
std::string stats_text(const RouterSeen& now, const NamesOfRevisions& names, const Terminal& terminal);

// Between two looks: rates, shares and latencies are those of the time between.
struct Interval {
  const RouterSeen* before = nullptr;  // nothing at the first look
  double seconds = 0;
};
std::string live_text(const RouterSeen& now, const Interval& interval, const NamesOfRevisions& names,
                      const Terminal& terminal);

// Draws the live table over itself until somebody asks it to stop, and leaves its last state behind. An error if the
// first look fails; later ones are said in the table, and tried again.
using LookAtRouter = std::function<Result<json::object>()>;
Result<Code> watch_router(Context& context, const std::string& name, int64_t interval_ms, const LookAtRouter& look);

// The text drawn over what stands on a screen of so many lines, cut to it.
std::string over_screen(const std::string& text, size_t lines);

}  // namespace sluice::cli
