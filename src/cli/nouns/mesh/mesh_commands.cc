// sluice mesh: the noun, and artifacts read, verified and joined.
#include <boost/json.hpp>
#include <memory>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/context.h"
#include "cli/outputs.h"
#include "cli/tool_outputs.h"
#include "mesh/artifact.h"
#include "mesh/join.h"
#include "mesh/set.h"
#include "mesh/signature.h"

namespace sluice::cli {
namespace mesh_commands {

constexpr size_t kMaxTrust = 1 << 20;

Result<mesh::Artifact> artifact_at(Context& context, const std::string& path) {
  auto text = read_file(context.disk, path, mesh::kMaxArtifactBytes);
  if (!text) return text.error();
  return mesh::parse_artifact(*text, path);
}

Result<std::vector<mesh::Artifact>> artifacts_at(Context& context, const std::string& path) {
  auto stat = context.disk.stat(path, FollowLinks::yes);
  if (!stat) return stat.error();
  if (stat->kind == FileKind::folder) return mesh::read_artifacts(context.disk, path);
  auto one = artifact_at(context, path);
  if (!one) return one.error();
  std::vector<mesh::Artifact> all;
  all.push_back(*std::move(one));
  return all;
}

Result<Code> verify(Context& context) {
  auto text = read_file(context.disk, context.given.text("trust"), kMaxTrust);
  if (!text) return text.error();
  auto trust = mesh::parse_trust(*text, context.given.text("trust"));
  if (!trust) return trust.error();
  const RealClock clock;
  std::map<std::string, std::vector<mesh::Artifact>> nodes;
  for (const std::string& path : context.given.texts("path")) {
    auto found = artifacts_at(context, path);
    if (!found) return found.error();
    if (found->empty()) return Error{.code = Code::not_found, .message = "there is no artifact in " + path};
    for (mesh::Artifact& each : *found) nodes[each.envelope.node].push_back(std::move(each));
  }
  outputs::MeshVerified shown;
  Table table{.columns = {{"ARTIFACT"}, {"VERSION", Align::right}, {"SIGNED BY"}, {"EXPIRES"}}};
  for (auto& [node, artifacts] : nodes) {
    const bool whole = std::ranges::any_of(
        artifacts, [](const mesh::Artifact& each) { return each.envelope.kind == mesh::ArtifactKind::agent; });
    if (whole) {  // a set is judged as the agent judges it
      auto set = mesh::assemble(artifacts, node);
      if (!set) return set.error();
      auto judged = mesh::judge(*set, {.trust = *trust}, clock.wall_ms());
      if (!judged) return judged.error();
    }
    for (const mesh::Artifact& each : artifacts) {
      if (auto held = whole ? Result<void>() : mesh::verify(each, *trust, clock.wall_ms()); !held) return held.error();
      outputs::VerifiedArtifact row{.artifact = each.identity(),
                                    .version = each.envelope.version,
                                    .signed_by = {std::string(each.envelope.signature.key_id)}};
      std::string names(each.envelope.signature.key_id);
      for (const auto& more : each.envelope.cosignatures.value_or(std::vector<mesh::ArtifactSignature>())) {
        row.signed_by.emplace_back(more.key_id);
        names += ", " + more.key_id;
      }
      if (each.envelope.expires_at) row.expires_at = std::string(*each.envelope.expires_at);
      shown.artifacts.push_back(std::move(row));
      table.rows.push_back({{each.identity(), Style::strong},
                            {std::to_string(each.envelope.version)},
                            {names},
                            {each.envelope.expires_at ? std::string(*each.envelope.expires_at) : "never"}});
    }
  }
  context.output.print(to_json(shown), [&](const Terminal& terminal) { return render(table, terminal); });
  context.output.note(
      "verified " + std::to_string(shown.artifacts.size()) + " artifacts of " + std::to_string(nodes.size()) + " nodes",
      Style::good);
  return Code::ok;
}

Result<Code> join(Context& context) {
  auto mgmt = artifact_at(context, context.given.text("mgmt"));
  if (!mgmt) return mgmt.error();
  auto ctrl = artifact_at(context, context.given.text("ctrl"));
  if (!ctrl) return ctrl.error();
  auto joined = mesh::check_join(*mgmt, *ctrl);
  if (!joined && joined.error().code == Code::invalid) return joined.error();
  const auto rules = mesh::judge_join(std::get<mesh::Vertex>(mgmt->payload), mgmt->envelope.version,
                                      std::get<mesh::Ctrl>(ctrl->payload), ctrl->obeys());
  context.output.print(
      to_json(outputs::MeshJoined{
          .mgmt = mgmt->identity(), .ctrl = ctrl->identity(), .holds = joined.has_value(), .rules = rules}),
      [&](const Terminal& terminal) {
        std::string text;
        for (const mesh::JoinRule& rule : rules) {
          text += terminal.paint(rule.holds ? Style::good : Style::bad, rule.holds ? "holds " : "broken") + "  " +
                  std::to_string(rule.rule) + "  " + rule.demands + "\n";
          for (const std::string& each : rule.breaches) text += "           " + printable(each) + "\n";
        }
        return text;
      });
  return joined ? Code::ok : Code::gate_rejected;
}

Result<Code> schema(Context& context) {
  auto made = mesh::artifact_schema(context.given.text("artifact"));
  if (!made) return made.error();
  context.output.print_text(write_pretty(*made));
  return Code::ok;
}

}  // namespace mesh_commands

void add_mesh_commands(Commands& commands) {
  commands.add_noun(
      {.name = "mesh", .group = Group::operate, .summary = "Compile, sign and verify what nodes of a mesh obey"});
  add_mesh_folder_commands(commands);
  commands.add(
      {.name = "mesh verify",
       .summary = "Verify artifacts as a node's agent would",
       .details =
           "Parses each artifact, checks its signatures against the pinned signers and, where a node's agent.json is "
           "there, the rules of "
           "a set and of the join. Exit code 11 says that a signature does not hold, 7 that a join rule is broken.",
       .args = {{.name = "path", .help = "an artifact, or a folder of them", .kind = Kind::path, .repeated = true}},
       .options = {{.name = "trust",
                    .value = "FILE",
                    .help = "the trust root, a sluice.mesh.trust.v1",
                    .kind = Kind::path,
                    .fallback = "trust.json"}},
       .example = "sluice mesh verify examples/mesh/alpha --trust examples/mesh/trust.json",
       .run = mesh_commands::verify});
  commands.add(
      {.name = "mesh join",
       .summary = "Judge a ctrl artifact by the five join rules",
       .details = "Prints each rule between what the operator allows and what the control plane chose. Exit code 7: "
                  "one is broken.",
       .args = {{.name = "mgmt", .help = "the vertex as the operator signed it", .kind = Kind::path},
                {.name = "ctrl", .help = "what the control plane chose for it", .kind = Kind::path}},
       .example =
           "sluice mesh join examples/mesh/alpha/mgmt/vertices/rete.json examples/mesh/alpha/ctrl/vertices/rete.json",
       .run = mesh_commands::join});
  commands.add({.name = "mesh schema",
                .summary = "Print the JSON Schema of an artifact",
                .args = {{.name = "artifact", .help = "which one", .choices = {"agent", "vertex", "ctrl"}}},
                .example = "sluice mesh schema agent",
                .run = mesh_commands::schema});
  add_mesh_publish_commands(commands);
  add_mesh_agent_commands(commands);
}

}  // namespace sluice::cli
