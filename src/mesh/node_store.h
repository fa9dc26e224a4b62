// What a node keeps on disk, below one root, for each mesh (scope) that it is in:
//
//   retes/SCOPE            a symlink to the set that is obeyed
//   sets/SCOPE/NAME/       mgmt/ and ctrl/ of one set, and links to ca.crt, certs and run
//   identity/SCOPE/        ca.crt and certs/: keys of the principals that this node serves
//   state/SCOPE/node.json  whom it trusts, the marks, which set is in force and why
//   run/SCOPE/             sockets of vertices
//
// A set is staged whole, then the state is made durable, then one rename of the symlink switches. Whatever stops in
// between, the next open finds the old set or the new one, never a mixture, and marks that are not older than the set.
//
//   auto store = NodeStore::open(disk, root, "acme");
//   auto change = store->accept(chain, artifacts, clock.wall_ms(), 300'000);
//   … tell the vertices …
//   store->confirm();   // or store->roll_back("the config server cannot be reached")
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/json_fields.h"
#include "base/result.h"
#include "mesh/set.h"

namespace sluice::mesh {

// A set that was obeyed and taken back: it is not tried again.
struct Rejection {
  uint64_t version = 0;
  std::string digest;
  std::string reason;

  bool operator==(const Rejection&) const = default;
};
BOOST_DESCRIBE_STRUCT(Rejection, (), (version, digest, reason))

// A set that is in force until somebody confirms it.
struct PendingConfirm {
  std::string previous;  // the set to go back to
  int64_t until_ms = 0;  // wall time
  int64_t within_ms = 0;

  bool operator==(const PendingConfirm&) const = default;
};
BOOST_DESCRIBE_STRUCT(PendingConfirm, (), (previous, until_ms, within_ms))

struct NodeState {
  std::string schema = "sluice.mesh.node.v1";
  std::string node;
  Marks marks;
  std::string active;  // the name of the set in force; empty before the first
  std::optional<PendingConfirm> pending;
  std::vector<Rejection> rejected;  // the newest last, at most 20
  std::string trouble;              // why the last set was not accepted; empty if it was
  int64_t checked_ms = 0;           // when a config server was last reached

  bool operator==(const NodeState&) const = default;
};
BOOST_DESCRIBE_STRUCT(NodeState, (), (schema, node, marks, active, pending, rejected, trouble, checked_ms))

// Whether the newest set that was accepted is one of those that were taken back.
bool was_taken_back(const NodeState& state);

struct Accepted {
  bool changed = false;
  std::vector<std::string> vertices;  // whose artifacts changed, or that are new
  std::vector<std::string> gone;      // that are no longer listed
};

class NodeStore {
 public:
  // Enrols a node: its identity, whom it trusts and its first set. `conflict` if the scope is there already.
  static Result<NodeStore> enrol(Disk& disk, const std::string& root, const std::string& scope, const std::string& node,
                                 const Trust& trust, const std::map<std::string, std::string>& identity,
                                 std::vector<Artifact> artifacts, int64_t now_ms);
  // Finds a scope again, and ends what a crash interrupted.
  static Result<NodeStore> open(Disk& disk, const std::string& root, const std::string& scope);

  const NodeState& state() const { return state_; }
  std::string active_folder() const { return root_ + "/retes/" + scope_; }
  std::string identity_folder() const { return root_ + "/identity/" + scope_; }
  std::string run_folder() const { return root_ + "/run/" + scope_; }
  Result<ArtifactSet> active_set() const;

  // Judges a set and, if it is good and new, switches to it; it must be confirmed within that time (0: it need not be).
  // On failure the set in force stays, and the reason is in the state.
  Result<Accepted> accept(const std::vector<Artifact>& chain, std::vector<Artifact> artifacts, int64_t now_ms,
                          int64_t confirm_within_ms);
  // The set in force is good.
  Result<void> confirm();
  // Back to the set before, if one is pending; the one in force is remembered as rejected.
  Result<Accepted> roll_back(const std::string& reason);
  // How long until a pending set must be taken back; nothing if none is pending. While this store is open the time is
  // that of the monotonic clock; when it is opened again, what the wall clock says is left, and never more than there
  // was at first. So a wall clock that jumps takes nothing back, and keeps nothing.
  std::optional<int64_t> left_ms(const Clock& clock);
  // Why a node is not where it should be though nothing was refused: its newest set was taken back, or the one in force
  // has expired. Empty if all is well.
  std::string standing_trouble(int64_t now_ms) const;
  Result<void> note_trouble(const std::string& trouble);
  Result<void> note_reached(int64_t now_ms);

 private:
  NodeStore(Disk& disk, std::string root, std::string scope)
      : disk_(&disk), root_(std::move(root)), scope_(std::move(scope)) {}

  std::string state_file() const { return root_ + "/state/" + scope_ + "/node.json"; }
  std::string sets_folder() const { return root_ + "/sets/" + scope_; }
  Result<void> keep(NodeState state);
  Result<void> stage(const ArtifactSet& set, const std::string& name);
  Result<void> flip();
  Result<void> sweep();
  Result<Accepted> switch_to(const ArtifactSet* before, const ArtifactSet& after, NodeState state);

  Disk* disk_;
  std::string root_, scope_;
  NodeState state_;
  std::optional<int64_t> deadline_ns_;  // of the pending set, once somebody has asked for it
};

}  // namespace sluice::mesh
