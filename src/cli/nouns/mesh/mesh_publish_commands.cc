// sluice mesh publish and status: from an operator's folder to the config server, and what the nodes made of it.
#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/command_door.h"
#include "cli/opening.h"
#include "cli/outputs.h"
#include "deploy/views/mesh_nodes.h"
#include "mesh/authority.h"
#include "mesh/mesh_folder.h"
#include "mesh/set.h"

namespace sluice::cli {
namespace mesh_publish_commands {

constexpr size_t kMaxCert = 1 << 20;
constexpr size_t kMaxPart = 1 << 20;  // of a publication: other calls wait while one is taken

std::string words_of(const std::vector<std::string>& texts) {
  std::string text;
  for (const std::string& each : texts) text += (text.empty() ? "" : ", ") + each;
  return text;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// As every node will judge it, so that nothing is published that nodes refuse.
Result<void> check_tree(const mesh::FolderWork& work, int64_t now_ms) {
  std::map<std::string, std::vector<mesh::Artifact>> nodes;
  for (const auto& [path, text] : work.tree) {
    if (path.find("/chain/") != std::string::npos) continue;
    auto artifact = mesh::parse_artifact(text, path);
    if (!artifact) return artifact.error();
    nodes[artifact->envelope.node].push_back(*std::move(artifact));
  }
  for (auto& [node, artifacts] : nodes) {
    auto set = mesh::assemble(std::move(artifacts), node);
    if (!set) return set.error();
    auto judged = mesh::judge(*set, {.trust = mesh::trust_of(work.model)}, now_ms);
    if (!judged) return judged.error();
  }
  return {};
}

void add_to(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// In one call, or where that would be too large, in parts of which each is a publication of some nodes.
Result<outputs::MeshPublished> publish_all(CommandDoor& door, const std::string& mesh, mesh::Publication publication,
                                           const std::vector<std::string>& first) {
  const auto parts = mesh::parts_of(std::move(publication), first, kMaxPart);
  json::array all, named;
  for (const mesh::PublicationPart& part : parts) all.insert(all.end(), part.nodes.begin(), part.nodes.end());
  named.insert(named.end(), first.begin(), first.end());
  outputs::MeshPublished done{.mesh = mesh};
  for (size_t at = 0; at < parts.size(); ++at) {
    const mesh::PublicationPart& part = parts[at];
    json::object input{{"mesh", mesh}, {"document", part.document}};
    if (!first.empty()) input["first"] = named;
    if (parts.size() > 1) input["all"] = all;
    auto answer = door.call("Mesh/publish", input, host::WaitFor::answer, at == 0 ? "" : "part" + std::to_string(at));
    if (!answer) return answer.error();
    if (answer->code != Code::ok) {
      Error refusal = door.refusal(*answer);
      if (const size_t before = done.changed.size() + done.held.size(); before > 0)
        refusal.message += "; " + std::to_string(before) + " other nodes were published already";
      return refusal;
    }
    add_to(done.changed, answer->texts("changed"));
    add_to(done.held, answer->texts("held"));
    add_to(done.gone, answer->texts("gone"));
  }
  for (auto* each : {&done.changed, &done.held, &done.gone}) std::ranges::sort(*each);
  return done;
}

Result<Code> publish(Context& context) {
  std::string folder = context.given.text("folder");
  if (folder.empty()) folder = ".";
  const int64_t now_ms = RealClock().wall_ms();
  auto work = mesh::compile_folder(context.disk, folder, now_ms);
  if (!work) return work.error();
  if (!work->faults.empty()) return work->faults.front();
  if (work->tree.empty())
    return Error{
        .code = Code::not_found, .message = "nothing is signed in " + folder, .next = "sluice mesh sign " + folder};
  if (!work->plan.empty()) context.output.warn("the sources say more than what is signed; what is signed is published");
  if (auto sound = check_tree(*work, now_ms); !sound) return sound.error();
  auto authority = read_file(context.disk, folder + "/" + work->model.ca_cert, kMaxCert);
  if (!authority) return authority.error();
  auto published = mesh::publication_of(work->tree);
  if (!published) return published.error();
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto enrolled = (*door)->call("Mesh/enrol", {{"mesh", work->model.trust_domain}, {"authority", *authority}},
                                host::WaitFor::answer, "enrol");
  if (!enrolled) return enrolled.error();
  if (enrolled->code != Code::ok) return (*door)->refusal(*enrolled);
  auto done = publish_all(**door, work->model.trust_domain, *std::move(published), split(context.given.text("first")));
  if (!done) return done.error();
  context.output.print(to_json(*done), [&](const Terminal& terminal) {
    const auto& [mesh, changed, held, gone] = *done;
    std::string text;
    if (!changed.empty()) text += terminal.paint(Style::good, "published") + "  " + words_of(changed) + "\n";
    if (!held.empty())
      text += terminal.paint(Style::warning, "held") + "       " + words_of(held) + ", until " +
              context.given.text("first") + " confirmed\n";
    if (!gone.empty()) text += terminal.paint(Style::warning, "gone") + "       " + words_of(gone) + "\n";
    return text.empty() ? "nothing changed\n" : text;
  });
  return Code::ok;
}

Style style_of(const std::string& state) {
  if (state == "current") return Style::good;
  return state == "rejected" || state == "revoked" ? Style::bad : Style::warning;
}

Result<Code> status(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  json::object query;
  if (context.given.has("mesh")) query["mesh"] = context.given.text("mesh");
  auto nodes = (*door)->read<std::vector<deploy::views::MeshNodeView>>("mesh", query);
  if (!nodes) return nodes.error();
  context.output.print(to_json(*nodes), [&](const Terminal& terminal) {
    Table table{
        .columns =
            {{"NODE"}, {"VERSION", Align::right}, {"OBEYS", Align::right}, {"STATE"}, {"WAITS FOR"}, {"TROUBLE"}},
        .empty = "Nothing is published here. sluice mesh publish FOLDER"};
    for (const auto& each : *nodes) {
      table.rows.push_back({{each.mesh + "/" + each.node, Style::strong},
                            {std::to_string(each.held_version ? *each.held_version : each.version)},
                            {each.reported_version ? std::to_string(*each.reported_version) : ""},
                            {each.state, style_of(each.state)},
                            {words_of(each.waits_for)},
                            {each.trouble}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

}  // namespace mesh_publish_commands

void add_mesh_publish_commands(Commands& commands) {
  std::vector<Option> options = {
      {.name = "first", .value = "NODE,…", .help = "others get theirs when these have confirmed"}};
  for (Option& each : call_options()) options.push_back(std::move(each));
  commands.add(
      {.name = "mesh publish",
       .summary = "Let nodes have what is signed",
       .details = "Gives the signed tree to the config server, which is the sluice serve of this home. Each node "
                  "fetches its own. A version that is older than what is published is refused. With --first "
                  "the other nodes get theirs when the first ones have confirmed theirs.",
       .args = {{.name = "folder", .help = "the mesh's folder; else this one", .kind = Kind::path, .optional = true}},
       .options = options,
       .example = "sluice mesh publish acme",
       .run = mesh_publish_commands::publish});
  commands.add({.name = "mesh status",
                .summary = "Show what each node may have and what it obeys",
                .options = {{.name = "mesh", .value = "NAME", .help = "of one mesh alone"}, lock_timeout_option()},
                .example = "sluice mesh status",
                .run = mesh_publish_commands::status});
}

}  // namespace sluice::cli
