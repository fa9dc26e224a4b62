// The four artifacts of the mesh: what one node's agent and vertices are told, compiled by the operator (plane mgmt) or
// chosen within the operator's bounds by a control plane (plane ctrl). docs/internals/mesh.md has every field.
//
//   auto artifact = parse_artifact(text, "agent.json");
//   if (!artifact) return artifact.error();
//   if (const Agent* agent = std::get_if<Agent>(&artifact->payload)) …
//
// All objects are closed, and what the types cannot say (a florio link without an address, names that are used once) is
// checked while parsing. An artifact's identity is (node, plane, kind, name), whatever its file is called. Parsing says
// nothing about who signed it: mesh/signature.h does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/document.h"
#include "base/json_fields.h"
#include "base/result.h"
#include "mesh/words.h"

namespace sluice::mesh {

// The newest schema that this program reads, and the lowest, which it stamps on what needs no newer one.
inline constexpr SchemaVersion kNewestSchema{1, 1};
inline constexpr SchemaVersion kFirstSchema{1, 0};

inline constexpr uint64_t kMaxVersion = (uint64_t{1} << 53) - 1;  // what JSON readers agree on
inline constexpr uint32_t kMaxLabel = (1 << 20) - 1;
inline constexpr size_t kMaxArtifactBytes = 4 << 20;

enum class MgmtPlane { mgmt };
BOOST_DESCRIBE_ENUM(MgmtPlane, mgmt)
struct CtrlClaims {
  uint64_t obeys_mgmt_version = 0;
  bool operator==(const CtrlClaims&) const = default;
};
BOOST_DESCRIBE_STRUCT(CtrlClaims, (), (obeys_mgmt_version))
struct CtrlPlane {
  CtrlClaims ctrl;
  bool operator==(const CtrlPlane&) const = default;
};
BOOST_DESCRIBE_STRUCT(CtrlPlane, (), (ctrl))
using Plane = std::variant<MgmtPlane, CtrlPlane>;

enum class ArtifactKind { agent, vertex };
BOOST_DESCRIBE_ENUM(ArtifactKind, agent, vertex)
enum class VertexKind { link, mesh };
BOOST_DESCRIBE_ENUM(VertexKind, link, mesh)
enum class Alg { ed25519 };
BOOST_DESCRIBE_ENUM(Alg, ed25519)

struct ArtifactSignature {
  Alg alg = Alg::ed25519;
  SpiffeId key_id;
  SignatureText value;
};
BOOST_DESCRIBE_STRUCT(ArtifactSignature, (), (alg, key_id, value))

struct Envelope {
  SchemaVersion schema_version;
  Plane plane;
  ArtifactKind kind = ArtifactKind::agent;
  uint64_t version = 0;
  Name node;
  Name name;
  std::optional<UtcTime> generated_at;
  std::optional<UtcTime> expires_at;  // 1.1
  json::value payload;
  ArtifactSignature signature;
  std::optional<std::vector<ArtifactSignature>> cosignatures;  // 1.1
};
BOOST_DESCRIBE_STRUCT(Envelope, (),
                      (schema_version, plane, kind, version, node, name, generated_at, expires_at, payload, signature,
                       cosignatures))

// ------------------------------------------------------------------------------------------------------ agent (mgmt)

struct Signer {
  SpiffeId spiffe_id;
  KeyText pubkey;
  bool operator==(const Signer&) const = default;
};
BOOST_DESCRIBE_STRUCT(Signer, (), (spiffe_id, pubkey))

struct TrustBlock {
  FilePath ca_cert_path;
  std::vector<Signer> authorized_mgmt_signers;
  std::optional<std::vector<Signer>> authorized_ctrl_signers;
  std::optional<uint32_t> mgmt_threshold;  // 1.1
  std::optional<uint32_t> ctrl_threshold;  // 1.1
};
BOOST_DESCRIBE_STRUCT(TrustBlock, (),
                      (ca_cert_path, authorized_mgmt_signers, authorized_ctrl_signers, mgmt_threshold, ctrl_threshold))

struct SupervisedVertex {
  Name name;
  VertexKind kind = VertexKind::link;
  bool operator==(const SupervisedVertex&) const = default;
};
BOOST_DESCRIBE_STRUCT(SupervisedVertex, (), (name, kind))

enum class InboundKind { socks5 };
BOOST_DESCRIBE_ENUM(InboundKind, socks5)
struct Inbound {
  InboundKind kind = InboundKind::socks5;
  HostPort addr;
};
BOOST_DESCRIBE_STRUCT(Inbound, (), (kind, addr))

struct ConfigServer {
  SpiffeId principal;
  SpiffeId config_server;
  Inbound via;
};
BOOST_DESCRIBE_STRUCT(ConfigServer, (), (principal, config_server, via))

struct Agent {
  TrustBlock trust;
  std::vector<SupervisedVertex> vertices;
  ConfigServer control_plane;
};
BOOST_DESCRIBE_STRUCT(Agent, (), (trust, vertices, control_plane))

// ---------------------------------------------------------------------------------------------------- vertex (mgmt)

enum class TransportType { quic };
BOOST_DESCRIBE_ENUM(TransportType, quic)
struct TransportEndpoint {
  TransportType type = TransportType::quic;
};
BOOST_DESCRIBE_STRUCT(TransportEndpoint, (), (type))

enum class AdapterType { udp, florio };
BOOST_DESCRIBE_ENUM(AdapterType, udp, florio)
struct Adapter {
  Name name;
  AdapterType type = AdapterType::udp;
  std::optional<HostPort> listen;  // of udp; without it the vertex only dials
  std::optional<FilePath> socket;  // of florio
};
BOOST_DESCRIBE_STRUCT(Adapter, (), (name, type, listen, socket))
struct ConnectionManager {
  std::vector<Adapter> adapters;
};
BOOST_DESCRIBE_STRUCT(ConnectionManager, (), (adapters))

struct Identity {
  FilePath cert_path;
  FilePath priv_path;
};
BOOST_DESCRIBE_STRUCT(Identity, (), (cert_path, priv_path))

// The kind fixes the direction: socks5 takes connections in, tcp passes them on, florio does both.
enum class IoKind { socks5, tcp, florio };
BOOST_DESCRIBE_ENUM(IoKind, socks5, tcp, florio)
struct Io {
  IoKind kind = IoKind::socks5;
  std::optional<HostPort> listen;    // of socks5
  std::optional<HostPort> upstream;  // of tcp
  std::optional<FilePath> socket;    // of florio
};
BOOST_DESCRIBE_STRUCT(Io, (), (kind, listen, upstream, socket))
struct Workload {
  SpiffeId spiffe_id;
  Identity identity;
  std::vector<Io> io;
};
BOOST_DESCRIBE_STRUCT(Workload, (), (spiffe_id, identity, io))

struct Via {
  AdapterType type = AdapterType::udp;
  Name adapter;
  std::optional<HostPort> addr;  // of udp; without it (1.1) this end waits to be dialled
};
BOOST_DESCRIBE_STRUCT(Via, (), (type, adapter, addr))
struct Link {
  Name name;
  SpiffeId peer;
  Via via;
};
BOOST_DESCRIBE_STRUCT(Link, (), (name, peer, via))
enum class RuleType { enum_ };
BOOST_DESCRIBE_ENUM(RuleType, enum_)
struct LinkRule {
  RuleType type = RuleType::enum_;
  std::vector<Link> members;
};
BOOST_DESCRIBE_STRUCT(LinkRule, (), (type, members))

struct Acl {
  SpiffeId target;
  std::vector<SpiffeId> allow;  // initiators
};
BOOST_DESCRIBE_STRUCT(Acl, (), (target, allow))

struct Vertex {
  VertexKind kind = VertexKind::link;
  FilePath ca_cert_path;
  TransportEndpoint transport_endpoint;
  ConnectionManager connection_manager;
  std::vector<LinkRule> links;
  std::vector<Workload> workloads;
  std::optional<std::vector<Acl>> ingress;
  std::optional<std::vector<Acl>> egress;
};
BOOST_DESCRIBE_STRUCT(Vertex, (),
                      (kind, ca_cert_path, transport_endpoint, connection_manager, links, workloads, ingress, egress))

// ---------------------------------------------------------------------------------------------------- vertex (ctrl)

struct LinkLabel {
  Name link;
  uint32_t label = 0;
  auto operator<=>(const LinkLabel&) const = default;
};
BOOST_DESCRIBE_STRUCT(LinkLabel, (), (link, label))

enum class Scope { ingress, egress };
BOOST_DESCRIBE_ENUM(Scope, ingress, egress)
struct LabelBinding {
  Scope scope = Scope::ingress;
  SpiffeId target;
  SpiffeId initiator;
  std::optional<LinkLabel> in;   // of ingress; of egress the way back (1.1)
  std::optional<LinkLabel> out;  // of egress; of ingress the way back (1.1)
};
BOOST_DESCRIBE_STRUCT(LabelBinding, (), (scope, target, initiator, in, out))

struct ForwardingRow {
  LinkLabel in;
  LinkLabel out;
};
BOOST_DESCRIBE_STRUCT(ForwardingRow, (), (in, out))

struct Ctrl {
  std::vector<Name> active_links;
  std::vector<LabelBinding> label_bindings;
  std::vector<ForwardingRow> forwarding_table;
};
BOOST_DESCRIBE_STRUCT(Ctrl, (), (active_links, label_bindings, forwarding_table))

// ------------------------------------------------------------------------------------------------------------ whole

using Payload = std::variant<Agent, Vertex, Ctrl>;

struct Artifact {
  Envelope envelope;  // its payload is left out here; it stands in `tree`
  Payload payload;
  json::object tree;  // as it was parsed: what signatures are over
  std::string text;   // the bytes that were read

  bool is_ctrl() const { return std::holds_alternative<CtrlPlane>(envelope.plane); }
  std::string_view plane() const { return is_ctrl() ? "ctrl" : "mgmt"; }
  uint64_t obeys() const { return std::get<CtrlPlane>(envelope.plane).ctrl.obeys_mgmt_version; }  // of a ctrl artifact
  // "alpha/mgmt/vertex/rete"
  std::string identity() const;
};

// `newest` is the newest schema that the reader is to understand.
Result<Artifact> parse_artifact(std::string_view text, std::string file = "", SchemaVersion newest = kNewestSchema);

// The payload alone, as the type that plane and kind name, with all checks but those of the envelope.
Result<Payload> parse_payload(const json::value& payload, bool ctrl, ArtifactKind kind);

// Whether the payload uses something that only schema 1.1 has.
bool needs_newer_schema(const Payload& payload);

json::value payload_json(const Payload& payload);

// Where the artifact stands in the folder of a set: "mgmt/agent.json", "ctrl/vertices/rete.json".
std::string set_path(const Artifact& artifact);

// JSON Schemas by name: agent, vertex, ctrl.
Result<json::value> artifact_schema(std::string_view name);

}  // namespace sluice::mesh
