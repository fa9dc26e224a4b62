// sluice mesh agent: a node in a mesh. What it does is in mesh/node_agent.h; this asks a running one, or does the work
// itself where none runs.
#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/code.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/context.h"
#include "cli/opening.h"
#include "cli/outputs.h"
#include "cli/secret_input.h"
#include "cli/service_notice.h"
#include "host/home.h"
#include "host/kit_watch.h"
#include "http/client.h"
#include "mesh/authority.h"
#include "mesh/enrolment.h"
#include "mesh/node_agent.h"
#include "process/find_program.h"

namespace sluice::cli {
namespace mesh_agent_commands {

constexpr size_t kMaxBundle = 64 << 20;
constexpr int64_t kSyncPatience_ms = 120'000;
constexpr int64_t kPatience_ms = 60'000;  // a look that is under way ends first

struct Place {
  std::string root;
  std::string scope;
};

Result<std::string> root_of(Context& context) {
  if (context.given.has("root")) return std::filesystem::absolute(context.given.text("root")).string();
  auto home = home_of(context);
  if (!home) return home.error();
  auto folder = home->folder("mesh");
  if (!folder) return folder.error();
  return folder->string();
}

// The scope that was named, or the only one.
Result<Place> place_of(Context& context) {
  auto root = root_of(context);
  if (!root) return root.error();
  if (context.given.has("scope")) return Place{*root, context.given.text("scope")};
  const Error none{
      .code = Code::not_found, .message = "this host is in no mesh yet", .next = "sluice mesh agent enrol BUNDLE"};
  auto there = context.disk.exists(*root + "/state");
  if (!there) return there.error();
  if (!*there) return none;
  auto scopes = context.disk.list(*root + "/state");
  if (!scopes) return scopes.error();
  if (scopes->empty()) return none;
  if (scopes->size() > 1)
    return Error{.code = Code::usage, .message = "this host is in several meshes", .next = "add --scope NAME"};
  return Place{*root, scopes->front().name};
}

// What a running agent answers; nothing if none runs.
Result<std::optional<json::value>> ask_running(const Place& place, const std::string& method, const std::string& target,
                                               int64_t patience_ms) {
  const RealClock clock;
  auto client = http::Client::to_unix(mesh::agent_socket(place.root, place.scope), clock);
  if (!client) return std::optional<json::value>();
  auto answer = (*client)->send({.method = method, .target = target}, patience_ms);
  if (!answer) return answer.error();
  auto document = parse_json(answer->body, "agent");
  if (!document) return document.error();
  if (answer->status < 300) return std::optional<json::value>(std::move(document->root));
  const auto text = [&](std::string_view name) {
    const json::value* value = document->root.is_object() ? document->root.get_object().if_contains(name) : nullptr;
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
  };
  return Error{
      .code = code_named(text("code")).value_or(Code::failed), .message = text("message"), .next = text("next")};
}

Result<mesh::AgentOptions> options_of(Context& context, const Place& place) {
  mesh::AgentOptions options{.root = place.root, .scope = place.scope};
  options.direct = context.given.text("direct");
  options.folder = context.given.text("from");
  while (options.direct.ends_with('/')) options.direct.pop_back();
  options.poll_ms = context.given.number("poll").value_or(options.poll_ms);
  options.confirm_ms = context.given.number("commit-timeout").value_or(options.confirm_ms);
  options.patience_ms = context.given.number("patience").value_or(options.patience_ms);
  options.path = context.variables("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  if (context.given.has("vertex")) {
    auto program = process::find_program(context.given.text("vertex"), ".", {{"PATH", options.path}});
    if (!program) return program.error();
    options.program = {std::filesystem::absolute(*program).string()};  // it runs in another folder
  }
  return options;
}

Result<Code> enrol(Context& context) {
  const std::string file = context.given.text("bundle");
  if (file.empty())
    return Error{.code = Code::usage, .message = "which bundle?", .next = "sluice mesh agent enrol BUNDLE"};
  auto root = root_of(context);
  if (!root) return root.error();
  auto sealed = read_file(context.disk, file, kMaxBundle);
  if (!sealed) return sealed.error();
  Result<std::string> passphrase = Error{};
  if (context.given.has("passphrase-file")) {
    passphrase = read_file(context.disk, context.given.text("passphrase-file"), 4 << 10);
    while (passphrase && passphrase->ends_with('\n')) passphrase->pop_back();
  } else {
    passphrase = read_unfiled_value(context, "passphrase");
  }
  if (!passphrase) return passphrase.error();
  auto enrolment = mesh::open_enrolment(*sealed, *passphrase);
  if (!enrolment) return enrolment.error();
  auto artifacts = mesh::parse_all(enrolment->artifacts);
  if (!artifacts) return artifacts.error();
  std::string scope = context.given.text("scope");
  if (scope.empty()) scope = enrolment->trust.trust_domain;
  std::ranges::replace(scope, '.', '-');
  if (auto made = mesh::make_folders(context.disk, *root, 0755); !made) return made.error();
  auto store = mesh::NodeStore::enrol(context.disk, *root, scope, enrolment->node, enrolment->trust,
                                      enrolment->identity, *std::move(artifacts), RealClock().wall_ms());
  if (!store) return store.error();
  const uint64_t version = store->state().marks.mgmt.version;
  context.output.print(
      to_json(outputs::NodeEnrolled{
          .scope = scope, .node = enrolment->node, .version = version, .folder = store->active_folder()}),
      [&](const Terminal& terminal) {
        return terminal.paint(Style::good, "enrolled") + "  " + enrolment->node + " in " + scope + ", version " +
               std::to_string(version) + "\n";
      });
  context.output.note("next: sluice mesh agent run; remove " + file + ", it holds this node's keys");
  return Code::ok;
}

Result<Code> run(Context& context) {
  const host::StopSignal stop;  // before the threads are made, which are not to take the signal
  auto place = place_of(context);
  if (!place) return place.error();
  auto options = options_of(context, *place);
  if (!options) return options.error();
  if (options->program.empty())
    context.output.warn("no --vertex program: sets are fetched and judged, and no vertex runs");
  RealClock clock;
  auto agent = mesh::NodeAgent::open(context.disk, clock, *std::move(options));
  if (!agent) return agent.error();
  context.output.note("the agent of " + (*agent)->status().node + " in " + place->scope + " runs");
  tell_service(context.variables, "READY=1");
  auto served = (*agent)->serve([&] { return stop.has_come(); });
  if (!served) return served.error();
  return Code::ok;
}

void print_sync(Context& context, const mesh::AgentSync& done) {
  context.output.print(to_json(done), [&](const Terminal&) {
    std::string text = done.outcome + "  version " + std::to_string(done.version);
    for (const std::string& each : done.vertices) text += (&each == &done.vertices.front() ? "  " : ", ") + each;
    return text + "\n";
  });
}

Result<Code> sync(Context& context) {
  auto place = place_of(context);
  if (!place) return place.error();
  auto answer = ask_running(*place, "POST", "/sync", kSyncPatience_ms);
  if (!answer) return answer.error();
  if (*answer) {
    auto done = read<mesh::AgentSync>(**answer);
    if (!done) return done.error();
    print_sync(context, *done);
    return Code::ok;
  }
  auto options = options_of(context, *place);
  if (!options) return options.error();
  RealClock clock;
  auto agent = mesh::NodeAgent::open(context.disk, clock, *std::move(options));
  if (!agent) return agent.error();
  auto done = (*agent)->sync_now();
  if (!done) return done.error();
  print_sync(context, *done);
  return Code::ok;
}

Result<Code> confirm(Context& context) {
  auto place = place_of(context);
  if (!place) return place.error();
  auto answer = ask_running(*place, "POST", "/confirm", kPatience_ms);
  if (!answer) return answer.error();
  if (!*answer) {
    auto store = mesh::NodeStore::open(context.disk, place->root, place->scope);
    if (!store) return store.error();
    if (auto done = store->confirm(); !done) return done.error();
  }
  context.output.print(to_json(outputs::NodeConfirmed{.scope = place->scope}), [](const Terminal& terminal) {
    return terminal.paint(Style::good, "confirmed") + "  the set in force\n";
  });
  return Code::ok;
}

std::string status_text(const mesh::AgentStatus& status, const Terminal& terminal) {
  std::string text = terminal.paint(Style::strong, status.node) + " in " + status.scope + "  version " +
                     std::to_string(status.version) + (status.running ? "" : "  (no agent runs)") + "\n";
  if (status.confirm_within_ms)
    text += terminal.paint(Style::warning, "unconfirmed") + "  taken back in " +
            std::to_string(*status.confirm_within_ms / 1000) + " s\n";
  if (!status.trouble.empty()) text += terminal.paint(Style::bad, "trouble") + "  " + printable(status.trouble) + "\n";
  text += status.checked_ms == 0 ? "the config server was never reached\n"
                                 : "the config server was reached at " + utc_text(status.checked_ms) + "\n";
  if (status.vertices.empty()) return text;
  Table table{
      .columns = {{"VERTEX"}, {"KIND"}, {"STATE"}, {"PID", Align::right}, {"RESTARTS", Align::right}, {"LAST"}}};
  for (const mesh::VertexStatus& each : status.vertices) {
    table.rows.push_back({{each.name, Style::strong},
                          {each.kind},
                          {each.state, each.state == "running" ? Style::good : Style::bad},
                          {each.pid == 0 ? "" : std::to_string(each.pid)},
                          {std::to_string(each.restarts)},
                          {each.last}});
  }
  return text + render(table, terminal);
}

Result<Code> status(Context& context) {
  auto place = place_of(context);
  if (!place) return place.error();
  auto answer = ask_running(*place, "GET", "/status", kPatience_ms);
  if (!answer) return answer.error();
  const RealClock clock;
  auto found = *answer ? read<mesh::AgentStatus>(**answer)
                       : mesh::status_on_disk(context.disk, clock, place->root, place->scope);
  if (!found) return found.error();
  context.output.print(to_json(*found), [&](const Terminal& terminal) { return status_text(*found, terminal); });
  return Code::ok;
}

Result<Code> agent(Context& context) {
  const std::string verb = context.given.text("verb");
  if (verb == "enrol") return enrol(context);
  if (context.given.has("bundle")) return Error{.code = Code::usage, .message = "only enrol takes a bundle"};
  if (verb == "run") return run(context);
  if (verb == "sync") return sync(context);
  if (verb == "confirm") return confirm(context);
  return status(context);
}

}  // namespace mesh_agent_commands

void add_mesh_agent_commands(Commands& commands) {
  commands.add(
      {.name = "mesh agent",
       .summary = "Keep this host at what was signed for it",
       .details =
           "enrol takes the bundle of this node, and asks for its passphrase. run fetches what is signed for this "
           "node, "
           "judges it by the signers that the node trusts, switches to it as a whole, and keeps the vertices running; "
           "it goes back by itself if a vertex refuses or the config server cannot be reached over the new set within "
           "--commit-timeout. sync looks now, status says what is in force and why, confirm keeps a set that nothing "
           "has confirmed yet. A set that does not hold is never obeyed: the last good one stays.",
       .args = {{.name = "verb", .help = "what to do", .choices = {"enrol", "run", "sync", "status", "confirm"}},
                {.name = "bundle", .help = "for enrol: the bundle's file", .kind = Kind::path, .optional = true}},
       .options =
           {{.name = "root", .value = "FOLDER", .help = "where nodes live; else mesh/ in the home", .kind = Kind::path},
            {.name = "scope", .value = "NAME", .help = "which mesh, if this host is in several"},
            {.name = "passphrase-file", .value = "FILE", .help = "for enrol: the passphrase", .kind = Kind::path},
            {.name = "direct", .value = "URL", .help = "ask this config server, without a vertex in between"},
            {.name = "from",
             .value = "FOLDER",
             .help = "take a compiled tree in place of a server",
             .kind = Kind::path},
            {.name = "vertex", .value = "PROGRAM", .help = "for run: the program that is started for each vertex"},
            {.name = "poll", .value = "TIME", .help = "how often to look", .kind = Kind::duration, .fallback = "5m"},
            {.name = "commit-timeout",
             .value = "TIME",
             .help = "how long a new set may stay unconfirmed; 0s: for ever",
             .kind = Kind::duration,
             .fallback = "5m"},
            {.name = "patience",
             .value = "TIME",
             .help = "how long an answer of the config server may take",
             .kind = Kind::duration,
             .fallback = "30s"}},
       .example = "sluice mesh agent status",
       .run = mesh_agent_commands::agent});
}

}  // namespace sluice::cli
