// sluice up and down: from a folder to a URL in one command, and back. Everything that they do can be done by the other
// commands one by one; they say which.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <map>

#include "base/basis_points.h"
#include "base/clock.h"
#include "base/json.h"
#include "bundle/archive/inspect.h"
#include "bundle/manifest/guess.h"
#include "bundle/manifest/manifest_template.h"
#include "bundle/trust/sidecar.h"
#include "cli/all_commands.h"
#include "cli/bundle_words.h"
#include "cli/drain_watch.h"
#include "cli/objects.h"
#include "cli/opening.h"
#include "cli/routers_told.h"
#include "cli/running_instances.h"
#include "cli/signing_key.h"
#include "cli/staging.h"
#include "cli/up_deployment.h"
#include "cli/up_split.h"
#include "cli/version.h"
#include "deploy/build_bundle.h"
#include "deploy/concepts/artifact/artifact_builder.h"
#include "deploy/views/documents.h"
#include "deploy/views/names.h"
#include "host/background.h"
#include "host/kit_watch.h"
#include "local_runtime.gen.h"
#include "router.gen.h"
#include "router/control_client.h"
#include "runtime.gen.h"
#include "traffic.gen.h"

namespace sluice::cli {
namespace up_commands {

namespace views = deploy::views;
using deploy::deployment::DeploymentFound;
using deploy::revision::RevisionFound;
using deploy::revision::RevisionLifecycle;

constexpr std::string_view kLocal = "local";
constexpr int64_t kAll_bps = 10'000;
constexpr int64_t kStopAll_ms = 60'000;
constexpr int64_t kRouterAnswer_ms = 5'000;
constexpr int64_t kReplicasBack_ms = 60'000;
constexpr int64_t kLookAtReplicas_ms = 20;

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

bool has_come(const host::StopSignal& stop) {
  pollfd look{.fd = stop.fd(), .events = POLLIN, .revents = 0};
  return ::poll(&look, 1, 0) > 0;
}

// Packs and signs a folder.
Result<void> pack(Context& context, const std::string& folder, const std::string& out, const crypto::PrivateKey& key,
                  const host::StopSignal& stop) {
  RealClock clock;
  process::RealRunner runner(clock);
  auto built =
      deploy::build_bundle(context.disk, runner, clock,
                           {.folder = plain_folder(folder),
                            .out = out,
                            .environment = deploy::build_environment(context.variables),
                            .version_of =
                                [&](const std::string& name) {
                                  return deploy::artifact::version_of_tool(context.disk, name, context.variables);
                                },
                            .sluice_version = version().number},
                           {.stopped = [&] { return has_come(stop); },
                            .said = [&](const std::string& line) { context.output.note("  " + line); }});
  if (!built) return built.error();
  for (const std::string& each : built->warnings) context.output.warn(each);
  auto sidecar = bundle::sign_statement(built->statement, {&key, 1});
  if (!sidecar) return sidecar.error();
  return bundle::write_sidecar(context.disk, bundle::sidecar_path(out), *sidecar);
}

// ------------------------------------------------------------------------------------------------------ the revision

// A ready revision of exactly this archive and config, the newest if there are several.
std::optional<RevisionFound> ready_revision(const views::States& states, const std::string& deployment,
                                            const ArchiveToStage& archive) {
  std::optional<RevisionFound> found;
  for (const RevisionFound& each : views::live_revisions_of(states, deployment)) {
    if (each.record.lifecycle == RevisionLifecycle::ready && each.record.treeDigest == archive.tree &&
        each.record.config == archive.config) {
      found = each;
    }
  }
  return found;
}

// `begun` is the revision that it has made, also if that does not become ready.
Result<RevisionFound> staged_and_warm(Context& context, Objects& objects, const DeploymentFound& deployment,
                                      const ArchiveToStage& archive, std::string& begun) {
  json::object input{{"deployment", deployment.id.text()},
                     {"environment", deployment.record.environment},
                     {"bundle", deployment.record.bundle},
                     {"source", archive.path},
                     {"config", archive.config}};
  if (auto seconds = context.given.number("drain-seconds")) input["drainSeconds"] = *seconds;
  auto staged = objects.change("Revision/stage", input, "stage");
  if (!staged) return staged.error();
  if (staged->code != Code::ok) return refusal_in_words(*staged);
  const deploy::revision::RevisionId id(staged->text("revision"));
  begun = id.text();
  auto warmed = objects.change("Revision/warm", {{"revision", id.text()}}, "warm");
  if (!warmed) return warmed.error();
  if (auto settled = objects.settle(); !settled) return settled.error();
  auto record = objects.states().revision().get(id);
  if (!record) return Error{.message = "the revision " + id.text() + " was removed meanwhile"};
  if (warmed->code != Code::ok) {
    const std::string name = record->bundle + "@" + std::to_string(record->sequence);
    Error refused = refusal_in_words(*warmed);
    refused.message = name + " is not fit to serve, and traffic stays as it was: " + refused.message;
    for (const std::string& line : objects.last_lines()) refused.message += "\n  " + printable(line);
    refused.next = "mend it, then sluice up again";
    return refused;
  }
  return RevisionFound{id, *record};
}

// In local what is not verified gets traffic all the same, but not without a word.
void warn_unverified(Context& context, const RevisionFound& revision) {
  const std::string& signature = revision.record.signature;
  if (signature == "verified") return;
  context.output.warn(revision.record.bundle + "@" + std::to_string(revision.record.sequence) +
                      " is not verified: " + signature + "; local runs it, every other environment would refuse it");
}

// --------------------------------------------------------------------------------------------------------- the rest

std::vector<std::string> urls_of(const host::RunningRouter& router, const DeploymentFound& deployment) {
  std::vector<std::string> urls;
  std::vector<std::string> prefixes = deployment.record.route.pathPrefixes;
  if (prefixes.empty()) prefixes = {"/"};
  for (const std::string& listen : router.listen) {
    const size_t colon = listen.rfind(':');
    if (listen.starts_with("unix:") || colon == std::string::npos) continue;
    std::vector<std::string> hosts;
    for (const std::string& host : deployment.record.route.hosts) {
      if (!host.starts_with("*.")) hosts.push_back(host);
    }
    if (deployment.record.route.hosts.empty()) hosts = {listen.substr(0, colon)};
    for (const std::string& host : hosts) {
      for (const std::string& prefix : prefixes) urls.push_back("http://" + host + listen.substr(colon) + prefix);
    }
  }
  return urls;
}

// Waits until what should run of it does: after `sluice stop` the control plane starts it again. True if it had to.
Result<bool> await_replicas(Context& context, Objects& objects, Clock& clock, const std::string& revision,
                            const host::StopSignal& stop) {
  auto here = host::local_replicas(concepts_of(context));
  if (!here) return here.error();
  const int64_t until_ns = clock.monotonic_ns() + kReplicasBack_ms * 1'000'000;
  auto all_run = [&] {
    for (const auto& instance : objects.states().runtime().find_by_concept(revision)) {
      for (const auto& service : objects.states().local_runtime().find_by_instance(instance.id.text())) {
        if (service.record.busy) return false;
        for (const auto& program : objects.states().local_runtime().programs(service.id).values()) {
          auto state = (*here)->look(program.name);
          if (!state || !state->healthy || process::is_over(state->phase)) return false;
        }
      }
    }
    return true;
  };
  bool waited = false;
  while (!all_run()) {
    waited = true;
    if (has_come(stop)) return Error{.message = "stopped waiting for " + revision};
    if (clock.monotonic_ns() >= until_ns) {
      return Error{.code = Code::timeout,
                   .message = "what runs of " + revision + " does not become healthy",
                   .next = "sluice status"};
    }
    clock.sleep_ms(kLookAtReplicas_ms);
    if (auto read = objects.refresh(); !read) return read.error();
  }
  return waited;
}

struct Raised {
  DeploymentFound deployment;
  RevisionFound revision;
  bool changed = false;  // a new revision, or another split
  Weights weights;
};

// The old ones that nobody gets any more are stopped, once nothing of them is under way.
Result<void> retire_old(Context& context, Objects& objects, const host::Home& home, const DeploymentFound& deployment,
                        const RevisionFound& newest) {
  for (const RevisionFound& each : left_behind(objects.states(), deployment.id.text(), newest.id.text())) {
    const DrainWatch watch(context, home, deployment.id.text(), each.id.text());
    auto answer = objects.change("Revision/archive", {{"revision", each.id.text()}}, "archive." + each.id.text());
    if (!answer) return answer.error();
  }
  return objects.settle();
}

// A router that was just started is known at once, and not only when the control plane looks next.
Result<void> introduce(Objects& objects, const host::RunningRouter& router) {
  for (const auto& each : objects.states().router().members(deploy::router::RouterId(std::string(kLocal))).values()) {
    if (each.router == router.router) return {};
  }
  auto client = ::sluice::router::ControlClient::connect(router.control, kRouterAnswer_ms);
  auto stats = client ? client->ask({{"op", "stats"}, {"deployment", "-"}}) : client.error();
  if (!stats) return stats.error();
  const json::value* environment = stats->if_contains("environment");
  const json::value* generation = stats->if_contains("generation");
  const bool fresh = environment == nullptr || !environment->is_string() || environment->get_string().empty();
  if (!fresh && environment->get_string() != kLocal) {
    return Error{.code = Code::conflict,
                 .message = "the router main obeys " + std::string(environment->get_string()) + ", not local"};
  }
  auto answer = objects.change("Router/register",
                               {{"environment", kLocal},
                                {"router", router.router},
                                {"name", router.name},
                                {"control", router.control},
                                {"generation", generation != nullptr && generation->is_int64() ? *generation : 0}},
                               "register");
  if (!answer) return answer.error();
  return {};
}

Result<Raised> raise(Context& context, const host::Home& home, const ArchiveToStage& archive,
                     const host::RunningRouter& router, const host::StopSignal& stop, std::string& begun) {
  auto objects = Objects::to_change(context);
  if (!objects) return objects.error();
  if (auto known = introduce(**objects, router); !known) return known.error();
  auto deployment = deployment_for(**objects, archive.manifest, context.given.text("customer-id"));
  if (!deployment) return deployment.error();
  std::optional<int64_t> canary_bps;
  if (context.given.has("canary")) canary_bps = context.given.number("canary");
  const bool other_routes = wants_other_routes(archive.manifest, *deployment);
  if (other_routes && !canary_bps) {
    if (auto possible = may_have_routes(**objects, archive.manifest, *deployment); !possible) return possible.error();
  }
  Raised raised{.deployment = *deployment};
  const std::string id = deployment->id.text();
  if (auto known = ready_revision((*objects)->states(), id, archive)) {
    raised.revision = *known;
    RealClock clock;
    auto waited = await_replicas(context, **objects, clock, known->id.text(), stop);
    if (!waited) return waited.error();
    // They may be at other addresses than before, and a router that has just begun may not have heard of them.
    if (*waited || !routers_obey((*objects)->states(), std::string(kLocal))) {
      auto told = (*objects)->change("Router/publish", {{"environment", kLocal}}, "publish");
      if (!told) return told.error();
    }
  } else {
    auto made = staged_and_warm(context, **objects, *deployment, archive, begun);
    if (!made) return made.error();
    raised.revision = *std::move(made);
    raised.changed = true;
  }
  warn_unverified(context, raised.revision);
  const Weights now = split_of((*objects)->states(), id);
  raised.weights = wanted_split(now, raised.revision.id.text(), canary_bps);
  if (!is_same_split(now, raised.weights)) {
    json::array entries;
    for (const auto& [revision, weight] : raised.weights) {
      entries.push_back(json::object{{"revision", revision}, {"weightBps", weight}});
    }
    auto answer = (*objects)->change("Traffic/set", {{"deployment", id}, {"entries", std::move(entries)}}, "route");
    if (!answer) return answer.error();
    if (answer->code != Code::ok) return refusal_in_words(*answer);
    raised.changed = true;
  }
  if (other_routes && canary_bps) context.output.note("the routes stay as they are until it gets everything");
  if (other_routes && !canary_bps) {
    auto given = give_routes(**objects, archive.manifest, raised.deployment);
    if (!given) return given.error();
    raised.changed = true;
  }
  if (auto settled = (*objects)->settle(); !settled) return settled.error();
  tell_of_routers(context, (*objects)->states(), std::string(kLocal));
  if (raised.changed && !canary_bps) {
    auto retired = retire_old(context, **objects, home, *deployment, raised.revision);
    if (!retired) return retired.error();
  }
  return raised;
}

void tell(Context& context, const Raised& raised, const host::RunningRouter& router) {
  json::array urls, weights;
  std::string text;
  for (const auto& [revision, weight] : raised.weights) {
    weights.push_back(json::object{{"revision", revision}, {"weightBps", weight}});
  }
  int64_t own = 0;
  for (const auto& [revision, weight] : raised.weights) {
    if (revision == raised.revision.id.text()) own = weight;
  }
  const std::vector<std::string> all = urls_of(router, raised.deployment);
  for (const std::string& each : all) urls.emplace_back(each);
  const std::string name = raised.revision.record.bundle + "@" + std::to_string(raised.revision.record.sequence);
  json::object shown{{"deployment", raised.deployment.id.text()},
                     {"bundle", raised.deployment.record.bundle},
                     {"revision", raised.revision.id.text()},
                     {"name", name},
                     {"changed", raised.changed},
                     {"weights", std::move(weights)},
                     {"urls", std::move(urls)}};
  context.output.print(shown, [&](const Terminal& terminal) {
    std::string lines = terminal.paint(Style::good, raised.changed ? "up" : "unchanged") + "  " + name + " gets " +
                        print_basis_points(static_cast<int>(own)) + "\n";
    for (const std::string& each : all) lines += each + "\n";
    return lines;
  });
}

// What this command has started itself. What ran before it goes on if it fails.
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

// Which splits there are, by deployment. Nothing is made, and nobody is waited for.
std::map<std::string, int64_t> split_generations(Context& context) {
  std::map<std::string, int64_t> generations;
  auto objects = Objects::to_look(context);
  if (!objects || !*objects) return generations;
  for (const auto& each : (*objects)->states().traffic().all()) generations[each.id.text()] = each.record.generation;
  return generations;
}

// Takes back what was begun, and says so. A control plane that ran before has the revision that was being warmed.
Error take_back(Context& context, const host::Home& home, Clock& clock, const Started& begun, bool interrupted,
                const std::string& revision, const Error& why) {
  // Who waits for something to become healthy hears that it will not.
  if (interrupted && begun.workloads) (void)host::stop_workloads(context.disk, home, concepts_of(context));
  stop_these(context, home, clock, begun);
  if (!interrupted) return why;
  if (!begun.serve) {
    if (revision.empty()) return why;
    auto objects = Objects::to_change(context);
    if (!objects) return objects.error();
    // It is asked for; nobody stays to see it done.
    (void)(*objects)->change("Revision/archive", {{"revision", revision}}, "take-back");
  }
  return Error{.message = "stopped before it was up; what was started for it is stopped again", .next = "sluice up"};
}

Result<Code> up(Context& context) {
  const std::string given = context.given.text("bundle").empty() ? "." : context.given.text("bundle");
  if (auto share = context.given.has("canary") ? context.given.number("canary") : std::nullopt;
      share && (*share < 1 || *share >= kAll_bps)) {
    return Error{.code = Code::usage, .message = "--canary: expected a share between 0% and 100%"};
  }
  const auto given_port = context.given.number("port");
  if (given_port && (*given_port < 1 || *given_port > 65'535)) {
    return Error{.code = Code::usage, .message = "--port: expected 1 to 65535"};
  }
  auto home = home_of(context);
  if (!home) return home.error();
  auto stat = context.disk.stat(given, FollowLinks::yes);
  if (!stat) return no_bundle(stat.error());
  const bool folder = stat->kind == FileKind::folder;
  std::optional<ArchiveToStage> archive;
  if (folder) {
    if (auto has = check_folder(context, given); !has) return has.error();
  } else {
    auto read = archive_to_stage(context, given);
    if (!read) return no_bundle(read.error());
    archive = *std::move(read);
  }
  const auto port = static_cast<uint16_t>(given_port.value_or(0));
  RealClock clock;
  const host::StopSignal stop;
  const bool had_workloads = host::workloads_run(context.disk, *home, concepts_of(context));
  std::map<std::string, int64_t> splits_before;
  if (!host::serve_runs(*home, clock)) splits_before = split_generations(context);
  auto served = host::ensure_serve(context.disk, *home, clock);
  if (!served) return served.error();
  auto begun = host::begin_router(context.disk, *home, port);
  host::RouterHere router;
  std::string revision;
  auto raised = [&]() -> Result<Raised> {
    if (!begun) return begun.error();
    auto key = signing_key(context);
    if (!key) return key.error();
    auto run = home->folder("run");
    if (!run) return run.error();
    const MadeArchive made(context.disk, (*run / ("up-" + std::to_string(::getpid()) + ".bundle")).string());
    if (folder) {
      if (auto packed = pack(context, given, made.path(), *key, stop); !packed) return packed.error();
      auto read = archive_to_stage(context, made.path());
      if (!read) return read.error();
      archive = *std::move(read);
    }
    // Before the first publish, so that it is not told that nobody obeys.
    auto listens = host::finish_router(context.disk, *home, clock, port, *begun);
    if (!listens) return listens.error();
    router = *std::move(listens);
    return raise(context, *home, *archive, router.router, stop, revision);
  }();
  if (!raised) {
    const bool interrupted = has_come(stop);
    // What somebody else has brought up meanwhile is served by what this one has started.
    if (*served && !interrupted && split_generations(context) != splits_before) return raised.error();
    const Started started{.router = begun && *begun != 0, .serve = *served, .workloads = *served && !had_workloads};
    return take_back(context, *home, clock, started, interrupted, revision, raised.error());
  }
  if (port != 0 && !router.started && std::ranges::none_of(router.router.listen, [&](const std::string& each) {
        return each.ends_with(":" + std::to_string(port));
      })) {
    context.output.warn("the router runs already and stays where it listens; sluice stop ends it");
  }
  tell(context, *raised, router.router);
  if (context.given.flag("detach")) return Code::ok;
  context.output.note("Ctrl-C stops all of it; sluice up --detach leaves it running");
  pollfd wait{.fd = stop.fd(), .events = POLLIN, .revents = 0};
  while (::poll(&wait, 1, -1) < 0 && errno == EINTR) {
  }
  stop_these(context, *home, clock, {.router = true, .serve = true, .workloads = true});
  context.output.note("stopped");
  return Code::ok;
}

// --------------------------------------------------------------------------------------------------------------- down

Result<Code> down(Context& context) {
  auto home = home_of(context);
  if (!home) return home.error();
  auto objects = Objects::to_change(context);
  if (!objects) return objects.error();
  auto environment = views::find_environment((*objects)->states(), context.given.text("env"));
  if (!environment) return environment.error();
  const std::string name = context.given.text("deployment");
  // By its id, or by the name of its bundle.
  auto deployment = views::find_deployment((*objects)->states(), environment->id.text(), {.bundle = name});
  if (!deployment) {
    deployment = views::find_deployment((*objects)->states(), environment->id.text(), {.deployment = name});
  }
  if (!deployment) return deployment.error();
  const std::string id = deployment->id.text();
  if (!split_of((*objects)->states(), id).empty()) {
    auto answer = (*objects)->change("Traffic/clear", {{"deployment", id}}, "clear");
    if (!answer) return answer.error();
    if (answer->code != Code::ok) return refusal_in_words(*answer);
    if (auto settled = (*objects)->settle(); !settled) return settled.error();
  }
  for (const RevisionFound& each : views::live_revisions_of((*objects)->states(), id)) {
    const std::string revision = each.id.text();
    const DrainWatch watch(context, *home, id, revision);
    auto archived = (*objects)->change("Revision/archive", {{"revision", revision}}, "archive." + revision);
    if (!archived) return archived.error();
    if (archived->code != Code::ok) return refusal_in_words(*archived);
  }
  if (auto settled = (*objects)->settle(); !settled) return settled.error();
  auto removed = (*objects)->change("Deployment/remove", {{"deployment", id}}, "remove");
  if (!removed) return removed.error();
  if (removed->code != Code::ok) return refusal_in_words(*removed);
  if (auto settled = (*objects)->settle(); !settled) return settled.error();
  print_done(context, *removed, "down", deployment->record.bundle + " (" + id + ")");
  return Code::ok;
}

}  // namespace up_commands

void add_up_commands(Commands& commands) {
  using namespace up_commands;
  std::vector<Option> options = staging_options();
  options.push_back({.name = "detach", .letter = 'd', .help = "end when it runs, and leave it running"});
  options.push_back({.name = "port",
                     .value = "N",
                     .help = "where the router listens; else 8080, or any if that is taken",
                     .kind = Kind::count});
  options.push_back({.name = "canary",
                     .value = "SHARE",
                     .help = "give a new revision this share alone, and leave the rest as it was",
                     .kind = Kind::share});
  options.push_back({.name = "customer-id", .value = "NAME", .help = "the customer that it is deployed for"});
  for (Option& each : signing_options()) options.push_back(std::move(each));
  commands.add(
      {.name = "up",
       .group = Group::run,
       .summary = "Bring a folder to run, and requests to it",
       .details =
           "Packs and signs the folder, starts the control plane and a router in the background if they do not run, "
           "makes the environment local and a deployment, stages and warms a revision, gives it all requests, and "
           "prints its URLs. Called again it makes a new revision if the folder has changed, and else does nothing. "
           "A revision that does not become healthy gets nothing: the exit code is 7, and what ran before goes on.\n\n"
           "In the foreground it waits, and Ctrl-C stops all of it; before it is up, what it has started. What `sluice "
           "traffic rollback local` leads to stays warm; older revisions are archived once nothing of them is under "
           "way.",
       .args = {{.name = "bundle",
                 .help = "a folder with a bundle.yaml, or a signed archive; else this folder",
                 .kind = Kind::path,
                 .optional = true}},
       .options = std::move(options),
       .example = "sluice up examples/hello --detach",
       .run = up});
  std::vector<Option> down_options = call_options();
  down_options.push_back({.name = "env", .value = "ENV", .help = "the environment", .fallback = "local"});
  commands.add({.name = "down",
                .group = Group::run,
                .summary = "Take a deployment away, with all that runs of it",
                .details = "Nobody gets it any more, its revisions are drained and archived, and the deployment is "
                           "removed. The control plane, the router and other deployments go on.",
                .args = {{.name = "deployment", .help = "the bundle's name, or the deployment's id"}},
                .options = std::move(down_options),
                .example = "sluice down hello",
                .run = down});
}

}  // namespace sluice::cli
