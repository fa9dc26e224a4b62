// The gate comes first: an artifact of a schema that this program does not know is refused for that, and not for a
// field that the newer schema has. Then the strict reader, then what types cannot say.
#include "mesh/artifact.h"

#include <boost/json.hpp>
#include <set>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_schema.h"
#include "base/json_text.h"
#include "base/json_writer.h"

namespace sluice::mesh {
namespace {

std::optional<Error> fault(const Place& place, std::string message) {
  return Error{.code = Code::invalid, .message = std::move(message), .path = place.pointer()};
}

template <class Each, class Key>
std::optional<Error> check_unique(const std::vector<Each>& all, const Place& place, std::string_view what, Key key) {
  std::set<std::string_view> seen;
  size_t index = 0;
  for (const Each& each : all) {
    const std::string_view text = key(each);
    if (!seen.insert(text).second)
      return fault(place.element(index), std::string(what) + " " + json_quoted(text) + " is there twice");
    ++index;
  }
  return std::nullopt;
}

// ---------------------------------------------------------------------------------------------------------- agent

std::optional<Error> check_signers(const std::vector<Signer>& signers, std::string_view kind, const Place& place) {
  if (auto error = check_unique(signers, place, "the signer",
                                [](const Signer& each) { return std::string_view(each.spiffe_id); })) {
    return error;
  }
  if (auto error =
          check_unique(signers, place, "the key", [](const Signer& each) { return std::string_view(each.pubkey); })) {
    return error;
  }
  size_t index = 0;
  for (const Signer& each : signers) {
    if (each.spiffe_id.kind() != kind) {
      return fault(place.element(index), "a signer of this plane is a " + std::string(kind) + ", not a " +
                                             std::string(each.spiffe_id.kind()));
    }
    ++index;
  }
  return std::nullopt;
}

std::optional<Error> check_threshold(std::optional<uint32_t> threshold, size_t signers, const Place& place) {
  if (!threshold || (*threshold >= 1 && *threshold <= signers)) return std::nullopt;
  return fault(place, "the threshold must be between 1 and the number of signers, " + std::to_string(signers));
}

std::optional<Error> check(const Agent& agent, const Place& place) {
  const Place trust = place.member("trust");
  const TrustBlock& block = agent.trust;
  if (block.authorized_mgmt_signers.empty()) {
    return fault(trust.member("authorized_mgmt_signers"),
                 "at least one signer is needed: nobody could publish after this");
  }
  const std::vector<Signer> ctrl = block.authorized_ctrl_signers.value_or(std::vector<Signer>());
  if (auto error =
          check_signers(block.authorized_mgmt_signers, "management-plane", trust.member("authorized_mgmt_signers")))
    return error;
  if (auto error = check_signers(ctrl, "control-plane", trust.member("authorized_ctrl_signers"))) return error;
  for (const Signer& each : ctrl) {
    for (const Signer& other : block.authorized_mgmt_signers) {
      if (each.pubkey == other.pubkey) {
        return fault(trust.member("authorized_ctrl_signers"), "the key of " + std::string(each.spiffe_id) +
                                                                  " is also that of " + std::string(other.spiffe_id) +
                                                                  "; the planes have keys of their own");
      }
    }
  }
  if (auto error =
          check_threshold(block.mgmt_threshold, block.authorized_mgmt_signers.size(), trust.member("mgmt_threshold")))
    return error;
  if (auto error = check_threshold(block.ctrl_threshold, ctrl.size(), trust.member("ctrl_threshold"))) return error;
  if (auto error = check_unique(agent.vertices, place.member("vertices"), "the vertex",
                                [](const SupervisedVertex& each) { return std::string_view(each.name); })) {
    return error;
  }
  size_t index = 0;
  const Place vertices = place.member("vertices");
  for (const SupervisedVertex& each : agent.vertices) {
    if (each.name == "agent") return fault(vertices.element(index), "\"agent\" is the agent's own name");
    ++index;
  }
  return std::nullopt;
}

// --------------------------------------------------------------------------------------------------- vertex, mgmt

std::optional<Error> check_adapters(const Vertex& vertex, const Place& place) {
  const auto& adapters = vertex.connection_manager.adapters;
  if (auto error =
          check_unique(adapters, place, "the adapter", [](const Adapter& each) { return std::string_view(each.name); }))
    return error;
  for (size_t i = 0; i < adapters.size(); ++i) {
    const Place at = place.element(i);
    if (adapters[i].type == AdapterType::udp && adapters[i].socket)
      return fault(at.member("socket"), "an adapter of type udp has no socket");
    if (adapters[i].type == AdapterType::florio && adapters[i].listen)
      return fault(at.member("listen"), "an adapter of type florio does not listen");
    if (adapters[i].type == AdapterType::florio && !adapters[i].socket)
      return fault(at, "an adapter of type florio needs a socket");
  }
  if (vertex.kind == VertexKind::link && (adapters.size() != 1 || adapters.front().type != AdapterType::udp)) {
    return fault(place, "a link vertex has exactly one adapter, of type udp");
  }
  return std::nullopt;
}

std::optional<Error> check_links(const Vertex& vertex, const Place& place) {
  std::set<std::string_view> names;
  for (size_t r = 0; r < vertex.links.size(); ++r) {
    const Place rule = place.element(r);
    const Place members = rule.member("members");
    for (size_t i = 0; i < vertex.links[r].members.size(); ++i) {
      const Link& link = vertex.links[r].members[i];
      const Place at = members.element(i);
      if (!names.insert(link.name).second)
        return fault(at.member("name"), "the link " + json_quoted(link.name) + " is there twice");
      const Place via = at.member("via");
      const Adapter* adapter = nullptr;
      for (const Adapter& each : vertex.connection_manager.adapters) {
        if (each.name == link.via.adapter) adapter = &each;
      }
      if (adapter == nullptr)
        return fault(via.member("adapter"), "there is no adapter " + json_quoted(link.via.adapter));
      if (adapter->type != link.via.type)
        return fault(via.member("type"), "the adapter " + json_quoted(link.via.adapter) + " is of another type");
      if (link.via.type == AdapterType::florio && link.via.addr)
        return fault(via.member("addr"), "a link of type florio has no address: the layer below dials");
      if (link.via.type == AdapterType::udp && !link.via.addr && !adapter->listen) {
        return fault(via, "nobody dials here: without addr the peer must, and the adapter does not listen");
      }
    }
  }
  return std::nullopt;
}

std::optional<Error> check_workloads(const Vertex& vertex, const Place& place) {
  if (auto error = check_unique(vertex.workloads, place, "the workload",
                                [](const Workload& each) { return std::string_view(each.spiffe_id); }))
    return error;
  for (size_t w = 0; w < vertex.workloads.size(); ++w) {
    const Place workload = place.element(w);
    const Place all = workload.member("io");
    for (size_t i = 0; i < vertex.workloads[w].io.size(); ++i) {
      const Io& io = vertex.workloads[w].io[i];
      const Place at = all.element(i);
      const std::string kind(to_json(io.kind).get_string());
      const std::string_view needed = io.kind == IoKind::socks5 ? "listen"
                                      : io.kind == IoKind::tcp  ? "upstream"
                                                                : "socket";
      const std::pair<std::string_view, bool> fields[] = {
          {"listen", io.listen.has_value()}, {"upstream", io.upstream.has_value()}, {"socket", io.socket.has_value()}};
      for (const auto& [field, there] : fields) {
        if (there && field != needed)
          return fault(at.member(field),
                       "a channel of kind " + kind + " has " + std::string(needed) + ", not " + std::string(field));
        if (!there && field == needed) return fault(at, "a channel of kind " + kind + " needs " + std::string(needed));
      }
    }
  }
  return std::nullopt;
}

std::optional<Error> check(const Vertex& vertex, const Place& place) {
  const Place manager = place.member("connection_manager");
  if (auto error = check_adapters(vertex, manager.member("adapters"))) return error;
  if (auto error = check_links(vertex, place.member("links"))) return error;
  if (auto error = check_workloads(vertex, place.member("workloads"))) return error;
  const auto target = [](const Acl& each) { return std::string_view(each.target); };
  if (vertex.ingress) {
    if (auto error = check_unique(*vertex.ingress, place.member("ingress"), "the target", target)) return error;
  }
  if (vertex.egress) {
    if (auto error = check_unique(*vertex.egress, place.member("egress"), "the target", target)) return error;
  }
  return std::nullopt;
}

// --------------------------------------------------------------------------------------------------- vertex, ctrl

std::optional<Error> check_label(const LinkLabel& side, const Place& place) {
  if (side.label <= kMaxLabel) return std::nullopt;
  return fault(place.member("label"), "a label has 20 bits: at most " + std::to_string(kMaxLabel));
}

std::optional<Error> check(const Ctrl& ctrl, const Place& place) {
  const Place bindings = place.member("label_bindings");
  for (size_t i = 0; i < ctrl.label_bindings.size(); ++i) {
    const LabelBinding& binding = ctrl.label_bindings[i];
    const Place at = bindings.element(i);
    if (binding.scope == Scope::ingress && !binding.in) return fault(at, "a binding of scope ingress needs in");
    if (binding.scope == Scope::egress && !binding.out) return fault(at, "a binding of scope egress needs out");
    if (binding.in) {
      if (auto error = check_label(*binding.in, at.member("in"))) return error;
    }
    if (binding.out) {
      if (auto error = check_label(*binding.out, at.member("out"))) return error;
    }
  }
  const Place table = place.member("forwarding_table");
  for (size_t i = 0; i < ctrl.forwarding_table.size(); ++i) {
    const Place at = table.element(i);
    if (auto error = check_label(ctrl.forwarding_table[i].in, at.member("in"))) return error;
    if (auto error = check_label(ctrl.forwarding_table[i].out, at.member("out"))) return error;
  }
  return std::nullopt;
}

// ----------------------------------------------------------------------------------------------------------- whole

template <class T>
Result<Payload> read_payload(const json::value& value, const Place& place) {
  T payload;
  if (auto error = reader::read_into(value, place, payload)) {
    // Later drafts of the format spell some things otherwise; whoever meets one is told so.
    if (error->message.find("\"list\"") != std::string::npos || value.as_object().contains("schema_version")) {
      error->next =
          "this looks like a later draft of the format; schema 1 has links of type \"enum\", and no schema_version in "
          "a payload";
    }
    return *std::move(error);
  }
  if (auto error = check(payload, place)) return *std::move(error);
  return Payload(std::move(payload));
}

Result<Payload> payload_at(const json::value& value, bool ctrl, ArtifactKind kind, const Place& place) {
  if (!value.is_object()) return reader::wrong_kind("an object", value, place);
  if (ctrl) return read_payload<Ctrl>(value, place);
  return kind == ArtifactKind::agent ? read_payload<Agent>(value, place) : read_payload<Vertex>(value, place);
}

Result<void> check_gate(const json::value& root, SchemaVersion newest) {
  const Place place;
  if (!root.is_object()) return reader::wrong_kind("an object", root, place);
  const json::value* stamped = root.get_object().if_contains("schema_version");
  if (stamped == nullptr)
    return reader::missing_field("a schema version such as \"1.0\"", place.member("schema_version"));
  SchemaVersion version;
  if (auto error = reader::read_into(*stamped, place.member("schema_version"), version)) return *std::move(error);
  if (version.major != newest.major) {
    return Error{.code = Code::invalid,
                 .message = "schema " + to_string(version) + " is another major version than " + to_string(newest) +
                            ", which this program reads",
                 .next = version.major > newest.major ? "upgrade Sluice on this node"
                                                      : "compile the artifact again with this Sluice",
                 .path = "/schema_version"};
  }
  if (version.minor > newest.minor) {
    return Error{.code = Code::invalid,
                 .message = "schema " + to_string(version) + " is newer than " + to_string(newest) +
                            ", the newest that this program reads",
                 .next = "upgrade Sluice on this node, then publish again",
                 .path = "/schema_version"};
  }
  return {};
}

Error newer_field(std::string pointer) {
  return {.code = Code::invalid,
          .message = "needs schema_version \"1.1\", and this artifact says \"1.0\"",
          .path = std::move(pointer)};
}

Result<Artifact> read_artifact(json::value& root, SchemaVersion newest) {
  if (auto open = check_gate(root, newest); !open) return open.error();
  Artifact artifact;
  json::object& object = root.get_object();
  json::value* payload = object.if_contains("payload");
  // The reader would copy it, and it is most of the artifact.
  json::value apart;
  if (payload != nullptr) std::swap(apart, *payload);
  const Place place;
  auto error = reader::read_into(root, place, artifact.envelope);
  if (payload != nullptr) std::swap(apart, *payload);
  if (error) return *std::move(error);
  const Envelope& envelope = artifact.envelope;
  if (envelope.schema_version < SchemaVersion{1, 1}) {
    if (envelope.expires_at) return newer_field("/expires_at");
    if (envelope.cosignatures) return newer_field("/cosignatures");
  }
  if (envelope.version == 0 || envelope.version > kMaxVersion) {
    return *fault(place.member("version"), "a version is at least 1 and at most 2^53 - 1");
  }
  if (artifact.is_ctrl() && artifact.obeys() > kMaxVersion)
    return *fault(place.member("plane"), "a version is at most 2^53 - 1");
  const bool is_agent = envelope.kind == ArtifactKind::agent;
  if (is_agent && artifact.is_ctrl())
    return *fault(place.member("kind"),
                  "an agent has no ctrl artifact: its signers and vertices are the operator's alone");
  if (is_agent != (envelope.name == "agent")) {
    return *fault(place.member("name"), is_agent ? "an artifact of kind agent is named \"agent\""
                                                 : "\"agent\" is the name of the agent alone");
  }
  auto body = payload_at(*payload, artifact.is_ctrl(), envelope.kind, place.member("payload"));
  if (!body) return body.error();
  artifact.payload = *std::move(body);
  if (envelope.schema_version < SchemaVersion{1, 1} && needs_newer_schema(artifact.payload))
    return newer_field("/payload");
  artifact.tree = std::move(object);
  return artifact;
}

}  // namespace

std::string Artifact::identity() const {
  return std::string(envelope.node) + "/" + std::string(plane()) + "/" +
         (envelope.kind == ArtifactKind::agent ? "agent" : "vertex") + "/" + std::string(envelope.name);
}

Result<Artifact> parse_artifact(std::string_view text, std::string file, SchemaVersion newest) {
  const JsonLimits limits{.max_depth = 32, .max_bytes = kMaxArtifactBytes, .max_nodes = 400'000};
  auto root = parse_json_value(text, limits);
  if (!root) {
    Error error = root.error();
    if (error.position) error.position->file = file;
    return error;
  }
  auto artifact = read_artifact(*root, newest);
  if (artifact) {
    artifact->text = text;
    return artifact;
  }
  Error error = std::move(artifact).error();
  if (auto document = parse_json(text, std::move(file), limits)) error.position = document->position_of(error.path);
  return error;
}

Result<Payload> parse_payload(const json::value& payload, bool ctrl, ArtifactKind kind) {
  return payload_at(payload, ctrl, kind, Place());
}

bool needs_newer_schema(const Payload& payload) {
  if (const Agent* agent = std::get_if<Agent>(&payload))
    return agent->trust.mgmt_threshold || agent->trust.ctrl_threshold;
  if (const Vertex* vertex = std::get_if<Vertex>(&payload)) {
    for (const LinkRule& rule : vertex->links) {
      for (const Link& link : rule.members) {
        if (link.via.type == AdapterType::udp && !link.via.addr) return true;
      }
    }
    return false;
  }
  for (const LabelBinding& binding : std::get<Ctrl>(payload).label_bindings) {
    if (binding.in && binding.out) return true;
  }
  return false;
}

json::value payload_json(const Payload& payload) {
  return std::visit([](const auto& each) { return to_json(each); }, payload);
}

std::string set_path(const Artifact& artifact) {
  if (artifact.envelope.kind == ArtifactKind::agent) return "mgmt/agent.json";
  return std::string(artifact.plane()) + "/vertices/" + std::string(artifact.envelope.name) + ".json";
}

Result<json::value> artifact_schema(std::string_view name) {
  json::value payload;
  if (name == "agent") {
    payload = json_schema<Agent>("The payload of an agent", "urn:sluice:schema:mesh-agent-payload");
  } else if (name == "vertex") {
    payload = json_schema<Vertex>("The payload of a vertex, plane mgmt", "urn:sluice:schema:mesh-vertex-payload");
  } else if (name == "ctrl") {
    payload = json_schema<Ctrl>("The payload of a vertex, plane ctrl", "urn:sluice:schema:mesh-ctrl-payload");
  } else {
    return Error{.code = Code::not_found,
                 .message = "there is no artifact " + json_quoted(name),
                 .next = "agent, vertex or ctrl"};
  }
  json::value whole = json_schema<Envelope>("An artifact of the mesh: " + std::string(name),
                                            "urn:sluice:schema:mesh-" + std::string(name));
  whole.get_object()["properties"].get_object()["payload"] = std::move(payload);
  return whole;
}

}  // namespace sluice::mesh
