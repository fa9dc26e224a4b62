// Which syncs nearly fired in a flow, for `flow trace` and `engine.unanswered`: those that found no match though a
// record fits at least one of their plain patterns, or though one of these is about how the action of a dead end ends.
// Each is told with the first pattern, in the order written, at which every attempt ends: no record fits it, or those
// that do disagree with what the patterns above have bound.
//
// A dead end is a completion that led nowhere (History::dead_ends). Without it a sync with a single plain pattern would
// never be told, though that is what most are like: "Delivered misses Courier/deliver: [] => ok[]".
//
// Wheres take no part: a sync whose where found no row has fired, with zero rows.
#pragma once

#include <string>
#include <vector>

#include "engine/journal/record.h"
#include "engine/rules/sync_set.h"

namespace sluice::engine {

struct NearMiss {
  std::string sync;
  std::string missing;  // the pattern in canonical form, on one line

  bool operator==(const NearMiss&) const = default;
};

// `records` are all of the flow; dead ends that are none of them count for nothing. Sorted by sync name.
std::vector<NearMiss> near_misses(const SyncSet& set, std::vector<RecordRef> records,
                                  const std::vector<RecordId>& dead_ends = {});

// The syncs that go on from how something that is open ends, if it ends as they say: what is known of it already, its
// arguments and its causes, fits the pattern by which they listen. `open` is its completion without an outcome
// (open_records_of). Sorted by sync name.
std::vector<NearMiss> awaiting(const SyncSet& set, const Record& open);

// The syncs that listen to how an action ends, each with the pattern by which it does. Sorted by sync name.
std::vector<NearMiss> listeners(const SyncSet& set, lang::ActionRef action);

}  // namespace sluice::engine
