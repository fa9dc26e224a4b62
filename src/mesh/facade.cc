// Reading goes entry by entry: a fault in one hides no other. Where the strict reader ends at a member's first fault,
// that member is taken out and the entry is read again. What refers to something is checked when all files are merged.
#include "mesh/facade.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <memory>
#include <set>
#include <tuple>

#include "base/atomic_file.h"
#include "base/json_reader.h"
#include "base/json_text.h"
#include "base/nearest.h"
#include "base/yaml.h"

namespace sluice::mesh {
namespace facade {

constexpr size_t kMaxFaults = 200;
constexpr size_t kMaxSourceBytes = 64 << 20;

struct Source {
  std::optional<std::vector<std::string>> include, exclude;
};
BOOST_DESCRIBE_STRUCT(Source, (), (include, exclude))
struct Ca {
  FilePath cert;
  std::optional<uint32_t> validity_days;
};
BOOST_DESCRIBE_STRUCT(Ca, (), (cert, validity_days))
struct SignerKey {
  Name name;
  FilePath cert;
};
BOOST_DESCRIBE_STRUCT(SignerKey, (), (name, cert))
struct SignerSet {
  std::optional<uint32_t> validity_days, threshold;
  std::vector<SignerKey> keys;
};
BOOST_DESCRIBE_STRUCT(SignerSet, (), (validity_days, threshold, keys))
struct Signers {
  SignerSet mgmt;
  std::optional<SignerSet> ctrl;
};
BOOST_DESCRIBE_STRUCT(Signers, (), (mgmt, ctrl))
struct Validity {
  std::optional<uint32_t> validity_days;
};
BOOST_DESCRIBE_STRUCT(Validity, (), (validity_days))
struct Rete {
  std::string name;
  Ca ca;
  Signers signers;
  std::optional<Validity> tls_principals, artifacts;
};
BOOST_DESCRIBE_STRUCT(Rete, (), (name, ca, signers, tls_principals, artifacts))

struct VertexEntry {
  std::optional<Name> name;
  VertexKind kind = VertexKind::link;
  LinkType type = LinkType::quic;
  std::optional<HostPort> address;
  std::optional<std::vector<Name>> uses;
};
BOOST_DESCRIBE_STRUCT(VertexEntry, (), (name, kind, type, address, uses))
struct NodeEntry {
  std::vector<VertexEntry> vertices;
  std::optional<Name> agent_via;
  std::optional<bool> internal_only;
};
BOOST_DESCRIBE_STRUCT(NodeEntry, (), (vertices, agent_via, internal_only))

enum class ServiceScope { rete, node };
BOOST_DESCRIBE_ENUM(ServiceScope, rete, node)
struct ServiceEntry {
  Name at;
  std::optional<Name> via;
  HostPort addr;
  std::optional<HostPort> socks5_proxy;
  std::optional<ServiceScope> scope;
  std::optional<std::vector<Name>> groups, roles;
};
BOOST_DESCRIBE_STRUCT(ServiceEntry, (), (at, via, addr, socks5_proxy, scope, groups, roles))
struct RoleEntry {
  std::vector<Name> allow;
};
BOOST_DESCRIBE_STRUCT(RoleEntry, (), (allow))
struct UserPlace {
  Name at;
  std::optional<Name> via;
};
BOOST_DESCRIBE_STRUCT(UserPlace, (), (at, via))
struct UserEntry {
  std::optional<std::vector<Name>> roles;
  std::vector<UserPlace> nodes;
};
BOOST_DESCRIBE_STRUCT(UserEntry, (), (roles, nodes))

struct EndObject {
  Name node;
  Name vertex;
};
BOOST_DESCRIBE_STRUCT(EndObject, (), (node, vertex))
using End = std::variant<Name, EndObject>;
struct LinkEntry {
  End a, b;
  std::optional<Name> via;
};
BOOST_DESCRIBE_STRUCT(LinkEntry, (), (a, b, via))
struct HopEntry {
  Name node;
  std::optional<Name> vertex, via;
};
BOOST_DESCRIBE_STRUCT(HopEntry, (), (node, vertex, via))
struct PathEntry {
  Name principal;
  Name from;
  std::vector<HopEntry> hops;
  Name to;
};
BOOST_DESCRIBE_STRUCT(PathEntry, (), (principal, from, hops, to))

// An entry, and where it stands.
template <class T>
struct Placed {
  T value;
  const Document* document = nullptr;
  std::string pointer;
};
template <class T>
using Collection = std::map<std::string, Placed<T>>;

constexpr std::array<std::string_view, 9> kSections = {"source", "rete",  "nodes",         "services",     "groups",
                                                       "roles",  "users", "allowed_links", "allowed_paths"};
constexpr std::array<std::string_view, 6> kKinds = {"user",   "service",          "node",
                                                    "vertex", "management-plane", "control-plane"};

bool is_reserved(std::string_view name) {
  static const std::set<std::string_view> words = {"agent", "manifest", "con", "prn", "aux", "nul"};
  if (words.contains(name) || std::ranges::find(kKinds, name) != kKinds.end()) return true;
  return name.size() == 4 && (name.starts_with("com") || name.starts_with("lpt")) && name[3] >= '1' && name[3] <= '9';
}

// Takes the node at a JSON pointer out of the tree; false if there is none, or if it is the root.
bool take_out(json::value& root, std::string_view pointer) {
  const size_t slash = pointer.rfind('/');
  if (slash == std::string_view::npos) return false;
  boost::system::error_code error;
  json::value* parent = root.find_pointer(pointer.substr(0, slash), error);
  if (parent == nullptr) return false;
  std::string key(pointer.substr(slash + 1));
  if (auto* object = parent->if_object()) return object->erase(key) == 1;
  if (auto* list = parent->if_array(); list != nullptr && !key.empty()) {
    const size_t index = std::strtoul(key.c_str(), nullptr, 10);
    if (index >= list->size()) return false;
    list->erase(list->begin() + static_cast<ptrdiff_t>(index));
    return true;
  }
  return false;
}

class Reader {
 public:
  std::vector<Error> faults;
  std::vector<std::unique_ptr<Document>> documents;
  std::optional<Placed<Rete>> rete;
  Collection<NodeEntry> nodes;
  Collection<ServiceEntry> services;
  Collection<json::value> groups;
  Collection<RoleEntry> roles;
  Collection<UserEntry> users;
  std::vector<Placed<LinkEntry>> links;
  std::vector<Placed<PathEntry>> paths;

  void fault(const Document& document, std::string_view pointer, std::string message, std::string next = "") {
    if (faults.size() >= kMaxFaults) return;
    faults.push_back({.code = Code::invalid,
                      .message = std::move(message),
                      .next = std::move(next),
                      .path = std::string(pointer),
                      .position = document.position_of(pointer)});
  }
  template <class T>
  void fault(const Placed<T>& placed, std::string_view below, std::string message, std::string next = "") {
    fault(*placed.document, placed.pointer + std::string(below), std::move(message), std::move(next));
  }

  void take(const SourceFile& file) {
    auto parsed = parse_yaml(file.text, file.name);
    if (!parsed) {
      faults.push_back(parsed.error());
      return;
    }
    documents.push_back(std::make_unique<Document>(*std::move(parsed)));
    const Document& document = *documents.back();
    if (document.root.is_null()) return;
    if (!document.root.is_object()) return fault(document, "", "a file of the facade is a map of sections");
    for (const auto& each : document.root.get_object()) take_section(document, std::string(each.key()), each.value());
  }

 private:
  void take_section(const Document& document, const std::string& name, const json::value& value) {
    const std::string pointer = "/" + name;
    if (name == "source") {
      read_one<Source>(document, pointer, value);
    } else if (name == "rete") {
      auto one = read_one<Rete>(document, pointer, value);
      if (rete)
        return fault(document, pointer,
                     "there is one rete, and it is in " + to_string(*rete->document->position_of("/rete")));
      if (one) rete = Placed<Rete>{*std::move(one), &document, pointer};
    } else if (name == "nodes") {
      take_map(document, pointer, value, nodes, "node");
    } else if (name == "services") {
      take_map(document, pointer, value, services, "service");
    } else if (name == "groups") {
      take_map(document, pointer, value, groups, "group");
    } else if (name == "roles") {
      take_map(document, pointer, value, roles, "role");
    } else if (name == "users") {
      take_map(document, pointer, value, users, "user");
    } else if (name == "allowed_links") {
      take_rules(document, pointer, value, "links", links);
    } else if (name == "allowed_paths") {
      take_rules(document, pointer, value, "paths", paths);
    } else {
      auto meant = nearest(name, kSections);
      fault(document, pointer,
            "unknown section " + json_quoted(name) + (meant ? ", did you mean " + json_quoted(*meant) + "?" : ""));
    }
  }

  template <class T>
  std::optional<T> read_one(const Document& document, const std::string& pointer, const json::value& value) {
    T read;
    const Place none;
    auto error = reader::read_into(value, none, read);
    if (!error) return read;
    json::value rest = value;
    for (int tries = 0; error && tries < 20; ++tries) {
      fault(document, pointer + error->path, error->message, error->next);
      if (!take_out(rest, error->path)) break;
      T again;
      const std::string last = error->path;
      error = reader::read_into(rest, none, again);
      if (error && error->path == last) break;  // it is missed now, which is no news
    }
    return std::nullopt;
  }

  template <class T>
  void take_map(const Document& document, const std::string& pointer, const json::value& value, Collection<T>& into,
                std::string_view kind) {
    if (value.is_null()) return;
    if (!value.is_object()) return fault(document, pointer, "expected a map of names");
    for (const auto& each : value.get_object()) {
      std::string name(each.key());
      std::string at = pointer;
      append_pointer_token(at, name);
      if (!is_name(name))
        fault(document, at, json_quoted(name) + " is not a name: small letters, digits and hyphens, at most 63");
      if constexpr (std::same_as<T, json::value>) {
        if (!each.value().is_null()) fault(document, at, "a group has no body");
      }
      auto one = read_one<T>(document, at, each.value());
      if (auto known = into.find(name); known != into.end()) {
        fault(document, at,
              "the " + std::string(kind) + " " + json_quoted(name) +
                  " is there already: " + to_string(*known->second.document->position_of(known->second.pointer)));
      } else if (one) {
        into.emplace(name, Placed<T>{*std::move(one), &document, at});
      } else {
        broken_.insert(name);
      }
    }
  }

  template <class T>
  void take_rules(const Document& document, const std::string& pointer, const json::value& value,
                  std::string_view member, std::vector<Placed<T>>& into) {
    if (value.is_null()) return;
    if (!value.is_array()) return fault(document, pointer, "expected a list of rules");
    size_t index = 0;
    for (const json::value& rule : value.get_array()) {
      const std::string at = pointer + "/" + std::to_string(index++);
      if (!rule.is_object()) {
        fault(document, at, "expected a rule: { type: enum, " + std::string(member) + ": […] }");
        continue;
      }
      const json::value* type = rule.get_object().if_contains("type");
      if (type == nullptr || *type != "enum") {
        fault(document, type == nullptr ? at : at + "/type", "the type of a rule is \"enum\"");
        continue;
      }
      for (const auto& each : rule.get_object()) {
        if (each.key() == "type") continue;
        if (each.key() != member) {
          fault(document, at + "/" + std::string(each.key()), "unknown field");
          continue;
        }
        if (!each.value().is_array()) {
          fault(document, at + "/" + std::string(member), "expected a list");
          continue;
        }
        size_t place = 0;
        for (const json::value& one : each.value().get_array()) {
          const std::string here = at + "/" + std::string(member) + "/" + std::to_string(place++);
          if (auto read = read_one<T>(document, here, one)) into.push_back({*std::move(read), &document, here});
        }
      }
    }
  }

 public:
  std::set<std::string> broken_;  // entries that are there and cannot be read: nobody is told that they are missing
};

class Resolver {
 public:
  Resolver(Reader& reader, const ReadSigner& read_signer) : reader_(reader), read_signer_(read_signer) {}

  Model model;

  void run() {
    if (!reader_.rete) {
      if (reader_.faults.empty() ||
          std::ranges::none_of(reader_.faults, [](const Error& each) { return each.path.starts_with("/rete"); })) {
        reader_.faults.push_back(
            {.code = Code::invalid, .message = "no file has a section rete", .next = "sluice mesh init writes one"});
      }
    } else {
      take_rete();
    }
    for (const auto& [name, node] : reader_.nodes)
      model.labelled = model.labelled || std::ranges::any_of(node.value.vertices, [](const VertexEntry& each) {
                         return each.kind == VertexKind::mesh;
                       });
    check_names();
    for (const auto& [name, node] : reader_.nodes) take_node(name, node);
    for (const auto& [name, role] : reader_.roles)
      check_known(role, "/allow", role.value.allow, reader_.groups, "group");
    for (const auto& [name, service] : reader_.services) take_service(name, service);
    for (const auto& [name, user] : reader_.users) take_user(name, user);
    check_reserved();
    for (const auto& link : reader_.links) take_link(link);
    for (const auto& path : reader_.paths) take_path(path);
    if (reader_.faults.empty()) take_pairs();
  }

 private:
  template <class T>
  void fault(const Placed<T>& placed, std::string_view below, std::string message, std::string next = "") {
    reader_.fault(placed, below, std::move(message), std::move(next));
  }

  template <class T>
  bool known(const Collection<T>& collection, const std::string& name) const {
    return collection.contains(name) || reader_.broken_.contains(name);
  }
  template <class T, class C>
  void check_known(const Placed<T>& placed, std::string_view below, const std::vector<Name>& names,
                   const Collection<C>& collection, std::string_view kind) {
    for (size_t i = 0; i < names.size(); ++i) {
      if (!known(collection, names[i]))
        fault(placed, std::string(below) + "/" + std::to_string(i), unknown(kind, names[i], collection));
    }
  }
  template <class C>
  static std::string unknown(std::string_view kind, const std::string& name, const Collection<C>& collection) {
    std::vector<std::string> names;
    for (const auto& each : collection) names.push_back(each.first);
    auto meant = nearest(name, std::span<const std::string>(names));
    return "there is no " + std::string(kind) + " " + json_quoted(name) +
           (meant ? ", did you mean " + json_quoted(*meant) + "?" : "");
  }

  void take_rete() {
    const Placed<Rete>& rete = *reader_.rete;
    const Rete& value = rete.value;
    if (!is_trust_domain(value.name))
      fault(rete, "/name", "this is not a trust domain: small letters, digits, dots, hyphens");
    model.trust_domain = value.name;
    model.ca_cert = value.ca.cert;
    model.ca_days = value.ca.validity_days.value_or(3650);
    if (value.tls_principals) model.leaf_days = value.tls_principals->validity_days.value_or(90);
    if (value.artifacts && value.artifacts->validity_days) model.artifact_days = *value.artifacts->validity_days;
    if (value.signers.mgmt.keys.empty()) fault(rete, "/signers/mgmt/keys", "at least one signer is needed");
    take_signers(value.signers.mgmt, "management-plane", "/signers/mgmt", model.mgmt_signers, model.mgmt_days,
                 model.mgmt_threshold);
    if (value.signers.ctrl)
      take_signers(*value.signers.ctrl, "control-plane", "/signers/ctrl", model.ctrl_signers, model.ctrl_days,
                   model.ctrl_threshold);
  }

  void take_signers(const SignerSet& set, std::string_view kind, const std::string& below,
                    std::vector<SignerModel>& into, int64_t& days, uint32_t& threshold) {
    const Placed<Rete>& rete = *reader_.rete;
    days = set.validity_days.value_or(365);
    threshold = set.threshold.value_or(1);
    if (threshold < 1 || threshold > std::max<size_t>(set.keys.size(), 1))
      fault(rete, below + "/threshold", "the threshold must be between 1 and the number of keys");
    for (size_t i = 0; i < set.keys.size(); ++i) {
      const std::string at = below + "/keys/" + std::to_string(i);
      SignerModel signer{.name = set.keys[i].name, .cert = set.keys[i].cert};
      if (std::ranges::any_of(into, [&](const SignerModel& each) { return each.name == signer.name; }))
        fault(rete, at + "/name", "the signer " + json_quoted(signer.name) + " is there twice");
      auto key = read_signer_(signer.cert, model.id(kind, signer.name));
      if (key) {
        signer.key = *key;
      } else {
        fault(rete, at + "/cert", key.error().message, key.error().next);
      }
      into.push_back(std::move(signer));
    }
  }

  void check_names() {
    std::map<std::string, std::string> seen;
    const auto check = [&](const auto& collection, const std::string& kind) {
      for (const auto& [name, placed] : collection) {
        if (is_reserved(name)) fault(placed, "", json_quoted(name) + " is a reserved word");
        auto [first, added] = seen.emplace(name, kind);
        if (!added)
          fault(placed, "",
                json_quoted(name) + " is already the name of a " + first->second +
                    "; principals have names of their own");
      }
    };
    check(reader_.nodes, "node");
    check(reader_.services, "service");
    check(reader_.users, "user");
  }

  void take_node(const std::string& name, const Placed<NodeEntry>& node) {
    NodeModel made{.name = name};
    std::set<std::string> names;
    const auto& entries = node.value.vertices;
    for (size_t i = 0; i < entries.size(); ++i) {
      const std::string at = "/vertices/" + std::to_string(i);
      const std::string type = entries[i].type == LinkType::quic ? "quic" : "udp";
      const std::string vertex = entries[i].name ? std::string(*entries[i].name) : type;
      if (!names.insert(vertex).second) fault(node, at, "the vertex " + json_quoted(vertex) + " is there twice");
      if (vertex == "agent" || vertex == "manifest") fault(node, at, json_quoted(vertex) + " is a reserved word");
      if (entries[i].kind == VertexKind::mesh) {
        if (entries[i].address)
          fault(node, at + "/address", "a mesh vertex has no address: the link vertices that it uses have");
        if (entries[i].type != LinkType::quic) fault(node, at + "/type", "a mesh vertex is of type quic");
        MeshVertex mesh{.name = vertex};
        if (!entries[i].uses || entries[i].uses->empty())
          fault(node, at, "a mesh vertex uses at least one link vertex");
        for (const Name& each : entries[i].uses.value_or(std::vector<Name>())) mesh.uses.push_back(each);
        made.meshes.push_back(std::move(mesh));
      } else {
        if (entries[i].uses) fault(node, at + "/uses", "only a mesh vertex uses others");
        made.links.push_back({.name = vertex, .type = entries[i].type, .address = entries[i].address});
      }
    }
    std::set<std::string> used;
    for (const MeshVertex& mesh : made.meshes) {
      for (const std::string& each : mesh.uses) {
        if (find_link(made, each) == nullptr)
          fault(node, "/vertices",
                "the mesh vertex " + json_quoted(mesh.name) + " uses " + json_quoted(each) +
                    ", which is no link vertex of this node");
        if (!used.insert(each).second)
          fault(node, "/vertices", "the link vertex " + json_quoted(each) + " is used twice");
      }
    }
    if (made.links.empty()) fault(node, "", "a node needs a link vertex");
    if (model.labelled && made.meshes.empty()) fault(node, "", "a node needs a mesh vertex, as other nodes have one");
    if (!model.labelled && made.links.size() > 1)
      fault(node, "", "without mesh vertices a node has exactly one link vertex");
    if (!model.labelled && !made.links.empty() && made.links.front().type != LinkType::quic)
      fault(node, "/vertices/0", "without mesh vertices a link vertex is of type quic");
    made.agent_vertex = vertex_for(node, "/agent_via", made, node.value.agent_via);
    model.nodes.push_back(std::move(made));
  }

  static const LinkVertex* find_link(const NodeModel& node, std::string_view name) {
    for (const LinkVertex& each : node.links) {
      if (each.name == name) return &each;
    }
    return nullptr;
  }

  // The vertex that serves principals: the one that is named, or the only one.
  template <class T>
  std::string vertex_for(const Placed<T>& placed, const std::string& below, const NodeModel& node,
                         const std::optional<Name>& via) {
    std::vector<std::string> fit;
    for (const MeshVertex& each : node.meshes) fit.push_back(each.name);
    if (!model.labelled) {
      for (const LinkVertex& each : node.links) fit.push_back(each.name);
    }
    if (via) {
      if (std::ranges::find(fit, *via) != fit.end()) return *via;
      std::string candidates;
      for (const std::string& each : fit) candidates += (candidates.empty() ? "" : ", ") + each;
      fault(placed, below,
            (find_link(node, *via) != nullptr
                 ? "the link vertex " + json_quoted(*via) + " of " + node.name + " serves no principals here"
                 : "the node " + node.name + " has no vertex " + json_quoted(*via)) +
                "; candidates: " + candidates);
      return fit.empty() ? "" : fit.front();
    }
    if (fit.size() == 1) return fit.front();
    if (fit.size() > 1) {
      std::string candidates;
      for (const std::string& each : fit) candidates += (candidates.empty() ? "" : ", ") + each;
      fault(placed, "", "the node " + node.name + " has several vertices, so say which: " + candidates);
      return fit.front();
    }
    return "";
  }

  void take_service(const std::string& name, const Placed<ServiceEntry>& service) {
    const ServiceEntry& entry = service.value;
    check_known(service, "/groups", entry.groups.value_or(std::vector<Name>()), reader_.groups, "group");
    check_known(service, "/roles", entry.roles.value_or(std::vector<Name>()), reader_.roles, "role");
    if (entry.socks5_proxy && entry.roles.value_or(std::vector<Name>()).empty())
      fault(service, "/socks5_proxy", "a service that dials needs a role");
    const NodeModel* node = model.node(entry.at);
    if (node == nullptr) {
      if (!known(reader_.nodes, entry.at)) fault(service, "/at", unknown("node", entry.at, reader_.nodes));
      return;
    }
    const bool of_node = entry.scope == ServiceScope::node;
    if (!model.labelled && !node->links.empty() && !node->links.front().address)
      fault(service, "/at", "the node " + node->name + " has no address, so nobody can reach a service there");
    model.services.push_back({.id = model.id("service", of_node ? std::string(entry.at) + "/" + name : name),
                              .name = name,
                              .node = entry.at,
                              .vertex = vertex_for(service, "/via", *node, entry.via),
                              .addr = entry.addr,
                              .socks5 = entry.socks5_proxy});
  }

  void take_user(const std::string& name, const Placed<UserEntry>& user) {
    check_known(user, "/roles", user.value.roles.value_or(std::vector<Name>()), reader_.roles, "role");
    UserModel made{.id = model.id("user", name), .name = name};
    for (size_t i = 0; i < user.value.nodes.size(); ++i) {
      const UserPlace& place = user.value.nodes[i];
      const std::string at = "/nodes/" + std::to_string(i);
      const NodeModel* node = model.node(place.at);
      if (node == nullptr) {
        if (!known(reader_.nodes, place.at)) fault(user, at + "/at", unknown("node", place.at, reader_.nodes));
        continue;
      }
      std::pair<std::string, std::string> where{place.at, vertex_for(user, at + "/via", *node, place.via)};
      if (std::ranges::find(made.places, where) != made.places.end()) fault(user, at, "the user is there twice");
      made.places.push_back(std::move(where));
    }
    model.users.push_back(std::move(made));
  }

  static bool has(const std::optional<std::vector<Name>>& names, std::string_view name) {
    return names && std::ranges::any_of(*names, [&](const Name& each) { return each == name; });
  }

  // The config server, who may read and who may publish there.
  void check_reserved() {
    const auto missing = [&](std::string message) {
      if (reader_.faults.size() < kMaxFaults)
        reader_.faults.push_back({.code = Code::invalid, .message = std::move(message)});
    };
    const auto group_of = [&](const std::string& service, std::string_view group) {
      const auto found = reader_.services.find(service);
      if (found == reader_.services.end()) {
        if (!reader_.broken_.contains(service))
          missing("there is no service " + service + ", from which nodes get their artifacts");
      } else if (!has(found->second.value.groups, group)) {
        fault(found->second, "", "the service " + service + " is in the group " + std::string(group));
      }
    };
    group_of("config-server", "config-read");
    group_of("config-publisher", "config-write");
    const ServiceModel* server = find_service("config-server");
    const ServiceModel* publisher = find_service("config-publisher");
    if (server != nullptr && publisher != nullptr && server->node != publisher->node)
      fault(reader_.services.at("config-publisher"), "/at", "config-server and config-publisher are on one node");
    if (server != nullptr) {
      const NodeModel* node = model.node(server->node);
      if (std::ranges::none_of(node->links,
                               [](const LinkVertex& each) { return each.type == LinkType::quic && each.address; })) {
        fault(reader_.services.at("config-server"), "/at",
              "the node of the config server needs a link vertex of type quic with an address");
      }
    }
    const auto role_is = [&](const std::string& role, const std::string& group) {
      const auto found = reader_.roles.find(role);
      if (found == reader_.roles.end()) {
        if (!reader_.broken_.contains(role)) missing("there is no role " + role + ": { allow: [" + group + "] }");
      } else if (found->second.value.allow != std::vector<Name>{Name(group)}) {
        fault(found->second, "/allow", "the role " + role + " allows " + group + " and nothing else");
      }
    };
    role_is("node", "config-read");
    role_is("operator", "config-write");
    if (std::ranges::none_of(reader_.users,
                             [&](const auto& each) { return has(each.second.value.roles, "operator"); })) {
      missing("no user has the role operator: nobody could publish");
    }
  }

  const ServiceModel* find_service(std::string_view name) const {
    for (const ServiceModel& each : model.services) {
      if (each.name == name) return &each;
    }
    return nullptr;
  }

  static bool is_private(const HostPort& address) {
    const std::string_view host = address.host();
    if (host.starts_with("10.") || host.starts_with("192.168.") || host.starts_with("127.") ||
        host.starts_with("169.254.") || host.starts_with("fd") || host.starts_with("fe80:") || host == "::1")
      return true;
    if (!host.starts_with("172.")) return false;
    const long second = std::strtol(std::string(host.substr(4, 3)).c_str(), nullptr, 10);
    return second >= 16 && second <= 31;
  }

  void take_link(const Placed<LinkEntry>& link) {
    if (!model.labelled) return fault(link, "", "links are between mesh vertices, and there are none");
    LinkModel made;
    const LinkVertex* ends[2] = {};
    for (int side = 0; side < 2; ++side) {
      const End& end = side == 0 ? link.value.a : link.value.b;
      const std::string below = side == 0 ? "/a" : "/b";
      const Name* simple = std::get_if<Name>(&end);
      const std::string node_name =
          simple != nullptr ? std::string(*simple) : std::string(std::get<EndObject>(end).node);
      const NodeModel* node = model.node(node_name);
      if (node == nullptr) {
        if (!known(reader_.nodes, node_name)) fault(link, below, unknown("node", node_name, reader_.nodes));
        return;
      }
      std::string vertex;
      if (simple == nullptr) {
        vertex = std::get<EndObject>(end).vertex;
        if (link.value.via)
          return fault(link, "/via", "via is for links whose ends are named alike; here each end names its vertex");
      } else if (link.value.via) {
        vertex = *link.value.via;
      } else if (node->links.size() == 1) {
        vertex = node->links.front().name;
      } else {
        return fault(link, "", "the node " + node_name + " has several link vertices: say which with via");
      }
      ends[side] = find_link(*node, vertex);
      if (ends[side] == nullptr)
        return fault(link, below, "the node " + node_name + " has no link vertex " + json_quoted(vertex));
      if (std::ranges::none_of(node->meshes, [&](const MeshVertex& each) {
            return std::ranges::find(each.uses, vertex) != each.uses.end();
          })) {
        return fault(link, below, "no mesh vertex of " + node_name + " uses " + json_quoted(vertex));
      }
      (side == 0 ? made.a_node : made.b_node) = node_name;
      (side == 0 ? made.a_vertex : made.b_vertex) = vertex;
    }
    if (made.a_node == made.b_node) return fault(link, "", "a link joins two nodes");
    if (ends[0]->type != ends[1]->type)
      return fault(link, "", "the ends of a link are of one type, and these are of quic and of udp");
    if (!ends[0]->address && !ends[1]->address)
      return fault(link, "", "neither end has an address, so nobody can dial");
    made.type = ends[0]->type;
    for (const LinkVertex* end : ends) {
      if (end->address && made.type == LinkType::udp && !is_private(*end->address))
        fault(link, "",
              "a link of type udp is not encrypted, so it stays in private networks: " + std::string(*end->address) +
                  " is public");
    }
    if (ends[0]->address && ends[1]->address && is_private(*ends[0]->address) != is_private(*ends[1]->address)) {
      fault(link, "",
            std::string(*ends[0]->address) + " and " + std::string(*ends[1]->address) +
                " cannot reach each other: one is public, the other private");
    }
    if (std::tie(made.b_node, made.b_vertex) < std::tie(made.a_node, made.a_vertex)) {
      std::swap(made.a_node, made.b_node);
      std::swap(made.a_vertex, made.b_vertex);
    }
    for (const LinkModel& other : model.links) {
      if (std::tie(other.a_node, other.a_vertex, other.b_node, other.b_vertex) ==
          std::tie(made.a_node, made.a_vertex, made.b_node, made.b_vertex))
        return fault(link, "", "this link is there twice");
    }
    model.links.push_back(std::move(made));
  }

  void take_path(const Placed<PathEntry>& path) {
    const PathEntry& entry = path.value;
    const ServiceModel* target = find_service(entry.to);
    if (target == nullptr) {
      if (!known(reader_.services, entry.to)) fault(path, "/to", unknown("service", entry.to, reader_.services));
      return;
    }
    PathModel made{.from = entry.from, .service = entry.to};
    std::string vertex;
    if (const ServiceModel* service = find_service(entry.principal)) {
      made.principal = service->id;
      if (service->node != entry.from)
        return fault(path, "/from", "the service " + service->name + " is at " + service->node);
      vertex = service->vertex;
    } else if (reader_.users.contains(entry.principal)) {
      made.principal = model.id("user", entry.principal);
      for (const UserModel& user : model.users) {
        for (const auto& [node, served] : user.places) {
          if (user.id == made.principal && node == entry.from) vertex = served;
        }
      }
      if (vertex.empty())
        return fault(path, "/from",
                     "the user " + std::string(entry.principal) + " is not at " + std::string(entry.from));
    } else if (const NodeModel* node = model.node(entry.principal)) {
      made.principal = model.id("node", entry.principal);
      if (entry.from != node->name) return fault(path, "/from", "the node " + node->name + " is at " + node->name);
      vertex = node->agent_vertex;
    } else {
      if (!reader_.broken_.contains(entry.principal))
        fault(path, "/principal", "there is no user, service or node " + json_quoted(entry.principal));
      return;
    }
    if (entry.hops.empty()) return fault(path, "/hops", "a path has at least one hop");
    std::string at = entry.from;
    std::set<std::string> seen = {at};
    for (size_t i = 0; i < entry.hops.size(); ++i) {
      const HopEntry& hop = entry.hops[i];
      const std::string below = "/hops/" + std::to_string(i);
      const NodeModel* node = model.node(hop.node);
      if (node == nullptr) {
        if (!known(reader_.nodes, hop.node)) fault(path, below + "/node", unknown("node", hop.node, reader_.nodes));
        return;
      }
      if (!seen.insert(hop.node).second)
        return fault(path, below + "/node", "the path comes to " + std::string(hop.node) + " twice");
      const std::string next = vertex_for(path, below + "/vertex", *node, hop.vertex);
      size_t fit = 0;
      for (const LinkModel& link : model.links) {
        const bool forth = link.a_node == at && link.b_node == hop.node;
        const bool back = link.b_node == at && link.a_node == hop.node;
        if ((forth || back) && (!hop.via || *hop.via == (forth ? link.a_vertex : link.b_vertex))) ++fit;
      }
      if (fit == 0) return fault(path, below, "no allowed link leads from " + at + " to " + std::string(hop.node));
      if (fit > 1)
        return fault(path, below,
                     "several links lead from " + at + " to " + std::string(hop.node) + ": say which with via");
      made.hops.push_back({.node = hop.node, .vertex = next, .via = hop.via ? std::string(*hop.via) : ""});
      at = hop.node;
    }
    if (at != target->node || made.hops.back().vertex != target->vertex)
      return fault(path, "/hops", "the path ends at " + at + ", and " + target->name + " is at " + target->node);
    model.paths.push_back(std::move(made));
  }

  void take_pairs() {
    std::map<std::string, std::vector<size_t>> in_group;
    for (size_t i = 0; i < model.services.size(); ++i) {
      for (const Name& group : reader_.services.at(model.services[i].name).value.groups.value_or(std::vector<Name>()))
        in_group[group].push_back(i);
    }
    const auto reach = [&](const std::vector<Name>& roles) {
      std::set<size_t> services;
      for (const Name& role : roles) {
        for (const Name& group : reader_.roles.at(role).value.allow)
          services.insert(in_group[group].begin(), in_group[group].end());
      }
      return services;
    };
    const auto add = [&](const SpiffeId& initiator, const std::string& node, const std::string& vertex,
                         const std::set<size_t>& services) {
      for (size_t service : services) {
        if (model.services[service].id != initiator) model.pairs.push_back({initiator, node, vertex, service});
      }
    };
    const std::set<size_t> of_nodes = reach({Name("node")});
    for (const NodeModel& node : model.nodes) add(model.id("node", node.name), node.name, node.agent_vertex, of_nodes);
    for (const ServiceModel& service : model.services) {
      add(service.id, service.node, service.vertex,
          reach(reader_.services.at(service.name).value.roles.value_or(std::vector<Name>())));
    }
    for (const UserModel& user : model.users) {
      const std::set<size_t> services = reach(reader_.users.at(user.name).value.roles.value_or(std::vector<Name>()));
      for (const auto& [node, vertex] : user.places) add(user.id, node, vertex, services);
    }
  }

  Reader& reader_;
  const ReadSigner& read_signer_;
};

// `*` and `?` stay within a folder, `**` does not.
bool matches(std::string_view pattern, std::string_view path) {
  if (pattern.empty()) return path.empty();
  if (pattern.starts_with("**/")) {
    if (matches(pattern.substr(3), path)) return true;
    const size_t slash = path.find('/');
    return slash != std::string_view::npos && matches(pattern, path.substr(slash + 1));
  }
  if (pattern == "**") return true;
  if (pattern.front() == '*') {
    for (size_t i = 0;; ++i) {
      if (matches(pattern.substr(1), path.substr(i))) return true;
      if (i == path.size() || path[i] == '/') return false;
    }
  }
  if (path.empty() || (pattern.front() != path.front() && (pattern.front() != '?' || path.front() == '/')))
    return false;
  return matches(pattern.substr(1), path.substr(1));
}

Result<void> gather(Disk& disk, const std::string& folder, const std::string& below, std::vector<std::string>& names) {
  auto entries = disk.list(below.empty() ? folder : folder + "/" + below);
  if (!entries) return entries.error();
  for (const FolderEntry& each : *entries) {
    if (each.name.starts_with('.')) continue;
    const std::string name = below.empty() ? each.name : below + "/" + each.name;
    if (each.kind == FileKind::folder) {
      if (below.empty() && (each.name == "certs" || each.name == "keys" || each.name == "compiled")) continue;
      if (auto gone = gather(disk, folder, name, names); !gone) return gone;
    } else if (each.kind == FileKind::file && (name.ends_with(".yaml") || name.ends_with(".yml"))) {
      names.push_back(name);
    }
  }
  return {};
}

}  // namespace facade

const NodeModel* Model::node(std::string_view name) const {
  const auto found = std::ranges::lower_bound(nodes, name, {}, &NodeModel::name);
  return found != nodes.end() && found->name == name ? &*found : nullptr;
}

SpiffeId Model::id(std::string_view kind, std::string_view name) const {
  return SpiffeId("spiffe://" + trust_domain + "/" + std::string(kind) + "/" + std::string(name));
}
SpiffeId Model::vertex_id(std::string_view node, std::string_view vertex) const {
  return id("vertex", std::string(node) + "/" + std::string(vertex));
}

Resolved resolve(const std::vector<SourceFile>& files, const ReadSigner& read_signer) {
  facade::Reader reader;
  for (const SourceFile& file : files) reader.take(file);
  facade::Resolver resolver(reader, read_signer);
  resolver.run();
  std::ranges::stable_sort(reader.faults, [](const Error& a, const Error& b) {
    const auto key = [](const Error& each) {
      return each.position ? std::tuple(0, each.position->file, each.position->line, each.position->column)
                           : std::tuple(1, std::string(), 0U, 0U);
    };
    return key(a) < key(b);
  });
  return {std::move(resolver.model), std::move(reader.faults)};
}

Result<std::vector<SourceFile>> read_sources(Disk& disk, const std::string& folder) {
  std::vector<std::string> names;
  if (auto gathered = facade::gather(disk, folder, "", names); !gathered) return gathered.error();
  const auto read = [&](const std::string& name) {
    return read_file(disk, folder + "/" + name, facade::kMaxSourceBytes);
  };
  auto root = read("rete.yaml");
  if (!root) {
    return Error{.code = root.error().code,
                 .message = root.error().message,
                 .next = "a mesh has a rete.yaml in its folder; sluice mesh init writes one"};
  }
  facade::Source source;
  if (auto document = parse_yaml(*root, "rete.yaml"); document && document->root.is_object()) {
    if (const json::value* said = document->root.get_object().if_contains("source")) {
      if (auto error = reader::read_into(*said, Place(), source)) source = {};  // resolve tells of it
    }
  }
  const auto any = [](const std::optional<std::vector<std::string>>& patterns, const std::string& name) {
    return patterns &&
           std::ranges::any_of(*patterns, [&](const std::string& each) { return facade::matches(each, name); });
  };
  std::vector<SourceFile> files;
  for (const std::string& name : names) {
    if (name != "rete.yaml" && ((source.include && !any(source.include, name)) || any(source.exclude, name))) continue;
    auto text = read(name);
    if (!text) return text.error();
    files.push_back({name, *std::move(text)});
  }
  return files;
}

}  // namespace sluice::mesh
