// What the cluster has of an instance, beside what is wanted: the live objects, what applying would make of them, and
// what would be removed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "deploy/executor/refusal.h"
#include "deploy/executor/rendered.h"
#include "deploy/executor/request.h"
#include "kube/client.h"
#include "kube/policy.h"

namespace sluice::deploy::executor {

// An object that is wanted.
struct Seen {
  Piece piece;               // added, modified or unchanged
  boost::json::value live;   // null: it is not there
  boost::json::value after;  // what applying would leave; null where that cannot be tried yet
  std::string conflict;      // which field is somebody else's; empty: none
};

struct TryOut {
  bool force = false;     // take over what others own
  bool new_ones = false;  // also try objects that are not there yet
};
// Tries each object by a dry run. `kubernetesFailed`; `fieldConflict` for an object of another instance. What is to be
// made by an earlier wave (a kind, a namespace) cannot be tried. Objects whose kind has no namespaces lose the one that
// they were given.
Tried<std::vector<Seen>> surveyed(kube::Client& client, const Request& request, Rendered& wanted, const TryOut& how);
// The first conflict among them, with all fields.
std::optional<Refusal> conflict_among(const std::vector<Seen>& seen);

// What is tracked and not wanted, as pieces with their uids: pruned, or orphaned where the policy prunes nothing.
std::vector<Piece> superfluous(const kube::Inventory& inventory, const std::vector<Piece>& wanted,
                               const kube::Policy& policy);
// Why removing them needs an override.
std::string override_for(const kube::Policy& policy, const std::vector<Piece>& removed, size_t tracked);

}  // namespace sluice::deploy::executor
