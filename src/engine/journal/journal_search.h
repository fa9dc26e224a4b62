// Finds in the journal what only an id is known of. Ids carry the time at which they were made and the journal is in
// the order of time, so that the place is found by halving and then read on from there.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/journal/step.h"
#include "store/store.h"

namespace sluice::engine {

// The first step of this invocation: its act or begin. None if there is no such invocation.
Result<std::optional<Step>> find_begin(store::Snapshot& snapshot, const Ulid& invocation);

// Where the journal ends, and the next record goes on.
struct JournalEnd {
  uint64_t seq = 0;  // of the last record; 0: there is none
  std::string chain{kFirstChain};
  int64_t at_ms = 0;  // of the last record
};
Result<JournalEnd> journal_end(store::Snapshot& snapshot);

// A number that Sluice wrote into the store's meta data.
Result<int64_t> number_in(const std::string& text, const std::string& what);

// All steps of a flow, oldest first, from its head.
Result<std::vector<Step>> steps_from(store::Snapshot& snapshot, uint64_t head);

// What a Flow/undo asks for, one after the other: its work in the journal says what, and ids follow from its own.
struct Compensation {
  Ulid id;
  std::string of;  // what is undone: "Concept/action <invocation>"
  std::string action;
  json::object input;
};
inline constexpr std::string_view kUndoAction = "Flow/undo";
std::vector<Compensation> compensations_of(const Ulid& undo, const json::value& work);

// An invocation, as the steps of its flow tell of it.
struct Invoked {
  std::string action;
  json::object input;
  Ulid beneath;              // the request that it was beneath; zero: none
  std::optional<End> end;    // none while it is open
  uint64_t seq = 0;          // of its end
  bool compensates = false;  // a Flow/undo asked for it
};

// All invocations that the steps of one flow, oldest first, asked for.
std::map<Ulid, Invoked> invocations_of(const std::vector<Step>& steps);

}  // namespace sluice::engine
