// What runs beneath a request: the walk on which check_answers.cc stands. For the checker's own files only.
//
// From the syncs that begin the request's work the walk goes to what they start, and on to the syncs that match its
// outcomes. A sync is left out if it can never fire there:
// - it starts or answers in a flow of its own ([eventual]);
// - its `caused by … requested` names literals that the request, begun as it was, does not have;
// - it is to be caused by a request of another action, which is neither made on the way nor always above: a request is
//   always above when every sync that starts the walked one does so beneath it;
// - another of its records can never be there: no sync starts it with those literals, and what calls from outside start
//   does not lead to this request.
#pragma once

#include <unordered_map>
#include <vector>

#include "lang/check/flow_index.h"

namespace sluice::lang {

// What holds of requests wherever they are made. Each question is worked out once.
class Requests {
 public:
  explicit Requests(const FlowIndex& flow);

  // Whether every sync that starts the action does so beneath a request of the other one.
  bool always_beneath(size_t action, size_t above);
  // Whether all records that the sync needs, but for its causes, can be in a flow with a request of that action.
  bool has_records(size_t sync, size_t request);

 private:
  bool can_be_there(size_t sync, size_t pattern, size_t request);
  const std::vector<bool>& beneath(size_t above);
  const std::vector<bool>& before(size_t request);

  const FlowIndex& flow_;
  std::vector<bool> reversals_;                // actions that the engine starts to undo others
  std::vector<std::vector<size_t>> starters_;  // by action: the syncs that start it
  // By sync: the actions that say where it fires; of an alternation each may be the one.
  std::vector<std::vector<std::vector<size_t>>> where_;
  std::vector<std::vector<std::pair<size_t, size_t>>> there_;  // by action: sync and place in where_
  std::vector<std::vector<size_t>> tied_;                      // by action: the syncs that fire beneath its request
  std::unordered_map<size_t, std::vector<bool>> beneath_, before_;
};

class Beneath {
 public:
  Beneath(const FlowIndex& flow, Requests& requests)
      : kind(flow.kinds.all.size()),
        seen(flow.syncs.size()),
        flow_(flow),
        requests_(requests),
        held_(flow.kinds.actions.size()) {}

  std::vector<size_t> kinds, syncs;  // in the order in which they are reached
  Marks kind;                        // those kinds
  Marks seen;                        // those syncs

  struct From {
    size_t request;             // the action
    const Literals& known;      // of its arguments
    std::vector<size_t> begun;  // the syncs on it that can fire
    bool nested;                // also what runs beneath the requests that are made on the way
  };
  // `skip` leaves out a sync and what follows from it.
  template <typename Skip>
  void walk(const From& from, const Skip& skip) {
    clear();
    auto visit = [&](size_t sync) {
      if (!flow_.tree(sync).eventual && !skip(sync) && !seen.has(sync) && may_fire(from, sync)) add(sync);
    };
    for (size_t sync : from.begun) {
      if (!flow_.tree(sync).eventual && !skip(sync) && !seen.has(sync)) add(sync);  // whatever is above it
    }
    for (size_t at = 0; at < syncs.size(); ++at) {
      for (size_t next : flow_.invokes[syncs[at]]) {
        if (!kind.add(next)) continue;
        kinds.push_back(next);
        for (size_t v = 0; v < flow_.action(next).variants.size(); ++v) {
          for (size_t sync : flow_.matched[flow_.first[next] + v]) visit(sync);
        }
        if (!from.nested) continue;
        for (size_t sync : flow_.requested[next]) visit(sync);
        for (size_t sync : std::exchange(held_[flow_.kinds.all[next].action], {})) visit(sync);
      }
    }
  }

 private:
  void clear();
  void add(size_t sync) {
    seen.add(sync);
    syncs.push_back(sync);
  }
  bool may_fire(const From& from, size_t sync);

  const FlowIndex& flow_;
  Requests& requests_;
  std::vector<std::vector<size_t>> held_;  // by action: syncs that wait for a request of it on the way
};

}  // namespace sluice::lang
