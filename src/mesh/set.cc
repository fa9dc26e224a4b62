// The order of the checks is that of trust: shape and membership say nothing about who made the set, so they come first
// and cost an attacker's set little; signatures next; only then is anything compared with what is remembered.
#include "mesh/set.h"

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/atomic_file.h"
#include "base/canonical_json.h"
#include "crypto/sha256.h"
#include "mesh/join.h"

namespace sluice::mesh {
namespace {

Error misfit(std::string message) { return {.code = Code::invalid, .message = std::move(message)}; }

std::string digest_of_members(const ArtifactSet& set) {
  std::string all;
  for (const Artifact& each : set.artifacts) {
    if (!each.is_ctrl()) all += each.identity() + " " + digest_of(each) + "\n";
  }
  return crypto::to_string(crypto::sha256(all));
}

Result<void> check_fresh(const std::string& what, const StreamMark& mark, uint64_t version, const std::string& digest) {
  if (version < mark.version) {
    return Error{.code = Code::conflict,
                 .message = what + " version " + std::to_string(version) + " is older than version " +
                            std::to_string(mark.version) + ", which was accepted before",
                 .next = "to go back, compile the old sources again: they get a higher version"};
  }
  if (version == mark.version && digest != mark.digest) {
    return Error{.code = Code::conflict,
                 .message = what + " version " + std::to_string(version) + " has two contents: " + mark.digest +
                            " was accepted, and this is " + digest,
                 .next = "find out who signed the same version twice, then compile again"};
  }
  return {};
}

Result<void> gather(Disk& disk, const std::string& folder, std::vector<Artifact>& into) {
  auto entries = disk.list(folder);
  if (!entries) return entries.error();
  for (const FolderEntry& each : *entries) {
    const std::string path = folder + "/" + each.name;
    if (each.kind == FileKind::folder) {
      if (each.name == "chain") continue;  // those are of the past
      if (auto gone = gather(disk, path, into); !gone) return gone;
    } else if (each.kind == FileKind::file && each.name.ends_with(".json")) {
      auto text = read_file(disk, path, kMaxArtifactBytes);
      if (!text) return text.error();
      auto artifact = parse_artifact(*text, path);
      if (!artifact) return artifact.error();
      into.push_back(*std::move(artifact));
    }
  }
  return {};
}

}  // namespace

const Artifact* ArtifactSet::vertex(std::string_view name) const {
  for (const Artifact& each : artifacts) {
    if (!each.is_ctrl() && each.envelope.kind == ArtifactKind::vertex && each.envelope.name == name) return &each;
  }
  return nullptr;
}
const Artifact* ArtifactSet::ctrl(std::string_view name) const {
  for (const Artifact& each : artifacts) {
    if (each.is_ctrl() && each.envelope.name == name) return &each;
  }
  return nullptr;
}

Result<ArtifactSet> assemble(std::vector<Artifact> artifacts, const std::string& node) {
  ArtifactSet set{.node = node, .artifacts = std::move(artifacts)};
  std::ranges::sort(set.artifacts, {}, [](const Artifact& each) {
    return std::tuple(each.is_ctrl(), each.envelope.kind == ArtifactKind::vertex, std::string_view(each.envelope.name));
  });
  std::set<std::string> identities;
  for (const Artifact& each : set.artifacts) {
    if (each.envelope.node != node) return misfit("the artifact " + each.identity() + " is not of the node " + node);
    if (!identities.insert(each.identity()).second)
      return misfit("the artifact " + each.identity() + " is there twice");
  }
  if (set.artifacts.empty() || set.root().envelope.kind != ArtifactKind::agent)
    return misfit("the set of " + node + " has no agent.json, which is its root");
  const uint64_t version = set.version();
  std::map<std::string_view, VertexKind> listed;
  for (const SupervisedVertex& each : set.agent().vertices) {
    listed.emplace(each.name, each.kind);
    const Artifact* member = set.vertex(each.name);
    if (member == nullptr)
      return misfit("the agent lists the vertex " + std::string(each.name) + ", and its artifact is missing");
    if (std::get<Vertex>(member->payload).kind != each.kind)
      return misfit(member->identity() + " is of another kind than the agent says");
  }
  for (const Artifact& each : set.artifacts) {
    if (each.envelope.kind == ArtifactKind::agent) continue;
    const auto known = listed.find(each.envelope.name);
    if (known == listed.end()) return misfit("the agent does not list the vertex of " + each.identity());
    if (!each.is_ctrl()) {
      if (each.envelope.version != version) {
        return misfit(each.identity() + " has version " + std::to_string(each.envelope.version) + ", and the agent " +
                      std::to_string(version) + ": a set has one version");
      }
    } else if (auto joined = check_join(*set.vertex(each.envelope.name), each); !joined) {
      return joined.error();
    }
  }
  return set;
}

Result<std::vector<Artifact>> read_artifacts(Disk& disk, const std::string& folder) {
  std::vector<Artifact> artifacts;
  if (auto done = gather(disk, folder, artifacts); !done) return done.error();
  return artifacts;
}

std::string digest_of(const Artifact& artifact) {
  json::object claims = artifact.tree;
  claims.erase("signature");
  claims.erase("cosignatures");
  return crypto::to_string(crypto::sha256(canonical(claims).value()));
}

Result<Marks> judge(const ArtifactSet& set, const Marks& marks, int64_t now_ms) {
  Marks after = marks;
  for (const Artifact& each : set.artifacts) {
    if (each.is_ctrl()) continue;
    if (auto held = verify(each, marks.trust, now_ms); !held) return held.error();
  }
  const std::string digest = digest_of_members(set);
  if (auto fresh = check_fresh("the mgmt set of " + set.node, marks.mgmt, set.version(), digest); !fresh)
    return fresh.error();
  after.mgmt = {set.version(), digest};
  after.trust = trust_of(set.agent(), marks.trust.trust_domain);
  for (const Artifact& each : set.artifacts) {
    if (!each.is_ctrl()) continue;
    if (auto held = verify(each, after.trust, now_ms); !held) return held.error();
    StreamMark& mark = after.ctrl[each.envelope.name];
    const std::string said = digest_of(each);
    if (auto fresh = check_fresh(each.identity(), mark, each.envelope.version, said); !fresh) return fresh.error();
    mark = {each.envelope.version, said};
  }
  return after;
}

Result<Marks> follow(const std::vector<Artifact>& chain, const std::string& node, Marks marks, int64_t now_ms) {
  uint64_t last = marks.mgmt.version;
  for (const Artifact& each : chain) {
    const Agent* agent = std::get_if<Agent>(&each.payload);
    if (agent == nullptr || each.envelope.node != node)
      return misfit("the chain of signers has " + each.identity() + ", which is not the agent of " + node);
    if (each.envelope.version <= last) continue;
    // A link of the chain is passed on the way; only what is obeyed in the end must not have expired.
    const int64_t then_ms = each.envelope.expires_at ? std::min(now_ms, each.envelope.expires_at->ms() - 1) : now_ms;
    if (auto held = verify(each, marks.trust, then_ms); !held) return held.error();
    marks.trust = trust_of(*agent, marks.trust.trust_domain);
    last = each.envelope.version;
  }
  return marks;
}

}  // namespace sluice::mesh
