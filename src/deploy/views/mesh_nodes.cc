// A node counts as current when it has confirmed what it may have.
#include "deploy/views/mesh_nodes.h"

#include "deploy/views/states.h"
#include "mesh.gen.h"

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

}  // namespace

std::vector<lang::View> mesh_views() {
  return {lang::make_view("mesh", "What the nodes of meshes may have, and what they obey", read_nodes),
          lang::make_view("mesh-node", "What a node of a mesh gets", read_served)};
}

}  // namespace sluice::deploy::views
