// The compiled tree: every node's signed artifacts, compiled/NODE/{mgmt,ctrl}/…, and compiled/NODE/chain/VERSION.json,
// the agent's artifacts that changed signers. What the tree and the ledger say already is kept to the byte: a node's
// version grows only when what it is told changes, or when its artifacts would soon expire.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/json_fields.h"
#include "base/result.h"
#include "crypto/ed25519.h"
#include "mesh/compile.h"
#include "mesh/facade.h"
#include "mesh/ledger.h"
#include "mesh/set.h"

namespace sluice::mesh {

using TreeFiles = std::map<std::string, std::string>;  // text by path, "alpha/mgmt/agent.json"

// The files of a compiled tree; none if the folder is not there.
Result<TreeFiles> read_tree(Disk& disk, const std::string& folder);
// Makes the folder say exactly this. Files that are the same are not touched.
Result<void> write_tree(Disk& disk, const std::string& folder, const TreeFiles& before, const TreeFiles& after);

struct SigningKey {
  SpiffeId id;
  crypto::PrivateKey key;
};

struct SigningKeys {
  std::vector<SigningKey> mgmt, ctrl;
};

// A tree before it is signed: artifacts that stay as they are, and envelopes that wait for signatures.
struct TreeDraft {
  TreeFiles kept;
  TreeFiles drafts;  // without a signature, or with too few
};

// The ledger gets the new versions. `drafts` are those of an earlier call: one that says the same is kept, with the
// signatures that it has.
TreeDraft draft_tree(const Model& model, const Compiled& compiled, Ledger& ledger, const TreeFiles& before,
                     const TreeFiles& drafts, int64_t now_ms);

struct SignedTree {
  TreeFiles tree;
  TreeFiles drafts;  // of nodes whose artifacts do not all have enough signatures; their tree is as it was
};

// Adds the signatures of these keys. A node's artifacts enter the tree together.
Result<SignedTree> sign_drafts(const Model& model, const TreeDraft& draft, const TreeFiles& before,
                               const SigningKeys& keys);

// Both at once; `not_found` if there are too few keys.
Result<TreeFiles> sign_tree(const Model& model, const Compiled& compiled, Ledger& ledger, const TreeFiles& before,
                            const SigningKeys& keys, int64_t now_ms);

// What the nodes of a tree are told.
Result<std::map<std::string, NodePayloads>> payloads_of(const TreeFiles& files);

// ------------------------------------------------------------------------------------------------------------ plan

struct AccessChange {
  std::string initiator;
  std::string node;
  std::string target;
};
BOOST_DESCRIBE_STRUCT(AccessChange, (), (initiator, node, target))

struct VertexChange {
  std::string node;
  std::string vertex;              // "agent" for the agent itself
  std::vector<std::string> parts;  // access, links, routes, workloads, adapters, signers, vertices, added, removed
  bool restarts = false;
};
BOOST_DESCRIBE_STRUCT(VertexChange, (), (node, vertex, parts, restarts))

struct LinkChange {
  std::string node;
  std::string vertex;
  std::string link;
  std::string peer;
};
BOOST_DESCRIBE_STRUCT(LinkChange, (), (node, vertex, link, peer))

// What publishing would change, for whoever signs.
struct TreePlan {
  std::vector<AccessChange> gains, loses;
  std::vector<LinkChange> links_added, links_removed;
  std::vector<VertexChange> changes;
  std::vector<std::string> nodes;  // that get a new version

  bool empty() const { return changes.empty(); }
};
BOOST_DESCRIBE_STRUCT(TreePlan, (), (gains, loses, links_added, links_removed, changes, nodes))

TreePlan plan_tree(const std::map<std::string, NodePayloads>& before, const std::map<std::string, NodePayloads>& after);

}  // namespace sluice::mesh
