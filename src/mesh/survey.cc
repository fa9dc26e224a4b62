// Links are joined without the ledger: each end knows the vertex at the other end, not what that calls the link.
#include "mesh/survey.h"

#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "mesh/tree.h"

namespace sluice::mesh {
namespace surveying {

constexpr size_t kMaxDocument = size_t{64} << 20;

struct Served {
  std::vector<json::value> mgmt, ctrl, chain;
};
BOOST_DESCRIBE_STRUCT(Served, (), (mgmt, ctrl, chain))

Result<TreeFiles> files_of(const std::string& node, const std::string& document) {
  auto parsed = parse_json(document, node, {.max_depth = 40, .max_bytes = kMaxDocument, .max_nodes = 4'000'000});
  if (!parsed) return parsed.error();
  auto served = read<Served>(*parsed);
  if (!served) return served.error();
  TreeFiles files;
  for (const auto* plane : {&served->mgmt, &served->ctrl}) {
    for (const json::value& each : *plane) files[node + "/" + std::to_string(files.size())] = write(each);
  }
  return files;
}

Result<std::vector<std::string>> signers_of(const TreeFiles& files) {
  std::set<std::string> signers;
  for (const auto& [path, text] : files) {
    auto artifact = parse_artifact(text, path);
    if (!artifact) return artifact.error();
    signers.insert(artifact->envelope.signature.key_id);
    for (const ArtifactSignature& each : artifact->envelope.cosignatures.value_or(std::vector<ArtifactSignature>()))
      signers.insert(each.key_id);
  }
  return std::vector<std::string>(signers.begin(), signers.end());
}

VertexRef vertex_of(const SpiffeId& id) { return {std::string(id.node()), std::string(id.name())}; }

struct Labels {
  std::set<uint32_t> in, out;
};

Labels labels_of(const NodePayloads& node, const LinkEnd& end) {
  Labels labels;
  const auto ctrl = node.ctrl.find(end.at.vertex);
  if (ctrl == node.ctrl.end()) return labels;
  const auto add = [&](const std::optional<LinkLabel>& each, std::set<uint32_t>& to) {
    if (each && each->link == end.link) to.insert(each->label);
  };
  for (const ForwardingRow& row : ctrl->second.forwarding_table) {
    add(row.in, labels.in);
    add(row.out, labels.out);
  }
  for (const LabelBinding& binding : ctrl->second.label_bindings) {
    add(binding.in, labels.in);
    add(binding.out, labels.out);
  }
  return labels;
}

bool fits(const Labels& a, const Labels& b) {
  return std::ranges::includes(b.in, a.out) && std::ranges::includes(a.in, b.out);
}

const std::string* node_serving(const std::map<std::string, NodePayloads>& nodes, const SpiffeId& id) {
  for (const auto& [name, node] : nodes) {
    for (const auto& [vertex, payload] : node.vertices) {
      if (std::ranges::any_of(payload.workloads, [&](const Workload& each) { return each.spiffe_id == id; }))
        return &name;
    }
  }
  return nullptr;
}

std::vector<SurveyedLink> links_of(const std::map<std::string, NodePayloads>& nodes,
                                   const std::map<LinkEnd, LinkEnd>& joints) {
  std::vector<SurveyedLink> links;
  for (const auto& [a, b] : joints) {
    if (a < b) links.push_back({{a.at.node, a.at.vertex, a.link}, {b.at.node, b.at.vertex, b.link}});
  }
  // Nodes without a mesh vertex dial services themselves.
  for (const auto& [name, node] : nodes) {
    for (const auto& [vertex, payload] : node.vertices) {
      for (const LinkRule& rule : payload.links) {
        for (const Link& each : rule.members) {
          if (each.peer.kind() == "vertex") continue;
          if (const std::string* there = node_serving(nodes, each.peer))
            links.push_back({{name, vertex, each.name}, {.node = *there}});
        }
      }
    }
  }
  return links;
}

}  // namespace surveying

std::map<LinkEnd, LinkEnd> joints_of(const std::map<std::string, NodePayloads>& nodes) {
  using namespace surveying;
  std::map<std::pair<VertexRef, VertexRef>, std::vector<LinkEnd>> ends;  // by whose they are, and the other vertex
  for (const auto& [name, node] : nodes) {
    for (const auto& [vertex, payload] : node.vertices) {
      if (payload.kind != VertexKind::mesh) continue;
      for (const LinkRule& rule : payload.links) {
        for (const Link& each : rule.members) {
          if (each.peer.kind() == "vertex")
            ends[{{name, vertex}, vertex_of(each.peer)}].push_back({{name, vertex}, each.name});
        }
      }
    }
  }
  std::map<LinkEnd, LinkEnd> joints;
  for (const auto& [between, near] : ends) {
    const auto& [here, there] = between;
    auto other = ends.find({there, here});
    if (there < here || other == ends.end()) continue;
    std::vector<LinkEnd> far = other->second;
    for (const LinkEnd& each : near) {
      const Labels mine = labels_of(nodes.at(here.node), each);
      auto found = std::ranges::find_if(
          far, [&](const LinkEnd& one) { return fits(mine, labels_of(nodes.at(there.node), one)); });
      if (found == far.end()) continue;
      joints[each] = *found;
      joints[*found] = each;
      far.erase(found);
    }
  }
  return joints;
}

Result<Survey> survey(const std::map<std::string, std::string>& documents) {
  using namespace surveying;
  Survey made;
  TreeFiles all;
  std::map<std::string, std::vector<std::string>> signers;
  for (const auto& [node, document] : documents) {
    auto files = files_of(node, document);
    if (!files) return files.error();
    auto known = signers_of(*files);
    if (!known) return known.error();
    signers[node] = *std::move(known);
    all.merge(*files);
  }
  auto nodes = payloads_of(all);
  if (!nodes) return nodes.error();
  Compiled compiled{.nodes = *std::move(nodes)};
  compiled.joints = joints_of(compiled.nodes);
  for (const auto& [name, node] : compiled.nodes) {
    SurveyedNode shown{.node = name, .signers = signers[name]};
    std::set<std::string> serves;
    for (const auto& [vertex, payload] : node.vertices) {
      shown.vertices.push_back({vertex, payload.kind});
      for (const Workload& each : payload.workloads) {
        if (each.spiffe_id.kind() == "user" || each.spiffe_id.kind() == "service") serves.insert(each.spiffe_id);
      }
    }
    shown.serves.assign(serves.begin(), serves.end());
    made.nodes.push_back(std::move(shown));
  }
  made.links = links_of(compiled.nodes, compiled.joints);
  made.ways = trace_all(compiled);
  return made;
}

}  // namespace sluice::mesh
