// The facade: what an operator writes, in YAML, about the whole mesh. It is read from any number of files, merged,
// checked as a whole and resolved into a Model, which has no open question left: every name leads somewhere.
//
//   auto model = resolve(files, read_cert);
//   if (!model.faults.empty()) … all of them, each with file:line:column …
//
// docs/internals/mesh.md has the fields and the rules. Nothing here is ever written by a program.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/disk.h"
#include "base/json_fields.h"
#include "base/result.h"
#include "mesh/artifact.h"

namespace sluice::mesh {

struct SourceFile {
  std::string name;  // as errors name it
  std::string text;
};

// All *.yaml and *.yml below the folder, without what begins with a dot and without certs/, keys/ and compiled/; which
// of them count is what `source:` in rete.yaml says.
Result<std::vector<SourceFile>> read_sources(Disk& disk, const std::string& folder);

enum class LinkType { quic, udp };
BOOST_DESCRIBE_ENUM(LinkType, quic, udp)

// A vertex of a node. A mesh vertex stands on link vertices of its node.
struct LinkVertex {
  std::string name;
  LinkType type = LinkType::quic;
  std::optional<HostPort> address;  // none: it only dials
};
struct MeshVertex {
  std::string name;
  std::vector<std::string> uses;
};

struct NodeModel {
  std::string name;
  std::vector<LinkVertex> links;
  std::vector<MeshVertex> meshes;  // empty in a mesh of direct links
  std::string agent_vertex;        // that serves node/NAME
};

struct ServiceModel {
  SpiffeId id;
  std::string name;
  std::string node;
  std::string vertex;
  HostPort addr;
  std::optional<HostPort> socks5;
};

struct UserModel {
  SpiffeId id;
  std::string name;
  std::vector<std::pair<std::string, std::string>> places;  // node and vertex
};

struct LinkModel {
  std::string a_node, a_vertex, b_node, b_vertex;  // link vertices
  LinkType type = LinkType::quic;
};

struct PathModel {
  SpiffeId principal;
  std::string from;
  std::string service;
  struct Hop {
    std::string node;
    std::string vertex;  // of kind mesh
    std::string via;     // the link vertex at the hop's near end; empty: there is one link only
  };
  std::vector<Hop> hops;
};

// Who may reach what, from where.
struct AllowedPair {
  SpiffeId initiator;
  std::string node;
  std::string vertex;
  size_t service = 0;  // its place in Model::services
};

struct SignerModel {
  std::string name;
  std::string cert;  // its file, from the folder of the sources
  std::optional<KeyText> key;
};

struct Model {
  std::string trust_domain;
  std::string ca_cert;
  std::vector<SignerModel> mgmt_signers, ctrl_signers;
  uint32_t mgmt_threshold = 1, ctrl_threshold = 1;
  int64_t ca_days = 3650, mgmt_days = 365, ctrl_days = 365, leaf_days = 90;
  std::optional<int64_t> artifact_days;  // how long an artifact holds; without it, for ever
  bool labelled = false;                 // with mesh vertices
  std::vector<NodeModel> nodes;          // all by name
  std::vector<ServiceModel> services;
  std::vector<UserModel> users;
  std::vector<LinkModel> links;
  std::vector<PathModel> paths;
  std::vector<AllowedPair> pairs;
  std::vector<std::string> warnings;

  const NodeModel* node(std::string_view name) const;
  SpiffeId id(std::string_view kind, std::string_view name) const;
  SpiffeId vertex_id(std::string_view node, std::string_view vertex) const;
};

struct Resolved {
  Model model;  // whole only without faults
  std::vector<Error> faults;
};

// What a signer's certificate says: its key, if the certificate is of that identity and signed by the CA.
using ReadSigner = std::function<Result<KeyText>(const std::string& cert, const SpiffeId& id)>;

Resolved resolve(const std::vector<SourceFile>& files, const ReadSigner& read_signer);

}  // namespace sluice::mesh
