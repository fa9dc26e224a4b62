// A node's set has one version, so its mgmt artifacts are signed together or not at all. A ctrl artifact names the mgmt
// version that it obeys, so a new mgmt version makes a new ctrl version.
#include "mesh/tree.h"

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/atomic_file.h"
#include "base/canonical_json.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "crypto/base64.h"
#include "crypto/sha256.h"
#include "mesh/authority.h"
#include "mesh/signature.h"

namespace sluice::mesh {
namespace tree {

constexpr int64_t kDay_ms = 24LL * 3600 * 1000;

std::string digest(const json::value& value) { return crypto::to_string(crypto::sha256(canonical(value).value())); }

// One artifact to be: what it says, and where it goes.
struct Draft {
  std::string path;
  std::string name;
  ArtifactKind kind = ArtifactKind::vertex;
  json::value payload;
  bool newer = false;
};

template <class T>
Draft draft(std::string path, std::string name, ArtifactKind kind, const T& payload) {
  return {.path = std::move(path),
          .name = std::move(name),
          .kind = kind,
          .payload = to_json(payload),
          .newer = needs_newer_schema(Payload(payload))};
}

// Whom the nodes of a tree trust: what the agent's artifact says; nothing before the first.
std::optional<Trust> trust_in(const TreeFiles& files, const std::string& node, const std::string& trust_domain) {
  const auto file = files.find(node + "/mgmt/agent.json");
  if (file == files.end()) return std::nullopt;
  auto agent = parse_artifact(file->second);
  if (!agent || !std::holds_alternative<Agent>(agent->payload)) return std::nullopt;
  return trust_of(std::get<Agent>(agent->payload), trust_domain);
}

// Decides which streams are new. A stream is the mgmt artifacts of a node, or one ctrl artifact.
class Drafting {
 public:
  Drafting(const Model& model, const TreeFiles& before, const TreeFiles& drafts, int64_t now_ms)
      : model_(model), before_(before), drafts_(drafts), now_ms_(now_ms) {}

  TreeDraft made;

  void node(const std::string& name, const NodePayloads& payloads, Ledger& ledger) {
    std::vector<Draft> drafts = {draft(name + "/mgmt/agent.json", "agent", ArtifactKind::agent, payloads.agent)};
    for (const auto& [vertex, payload] : payloads.vertices)
      drafts.push_back(draft(name + "/mgmt/vertices/" + vertex + ".json", vertex, ArtifactKind::vertex, payload));
    StreamEntry& mgmt = ledger.mgmt[name];
    // Nodes judge it by the signers that they know, so it may need as many signatures as before.
    const auto known = trust_in(before_, name, model_.trust_domain);
    stream(name, drafts, mgmt, json::value("mgmt"),
           std::max(model_.mgmt_threshold, known ? known->mgmt_threshold : uint32_t{1}));
    for (const auto& [vertex, payload] : payloads.ctrl) {
      const std::vector<Draft> one = {
          draft(name + "/ctrl/vertices/" + vertex + ".json", vertex, ArtifactKind::vertex, payload)};
      const json::value plane = {{"ctrl", {{"obeys_mgmt_version", mgmt.version}}}};
      stream(name, one, ledger.ctrl[name + "/" + vertex], plane, model_.ctrl_threshold);
    }
  }

 private:
  void stream(const std::string& node, const std::vector<Draft>& drafts, StreamEntry& entry, const json::value& plane,
              uint32_t threshold) {
    json::array said = {plane};
    for (const Draft& each : drafts) said.push_back({json::string(each.path), each.payload});
    const std::string digest = tree::digest(said);
    if (entry.digest == digest) {
      if (std::ranges::all_of(drafts, [&](const Draft& each) { return holds_on(each, entry.version); })) {
        for (const Draft& each : drafts) made.kept[each.path] = before_.at(each.path);
        return;
      }
      if (std::ranges::all_of(drafts, [&](const Draft& each) { return waits(each, node, entry.version, plane); })) {
        for (const Draft& each : drafts) made.drafts[each.path] = drafts_.at(each.path);
        return;
      }
    }
    entry = {entry.version + 1, digest};
    for (const Draft& each : drafts) {
      json::object envelope = {
          {"schema_version", each.newer || threshold > 1 || model_.artifact_days.has_value() ? "1.1" : "1.0"},
          {"plane", plane},
          {"kind", each.kind == ArtifactKind::agent ? "agent" : "vertex"},
          {"version", entry.version},
          {"node", node},
          {"name", each.name},
          {"generated_at", utc_text(now_ms_)}};
      if (model_.artifact_days) envelope["expires_at"] = utc_text(now_ms_ + *model_.artifact_days * kDay_ms);
      envelope["payload"] = each.payload;
      made.drafts[each.path] = write_pretty(envelope);
    }
  }

  // Whether the file is there, says this under this version, and holds for another third of its time. A crash between
  // ledger and tree leaves a file of an older version.
  bool holds_on(const Draft& draft, uint64_t version) const {
    const auto file = before_.find(draft.path);
    if (file == before_.end()) return false;
    auto artifact = parse_artifact(file->second);
    if (!artifact || artifact->envelope.version != version || artifact->tree.at("payload") != draft.payload)
      return false;
    return lasts(artifact->envelope.expires_at);
  }

  // The same of a draft. It is looked at field by field: without its signature it is no artifact yet.
  bool waits(const Draft& draft, const std::string& node, uint64_t version, const json::value& plane) const {
    const auto file = drafts_.find(draft.path);
    if (file == drafts_.end()) return false;
    auto document = parse_json(file->second, draft.path);
    if (!document || !document->root.is_object()) return false;
    const json::object& envelope = document->root.get_object();
    const auto says = [&](std::string_view field, const json::value& value) {
      const json::value* there = envelope.if_contains(field);
      return there != nullptr && *there == value;
    };
    std::optional<UtcTime> expires;
    if (const json::value* at = envelope.if_contains("expires_at")) {
      auto time = JsonScalar<UtcTime>::parse(at->is_string() ? std::string_view(at->get_string()) : "");
      if (!time) return false;
      expires = *time;
    }
    return says("payload", draft.payload) && says("version", version) && says("node", json::value(node)) &&
           says("name", json::value(draft.name)) && says("plane", plane) && lasts(expires);
  }

  bool lasts(const std::optional<UtcTime>& expires) const {
    if (!expires) return !model_.artifact_days;
    return model_.artifact_days && expires->ms() - now_ms_ > *model_.artifact_days * kDay_ms / 3;
  }

  const Model& model_;
  const TreeFiles& before_;
  const TreeFiles& drafts_;
  int64_t now_ms_;
};

std::string_view node_in(std::string_view path) { return path.substr(0, path.find('/')); }
bool is_ctrl_path(std::string_view path) { return path.find("/ctrl/") != std::string_view::npos; }

// A list of signers, and how many of them must have signed.
struct Quorum {
  std::vector<Signer> signers;
  uint32_t threshold = 1;

  bool has(const SigningKey& key) const {
    const std::string pubkey = crypto::to_base64(key.key.public_key().raw());
    return std::ranges::any_of(signers,
                               [&](const Signer& each) { return each.spiffe_id == key.id && each.pubkey == pubkey; });
  }
  bool reached(const json::object& envelope) const {
    uint32_t count = 0;
    const auto see = [&](const json::value& signature) {
      const std::string_view id = signature.at("key_id").as_string();
      if (std::ranges::any_of(signers, [&](const Signer& each) { return each.spiffe_id == id; })) ++count;
    };
    if (const json::value* first = envelope.if_contains("signature")) see(*first);
    if (const json::value* more = envelope.if_contains("cosignatures")) {
      for (const json::value& each : more->as_array()) see(each);
    }
    return count >= threshold;
  }
};

// Signs with as few of the keys as reach all quorums; those that are in more of them first. A node that follows a
// change of signers judges by both the old ones and the new ones.
Result<json::object> sign_for(json::object envelope, const std::string& trust_domain,
                              const std::vector<Quorum>& quorums, const std::vector<SigningKey>& keys) {
  const auto reached = [&] {
    return std::ranges::all_of(quorums, [&](const Quorum& each) { return each.reached(envelope); });
  };
  for (size_t in = quorums.size(); in > 0; --in) {
    for (const SigningKey& key : keys) {
      if (reached()) return envelope;
      const auto count = std::ranges::count_if(quorums, [&](const Quorum& each) { return each.has(key); });
      if (static_cast<size_t>(count) != in) continue;
      if (in < quorums.size() && envelope.contains("signature") && envelope.at("schema_version").as_string() == "1.0") {
        return Error{.code = Code::conflict,
                     .message = "no signer is in both the old list and the new one, so nodes could not follow",
                     .next = "list the old signer and the new one together, sign, and drop the old one after that"};
      }
      auto with = sign(std::move(envelope), trust_domain, key.id, key.key);
      if (!with) return with.error();
      envelope = *std::move(with);
    }
  }
  return envelope;
}

// The agent's artifacts that changed signers, the first among them.
void keep_chain(const std::string& node, const TreeFiles& before, TreeFiles& after) {
  const std::string prefix = node + "/chain/";
  std::string last;
  uint64_t newest = 0;
  for (auto each = before.lower_bound(prefix); each != before.end() && each->first.starts_with(prefix); ++each) {
    after[each->first] = each->second;
    auto artifact = parse_artifact(each->second);
    if (!artifact || artifact->envelope.version < newest) continue;
    newest = artifact->envelope.version;
    last = write(to_json(std::get<Agent>(artifact->payload).trust));
  }
  const std::string& text = after.at(node + "/mgmt/agent.json");
  auto agent = parse_artifact(text).value();
  if (write(to_json(std::get<Agent>(agent.payload).trust)) != last)
    after[prefix + std::to_string(agent.envelope.version) + ".json"] = text;
}

Result<void> gather(Disk& disk, const std::string& folder, const std::string& below, TreeFiles& into) {
  auto entries = disk.list(below.empty() ? folder : folder + "/" + below);
  if (!entries) return entries.error();
  for (const FolderEntry& each : *entries) {
    const std::string name = below.empty() ? each.name : below + "/" + each.name;
    if (each.kind == FileKind::folder) {
      if (auto done = gather(disk, folder, name, into); !done) return done;
    } else if (each.kind == FileKind::file && name.ends_with(".json")) {
      auto text = read_file(disk, folder + "/" + name, kMaxArtifactBytes);
      if (!text) return text.error();
      into.emplace(name, *std::move(text));
    }
  }
  return {};
}

using Access = std::set<std::tuple<std::string, std::string, std::string>>;              // initiator, node, target
using Links = std::map<std::tuple<std::string, std::string, std::string>, std::string>;  // node, vertex, link: peer

void facts_of(const std::map<std::string, NodePayloads>& nodes, Access& access, Links& links) {
  for (const auto& [name, node] : nodes) {
    for (const auto& [vertex, payload] : node.vertices) {
      for (const Acl& acl : payload.egress.value_or(std::vector<Acl>())) {
        if (acl.target.kind() == "vertex") continue;
        for (const SpiffeId& initiator : acl.allow) access.emplace(initiator, name, acl.target);
      }
      for (const LinkRule& rule : payload.links) {
        for (const Link& link : rule.members)
          links[{name, vertex, link.name}] = link.peer + " " + write(to_json(link.via));
      }
    }
  }
}

template <class T>
void compare(VertexChange& change, const T& before, const T& after, std::string part, bool restarts) {
  if (write(to_json(before)) == write(to_json(after))) return;
  change.parts.push_back(std::move(part));
  change.restarts = change.restarts || restarts;
}

void compare_vertex(const std::string& node, const std::string& name, const NodePayloads& before,
                    const NodePayloads& after, std::vector<VertexChange>& changes) {
  VertexChange change{.node = node, .vertex = name};
  const auto old = before.vertices.find(name);
  const auto now = after.vertices.find(name);
  if (old == before.vertices.end() || now == after.vertices.end()) {
    change.parts.push_back(old == before.vertices.end() ? "added" : "removed");
    change.restarts = true;
  } else {
    const Vertex& a = old->second;
    const Vertex& b = now->second;
    const auto acl = [](const std::optional<std::vector<Acl>>& list) { return list.value_or(std::vector<Acl>()); };
    compare(change, std::vector<std::vector<Acl>>{acl(a.ingress), acl(a.egress)},
            std::vector<std::vector<Acl>>{acl(b.ingress), acl(b.egress)}, "access", false);
    compare(change, a.links, b.links, "links", false);
    compare(change, a.workloads, b.workloads, "workloads", true);
    compare(change, a.connection_manager, b.connection_manager, "adapters", true);
    compare(change, a.kind, b.kind, "kind", true);
    const auto old_ctrl = before.ctrl.find(name);
    const auto new_ctrl = after.ctrl.find(name);
    if (new_ctrl != after.ctrl.end())
      compare(change, old_ctrl == before.ctrl.end() ? Ctrl() : old_ctrl->second, new_ctrl->second, "routes", false);
  }
  if (!change.parts.empty()) changes.push_back(std::move(change));
}

}  // namespace tree

Result<TreeFiles> read_tree(Disk& disk, const std::string& folder) {
  TreeFiles files;
  auto there = disk.exists(folder);
  if (!there) return there.error();
  if (!*there) return files;
  if (auto done = tree::gather(disk, folder, "", files); !done) return done.error();
  return files;
}

Result<void> write_tree(Disk& disk, const std::string& folder, const TreeFiles& before, const TreeFiles& after) {
  for (const auto& [path, text] : after) {
    if (auto known = before.find(path); known != before.end() && known->second == text) continue;
    if (auto made = make_folders(disk, folder_of(folder + "/" + path), 0755); !made) return made;
    if (auto kept = write_atomically(disk, folder + "/" + path, text, 0644); !kept) return kept;
  }
  for (const auto& [path, text] : before) {
    if (after.contains(path)) continue;
    if (auto gone = disk.remove(folder + "/" + path); !gone) return gone;
  }
  return {};
}

TreeDraft draft_tree(const Model& model, const Compiled& compiled, Ledger& ledger, const TreeFiles& before,
                     const TreeFiles& drafts, int64_t now_ms) {
  tree::Drafting drafting(model, before, drafts, now_ms);
  for (const auto& [name, node] : compiled.nodes) drafting.node(name, node, ledger);
  return std::move(drafting.made);
}

Result<SignedTree> sign_drafts(const Model& model, const TreeDraft& draft, const TreeFiles& before,
                               const SigningKeys& keys) {
  const Trust now = trust_of(model);
  std::map<std::string, std::string> texts;
  std::set<std::string, std::less<>> unfinished;
  for (const auto& [path, text] : draft.drafts) {
    auto document = parse_json(text, path);
    if (!document) return document.error();
    const bool ctrl = tree::is_ctrl_path(path);
    std::vector<tree::Quorum> quorums;
    if (ctrl) {
      quorums.push_back({now.ctrl_signers, now.ctrl_threshold});
    } else {
      quorums.push_back({now.mgmt_signers, now.mgmt_threshold});
      if (auto known = tree::trust_in(before, std::string(tree::node_in(path)), model.trust_domain))
        quorums.push_back({known->mgmt_signers, known->mgmt_threshold});
    }
    auto made = tree::sign_for(std::move(document->root.as_object()), model.trust_domain, quorums,
                               ctrl ? keys.ctrl : keys.mgmt);
    if (!made) return made.error();
    if (!std::ranges::all_of(quorums, [&](const tree::Quorum& each) { return each.reached(*made); }))
      unfinished.emplace(tree::node_in(path));
    texts[path] = write_pretty(*made);
  }
  SignedTree made;
  std::set<std::string> nodes;
  const auto place = [&](const TreeFiles& files) {
    for (const auto& [path, text] : files) {
      const std::string_view node = tree::node_in(path);
      nodes.emplace(node);
      if (!unfinished.contains(node)) made.tree[path] = text;
    }
  };
  place(draft.kept);
  place(texts);
  for (const std::string& node : nodes) {
    if (!unfinished.contains(node)) {
      tree::keep_chain(node, before, made.tree);
      continue;
    }
    for (auto each = before.lower_bound(node + "/"); each != before.end() && tree::node_in(each->first) == node; ++each)
      made.tree.insert(*each);
    for (auto each = texts.lower_bound(node + "/"); each != texts.end() && tree::node_in(each->first) == node; ++each)
      made.drafts.insert(*each);
  }
  return made;
}

Result<TreeFiles> sign_tree(const Model& model, const Compiled& compiled, Ledger& ledger, const TreeFiles& before,
                            const SigningKeys& keys, int64_t now_ms) {
  auto made = sign_drafts(model, draft_tree(model, compiled, ledger, before, {}, now_ms), before, keys);
  if (!made) return made.error();
  if (made->drafts.empty()) return std::move(made->tree);
  const std::string& path = made->drafts.begin()->first;
  return Error{.code = Code::not_found,
               .message = "there is no key to sign the " + std::string(keys.mgmt.empty() ? "mgmt" : "ctrl") +
                          " artifacts of " + std::string(tree::node_in(path)),
               .next = "sluice mesh ca makes the keys of the signers that rete.yaml names"};
}

Result<std::map<std::string, NodePayloads>> payloads_of(const TreeFiles& files) {
  std::map<std::string, NodePayloads> nodes;
  for (const auto& [path, text] : files) {
    if (path.find("/chain/") != std::string::npos) continue;
    auto artifact = parse_artifact(text, path);
    if (!artifact) return artifact.error();
    NodePayloads& node = nodes[artifact->envelope.node];
    if (auto* agent = std::get_if<Agent>(&artifact->payload)) {
      node.agent = std::move(*agent);
    } else if (auto* vertex = std::get_if<Vertex>(&artifact->payload)) {
      node.vertices[artifact->envelope.name] = std::move(*vertex);
    } else {
      node.ctrl[artifact->envelope.name] = std::move(std::get<Ctrl>(artifact->payload));
    }
  }
  return nodes;
}

TreePlan plan_tree(const std::map<std::string, NodePayloads>& before,
                   const std::map<std::string, NodePayloads>& after) {
  TreePlan plan;
  tree::Access had, has;
  tree::Links old_links, new_links;
  tree::facts_of(before, had, old_links);
  tree::facts_of(after, has, new_links);
  for (const auto& [initiator, node, target] : has) {
    if (!had.contains({initiator, node, target})) plan.gains.push_back({initiator, node, target});
  }
  for (const auto& [initiator, node, target] : had) {
    if (!has.contains({initiator, node, target})) plan.loses.push_back({initiator, node, target});
  }
  const auto differing = [](const tree::Links& these, const tree::Links& those, std::vector<LinkChange>& into) {
    for (const auto& [key, said] : these) {
      if (auto other = those.find(key); other != those.end() && other->second == said) continue;
      into.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), said.substr(0, said.find(' '))});
    }
  };
  differing(new_links, old_links, plan.links_added);
  differing(old_links, new_links, plan.links_removed);
  std::set<std::string> names;
  for (const auto& each : before) names.insert(each.first);
  for (const auto& each : after) names.insert(each.first);
  const NodePayloads none;
  for (const std::string& name : names) {
    const NodePayloads& old = before.contains(name) ? before.at(name) : none;
    const NodePayloads& now = after.contains(name) ? after.at(name) : none;
    const size_t changes = plan.changes.size();
    VertexChange agent{.node = name, .vertex = "agent"};
    tree::compare(agent, old.agent.trust, now.agent.trust, "signers", false);
    tree::compare(agent, old.agent.vertices, now.agent.vertices, "vertices", false);
    tree::compare(agent, old.agent.control_plane, now.agent.control_plane, "config server", false);
    if (!agent.parts.empty()) plan.changes.push_back(std::move(agent));
    std::set<std::string> vertices;
    for (const auto& each : old.vertices) vertices.insert(each.first);
    for (const auto& each : now.vertices) vertices.insert(each.first);
    for (const std::string& vertex : vertices) tree::compare_vertex(name, vertex, old, now, plan.changes);
    if (plan.changes.size() > changes && after.contains(name)) plan.nodes.push_back(name);
  }
  return plan;
}

}  // namespace sluice::mesh
