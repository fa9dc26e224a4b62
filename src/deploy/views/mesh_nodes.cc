// A node counts as current when it has confirmed what it may have.
#include "deploy/views/mesh_nodes.h"

#include <set>

#include "base/text_disk.h"
#include "deploy/views/states.h"
#include "mesh.gen.h"
#include "mesh/mesh_folder.h"

namespace sluice::deploy::views {
namespace {

std::string state_of(const mesh::MeshRecord& record) {
  if (record.revoked) return "revoked";
  if (!record.reported) return "unseen";
  const auto& said = *record.reported;
  if (said.version < record.version || said.ctrlVersion < record.ctrlVersion) return "behind";
  if (said.rejected) return "rejected";
  return said.pending ? "unconfirmed" : "current";
}

Result<std::vector<MeshNodeView>> read_nodes(const lang::Reading& reading, const MeshQuery& query) {
  const States states(reading.rows);
  std::vector<MeshNodeView> all;
  for (const auto& each : states.mesh().all()) {
    const mesh::MeshRecord& record = each.record;
    if (!query.mesh.empty() && record.mesh != query.mesh) continue;
    MeshNodeView view{.mesh = record.mesh,
                      .node = record.node,
                      .version = record.served.empty() ? 0 : record.version,
                      .ctrl_version = record.ctrlVersion,
                      .state = state_of(record)};
    if (record.held) {
      view.held_version = record.held->version;
      view.waits_for = record.held->after;
    }
    if (record.reported) {
      view.reported_version = record.reported->version;
      view.reported_ctrl_version = record.reported->ctrlVersion;
      view.trouble = record.reported->trouble;
      view.reported_at = record.reported->at;
    }
    all.push_back(std::move(view));
  }
  return all;
}

OrNull<SaidByNode> said_by(const mesh::MeshRecord& record) {
  if (!record.reported) return {};
  const auto& said = *record.reported;
  return SaidByNode{.version = said.version,
                    .ctrl_version = said.ctrlVersion,
                    .active = said.active,
                    .pending = said.pending,
                    .rejected = said.rejected,
                    .trouble = said.trouble,
                    .at = said.at};
}

Result<ServedNodeView> read_served(const lang::Reading& reading, const ServedNodeQuery& query) {
  const States states(reading.rows);
  auto served = states.mesh().get(mesh::MeshId(query.mesh + "/" + query.node));
  auto whole = states.mesh().get(mesh::MeshMId(query.mesh));
  if (!served || !whole)
    return Error{.code = Code::not_found, .message = "nothing is published for the node " + query.node};
  return ServedNodeView{.authority = whole->authority,
                        .version = served->version,
                        .ctrl_version = served->ctrlVersion,
                        .document = served->served,
                        .revoked = served->revoked.value_or(""),
                        .said = said_by(*served)};
}

constexpr size_t kMostPairs = 2'000;

Result<MeshMap> read_map(const lang::Reading& reading, const MeshMapQuery& query) {
  const States states(reading.rows);
  std::map<std::string, std::string> documents;
  for (const auto& each : states.mesh().find_by_mesh(query.mesh)) {
    if (!each.record.served.empty()) documents[each.record.node] = each.record.served;
  }
  auto made = ::sluice::mesh::survey(documents);
  if (!made) return made.error();
  MeshMap map{.mesh = query.mesh, .nodes = std::move(made->nodes), .links = std::move(made->links)};
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  for (auto& each : made->ways) {
    if (seen.emplace(each.initiator, each.from, each.target).second) {
      ++map.pairs_in_all;
      if (map.pairs.size() < kMostPairs)
        map.pairs.push_back({each.initiator, each.from, each.target, each.to, each.fault});
    }
    if (each.initiator == query.initiator && each.target == query.target) map.ways.push_back(std::move(each));
  }
  return map;
}

Result<MeshPlanView> read_mesh_plan(const lang::Reading& reading, const MeshPlanQuery& query) {
  std::map<std::string, std::string> texts;
  for (const MeshFile& each : query.files) {
    if (each.path.starts_with("keys/"))
      return Error{.code = Code::invalid, .message = "keys stay with the operator: leave " + each.path + " out"};
    if (!texts.emplace("mesh/" + each.path, each.text).second)
      return Error{.code = Code::invalid, .message = each.path + " is there twice"};
  }
  TextDisk disk(std::move(texts));
  auto work = ::sluice::mesh::compile_folder(disk, "mesh", reading.now_ms);
  if (!work) return work.error();
  MeshPlanView view{.mesh = work->model.trust_domain, .warnings = work->model.warnings};
  for (const Error& each : work->faults) view.faults.push_back(to_string(each));
  if (view.faults.empty()) view.plan = std::move(work->plan);
  return view;
}

}  // namespace

std::vector<lang::View> mesh_views() {
  return {lang::make_view("mesh", "What the nodes of meshes may have, and what they obey", read_nodes),
          lang::make_view("mesh-node", "What a node of a mesh gets", read_served),
          lang::make_view("mesh-map", "What is published of a mesh: nodes, links, and the ways of a pair", read_map),
          lang::make_view("mesh-plan", "What signing the sources of a mesh would change", read_mesh_plan)};
}

}  // namespace sluice::deploy::views
