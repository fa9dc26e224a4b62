// Everything is visited in the order of names, so the same model and ledger give the same bytes on every machine.
#include "mesh/compile.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <optional>
#include <unordered_map>

#include "mesh/paths.h"

namespace sluice::mesh {
namespace {

constexpr uint32_t kFirstPort = 1080;

std::string file_of(const SpiffeId& id) {
  std::string name(id.kind());
  if (!id.node().empty()) name += "." + std::string(id.node());
  return "certs/" + name + "." + std::string(id.name());
}

Workload workload_of(const SpiffeId& id, std::vector<Io> io) {
  return {.spiffe_id = id,
          .identity = {FilePath(file_of(id) + ".crt"), FilePath(file_of(id) + ".key")},
          .io = std::move(io)};
}

// Where a link vertex listens: on all addresses at its port, or, without encryption, on its own address alone.
std::optional<HostPort> listen_of(const LinkVertex& vertex) {
  if (!vertex.address) return std::nullopt;
  if (vertex.type == LinkType::udp) return vertex.address;
  const std::string any = vertex.address->host().find(':') != std::string_view::npos ? "[::]:" : "0.0.0.0:";
  return HostPort(any + std::string(vertex.address->port()));
}

void allow(std::vector<Acl>& list, const SpiffeId& target, const SpiffeId& initiator) {
  auto found = std::ranges::lower_bound(list, std::string_view(target), {},
                                        [](const Acl& each) { return std::string_view(each.target); });
  if (found == list.end() || found->target != target) found = list.insert(found, {.target = target});
  auto place = std::ranges::lower_bound(found->allow, static_cast<const std::string&>(initiator), {},
                                        [](const SpiffeId& each) -> const std::string& { return each; });
  if (place == found->allow.end() || *place != initiator) found->allow.insert(place, initiator);
}

// One link, resolved to the mesh vertices that it joins.
struct Joint {
  const LinkModel* link = nullptr;
  std::string key;
  size_t a = 0, b = 0;  // mesh vertices
  LinkEntry* entry = nullptr;
};

class Compiler {
 public:
  Compiler(const Model& model, Ledger& ledger) : model_(model), ledger_(ledger) {}

  CompileResult run() {
    give_ports();
    for (const NodeModel& node : model_.nodes) begin_node(node);
    if (model_.labelled) {
      join_links();
      route();
    } else {
      dial_directly();
    }
    place_workloads();
    for (auto& [name, node] : made_.nodes) {
      for (auto& [vertex, payload] : node.vertices) finish(payload);
    }
    forget();
    return {std::move(made_), std::move(faults_)};
  }

 private:
  // ------------------------------------------------------------------------------------------------------- ports

  void give_ports() {
    std::map<std::string, std::set<std::string>> dialling;  // principals of each node that have no port of their own
    for (const NodeModel& node : model_.nodes) dialling[node.name].insert(model_.id("node", node.name));
    for (const UserModel& user : model_.users) {
      for (const auto& [node, vertex] : user.places) dialling[node].insert(user.id);
    }
    std::map<std::string, std::set<uint32_t>> taken;
    for (const ServiceModel& service : model_.services) {
      taken[service.node].insert(static_cast<uint32_t>(std::stoul(std::string(service.addr.port()))));
      if (service.socks5)
        taken[service.node].insert(static_cast<uint32_t>(std::stoul(std::string(service.socks5->port()))));
    }
    std::map<std::string, std::map<std::string, uint32_t>> given;
    for (const auto& [node, principals] : dialling) {
      const std::map<std::string, uint32_t>& before = ledger_.ports[node];
      for (const std::string& each : principals) {
        const auto known = before.find(each);
        if (known != before.end() && taken[node].insert(known->second).second) given[node][each] = known->second;
      }
      uint32_t next = kFirstPort;
      for (const std::string& each : principals) {
        if (given[node].contains(each)) continue;
        while (!taken[node].insert(next).second) ++next;
        given[node][each] = next;
      }
    }
    ledger_.ports = std::move(given);
  }

  HostPort port_of(const std::string& node, const std::string& principal) const {
    return HostPort("127.0.0.1:" + std::to_string(ledger_.ports.at(node).at(principal)));
  }

  // ------------------------------------------------------------------------------------------------------- nodes

  static Vertex new_vertex(VertexKind kind) {
    Vertex vertex{.kind = kind, .ca_cert_path = FilePath("ca.crt")};
    vertex.links.push_back({});
    vertex.ingress.emplace();
    vertex.egress.emplace();
    return vertex;
  }

  void begin_node(const NodeModel& node) {
    NodePayloads& made = made_.nodes[node.name];
    made.agent.trust = {.ca_cert_path = FilePath("ca.crt"),
                        .authorized_mgmt_signers = signers(model_.mgmt_signers, "management-plane")};
    if (!model_.ctrl_signers.empty())
      made.agent.trust.authorized_ctrl_signers = signers(model_.ctrl_signers, "control-plane");
    if (model_.mgmt_threshold > 1) made.agent.trust.mgmt_threshold = model_.mgmt_threshold;
    if (model_.ctrl_threshold > 1) made.agent.trust.ctrl_threshold = model_.ctrl_threshold;
    made.agent.control_plane = {.principal = model_.id("node", node.name),
                                .config_server = model_.id("service", "config-server"),
                                .via = {.addr = port_of(node.name, model_.id("node", node.name))}};
    for (const LinkVertex& link : node.links) {
      if (model_.labelled && link.type == LinkType::udp) continue;  // the mesh vertex has that socket itself
      Vertex vertex = new_vertex(VertexKind::link);
      vertex.connection_manager.adapters.push_back(
          {.name = Name("wire"), .type = AdapterType::udp, .listen = listen_of(link)});
      made.vertices.emplace(link.name, std::move(vertex));
    }
    for (const MeshVertex& mesh : node.meshes) {
      Vertex vertex = new_vertex(VertexKind::mesh);
      for (const std::string& name : mesh.uses) {
        const LinkVertex& below = *std::ranges::find(node.links, name, &LinkVertex::name);
        if (below.type == LinkType::udp) {
          vertex.connection_manager.adapters.push_back(
              {.name = Name(name), .type = AdapterType::udp, .listen = listen_of(below)});
          continue;
        }
        const FilePath socket("run/vertices/" + name + ".sock");
        vertex.connection_manager.adapters.push_back(
            {.name = Name(name), .type = AdapterType::florio, .socket = socket});
        made.vertices.at(name).workloads.push_back(
            workload_of(model_.vertex_id(node.name, mesh.name), {{.kind = IoKind::florio, .socket = socket}}));
      }
      index_[{node.name, mesh.name}] = refs_.size();
      refs_.push_back({node.name, mesh.name});
      made.vertices.emplace(mesh.name, std::move(vertex));
      made.ctrl.emplace(mesh.name, Ctrl());
    }
    for (const auto& [name, vertex] : made.vertices) made.agent.vertices.push_back({Name(name), vertex.kind});
  }

  std::vector<Signer> signers(const std::vector<SignerModel>& from, std::string_view kind) const {
    std::vector<Signer> all;
    for (const SignerModel& each : from) all.push_back({model_.id(kind, each.name), each.key.value_or(KeyText())});
    return all;
  }

  void place_workloads() {
    const auto vertex = [&](const std::string& node, const std::string& name) -> Vertex& {
      return made_.nodes.at(node).vertices.at(name);
    };
    for (const NodeModel& node : model_.nodes) {
      const SpiffeId id = model_.id("node", node.name);
      vertex(node.name, node.agent_vertex)
          .workloads.push_back(workload_of(id, {{.kind = IoKind::socks5, .listen = port_of(node.name, id)}}));
    }
    for (const ServiceModel& service : model_.services) {
      std::vector<Io> io = {{.kind = IoKind::tcp, .upstream = service.addr}};
      if (service.socks5) io.push_back({.kind = IoKind::socks5, .listen = service.socks5});
      vertex(service.node, service.vertex).workloads.push_back(workload_of(service.id, std::move(io)));
    }
    for (const UserModel& user : model_.users) {
      for (const auto& [node, name] : user.places)
        vertex(node, name)
            .workloads.push_back(workload_of(user.id, {{.kind = IoKind::socks5, .listen = port_of(node, user.id)}}));
    }
    for (const AllowedPair& pair : model_.pairs) {
      const ServiceModel& target = model_.services[pair.service];
      allow(*vertex(pair.node, pair.vertex).egress, target.id, pair.initiator);
      allow(*vertex(target.node, target.vertex).ingress, target.id, pair.initiator);
    }
  }

  static void finish(Vertex& vertex) {
    std::ranges::sort(vertex.workloads, {}, [](const Workload& each) -> const std::string& { return each.spiffe_id; });
    std::ranges::sort(vertex.links.front().members, {},
                      [](const Link& each) -> const std::string& { return each.name; });
    if (vertex.ingress->empty()) vertex.ingress.reset();
    if (vertex.egress->empty()) vertex.egress.reset();
  }

  // ------------------------------------------------------------------------------------- direct links, no labels

  void dial_directly() {
    std::map<std::string, std::set<size_t>> targets;
    for (const AllowedPair& pair : model_.pairs) {
      if (model_.services[pair.service].node != pair.node) targets[pair.node].insert(pair.service);
    }
    for (const auto& [node, services] : targets) {
      Vertex& vertex = made_.nodes.at(node).vertices.begin()->second;
      for (size_t each : services) {
        const ServiceModel& service = model_.services[each];
        vertex.links.front().members.push_back({.name = Name(service.name),
                                                .peer = service.id,
                                                .via = {.type = AdapterType::udp,
                                                        .adapter = Name("wire"),
                                                        .addr = model_.node(service.node)->links.front().address}});
      }
    }
  }

  // ------------------------------------------------------------------------------------------------------- links

  size_t mesh_above(const std::string& node, const std::string& link_vertex) const {
    for (const MeshVertex& mesh : model_.node(node)->meshes) {
      if (std::ranges::find(mesh.uses, link_vertex) != mesh.uses.end()) return index_.at({node, mesh.name});
    }
    std::abort();  // the facade has seen to it
  }

  void join_links() {
    std::vector<const LinkModel*> links;
    for (const LinkModel& each : model_.links) links.push_back(&each);
    const auto key_of = [](const LinkModel& link) {
      return link.a_node + "/" + link.a_vertex + " " + link.b_node + "/" + link.b_vertex;
    };
    std::ranges::sort(links, {}, [&](const LinkModel* each) { return key_of(*each); });
    std::map<size_t, std::set<std::string>> taken;
    for (const LinkModel* link : links) {
      joints_.push_back({.link = link,
                         .key = key_of(*link),
                         .a = mesh_above(link->a_node, link->a_vertex),
                         .b = mesh_above(link->b_node, link->b_vertex)});
      if (auto known = ledger_.links.find(joints_.back().key); known != ledger_.links.end()) {
        taken[joints_.back().a].insert(known->second.a_name);
        taken[joints_.back().b].insert(known->second.b_name);
      }
    }
    for (Joint& joint : joints_) {
      LinkEntry& entry = ledger_.links[joint.key];
      if (entry.a_name.empty())
        entry.a_name = take_name(taken[joint.a], joint.link->b_node, joint.link->b_node + "-" + joint.link->a_vertex);
      if (entry.b_name.empty())
        entry.b_name = take_name(taken[joint.b], joint.link->a_node, joint.link->a_node + "-" + joint.link->b_vertex);
      joint.entry = &entry;
      made_.joints[{refs_[joint.a], entry.a_name}] = {refs_[joint.b], entry.b_name};
      made_.joints[{refs_[joint.b], entry.b_name}] = {refs_[joint.a], entry.a_name};
      add_link(joint.a, joint.link->a_vertex, entry.a_name, joint.b, joint.link->b_node, joint.link->b_vertex);
      add_link(joint.b, joint.link->b_vertex, entry.b_name, joint.a, joint.link->a_node, joint.link->a_vertex);
    }
  }

  // One end's entries: in the mesh vertex, and in the link vertex below it if there is one.
  void add_link(size_t near, const std::string& near_link, const std::string& name, size_t far,
                const std::string& far_node, const std::string& far_link) {
    const VertexRef& here = refs_[near];
    const SpiffeId self = model_.vertex_id(here.node, here.vertex);
    const SpiffeId peer = model_.vertex_id(refs_[far].node, refs_[far].vertex);
    const LinkVertex& remote = *std::ranges::find(model_.node(far_node)->links, far_link, &LinkVertex::name);
    NodePayloads& node = made_.nodes.at(here.node);
    Vertex& mesh = node.vertices.at(here.vertex);
    if (remote.type == LinkType::udp) {
      mesh.links.front().members.push_back({Name(name), peer, {AdapterType::udp, Name(near_link), remote.address}});
    } else {
      mesh.links.front().members.push_back({Name(name), peer, {AdapterType::florio, Name(near_link), std::nullopt}});
      Vertex& below = node.vertices.at(near_link);
      below.links.front().members.push_back({Name(name), peer, {AdapterType::udp, Name("wire"), remote.address}});
      allow(*below.ingress, self, peer);
      allow(*below.egress, peer, self);
    }
    node.ctrl.at(here.vertex).active_links.emplace_back(name);
  }

  // ------------------------------------------------------------------------------------------------------ routes

  void route() {
    Graph graph(refs_.size());
    for (const Joint& joint : joints_) graph.add(joint.a, joint.b);
    std::map<std::tuple<std::string, std::string, std::string>, std::vector<const PathModel*>> by_hand;
    for (const PathModel& path : model_.paths) by_hand[{path.principal, path.from, path.service}].push_back(&path);
    std::vector<const AllowedPair*> pairs;
    for (const AllowedPair& each : model_.pairs) pairs.push_back(&each);
    // By their start, so that one search serves all that start there.
    std::ranges::stable_sort(pairs, {}, [](const AllowedPair* each) { return std::tie(each->node, each->vertex); });
    std::set<const PathModel*> used;
    for (const AllowedPair* pair : pairs) {
      const ServiceModel& target = model_.services[pair->service];
      const size_t from = index_.at({pair->node, pair->vertex});
      const size_t to = index_.at({target.node, target.vertex});
      if (from == to) continue;
      std::vector<Graph::Path> paths;
      if (auto hand = by_hand.find({pair->initiator, pair->node, target.name}); hand != by_hand.end()) {
        for (const PathModel* each : hand->second) {
          paths.push_back(links_of(*each));
          used.insert(each);
        }
      } else {
        paths = graph.disjoint_paths(from, to);
      }
      if (paths.empty()) {
        faults_.push_back({.code = Code::invalid,
                           .message = "there is no way from " + pair->node + " to " + target.node + ", and " +
                                      pair->initiator + " may reach " + target.id,
                           .next = "allow a link"});
      }
      for (size_t i = 0; i < paths.size(); ++i) lay(graph, *pair, target, from, paths[i], i);
    }
    for (const PathModel& path : model_.paths) {
      if (!used.contains(&path))
        faults_.push_back({.code = Code::invalid,
                           .message = "the path of " + path.principal + " from " + path.from + " to " + path.service +
                                      " is for a pair that no role allows"});
    }
  }

  Graph::Path links_of(const PathModel& path) const {
    Graph::Path links;
    std::string at = path.from;
    for (const PathModel::Hop& hop : path.hops) {
      for (size_t i = 0; i < joints_.size(); ++i) {
        const LinkModel& link = *joints_[i].link;
        const bool forth = link.a_node == at && link.b_node == hop.node;
        const bool back = link.b_node == at && link.a_node == hop.node;
        if ((forth || back) && (hop.via.empty() || hop.via == (forth ? link.a_vertex : link.b_vertex)))
          links.push_back(i);
      }
      at = hop.node;
    }
    return links;
  }

  Labelling& labels_of(LabelSpace& space) { return labels_.try_emplace(&space, space).first->second; }

  // Labels along one way, there and back, and what each vertex on it is told.
  void lay(const Graph& graph, const AllowedPair& pair, const ServiceModel& target, size_t from,
           const Graph::Path& path, size_t alternative) {
    const std::string use = std::string(pair.initiator.kind()) + "/" +
                            (pair.initiator.node().empty() ? "" : std::string(pair.initiator.node()) + "/") +
                            std::string(pair.initiator.name()) + "@" + pair.node + "/" + pair.vertex + ">" +
                            target.name + "#" + std::to_string(alternative);
    size_t at = from;
    std::optional<std::pair<LinkLabel, LinkLabel>> before;  // as this vertex sees them: in there, out back
    for (size_t i = 0; i < path.size(); ++i) {
      Joint& joint = joints_[path[i]];
      const bool forth = joint.a == at;
      auto there = labels_of(forth ? joint.entry->to_b : joint.entry->to_a).label_of(use);
      auto back = labels_of(forth ? joint.entry->to_a : joint.entry->to_b).label_of(use);
      if (!there || !back) {
        faults_.push_back({.code = Code::limit, .message = "the link " + joint.key + " has no label left for " + use});
        return;
      }
      const Name near(forth ? joint.entry->a_name : joint.entry->b_name);
      const Name far(forth ? joint.entry->b_name : joint.entry->a_name);
      Ctrl& ctrl = made_.nodes.at(refs_[at].node).ctrl.at(refs_[at].vertex);
      if (!before) {
        ctrl.label_bindings.push_back({.scope = Scope::egress,
                                       .target = target.id,
                                       .initiator = pair.initiator,
                                       .in = LinkLabel{near, *back},
                                       .out = LinkLabel{near, *there}});
      } else {
        ctrl.forwarding_table.push_back({before->first, {near, *there}});
        ctrl.forwarding_table.push_back({{near, *back}, before->second});
      }
      before = {{far, *there}, {far, *back}};
      at = graph.other_end(path[i], at);
    }
    made_.nodes.at(refs_[at].node)
        .ctrl.at(refs_[at].vertex)
        .label_bindings.push_back({.scope = Scope::ingress,
                                   .target = target.id,
                                   .initiator = pair.initiator,
                                   .in = before->first,
                                   .out = before->second});
  }

  void forget() {
    std::set<std::string> keys;
    for (const Joint& joint : joints_) keys.insert(joint.key);
    std::erase_if(ledger_.links, [&](const auto& each) { return !keys.contains(each.first); });
    for (auto& [key, entry] : ledger_.links) {
      for (LabelSpace* space : {&entry.to_a, &entry.to_b}) labels_of(*space).forget_others();
    }
    for (auto& [name, node] : made_.nodes) {
      for (auto& [vertex, ctrl] : node.ctrl) {
        std::ranges::sort(ctrl.active_links, {}, [](const Name& each) -> const std::string& { return each; });
        // Stable: alternatives keep their order.
        std::ranges::stable_sort(ctrl.label_bindings, {}, [](const LabelBinding& each) {
          return std::tuple(each.scope, std::string_view(each.target), std::string_view(each.initiator));
        });
        std::ranges::sort(ctrl.forwarding_table, {}, [](const ForwardingRow& each) {
          return std::tuple(std::string_view(each.in.link), each.in.label);
        });
      }
    }
  }

  const Model& model_;
  Ledger& ledger_;
  Compiled made_;
  std::vector<Error> faults_;
  std::vector<VertexRef> refs_;  // mesh vertices by number
  std::map<VertexRef, size_t> index_;
  std::vector<Joint> joints_;
  std::unordered_map<const LabelSpace*, Labelling> labels_;
};

// ------------------------------------------------------------------------------------------------------------ walk

class Walker {
 public:
  explicit Walker(const Compiled& compiled) : compiled_(compiled) {
    for (const auto& [node, payloads] : compiled.nodes) {
      for (const auto& [vertex, ctrl] : payloads.ctrl) {
        const VertexRef ref{node, vertex};
        auto& table = tables_[ref];
        for (const ForwardingRow& row : ctrl.forwarding_table) table[row.in] = {.row = &row};
        for (const LabelBinding& binding : ctrl.label_bindings) {
          if (binding.in) table[*binding.in] = {.binding = &binding};
        }
      }
    }
  }

  std::vector<Traced> all() {
    std::vector<Traced> traces;
    for (const auto& [node, payloads] : compiled_.nodes) {
      for (const auto& [vertex, payload] : payloads.vertices) {
        local(node, payload, traces);
        const auto ctrl = payloads.ctrl.find(vertex);
        if (ctrl == payloads.ctrl.end()) continue;
        for (const LabelBinding& binding : ctrl->second.label_bindings) {
          if (binding.scope == Scope::egress) traces.push_back(labelled({node, vertex}, payload, binding));
        }
      }
    }
    return traces;
  }

  // Rows and bindings that no way comes by.
  std::vector<std::string> unused() const {
    std::vector<std::string> all;
    for (const auto& [ref, table] : tables_) {
      for (const auto& [in, meaning] : table) {
        if (!meaning.seen)
          all.push_back("label " + std::to_string(in.label) + " of link " + in.link + " at " + ref.node + "/" +
                        ref.vertex + " is part of no way");
      }
    }
    return all;
  }

 private:
  struct Meaning {
    const ForwardingRow* row = nullptr;
    const LabelBinding* binding = nullptr;
    bool seen = false;
  };

  static bool allows(const std::optional<std::vector<Acl>>& list, std::string_view target, std::string_view initiator) {
    if (!list) return false;
    for (const Acl& acl : *list) {
      if (acl.target != target) continue;
      return std::ranges::any_of(acl.allow, [&](const SpiffeId& each) { return each == initiator; });
    }
    return false;
  }

  static bool serves(const Vertex& vertex, std::string_view id) {
    return std::ranges::any_of(vertex.workloads, [&](const Workload& each) { return each.spiffe_id == id; });
  }

  // Pairs on one vertex, and pairs whose target the vertex dials itself.
  void local(const std::string& node, const Vertex& vertex, std::vector<Traced>& traces) const {
    if (!vertex.egress) return;
    for (const Acl& acl : *vertex.egress) {
      if (acl.target.kind() == "vertex") continue;  // what link vertices do for the mesh above them
      const Link* link = nullptr;
      if (vertex.kind == VertexKind::link) {
        for (const Link& each : vertex.links.front().members) {
          if (each.peer == acl.target) link = &each;
        }
      }
      if (link == nullptr && !serves(vertex, acl.target)) continue;
      for (const SpiffeId& initiator : acl.allow) {
        Traced trace{.initiator = initiator, .from = node, .target = acl.target, .to = node};
        const Vertex* at = &vertex;
        if (link != nullptr && !serves(vertex, acl.target)) {
          at = nullptr;
          for (const auto& [name, payloads] : compiled_.nodes) {
            for (const auto& [other, payload] : payloads.vertices) {
              if (serves(payload, acl.target)) {
                at = &payload;
                trace.to = name;
              }
            }
          }
        }
        if (at == nullptr || !allows(at->ingress, acl.target, initiator)) trace.fault = "the target does not let it in";
        traces.push_back(std::move(trace));
      }
    }
  }

  // From a vertex with a label that goes out, to where a binding takes it in; nothing if it gets lost.
  std::optional<std::pair<VertexRef, const LabelBinding*>> follow_label(VertexRef at, LinkLabel out,
                                                                        std::vector<TracedHop>& hops,
                                                                        std::string& lost) {
    for (size_t steps = 0; steps <= tables_.size(); ++steps) {
      hops.push_back({at.node, at.vertex, out.link, out.label});
      const auto joint = compiled_.joints.find({at, out.link});
      if (joint == compiled_.joints.end()) {
        lost = "the link " + out.link + " of " + at.node + " leads nowhere";
        return std::nullopt;
      }
      at = joint->second.at;
      auto& table = tables_[at];
      const auto meaning = table.find({Name(joint->second.link), out.label});
      if (meaning == table.end()) {
        lost = "label " + std::to_string(out.label) + " means nothing at " + at.node;
        return std::nullopt;
      }
      meaning->second.seen = true;
      if (meaning->second.binding != nullptr) return std::pair(at, meaning->second.binding);
      out = meaning->second.row->out;
    }
    lost = "there is a loop at " + at.node;
    return std::nullopt;
  }

  Traced labelled(const VertexRef& from, const Vertex& vertex, const LabelBinding& binding) {
    Traced trace{.initiator = binding.initiator, .from = from.node, .target = binding.target};
    const auto refuse = [&](std::string why) {
      trace.fault = std::move(why);
      return trace;
    };
    if (!allows(vertex.egress, binding.target, binding.initiator))
      return refuse("the initiator's vertex does not let it out");
    auto arrived = follow_label(from, *binding.out, trace.there, trace.fault);
    if (!arrived) return trace;
    trace.to = arrived->first.node;
    const LabelBinding& taken = *arrived->second;
    if (taken.scope != Scope::ingress || taken.target != binding.target || taken.initiator != binding.initiator)
      return refuse("it arrives as something else");
    const Vertex& there = compiled_.nodes.at(arrived->first.node).vertices.at(arrived->first.vertex);
    if (!allows(there.ingress, binding.target, binding.initiator)) return refuse("the target does not let it in");
    if (!serves(there, binding.target)) return refuse("the target is not there");
    if (!taken.out || !binding.in) return refuse("there is no way back");
    auto returned = follow_label(arrived->first, *taken.out, trace.back, trace.fault);
    if (!returned) return trace;
    if (returned->first != from || returned->second != &binding) return refuse("the way back leads elsewhere");
    return trace;
  }

  const Compiled& compiled_;
  std::map<VertexRef, std::map<LinkLabel, Meaning>> tables_;
};

}  // namespace

CompileResult compile(const Model& model, Ledger& ledger) { return Compiler(model, ledger).run(); }

std::vector<Traced> trace_all(const Compiled& compiled) { return Walker(compiled).all(); }

Reach reach_of(const std::vector<Traced>& traces) {
  Reach reach;
  for (const Traced& each : traces) {
    if (each.fault.empty()) reach.emplace(each.initiator, each.from, each.target);
  }
  return reach;
}

Reach reach_of(const Model& model) {
  Reach reach;
  for (const AllowedPair& pair : model.pairs) reach.emplace(pair.initiator, pair.node, model.services[pair.service].id);
  return reach;
}

std::vector<std::string> walk(const Compiled& compiled, const Model& model) {
  Walker walker(compiled);
  std::vector<std::string> wrong;
  const std::vector<Traced> traces = walker.all();
  for (const Traced& each : traces) {
    if (!each.fault.empty())
      wrong.push_back(each.initiator + " at " + each.from + " → " + each.target + ": " + each.fault);
  }
  const Reach reached = reach_of(traces);
  const Reach wanted = reach_of(model);
  for (const auto& [initiator, node, target] : wanted) {
    if (!reached.contains({initiator, node, target}))
      wrong.push_back(initiator + " at " + node + " may reach " + target + ", and does not");
  }
  for (const auto& [initiator, node, target] : reached) {
    if (!wanted.contains({initiator, node, target}))
      wrong.push_back(initiator + " at " + node + " reaches " + target + ", and may not");
  }
  for (std::string& each : walker.unused()) wrong.push_back(std::move(each));
  return wrong;
}

}  // namespace sluice::mesh
