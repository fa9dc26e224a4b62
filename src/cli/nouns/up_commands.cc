// sluice up: from a folder to a URL in one command. The kit does the work (Deployment/up); here a folder becomes an
// archive, the processes that serve are started, and people are told.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

#include "base/atomic_file.h"
#include "base/basis_points.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "bundle/archive/inspect.h"
#include "bundle/manifest/guess.h"
#include "bundle/manifest/manifest_template.h"
#include "bundle/trust/sidecar.h"
#include "cli/all_commands.h"
#include "cli/command_door.h"
#include "cli/deploy_build.h"
#include "cli/losing.h"
#include "cli/opening.h"
#include "cli/outputs.h"
#include "cli/routers_told.h"
#include "cli/signing_key.h"
#include "cli/staging.h"
#include "cli/urls.h"
#include "cli/workflow_progress.h"
#include "deploy/certificate_shelf.h"
#include "deploy/views/documents.h"
#include "deploy/views/objects.h"
#include "host/background.h"
#include "host/kit_watch.h"
#include "host/status_view.h"

namespace sluice::cli {
namespace up_commands {

namespace views = deploy::views;

constexpr std::string_view kLocal = "local";
constexpr int64_t kAll_bps = 10'000;
constexpr const char* kCanary = "canary";
constexpr const char* kShare = "share";
constexpr const char* kShares[] = {kCanary, kShare};
constexpr int64_t kStopAll_ms = 60'000;

// ------------------------------------------------------------------------------------------------------- the archive

// Removes the archive that was made for this call alone.
class MadeArchive {
 public:
  MadeArchive(Disk& disk, std::string path) : disk_(disk), path_(std::move(path)) {}
  ~MadeArchive() {
    (void)disk_.remove(path_);
    (void)disk_.remove(bundle::sidecar_path(path_));
  }
  MadeArchive(const MadeArchive&) = delete;
  MadeArchive& operator=(const MadeArchive&) = delete;

  const std::string& path() const { return path_; }

 private:
  Disk& disk_;
  std::string path_;
};

Result<void> check_folder(Context& context, const std::string& folder) {
  auto there = context.disk.stat(folder + "/" + std::string(bundle::kManifestName), FollowLinks::yes);
  if (there || there.error().code != Code::not_found) return {};
  std::error_code ignored;
  auto guess =
      bundle::guess_manifest(context.disk, folder, std::filesystem::absolute(folder, ignored).filename().string());
  bundle::InitAnswers answers;
  if (guess) answers = {.name = guess->name, .run = guess->run, .listen = guess->listen};
  if (answers.name.text.empty()) answers.name = {"app"};
  if (answers.run.empty()) answers.run = {"./app"};
  std::string minimal = "name: " + answers.name.text + "\nversion: \"0.1.0\"\nrun: [";
  for (const std::string& word : answers.run) {
    minimal += (word == answers.run.front() ? "" : ", ") + write(json::value(word));
  }
  context.output.print_text(minimal + "]\n");
  return Error{.code = Code::not_found,
               .message = folder + " has no bundle.yaml; the lines above are one that would do",
               .next = "sluice init " + folder + ", then sluice up " + folder};
}

Error no_bundle(Error why) {
  if (why.next.empty() && why.code != Code::usage)
    why.next = "name a folder with a bundle.yaml, or an archive that sluice bundles build has made";
  return why;
}

// ------------------------------------------------------------------------------------------------ what is there
// already

// The splits of all environments, by deployment. Nothing is made, and nobody is waited for.
std::map<std::string, views::SplitDocument> splits_now(Context& context) {
  std::map<std::string, views::SplitDocument> splits;
  auto door = CommandDoor::open(context);
  if (!door) return splits;
  auto all = (*door)->look("environments");
  if (!all) return splits;
  for (const json::value& each : all->document.as_array()) {
    auto one = (*door)->look("environment", {{"environment", each.at("environment_id")}});
    auto document = one ? read<views::EnvironmentDocument>(one->document) : one.error();
    if (!document) continue;
    for (views::SplitDocument& split : document->traffic_splits) splits[split.deployment_id] = std::move(split);
  }
  return splits;
}

std::map<std::string, int64_t> generations_of(const std::map<std::string, views::SplitDocument>& splits) {
  std::map<std::string, int64_t> generations;
  for (const auto& [deployment, split] : splits) generations[deployment] = split.generation;
  return generations;
}

// -------------------------------------------------------------------------------------------------------------- up

std::string environment_given(const Context& context) {
  return context.given.has("env") ? context.given.text("env") : std::string(kLocal);
}

json::object input_of(const Context& context, const ArchiveToStage& archive) {
  json::object input{{"environment", environment_given(context)}};
  if (!archive.answers.empty()) input["set"] = write(archive.answers);
  if (!archive.references.empty()) input["runtimeRefs"] = write(archive.references);
  if (context.given.has("unset")) input["unset"] = to_json(context.given.texts("unset"));
  if (context.given.has("customer-id")) input["customer"] = context.given.text("customer-id");
  for (const char* name : kShares) {
    const auto share = context.given.number(name);
    if (!share) continue;
    input["canaryBps"] = *share;
    if (name == kCanary) input["rollout"] = json::array{json::value(print_basis_points(static_cast<int>(*share)))};
  }
  if (auto seconds = context.given.number("drain-seconds")) input["drainSeconds"] = *seconds;
  return input;
}

Result<void> put_archive(Context& context, CommandDoor& door, const std::string& path, json::object& input) {
  auto archive = door.put(path);
  if (!archive) return archive.error();
  input["archive"] = *archive;
  const std::string sidecar = bundle::sidecar_path(path);
  auto there = context.disk.exists(sidecar);
  if (!there) return there.error();
  if (!*there) return {};
  auto signatures = door.put(sidecar);
  if (!signatures) return signatures.error();
  input["signature"] = *signatures;
  return {};
}

Error refusal_of_up(const Context& context, const host::Answer& answer, const WorkflowProgress& progress) {
  Error error = refusal_in_words(context, answer);
  if (answer.variant != "failed") return error;
  if (!progress.staged_name().empty()) {
    error.message = progress.staged_name() + " is not fit to serve: " + error.message;
    // A message may say better than this what to do.
    if (answer.text("message").find("; next: ") == std::string::npos)
      error.next = "change the bundle, then run sluice up again";
    else
      error.next += ", then sluice up again";
  }
  for (const std::string& line : answer.texts("lastLines")) error.message += "\n  " + printable(line);
  return error;
}

struct Raised {
  host::Answer answer;
  std::string name;  // "shop@2"
  views::RouteDocument route;
};

Result<Raised> raise(Context& context, CommandDoor& door, const ArchiveToStage& archive, WorkflowProgress& progress) {
  const std::string environment = environment_given(context);
  json::object input = input_of(context, archive);
  if (auto put = put_archive(context, door, archive.path, input); !put) return put.error();
  auto answer = door.run("Deployment/up", input, [&](const engine::Step& step) { return progress.hear(step); });
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_of_up(context, *answer, progress);
  Raised raised{.answer = *answer, .name = answer->text("bundle") + "@" + write(answer->fields.at("sequence"))};
  if (const std::string signature = answer->text("signature"); signature != "verified") {
    context.output.warn(raised.name + " is not verified: " + signature +
                        "; local runs it, every other environment would refuse it");
  }
  const auto with_others = answer->fields.at("entries").as_array().size() > 1;
  if (context.given.has(kCanary) && with_others) {
    context.output.note("a rollout gives it more once it is no worse: sluice rollout watch " + raised.name);
  }
  if (answer->fields.at("routesWait").as_bool()) {
    context.output.note("the routes stay as they are until it gets everything");
  }
  auto routers = routers_of(door, environment);
  if (!routers) return routers.error();
  tell_of_routers(context, *routers);
  auto all = door.read<std::vector<views::DeploymentDocument>>("deployments", {{"environment", environment}});
  if (!all) return all.error();
  for (const views::DeploymentDocument& each : *all) {
    if (each.deployment_id == answer->text("deployment")) raised.route = each.route_binding;
  }
  return raised;
}

// With --tls: a certificate for where it is reached, from this home's own authority, which issues for no other hosts.
Result<void> show_certificate_for(Context& context, CommandDoor& door, const Raised& raised) {
  std::set<std::string> names = {"localhost", "127.0.0.1"};
  for (const std::string& host : raised.route.hosts) {
    if (deploy::is_local_name(host)) {
      names.insert(host);
    } else {
      context.output.warn("the local CA issues nothing for " + host + "; sluice tls add shows a certificate for it");
    }
  }
  auto listed = door.call("Certificate/list", {});
  if (!listed) return listed.error();
  if (listed->code != Code::ok) return refusal_in_words(context, *listed);
  std::set<std::string> wanted = names;
  for (const json::value& each : listed->fields.at("certificates").as_array()) {
    if (each.at("certificate") != json::value(kLocal)) continue;
    for (const json::value& name : each.at("names").as_array()) {
      names.erase(std::string(name.as_string()));
      wanted.insert(std::string(name.as_string()));
    }
  }
  if (names.empty()) return {};
  json::array all;
  for (const std::string& each : wanted) all.push_back(json::value(each));
  auto issued =
      door.call("Certificate/issue", {{"certificate", kLocal}, {"provider", "local-ca"}, {"names", std::move(all)}},
                host::WaitFor::answer, "tls");
  if (!issued) return issued.error();
  if (issued->code != Code::ok) return refusal_in_words(context, *issued);
  context.output.note("browsers believe it after: sluice tls trust --install");
  return {};
}

void tell(Context& context, const Raised& raised, const std::vector<std::string>& listen) {
  const json::object& fields = raised.answer.fields;
  const json::value& weights = fields.at("entries");
  int64_t own = 0;
  for (const json::value& each : weights.as_array()) {
    if (each.at("revision") == fields.at("revision")) own = each.at("weightBps").as_int64();
  }
  const std::vector<std::string> urls = urls_of(listen, raised.route);
  const outputs::Up shown{.deployment = raised.answer.text("deployment"),
                          .bundle = raised.answer.text("bundle"),
                          .revision = raised.answer.text("revision"),
                          .name = raised.name,
                          .changed = fields.at("changed").as_bool(),
                          .weights = read<std::vector<outputs::Weight>>(weights).value(),
                          .urls = urls};
  context.output.print(to_json(shown), [&](const Terminal& terminal) {
    std::string lines = terminal.paint(Style::good, fields.at("changed").as_bool() ? "up" : "unchanged") + "  " +
                        raised.name + " gets " + print_basis_points(static_cast<int>(own)) + "\n";
    for (const std::string& each : urls) lines += each + "\n";
    return lines;
  });
}

// ---------------------------------------------------------------------------------------------------------- the end

// What this command has started itself. What ran before it goes on when it ends.
struct Started {
  bool router = false;
  bool serve = false;
  bool workloads = false;
};

void stop_these(Context& context, const host::Home& home, Clock& clock, const Started& these) {
  auto told = [&](const auto& stopped) {
    if (!stopped) context.output.error(stopped.error());
  };
  if (these.router) told(host::stop_routers(context.disk, home, clock, kStopAll_ms));
  if (these.serve) told(host::stop_serve(context.disk, home, clock, "up ends", kStopAll_ms));
  if (these.workloads) told(host::stop_workloads(context.disk, home, concepts_of(context)));
}

// Takes back what was begun, and says so.
Error take_back(Context& context, const host::Home& home, Clock& clock, const Started& begun,
                const WorkflowProgress& progress, const Error& why, bool interrupted) {
  if (interrupted && progress.flow()) {
    if (auto door = CommandDoor::open(context)) {
      if (auto ended = (*door)->cancel(*progress.flow(), "stopped by the person who called"); !ended) {
        context.output.error(ended.error());
      }
      // Nobody stays to see it done.
      if (!progress.staged().empty()) {
        (void)(*door)->call("Revision/archive", {{"revision", progress.staged()}}, host::WaitFor::start, "take-back");
      }
    }
  }
  stop_these(context, home, clock, begun);
  if (!interrupted) return why;
  return Error{.message = "stopped before it was up; what was started for it is stopped again", .next = "sluice up"};
}

// Ctrl-C: what this command has brought up ends, and what served before it serves again.
Result<void> take_down(Context& context, const Raised& raised) {
  const json::object& fields = raised.answer.fields;
  if (!fields.at("changed").as_bool()) {
    context.output.note("this command has changed nothing, so everything goes on");
    return {};
  }
  const std::string deployment = raised.answer.text("deployment"), revision = raised.answer.text("revision");
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto split =
      (*door)->read<OrNull<views::SplitDocument>>("traffic", {{"environment", kLocal}, {"deployment", deployment}});
  if (!split) return split.error();
  json::array entries;
  for (const auto& each : *split ? (*split)->entries : std::vector<views::EntryDocument>()) {
    entries.push_back(json::object{{"revision", each.revision_id}, {"weightBps", each.weight_bps}});
  }
  if (entries != fields.at("entries").as_array()) {
    context.output.note("somebody has changed its traffic since, so everything goes on");
    return {};
  }
  auto back = (*door)->call("Deployment/rollBack", {{"deployment", deployment}, {"steps", 1}}, host::WaitFor::answer,
                            "roll-back");
  if (!back) return back.error();
  const bool served_before = back->code == Code::ok;
  if (!served_before) {
    auto cleared = (*door)->call("Traffic/clear", {{"deployment", deployment}}, host::WaitFor::all, "clear");
    if (!cleared) return cleared.error();
    if (cleared->code != Code::ok) return refusal_in_words(context, *cleared);
  }
  auto drained = (*door)->call("Revision/drain", {{"revision", revision}}, host::WaitFor::answer, "drain");
  if (!drained) return drained.error();
  if (drained->code != Code::ok) return refusal_in_words(context, *drained);
  context.output.note("stopped " + raised.name + (served_before ? "; what served before it serves again" : "") +
                      "; everything else goes on");
  return {};
}

// ------------------------------------------------------------------------------------------------- on another server

// The addresses at which the server's routers take the requests of an environment from elsewhere.
std::vector<std::string> listen_there(CommandDoor& door, const std::string& environment) {
  std::vector<std::string> listen;
  auto status = door.look("status");
  auto document = status ? read<host::StatusDocument>(status->document) : status.error();
  if (!document || !document->environments) return listen;
  for (const host::StatusEnvironment& each : *document->environments) {
    if (each.environment != environment) continue;
    for (const host::StatusRouter& router : each.routers) {
      if (router.running) std::ranges::copy(router.listen, std::back_inserter(listen));
    }
  }
  return listen;
}

// The same call on the server of the context: the bytes go there first. What serves there runs already, and goes on.
Result<Code> up_there(Context& context, const host::Home& home, const std::string& url, const std::string& folder,
                      std::optional<ArchiveToStage> archive) {
  auto run = home.folder("run");
  if (!run) return run.error();
  const MadeArchive made(context.disk, (*run / ("up-" + std::to_string(::getpid()) + ".bundle")).string());
  if (!folder.empty()) {
    auto key = signing_key(context);
    if (!key) return key.error();
    if (auto packed = pack_signed(context, folder, made.path(), *key, [] { return false; }); !packed)
      return packed.error();
    auto read = archive_to_stage(context, made.path());
    if (!read) return read.error();
    archive = *std::move(read);
  }
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  if (auto taken = take_answers(context, *archive, ""); !taken) return taken.error();
  if (auto asked = ask_open(context, **door, environment_given(context), *archive); !asked) return asked.error();
  WorkflowProgress progress(context, home);
  auto raised = raise(context, **door, *archive, progress);
  if (!raised) return raised.error();
  tell(context, *raised, listen_there(**door, environment_given(context)));
  context.output.note("it runs on " + url + " and goes on there");
  return Code::ok;
}

Result<Code> up(Context& context) {
  const std::string given = context.given.text("bundle").empty() ? "." : context.given.text("bundle");
  for (const char* name : kShares) {
    const auto share = context.given.number(name);
    if (!share || (*share >= 1 && *share < kAll_bps)) continue;
    return Error{.code = Code::usage, .message = "--" + std::string(name) + ": expected a share between 0% and 100%"};
  }
  if (std::ranges::all_of(kShares, [&](const char* name) { return context.given.has(name); })) {
    return Error{.code = Code::usage, .message = "--canary begins a rollout with its share, --share begins none"};
  }
  const auto given_port = context.given.number("port");
  if (given_port && (*given_port < 1 || *given_port > 65'535)) {
    return Error{.code = Code::usage, .message = "--port: expected 1 to 65535"};
  }
  auto home = home_of(context);
  if (!home) return home.error();
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  const std::string environment = environment_given(context);
  if (!opening->server && environment != kLocal) {
    return Error{.code = Code::usage,
                 .message = "on this machine sluice up brings a bundle to local, not to " + environment +
                            "; nothing was changed",
                 .next = "sluice deploy --env " + environment + ", or: sluice bundles add " + environment + " FILE"};
  }
  if (opening->server && context.given.flag("tls")) {
    return Error{.code = Code::usage,
                 .message = "--tls: commands go to " + opening->server->url + ", whose routers run",
                 .next = "sluice tls issue NAME gives them a certificate"};
  }
  if (opening->server && given_port) {
    return Error{.code = Code::usage,
                 .message = "--port: commands go to " + opening->server->url + ", whose routers run"};
  }
  auto stat = context.disk.stat(given, FollowLinks::yes);
  if (!stat) return no_bundle(stat.error());
  const bool folder = stat->kind == FileKind::folder;
  std::optional<ArchiveToStage> archive;
  if (folder) {
    if (auto has = check_folder(context, given); !has) return has.error();
    if (context.given.flag("schema")) {
      auto text = read_file(context.disk, given + "/" + std::string(bundle::kManifestName), bundle::kMaxManifestBytes);
      if (!text) return text.error();
      auto manifest = bundle::parse_manifest(*text);
      if (!manifest) return manifest.error();
      if (!print_questions(context, *manifest)) context.output.note(manifest->name.text + " asks for nothing");
      return Code::ok;
    }
  } else {
    auto read = archive_to_stage(context, given);
    if (!read) return no_bundle(read.error());
    archive = *std::move(read);
    if (context.given.flag("schema")) {
      if (!print_questions(context, archive->manifest)) context.output.note(archive->bundle + " asks for nothing");
      return Code::ok;
    }
  }
  if (opening->server) return up_there(context, *home, opening->server->url, folder ? given : "", archive);
  const auto port = static_cast<uint16_t>(given_port.value_or(0));
  const bool secure = context.given.flag("tls");
  RealClock clock;
  const host::StopSignal stop;
  const bool had_workloads = host::workloads_run(context.disk, *home, concepts_of(context));
  std::map<std::string, int64_t> before;
  if (!host::serve_runs(*home, clock)) before = generations_of(splits_now(context));
  auto served = host::ensure_serve(context.disk, *home, clock);
  if (!served) return served.error();
  auto begun = host::begin_router(context.disk, *home, port, secure);
  host::RouterHere router;
  WorkflowProgress progress(context, *home);
  auto raised = [&]() -> Result<Raised> {
    if (!begun) return begun.error();
    auto key = signing_key(context);
    if (!key) return key.error();
    auto run = home->folder("run");
    if (!run) return run.error();
    const MadeArchive made(context.disk, (*run / ("up-" + std::to_string(::getpid()) + ".bundle")).string());
    if (folder) {
      auto packed = pack_signed(
          context, given, made.path(), *key, [&] { return stop.has_come(); }, context.given.flag("update-image"));
      if (!packed) return packed.error();
      auto read = archive_to_stage(context, made.path());
      if (!read) return read.error();
      archive = *std::move(read);
    }
    // Before the first publish, so that it is not told that nobody obeys.
    auto listens = host::finish_router(context.disk, *home, clock, port, *begun, secure);
    if (!listens) return listens.error();
    router = *std::move(listens);
    auto door = CommandDoor::open(context);
    if (!door) return door.error();
    if (auto taken = take_answers(context, *archive, ""); !taken) return taken.error();
    if (auto asked = ask_open(context, **door, std::string(kLocal), *archive); !asked) return asked.error();
    if (auto known = introduce_router(**door, router); !known) return known.error();
    auto up = raise(context, **door, *archive, progress);
    if (!up || !secure) return up;
    if (auto shown = show_certificate_for(context, **door, *up); !shown) return shown.error();
    return up;
  }();
  const Started started{.router = begun && *begun != 0, .serve = *served, .workloads = *served && !had_workloads};
  if (!raised) {
    const bool interrupted = stop.has_come();
    if (interrupted && stop.wait() == SIGHUP) return Code::ok;  // what was begun goes on without a terminal
    // What somebody else has brought up meanwhile is served by what this one has started.
    if (*served && !interrupted && generations_of(splits_now(context)) != before) return raised.error();
    return take_back(context, *home, clock, started, progress, raised.error(), interrupted);
  }
  if (port != 0 && !router.started && std::ranges::none_of(router.router.listen, [&](const std::string& each) {
        return each.ends_with(":" + std::to_string(port));
      })) {
    context.output.warn("the router runs already and stays where it listens; sluice stop ends it");
  }
  // One that was killed meanwhile has been replaced by this command, which ends now.
  if (auto again = host::ensure_serve(context.disk, *home, clock); !again) return again.error();
  tell(context, *raised, router.router.listen);
  if (context.given.flag("detach")) return Code::ok;
  context.output.note(
      "Ctrl-C stops what this command has started; if the terminal is closed, it goes on in the background");
  if (stop.wait() == SIGHUP) return Code::ok;
  auto others = splits_now(context);
  others.erase(raised->answer.text("deployment"));
  if (started.serve && others.empty()) {
    stop_these(context, *home, clock, {.router = true, .serve = true, .workloads = true});
    context.output.note("stopped");
    return Code::ok;
  }
  if (auto down = take_down(context, *raised); !down) return down.error();
  return Code::ok;
}

}  // namespace up_commands

void add_up_commands(Commands& commands) {
  using namespace up_commands;
  std::vector<Option> options = staging_options();
  options.push_back(unset_option());
  options.push_back({.name = "answers",
                     .value = "FILE",
                     .help = "answers to what the bundle asks, as YAML or JSON",
                     .kind = Kind::path});
  options.push_back({.name = "schema", .help = "print what the bundle asks, and stop"});
  options.push_back({.name = "detach", .letter = 'd', .help = "return once it runs, and leave it running"});
  options.push_back({.name = "port",
                     .value = "N",
                     .help = "the port of the router; else 8080, or any free one",
                     .kind = Kind::count});
  options.push_back({.name = "tls", .help = "speak TLS too, at 8443 or any free port, by this home's own authority"});
  options.push_back({.name = kCanary,
                     .value = "SHARE",
                     .help = "begin a rollout: this share first, and all once the judge finds it no worse",
                     .kind = Kind::share});
  options.push_back({.name = kShare,
                     .value = "SHARE",
                     .help = "give the new revision only this share of the traffic, and leave it there",
                     .kind = Kind::share});
  options.push_back({.name = "customer-id", .value = "NAME", .help = "the customer that it is deployed for"});
  options.push_back(update_image_option());
  options.push_back(
      {.name = "env", .value = "ENV", .help = "on the server that sluice login chose: the environment; else local"});
  for (Option& each : signing_options()) options.push_back(std::move(each));
  commands.add(
      {.name = "up",
       .group = Group::ship,
       .summary = "Run a folder and send requests to it",
       .details =
           "Packs and signs the folder, starts the control plane and a router in the background if they do not run, "
           "creates the environment local and a deployment, stages and warms a revision, sends it all requests, and "
           "prints its URLs. Run again, it makes a new revision if the folder has changed, and otherwise does nothing. "
           "Answers given with --set stay for later versions, until --unset. A revision that does not become healthy "
           "gets no requests: the exit code is 7, and the previous version continues to serve.\n\nIn the foreground it "
           "waits. Ctrl-C then stops what this command has started and nothing else; if the terminal is closed, "
           "everything continues in the background.\n\nOlder revisions are drained, and `sluice traffic rollback local "
           "--steps N` brings them back; the last ten that served are kept.\n\nAfter `sluice login` the folder is "
           "packed "
           "and signed here and brought up on that server, in the environment that --env names, and the command "
           "returns when it serves there.",
       .args = {{.name = "bundle",
                 .help = "a folder with a bundle.yaml, or a signed archive; else this folder",
                 .kind = Kind::path,
                 .optional = true}},
       .options = std::move(options),
       .example = "sluice up examples/hello --detach",
       .run = up});
}

}  // namespace sluice::cli
