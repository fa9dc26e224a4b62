// Signatures are judged by the nodes. What is refused here is what no node could obey.
#include <algorithm>
#include <set>

#include "crypto/x509.h"
#include "mesh.gen.h"
#include "mesh/config_server.h"

namespace sluice::deploy::mesh {
namespace {

namespace tools = ::sluice::mesh;

MeshId id_of(const MeshMId& mesh, const std::string& node) { return MeshId(mesh.text() + "/" + node); }

tools::ServedNode served_of(const MeshRecord& record) {
  return {.version = static_cast<uint64_t>(record.version),
          .ctrl_version = static_cast<uint64_t>(record.ctrlVersion),
          .document = record.served};
}

// What is published of a node, whether it has it yet or waits for it.
tools::ServedNode newest_of(const MeshRecord& record) {
  if (!record.held) return served_of(record);
  return {.version = static_cast<uint64_t>(record.held->version),
          .ctrl_version = static_cast<uint64_t>(record.held->ctrlVersion),
          .document = record.held->document};
}

// Whether the node has confirmed what is served to it.
bool has_confirmed(const State& state, const MeshMId& mesh, const std::string& node) {
  auto record = state.get(id_of(mesh, node));
  if (!record || !record->reported) return false;
  const auto& said = *record->reported;
  return said.version >= record->version && said.ctrlVersion >= record->ctrlVersion && !said.pending && !said.rejected;
}

}  // namespace

Enrol::Result Mesh::enrol(const Enrol& ask, State& state) {
  auto read = crypto::read_certificates(ask.authority);
  if (!read) return Enrol::Invalid{.mesh = ask.mesh, .message = "authority: " + read.error().message};
  if (!read->front().is_ca)
    return Enrol::Invalid{.mesh = ask.mesh, .message = "authority is not the certificate of a CA"};
  state.put(ask.mesh, {.authority = ask.authority, .since = state.now()});
  return Enrol::Ok{.mesh = ask.mesh};
}

Publish::Result Mesh::publish(const Publish& ask, State& state) {
  if (!state.has(ask.mesh)) {
    return Publish::NotFound{.mesh = ask.mesh,
                             .message = "this home is not the config server of the mesh " + ask.mesh.text()};
  }
  const auto known = state.find_by_mesh(ask.mesh.text());
  auto read = tools::read_publication(ask.document, [&](const std::string& node) -> std::optional<std::string> {
    auto record = state.get(id_of(ask.mesh, node));
    auto newest = record ? newest_of(*record).document : std::string();
    return newest.empty() ? std::nullopt : std::optional(std::move(newest));
  });
  if (!read) return Publish::Malformed{.mesh = ask.mesh, .message = to_string(read.error())};
  if (ask.plane == "ctrl" && read->whole)
    return Publish::Malformed{.mesh = ask.mesh, .message = "there are mgmt artifacts among those of ctrl"};
  std::set<std::string> all;  // what stays
  for (const auto& [node, served] : read->nodes) all.insert(node);
  if (ask.all) {
    const std::set<std::string> named(ask.all->begin(), ask.all->end());
    for (const std::string& node : all) {
      if (!named.contains(node))
        return Publish::Malformed{.mesh = ask.mesh, .message = "`all` does not name the node " + node};
    }
    all = named;
  }
  const std::vector<std::string> first = ask.first.value_or(std::vector<std::string>());
  for (const std::string& each : first) {
    const bool is_here = read->nodes.contains(each);
    if (!is_here && !(all.contains(each) && state.has(id_of(ask.mesh, each))))
      return Publish::Malformed{.mesh = ask.mesh, .message = "there is no node " + each + " to be first"};
  }
  for (const auto& [node, served] : read->nodes) {
    auto record = state.get(id_of(ask.mesh, node));
    if (!record) continue;
    for (const tools::ServedNode& before : {served_of(*record), newest_of(*record)}) {
      auto newer = tools::check_newer(node, before, served);
      if (!newer) return Publish::VersionConflict{.mesh = ask.mesh, .message = newer.error().message};
    }
  }
  Publish::Ok ok{.mesh = ask.mesh};
  const auto take = [&](const std::string& node, const tools::ServedNode& served, bool waits) {
    const MeshId id = id_of(ask.mesh, node);
    MeshRecord record = state.get(id).value_or(MeshRecord{.mesh = ask.mesh.text(), .node = node});
    if (record.served == served.document) {
      record.held.reset();
    } else if (waits && !record.served.empty()) {
      record.held = MeshHeld{.version = static_cast<int64_t>(served.version),
                             .ctrlVersion = static_cast<int64_t>(served.ctrl_version),
                             .document = served.document,
                             .after = first};
      ok.held.push_back(node);
    } else {
      record.held.reset();
      record.version = static_cast<int64_t>(served.version);
      record.ctrlVersion = static_cast<int64_t>(served.ctrl_version);
      record.served = served.document;
      ok.changed.push_back(node);
    }
    state.put(id, record);
  };
  for (const std::string& each : first) {
    if (auto there = read->nodes.find(each); there != read->nodes.end()) take(each, there->second, false);
  }
  // They may have confirmed theirs already: an earlier part had it, or it is what they had.
  const bool wait =
      !std::ranges::all_of(first, [&](const std::string& node) { return has_confirmed(state, ask.mesh, node); });
  for (const auto& [node, served] : read->nodes) {
    if (std::ranges::find(first, node) == first.end()) take(node, served, wait);
  }
  std::ranges::sort(ok.changed);
  for (const auto& each : known) {
    if (!read->whole || all.contains(each.record.node) || each.record.served.empty()) continue;
    MeshRecord record = each.record;
    record.served.clear();
    record.held.reset();
    state.put(each.id, record);
    ok.gone.push_back(record.node);
  }
  return ok;
}

Report::Result Mesh::report(const Report& ask, State& state) {
  const MeshId id = id_of(ask.mesh, ask.node);
  auto record = state.get(id);
  if (!record) return Report::NotFound{.mesh = ask.mesh, .message = "there is no node " + ask.node};
  record->reported = MeshReported{.version = ask.version,
                                  .ctrlVersion = ask.ctrlVersion,
                                  .active = ask.active,
                                  .pending = ask.pending,
                                  .rejected = ask.rejected,
                                  .trouble = ask.trouble,
                                  .at = state.now()};
  state.put(id, *record);
  Report::Ok ok{.node = id};
  for (const auto& each : state.find_by_mesh(ask.mesh.text())) {
    if (!each.record.held) continue;
    const auto& after = each.record.held->after;
    if (!std::ranges::all_of(after, [&](const std::string& node) { return has_confirmed(state, ask.mesh, node); }))
      continue;
    MeshRecord let_go = each.record;
    let_go.version = let_go.held->version;
    let_go.ctrlVersion = let_go.held->ctrlVersion;
    let_go.served = let_go.held->document;
    let_go.held.reset();
    state.put(each.id, let_go);
    ok.released.push_back(let_go.node);
  }
  return ok;
}

Revoke::Result Mesh::revoke(const Revoke& ask, State& state) {
  const MeshId id = id_of(ask.mesh, ask.node);
  const bool there = state.edit(id, [&](MeshRecord& record) { record.revoked = ask.reason; });
  if (!there) return Revoke::NotFound{.mesh = ask.mesh, .message = "there is no node " + ask.node};
  return Revoke::Ok{.node = id};
}

}  // namespace sluice::deploy::mesh
