// Everything is computed before the first byte is written. The ledger is written first: a version that it knows and
// that no file has yet only leaves a gap.
#include "mesh/mesh_folder.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <set>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "crypto/base64.h"
#include "mesh/authority.h"

namespace sluice::mesh {
namespace mesh_folder {

constexpr size_t kMaxLedger = 256 << 20;

constexpr std::string_view kRete = R"(# The mesh as a whole: its name, its CA, and who signs for it.
rete:
  name: DOMAIN
  ca: { cert: certs/ca.crt }
  signers:
    mgmt: { keys: [ { name: primary, cert: certs/management-planes/primary.crt } ] }
    ctrl: { keys: [ { name: primary, cert: certs/control-planes/primary.crt } ] }
)";

constexpr std::string_view kNodes =
    R"(# Hosts. A link vertex owns a UDP socket; a mesh vertex forwards over the link vertices that it uses.
# A link vertex without an address only dials.
nodes:
  hub:
    vertices:
      - { name: public, kind: link, type: quic, address: 192.0.2.1:4433 }
      - { name: rete, kind: mesh, type: quic, uses: [public] }
  web:
    vertices:
      - { name: public, kind: link, type: quic, address: 192.0.2.2:4433 }
      - { name: rete, kind: mesh, type: quic, uses: [public] }
  laptop:
    vertices:
      - { name: quic, kind: link, type: quic }
      - { name: rete, kind: mesh, type: quic, uses: [quic] }
allowed_links:
  - type: enum
    links:
      - { a: hub, b: web, via: public }
      - { a: { node: laptop, vertex: quic }, b: { node: hub, vertex: public } }
)";

constexpr std::string_view kAccess =
    R"(# Who may reach what: users and services have roles, roles allow groups, services are in groups.
services:
  config-server:    { at: hub, via: rete, addr: 127.0.0.1:9000, groups: [config-read] }
  config-publisher: { at: hub, via: rete, addr: 127.0.0.1:9001, groups: [config-write] }
  api:              { at: web, via: rete, addr: 127.0.0.1:8000, groups: [api] }
groups: { config-read: , config-write: , api: }
roles:
  node:      { allow: [config-read] }
  operator:  { allow: [config-write] }
  developer: { allow: [api] }
users:
  olga:  { roles: [operator], nodes: [ { at: hub, via: rete } ] }
  alice: { roles: [developer], nodes: [ { at: laptop, via: rete } ] }
)";

// A ledger that is lost or of another day would give out versions again that nodes have seen.
Result<void> check_ledger(const Ledger& ledger, const TreeFiles& tree) {
  for (const auto& [path, text] : tree) {
    if (!path.ends_with("/mgmt/agent.json")) continue;
    auto agent = parse_artifact(text, path);
    if (!agent) return agent.error();
    const auto known = ledger.mgmt.find(agent->envelope.node);
    if (known != ledger.mgmt.end() && known->second.version >= agent->envelope.version) continue;
    return Error{.code = Code::conflict,
                 .message = "ledger.json is missing or older than compiled/: it does not know version " +
                            std::to_string(agent->envelope.version) + " of " + agent->envelope.node +
                            ", which is signed; nothing was changed",
                 .next = "bring back from version control the ledger.json that belongs to compiled/"};
  }
  return {};
}

Result<Ledger> ledger_in(Disk& disk, const std::string& folder) {
  const std::string file = folder + "/ledger.json";
  auto there = disk.exists(file);
  if (!there) return there.error();
  if (!*there) return Ledger();
  auto text = read_file(disk, file, kMaxLedger);
  if (!text) return text.error();
  return parse_ledger(*text, file);
}

Result<void> keep(Disk& disk, const std::string& path, const std::string& text) {
  auto there = disk.exists(path);
  if (!there) return there.error();
  if (*there) {
    auto before = read_file(disk, path, kMaxLedger);
    if (before && *before == text) return {};
  }
  return write_atomically(disk, path, text, 0644);
}

std::vector<std::string> names_of(const TreeFiles& files) {
  std::vector<std::string> names;
  for (const auto& each : files) names.push_back(each.first);
  return names;
}

std::string node_of(const std::string& path) { return path.substr(0, path.find('/')); }

}  // namespace mesh_folder

Result<std::vector<std::string>> begin_folder(Disk& disk, const std::string& folder, const std::string& trust_domain) {
  if (!is_trust_domain(trust_domain)) {
    return Error{.code = Code::invalid,
                 .message = "'" + trust_domain + "' is not a name of a mesh: small letters, digits, dots and hyphens"};
  }
  std::string rete(mesh_folder::kRete);
  rete.replace(rete.find("DOMAIN"), 6, trust_domain);
  const std::array<std::pair<std::string, std::string>, 4> files = {{{"rete.yaml", rete},
                                                                     {"nodes.yaml", std::string(mesh_folder::kNodes)},
                                                                     {"access.yaml", std::string(mesh_folder::kAccess)},
                                                                     {".gitignore", "keys/\n"}}};
  for (const auto& [name, text] : files) {
    auto there = disk.exists(folder + "/" + name);
    if (!there) return there.error();
    if (*there)
      return Error{.code = Code::conflict,
                   .message = "there is a " + folder + "/" + name + " already; nothing was written"};
  }
  if (auto made = make_folders(disk, folder, 0755); !made) return made.error();
  std::vector<std::string> written;
  for (const auto& [name, text] : files) {
    if (auto kept = write_atomically(disk, folder + "/" + name, text, 0644); !kept) return kept.error();
    written.push_back(name);
  }
  return written;
}

Result<MadeKeys> make_keys(Disk& disk, const std::string& folder, int64_t now_ms) {
  auto sources = read_sources(disk, folder);
  if (!sources) return sources.error();
  Resolved resolved = resolve(*sources, signers_to_be());
  MadeKeys made{.faults = std::move(resolved.faults)};
  if (!made.faults.empty()) return made;
  auto files = make_authority(disk, folder, resolved.model, now_ms);
  if (!files) return files.error();
  made.files = *std::move(files);
  return made;
}

Result<FolderWork> compile_folder(Disk& disk, const std::string& folder, int64_t now_ms) {
  auto sources = read_sources(disk, folder);
  if (!sources) return sources.error();
  FolderWork work;
  // The CA's certificate stands where rete.yaml says, which is known only once that is read.
  std::string ca_cert = resolve(*sources, signers_to_be()).model.ca_cert;
  Resolved resolved = resolve(*sources, signers_in(disk, folder, ca_cert, now_ms));
  work.model = std::move(resolved.model);
  work.faults = std::move(resolved.faults);
  if (!work.faults.empty()) return work;
  auto ledger = mesh_folder::ledger_in(disk, folder);
  if (!ledger) return ledger.error();
  work.ledger = *std::move(ledger);
  auto tree = read_tree(disk, folder + "/compiled");
  if (!tree) return tree.error();
  work.tree = *std::move(tree);
  if (auto belongs = mesh_folder::check_ledger(work.ledger, work.tree); !belongs) return belongs.error();
  CompileResult made = compile(work.model, work.ledger);
  work.compiled = std::move(made.compiled);
  work.faults = std::move(made.faults);
  if (!work.faults.empty()) return work;
  for (const std::string& each : walk(work.compiled, work.model))
    work.faults.push_back(
        {.code = Code::failed, .message = "the compiled set does not do what the sources say: " + each});
  auto drafts = read_tree(disk, folder + "/drafts");
  if (!drafts) return drafts.error();
  work.drafts_before = *std::move(drafts);
  auto before = payloads_of(work.tree);
  if (!before) return before.error();
  work.draft = draft_tree(work.model, work.compiled, work.ledger, work.tree, work.drafts_before, now_ms);
  work.plan = plan_tree(*before, work.compiled.nodes);
  return work;
}

Result<std::vector<std::string>> keep_drafts(Disk& disk, const std::string& folder, const FolderWork& work) {
  if (auto kept = mesh_folder::keep(disk, folder + "/ledger.json", print_ledger(work.ledger)); !kept)
    return kept.error();
  if (auto kept = write_tree(disk, folder + "/drafts", work.drafts_before, work.draft.drafts); !kept)
    return kept.error();
  return mesh_folder::names_of(work.draft.drafts);
}

Result<SignedFolder> sign_folder(Disk& disk, const std::string& folder, const std::string& keys_folder,
                                 const FolderWork& work) {
  SigningKeys keys;
  SignedFolder done;
  for (const bool ctrl : {false, true}) {
    const std::string plane = ctrl ? "control-plane" : "management-plane";
    for (const SignerModel& each : ctrl ? work.model.ctrl_signers : work.model.mgmt_signers) {
      auto key = signer_key(disk, keys_folder, plane, each.name);
      if (!key && key.error().code == Code::not_found) continue;  // somebody else's
      if (!key) return key.error();
      if (crypto::to_base64(key->public_key().raw()) != *each.key) {
        return Error{
            .code = Code::conflict,
            .message = "the key of " + plane + "/" + each.name + " is not that of its certificate " + each.cert,
            .next = "put the right key into " + keys_folder + "/keys"};
      }
      done.signers.push_back(plane + "/" + each.name);
      (ctrl ? keys.ctrl : keys.mgmt).push_back({work.model.id(plane, each.name), *std::move(key)});
    }
  }
  if (done.signers.empty() && !work.draft.drafts.empty()) {
    return Error{.code = Code::not_found,
                 .message = "there is no signer's key below " + keys_folder + "/keys; nothing was signed",
                 .next = "sluice mesh ca makes the keys of new signers; --keys names a folder that has them"};
  }
  auto made = sign_drafts(work.model, work.draft, work.tree, keys);
  if (!made) return made.error();
  if (auto kept = mesh_folder::keep(disk, folder + "/ledger.json", print_ledger(work.ledger)); !kept)
    return kept.error();
  if (auto kept = write_tree(disk, folder + "/compiled", work.tree, made->tree); !kept) return kept.error();
  if (auto kept = write_tree(disk, folder + "/drafts", work.drafts_before, made->drafts); !kept) return kept.error();
  if (auto kept = mesh_folder::keep(disk, folder + "/trust.json", write_pretty(to_json(trust_of(work.model)))); !kept)
    return kept.error();
  for (const auto& [path, text] : made->tree) {
    if (auto known = work.tree.find(path); known != work.tree.end() && known->second == text) continue;
    done.written.push_back(path);
    const std::string node = mesh_folder::node_of(path);
    done.versions[node] = work.ledger.mgmt.at(node).version;
  }
  for (const auto& [path, text] : work.tree) {
    if (!made->tree.contains(path)) done.written.push_back(path);
  }
  std::set<std::string> waiting;
  for (const auto& each : made->drafts) waiting.insert(mesh_folder::node_of(each.first));
  done.waiting.assign(waiting.begin(), waiting.end());
  return done;
}

Result<SpiffeId> principal_named(const Model& model, const std::string& text) {
  auto id =
      JsonScalar<SpiffeId>::parse(text.starts_with("spiffe://") ? text : "spiffe://" + model.trust_domain + "/" + text);
  if (!id)
    return Error{.code = Code::usage,
                 .message = "'" + text + "' is not a principal",
                 .next = "write user/NAME, service/NAME, service/NODE/NAME or node/NAME"};
  return id;
}

Result<Enrolment> enrolment_of(Disk& disk, const std::string& folder, const FolderWork& work, const std::string& node,
                               int64_t now_ms) {
  const auto payloads = work.compiled.nodes.find(node);
  if (payloads == work.compiled.nodes.end())
    return Error{.code = Code::not_found, .message = "there is no node " + node + " in " + folder};
  std::vector<SpiffeId> principals;
  for (const auto& [name, vertex] : payloads->second.vertices) {
    for (const Workload& each : vertex.workloads) {
      if (std::ranges::find(principals, each.spiffe_id) == principals.end()) principals.push_back(each.spiffe_id);
    }
  }
  auto identity = issue_identities(disk, folder, work.model, principals, now_ms);
  if (!identity) return identity.error();
  TreeFiles own;
  for (auto each = work.tree.lower_bound(node + "/");
       each != work.tree.end() && mesh_folder::node_of(each->first) == node; ++each)
    own.insert(*each);
  if (own.empty()) {
    return Error{.code = Code::conflict,
                 .message = "nothing is signed for " + node + " yet",
                 .next = "sluice mesh sign " + folder};
  }
  auto published = publication_of(own);
  if (!published) return published.error();
  // Whom to trust is what its artifacts say, which the sources may be ahead of.
  auto agent = parse_artifact(own.at(node + "/mgmt/agent.json"));
  if (!agent) return agent.error();
  return Enrolment{.node = node,
                   .trust = trust_of(std::get<Agent>(agent->payload), work.model.trust_domain),
                   .identity = *std::move(identity),
                   .artifacts = std::move(published->artifacts),
                   .chain = {}};
}

Result<Publication> publication_of(const TreeFiles& tree) {
  Publication made;
  std::vector<std::pair<uint64_t, json::value>> chain;
  for (const auto& [path, text] : tree) {
    auto document = parse_json(text, path);
    if (!document) return document.error();
    if (path.find("/chain/") == std::string::npos) {
      made.artifacts.push_back(std::move(document->root));
      continue;
    }
    auto artifact = parse_artifact(text, path);
    if (!artifact) return artifact.error();
    chain.emplace_back(artifact->envelope.version, std::move(document->root));
  }
  std::ranges::stable_sort(chain, {}, [](const auto& each) { return each.first; });
  for (auto& each : chain) made.chain.push_back(std::move(each.second));
  return made;
}

std::vector<PublicationPart> parts_of(Publication publication, const std::vector<std::string>& first,
                                      size_t most_bytes) {
  std::map<std::pair<bool, std::string>, Publication> nodes;  // those that are not first sort behind
  const auto own = [&](const json::value& envelope) -> Publication& {
    const std::string node(envelope.at("node").as_string());
    return nodes[{std::ranges::find(first, node) == first.end(), node}];
  };
  for (json::value& each : publication.artifacts) own(each).artifacts.push_back(std::move(each));
  for (json::value& each : publication.chain) own(each).chain.push_back(std::move(each));
  std::vector<PublicationPart> parts;
  Publication part;
  std::vector<std::string> names;
  size_t bytes = 0;
  const auto end_part = [&] {
    parts.push_back({.nodes = std::exchange(names, {}), .document = write(to_json(std::exchange(part, {})))});
    bytes = 0;
  };
  for (auto& [key, node] : nodes) {
    const size_t size = write(to_json(node)).size();
    if (bytes > 0 && bytes + size > most_bytes) end_part();
    bytes += size;
    names.push_back(key.second);
    std::ranges::move(node.artifacts, std::back_inserter(part.artifacts));
    std::ranges::move(node.chain, std::back_inserter(part.chain));
  }
  if (!names.empty()) end_part();
  return parts;
}

}  // namespace sluice::mesh
