// A set: all artifacts of one node, which an agent obeys together or not at all. The agent's own artifact is its root:
// it lists the vertices, and every member of the mgmt plane carries its version.
//
//   auto set = assemble(artifacts, "alpha");            // the set rules and the join rules
//   auto judged = judge(*set, marks, clock.wall_ms());  // signatures, then freshness
//   if (judged) … stage it; then keep judged's marks, and only then switch …
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "base/json_fields.h"
#include "base/result.h"
#include "mesh/artifact.h"
#include "mesh/signature.h"

namespace sluice::mesh {

struct ArtifactSet {
  std::string node;
  std::vector<Artifact> artifacts;  // the root first, then by plane and name

  const Artifact& root() const { return artifacts.front(); }
  const Agent& agent() const { return std::get<Agent>(root().payload); }
  uint64_t version() const { return root().envelope.version; }
  const Artifact* vertex(std::string_view name) const;  // its mgmt artifact
  const Artifact* ctrl(std::string_view name) const;
};

// Refused (`invalid`, or `gate_rejected` for a join rule): no root or two, a member of another node or version, one
// that the root lists and that is not there, one that it does not list, ctrl for what is no mesh vertex.
Result<ArtifactSet> assemble(std::vector<Artifact> artifacts, const std::string& node);

// All .json files below a folder, as artifacts.
Result<std::vector<Artifact>> read_artifacts(Disk& disk, const std::string& folder);

// How far one stream has come: its newest version, and what that said.
struct StreamMark {
  uint64_t version = 0;
  std::string digest;

  bool operator==(const StreamMark&) const = default;
};
BOOST_DESCRIBE_STRUCT(StreamMark, (), (version, digest))

// What a node must not forget: whom it trusts, and the newest that it has accepted. Losing it would let old artifacts
// pass again.
struct Marks {
  Trust trust;
  StreamMark mgmt;
  std::map<std::string, StreamMark> ctrl;  // by vertex

  bool operator==(const Marks&) const = default;
};
BOOST_DESCRIBE_STRUCT(Marks, (), (trust, mgmt, ctrl))

// What an artifact says, without who signed it: "sha256:…".
std::string digest_of(const Artifact& artifact);

// The marks after this set. mgmt is verified against the signers in `marks`, never against those that it brings; what
// its root says about signers counts from then on, also for its ctrl artifacts. `verification_failed`: a signature or
// an expiry; `conflict`: older than a mark, or another content under the version of a mark.
Result<Marks> judge(const ArtifactSet& set, const Marks& marks, int64_t now_ms);

// Follows agents' artifacts that changed signers, oldest first, from the marks' signers to newer ones. Those that are
// not newer than the mark are passed over.
Result<Marks> follow(const std::vector<Artifact>& chain, const std::string& node, Marks marks, int64_t now_ms);

}  // namespace sluice::mesh
