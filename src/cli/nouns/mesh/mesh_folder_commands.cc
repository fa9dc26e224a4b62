// sluice mesh, in an operator's folder: from a first description to signed artifacts. What is done is in
// mesh/mesh_folder.h; this asks and shows.
#include <array>
#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "base/replaceable.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/context.h"
#include "cli/outputs.h"
#include "cli/tool_outputs.h"
#include "crypto/base64.h"
#include "mesh/mesh_folder.h"

namespace sluice::cli {
namespace mesh_folder_commands {

std::string folder_of(const Context& context) {
  const std::string folder = context.given.text("folder");
  return folder.empty() ? "." : folder;
}

// "user/alice" of "spiffe://acme/user/alice".
std::string brief(const std::string& id) {
  const size_t domain = id.find("//");
  const size_t slash = domain == std::string::npos ? std::string::npos : id.find('/', domain + 2);
  return slash == std::string::npos ? id : id.substr(slash + 1);
}

std::string listed(const std::vector<std::string>& texts) {
  std::string text;
  for (const std::string& each : texts) text += (text.empty() ? "" : ", ") + each;
  return text;
}

// All faults, each with its place.
Code tell_faults(Context& context, const std::vector<Error>& faults) {
  outputs::MeshFaults shown;
  for (const Error& each : faults) shown.faults.push_back(to_string(each));
  context.output.report(to_json(shown), [&](const Terminal& terminal) {
    std::string text;
    for (const Error& each : faults) {
      text += terminal.paint(Style::bad, "fault") + "  " + printable(to_string(each)) + "\n";
      if (!each.next.empty()) text += "       next: " + printable(each.next) + "\n";
    }
    return text;
  });
  return Code::faults_found;
}

Result<Code> init(Context& context) {
  const std::string folder = context.given.text("folder");
  std::string name = context.given.text("name");
  if (name.empty()) name = name_of(folder);
  auto written = mesh::begin_folder(context.disk, folder, name);
  if (!written) return written.error();
  context.output.print(to_json(outputs::MeshBegun{.folder = folder, .name = name, .files = *written}),
                       [&](const Terminal&) {
                         std::string text;
                         for (const std::string& each : *written) text += folder + "/" + each + "\n";
                         return text;
                       });
  context.output.note("next: sluice mesh ca " + folder);
  return Code::ok;
}

Result<Code> ca(Context& context) {
  const std::string folder = folder_of(context);
  auto made = mesh::make_keys(context.disk, folder, RealClock().wall_ms());
  if (!made) return made.error();
  if (!made->faults.empty()) return tell_faults(context, made->faults);
  context.output.print(to_json(outputs::MeshKeys{.folder = folder, .files = made->files}), [&](const Terminal&) {
    std::string text;
    for (const std::string& each : made->files) text += folder + "/" + each + "\n";
    return text;
  });
  context.output.note(made->files.empty() ? "the CA and all signers have their keys already"
                                          : "keep " + folder + "/keys to yourself: who has it decides about the mesh");
  return Code::ok;
}

std::string plan_text(const mesh::TreePlan& plan, const Terminal& terminal) {
  if (plan.empty()) return "The signed artifacts say what the sources say.\n";
  std::string text;
  const auto access = [&](const std::vector<mesh::AccessChange>& changes, const char* word, Style style) {
    for (const auto& each : changes)
      text += terminal.paint(style, word) + "  " + brief(each.initiator) + " at " + each.node + " → " +
              brief(each.target) + "\n";
  };
  access(plan.gains, "gains ", Style::warning);
  access(plan.loses, "loses ", Style::warning);
  for (const auto& [changes, word] : {std::pair{&plan.links_added, "link + "}, {&plan.links_removed, "link - "}}) {
    for (const mesh::LinkChange& each : *changes)
      text +=
          std::string(word) + " " + each.node + "/" + each.vertex + ": " + each.link + " → " + brief(each.peer) + "\n";
  }
  for (const mesh::VertexChange& each : plan.changes)
    text += std::string(each.restarts ? "restart" : "update ") + " " + each.node + "/" + each.vertex + ": " +
            listed(each.parts) + "\n";
  return text + std::to_string(plan.nodes.size()) + (plan.nodes.size() == 1 ? " node gets" : " nodes get") +
         " a new version: " + listed(plan.nodes) + "\n";
}

Result<mesh::FolderWork> work_in(Context& context, const std::string& folder) {
  auto work = mesh::compile_folder(context.disk, folder, RealClock().wall_ms());
  if (!work) return work;
  for (const std::string& each : work->model.warnings) context.output.warn(each);
  return work;
}

Result<Code> plan(Context& context) {
  auto work = work_in(context, folder_of(context));
  if (!work) return work.error();
  if (!work->faults.empty()) return tell_faults(context, work->faults);
  context.output.print(to_json(work->plan), [&](const Terminal& terminal) { return plan_text(work->plan, terminal); });
  return context.given.flag("exit-code") && !work->plan.empty() ? Code::changes_pending : Code::ok;
}

Result<Code> compile(Context& context) {
  const std::string folder = folder_of(context);
  auto work = work_in(context, folder);
  if (!work) return work.error();
  if (!work->faults.empty()) return tell_faults(context, work->faults);
  auto drafts = mesh::keep_drafts(context.disk, folder, *work);
  if (!drafts) return drafts.error();
  context.output.print(to_json(outputs::MeshDrafts{.folder = folder, .drafts = *drafts}), [&](const Terminal&) {
    std::string text;
    for (const std::string& each : *drafts) text += folder + "/drafts/" + each + "\n";
    return text;
  });
  context.output.note(drafts->empty() ? "nothing changed: the signed artifacts say what the sources say"
                                      : "next: sluice mesh sign " + folder);
  return Code::ok;
}

Result<Code> sign(Context& context) {
  const std::string folder = folder_of(context);
  auto work = work_in(context, folder);
  if (!work) return work.error();
  if (!work->faults.empty()) return tell_faults(context, work->faults);
  const std::string keys = context.given.has("keys") ? context.given.text("keys") : folder;
  auto done = mesh::sign_folder(context.disk, folder, keys, *work);
  if (!done) return done.error();
  context.output.print(to_json(outputs::MeshSigned{.folder = folder,
                                                   .signers = done->signers,
                                                   .files = done->written,
                                                   .versions = {done->versions.begin(), done->versions.end()},
                                                   .waiting = done->waiting}),
                       [&](const Terminal& terminal) {
                         std::string text;
                         for (const auto& [node, version] : done->versions)
                           text += terminal.paint(Style::good, "signed") + "  " + node + " version " +
                                   std::to_string(version) + "\n";
                         for (const std::string& each : done->waiting)
                           text += terminal.paint(Style::warning, "waits ") + "  " + each + " for another signer\n";
                         return text;
                       });
  if (done->versions.empty() && done->waiting.empty()) context.output.note("nothing changed; nothing was signed");
  return done->waiting.empty() ? Code::ok : Code::waiting_for_approval;
}

std::string hops_text(const char* word, const std::vector<mesh::TracedHop>& hops) {
  std::string text;
  for (const mesh::TracedHop& each : hops)
    text += "  " + std::string(text.empty() ? word : "     ") + "  " + each.node + "/" + each.vertex + "  link " +
            each.link + "  label " + std::to_string(each.label) + "\n";
  return text;
}

Result<Code> trace(Context& context) {
  const std::string folder = folder_of(context);
  auto work = work_in(context, folder);
  if (!work) return work.error();
  if (!work->faults.empty()) return tell_faults(context, work->faults);
  auto initiator = mesh::principal_named(work->model, context.given.text("initiator"));
  if (!initiator) return initiator.error();
  auto target = mesh::principal_named(work->model, context.given.text("target"));
  if (!target) return target.error();
  std::vector<mesh::Traced> ways;
  for (mesh::Traced& each : mesh::trace_all(work->compiled)) {
    if (each.initiator == *initiator && each.target == *target) ways.push_back(std::move(each));
  }
  if (ways.empty()) {
    return Error{
        .code = Code::not_found,
        .message = brief(*initiator) + " may not reach " + brief(*target) + ": no role of it allows a group of it",
        .next = "sluice mesh plan " + folder + " says what a change of roles would allow"};
  }
  context.output.print(to_json(outputs::MeshTraced{.ways = ways, .signed_ = work->plan.empty()}), [&](const Terminal&) {
    std::string text;
    for (const mesh::Traced& each : ways) {
      text += brief(each.initiator) + " at " + each.from + " → " + brief(each.target) + " at " + each.to + "\n";
      if (each.there.empty()) text += each.from == each.to ? "  on the same node\n" : "  dialled directly\n";
      text += hops_text("there", each.there) + hops_text("back ", each.back);
    }
    return text;
  });
  if (!work->plan.empty()) context.output.note("this is what the sources say; it is not signed yet");
  return Code::ok;
}

Result<Code> bundle(Context& context) {
  const std::string folder = folder_of(context);
  const std::string node = context.given.text("node");
  auto work = work_in(context, folder);
  if (!work) return work.error();
  if (!work->faults.empty()) return tell_faults(context, work->faults);
  std::string file = context.given.text("out");
  if (file.empty()) file = node + ".bundle";
  if (auto may = check_replaceable(context.disk, file); !may) return may.error();
  auto enrolment = mesh::enrolment_of(context.disk, folder, *work, node, RealClock().wall_ms());
  if (!enrolment) return enrolment.error();
  RealRandom random;
  std::array<uint8_t, 18> bytes{};
  random.fill(bytes);
  const std::string passphrase = crypto::to_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  auto sealed = mesh::seal_enrolment(*enrolment, passphrase, random);
  if (!sealed) return sealed.error();
  if (auto kept = write_atomically(context.disk, file, *sealed, 0600); !kept) return kept.error();
  context.output.print(to_json(outputs::MeshBundle{.node = node, .file = file, .passphrase = passphrase}),
                       [&](const Terminal&) { return passphrase + "\n"; });
  context.output.note("wrote " + file + "; above is its passphrase, which is shown once: send it another way");
  return Code::ok;
}

Arg folder_arg() {
  return {.name = "folder", .help = "the mesh's folder; else this one", .kind = Kind::path, .optional = true};
}
Option folder_option() {
  return {.name = "folder", .value = "FOLDER", .help = "the mesh's folder; else this one", .kind = Kind::path};
}

}  // namespace mesh_folder_commands

void add_mesh_folder_commands(Commands& commands) {
  using namespace mesh_folder_commands;
  commands.add({.name = "mesh init",
                .summary = "Begin a mesh of three hosts in a folder",
                .details = "Writes YAML to edit: the mesh, its nodes and links, and who may reach what.",
                .args = {{.name = "folder", .help = "the new folder", .kind = Kind::path}},
                .options = {{.name = "name", .value = "NAME", .help = "the mesh's name; else the folder's"}},
                .example = "sluice mesh init acme",
                .run = init});
  commands.add({.name = "mesh ca",
                .summary = "Make the CA and the keys that a mesh does not have yet",
                .details = "Certificates go to certs/, private keys to keys/, which only you can read. A key that is "
                           "there is never replaced. A signer that you add to rete.yaml gets its key the same way.",
                .args = {folder_arg()},
                .example = "sluice mesh ca acme",
                .run = ca});
  commands.add({.name = "mesh plan",
                .summary = "Show what would change: access, links, restarts",
                .details =
                    "Compares what is signed with what the sources say, and writes nothing. Faults of the sources "
                    "are shown all at once, with their places.",
                .args = {folder_arg()},
                .options = {{.name = "exit-code", .help = "exit with 3 if something would change"}},
                .example = "sluice mesh plan acme",
                .run = plan});
  commands.add({.name = "mesh compile",
                .summary = "Compile the sources into drafts that wait for signatures",
                .details = "Every allowed pair is walked there and back before anything is written. Names, labels and "
                           "versions are kept in ledger.json, so that an edit renumbers nothing else.",
                .args = {folder_arg()},
                .example = "sluice mesh compile acme",
                .run = compile});
  commands.add(
      {.name = "mesh sign",
       .summary = "Sign what changed",
       .details =
           "Compiles, signs with all keys that are there, and writes compiled/. A node's artifacts change together or "
           "not at all. Where more signers are needed, drafts/ keeps the signatures so far (exit code 10); the others "
           "then run the same command with their keys.",
       .args = {folder_arg()},
       .options = {{.name = "keys",
                    .value = "FOLDER",
                    .help = "a folder that has keys/; else the mesh's own",
                    .kind = Kind::path}},
       .example = "sluice mesh sign acme",
       .run = sign});
  commands.add({.name = "mesh trace",
                .summary = "Show the hops, links and labels between a user and a service",
                .args = {{.name = "initiator", .help = "who dials: user/alice, service/api or node/web"},
                         {.name = "target", .help = "what is dialled: service/api"}},
                .options = {folder_option()},
                .example = "sluice mesh trace user/alice service/api --folder acme",
                .run = trace});
  commands.add(
      {.name = "mesh bundle",
       .summary = "Make the encrypted bundle by which a host joins",
       .details = "It holds new keys and certificates of all that the node serves, whom the node is to trust, and its "
                  "signed artifacts. It opens with a passphrase, which is printed once.",
       .args = {{.name = "node", .help = "the node's name"}},
       .options = {folder_option(),
                   {.name = "out", .value = "FILE", .help = "where to write it; else NODE.bundle", .kind = Kind::path}},
       .example = "sluice mesh bundle web --folder acme",
       .run = bundle});
}

}  // namespace sluice::cli
