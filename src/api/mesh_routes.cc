// From the routes to the concept Mesh; the rules are in mesh/config_server.h.
#include "api/mesh_routes.h"

#include <boost/json.hpp>
#include <optional>

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "deploy/views/mesh_nodes.h"
#include "mesh/config_server.h"

namespace sluice::api {
namespace mesh_routes {

// Nodes report each time they ask. The journal gets what is new, and otherwise one record an hour that it was there.
constexpr int64_t kSayAgain_ms = 60 * 60 * 1000;

uint64_t newest_ctrl(const mesh::NodeReport& report) {
  uint64_t newest = 0;
  for (const auto& [vertex, version] : report.ctrl) newest = std::max(newest, version);
  return newest;
}

bool says_more(const deploy::views::SaidByNode& before, const mesh::NodeReport& now, int64_t now_ms) {
  return before.version != static_cast<int64_t>(now.version) ||
         before.ctrl_version != static_cast<int64_t>(newest_ctrl(now)) || before.active != now.active ||
         before.pending != now.pending || before.rejected != now.rejected || before.trouble != now.trouble ||
         now_ms - before.at.ms >= kSayAgain_ms;
}

}  // namespace mesh_routes

http::Response answer_mesh_node(const http::Request& request, host::Door& door, int64_t now_ms) {
  std::optional<deploy::views::SaidByNode> said;  // by the node that asks, before
  const mesh::NodeShelf shelf{
      .find = [&](const std::string& name, const std::string& node) -> Result<std::optional<mesh::KnownNode>> {
        auto answer = door.view("mesh-node", {{"mesh", name}, {"node", node}});
        if (!answer && answer.error().code == Code::not_found) return std::optional<mesh::KnownNode>();
        if (!answer) return answer.error();
        auto found = read<deploy::views::ServedNodeView>(answer->document);
        if (!found) return found.error();
        if (found->said) said = *found->said;
        return std::optional(mesh::KnownNode{.authority = std::move(found->authority),
                                             .served = {.version = static_cast<uint64_t>(found->version),
                                                        .ctrl_version = static_cast<uint64_t>(found->ctrl_version),
                                                        .document = std::move(found->document)},
                                             .revoked = std::move(found->revoked)});
      },
      .report = [&](const std::string& name, const std::string& node, const mesh::NodeReport& report) -> Result<void> {
        if (said && !mesh_routes::says_more(*said, report, now_ms)) return {};
        auto answer = door.call({.action = "Mesh/report",
                                 .input = {{"mesh", name},
                                           {"node", node},
                                           {"version", static_cast<int64_t>(report.version)},
                                           {"ctrlVersion", static_cast<int64_t>(mesh_routes::newest_ctrl(report))},
                                           {"active", report.active},
                                           {"pending", report.pending},
                                           {"rejected", report.rejected},
                                           {"trouble", report.trouble}},
                                 .reason = "node " + node + " reports"});
        if (!answer) return answer.error();
        if (answer->code != Code::ok) return Error{.code = answer->code, .message = answer->text("message")};
        return {};
      }};
  return mesh::answer_node(request, shelf, now_ms);
}

}  // namespace sluice::api
