// sluice serve, status and stop: the engine as a process of its own.
#include <boost/json.hpp>
#include <memory>
#include <vector>

#include "api/service.h"
#include "base/clock.h"
#include "cli/all_commands.h"
#include "cli/command_door.h"
#include "cli/context.h"
#include "cli/nouns/status_tree.h"
#include "cli/opening.h"
#include "cli/outputs.h"
#include "cli/service_notice.h"
#include "cli/version.h"
#include "console/console_files.h"
#include "deploy/deploy_kit.h"
#include "deploy/executor/cluster_means.h"
#include "deployer/service.h"
#include "host/background.h"
#include "host/following.h"
#include "host/home.h"
#include "host/home_store.h"
#include "host/kit_place.h"
#include "host/listening.h"
#include "host/loaded_concepts.h"
#include "host/remote_door.h"
#include "host/serving.h"

namespace sluice::cli {
namespace serve_commands {

constexpr int64_t kLook_ms = 20;

host::CertificateOrders certificates_of(const Context& context) {
  return {.cert_file = context.given.text("tls-cert"),
          .key_file = context.given.text("tls-key"),
          .client_ca_file = context.given.text("client-ca"),
          .own = context.given.flag("tls-own"),
          .names = context.given.texts("tls-name")};
}

// A store that is not in the home. What can hold a password need not stand on the command line.
Result<std::optional<host::StoreElsewhere>> store_of(const Context& context) {
  using Found = std::optional<host::StoreElsewhere>;
  if (!takes(context.given, "store")) return Found();
  std::string address = context.given.text("store");
  if (address.empty()) address = context.variables("SLUICE_STORE").value_or("");
  const std::string replica = context.given.text("replica");
  if (address.empty() && !replica.empty()) {
    return Error{.code = Code::usage,
                 .message = "a replica needs a store that it shares with others; nothing was started",
                 .next = "sluice serve --replica " + replica + " --store postgresql://USER@HOST/DATABASE"};
  }
  if (address.empty()) return Found();
  if (!address.starts_with("postgresql://") && !address.starts_with("postgres://")) {
    return Error{.code = Code::usage,
                 .message = "the address of a store begins with postgresql://; nothing was started",
                 .next = "sluice serve --store postgresql://USER@HOST/DATABASE"};
  }
  std::string url = context.given.text("url");
  const std::string where = context.given.text("listen");
  if (url.empty() && !where.empty()) {
    const bool tls = certificates_of(context).any();
    auto parsed = host::where_in(where, tls);
    if (!parsed) return parsed.error();
    url = host::url_of(*parsed, tls);
  }
  return Found({.address = address, .replica = replica.empty() ? "main" : replica, .url = url});
}

bool follows(const Context& context) {
  return takes(context.given, "replica") && !context.given.text("replica").empty();
}

using Followed = std::vector<std::unique_ptr<host::Following>>;

// False: somebody asked for the end. `followed` answers to the end whoever has asked while others led.
Result<bool> follow(Context& context, const host::Opening& opening, host::FollowingOrders orders,
                    const host::StopSignal& stop, Followed& followed) {
  auto following = host::Following::start(opening, std::move(orders));
  if (!following) return following.error();
  if (*following == nullptr) return true;
  std::erase_if(followed, [](const auto& each) { return each->has_left(); });
  followed.push_back(*std::move(following));
  tell_service(context.variables, "READY=1");
  if (!followed.back()->run(stop)) return false;
  followed.back()->make_way();
  return true;
}

Result<Code> serve(Context& context) {
  const host::LoadedConcepts& loaded = concepts_of(context);
  // A deployer runs Sluice's own kit.
  const bool deploys = context.given.command->name == "deployer";
  auto* means = concepts_of(context).tools.find<deploy::executor::ClusterMeans>();
  if (deploys && means == nullptr)
    return Error{.code = Code::unavailable, .message = "this program reaches no cluster"};
  if (deploys) {
    if (auto policy = means->policy(); !policy) return policy.error();
  }
  std::string name = deploys ? "" : context.given.text("kit");
  const std::string where = context.given.text("listen");
  const host::CertificateOrders certificates = certificates_of(context);
  if (where.empty() && (certificates.any() || !certificates.client_ca_file.empty())) {
    return Error{.code = Code::usage, .message = "a certificate is for --listen ADDRESS:PORT, which is missing"};
  }
  if (!where.empty()) {
    if (auto sound = host::Serving::check_listen(where, certificates.any()); !sound) return sound.error();
  }
  auto place = kit_place_of(context, name.empty() ? std::string(deploy::kKitFolder) : name);
  if (!place) return place.error();
  if (auto exists = host::must_exist(*place); !exists) return exists.error();
  host::KitReload reload(context.disk, context.output, *place, loaded);
  auto kit = reload.first();
  if (!kit) return kit.error();
  // Before the threads are made, which are not to take the signal; gone before the engine is, so that a second Ctrl-C
  // does not wait for effects under way.
  std::optional<host::StopSignal> stop(std::in_place);
  if (auto replicas = host::local_replicas(concepts_of(context))) {
    if (auto may = (*replicas)->let_run(); !may) return may.error();
  }
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  auto store = store_of(context);
  if (!store) return store.error();
  opening->store = *std::move(store);
  const auto make_service = [&](host::ServiceParts parts) -> std::unique_ptr<host::SocketService> {
    if (deploys) return std::make_unique<deployer::Service>(std::move(parts), version().number, *means);
    return std::make_unique<api::Service>(std::move(parts), console::console_files());
  };
  Followed followed;
  auto serving = [&]() -> Result<std::unique_ptr<host::Serving>> {
    while (true) {
      if (follows(context) && !opening->server) {
        host::FollowingOrders orders{.listen = where,
                                     .certificates = certificates,
                                     .version = std::string(version().number),
                                     .kit = *kit,
                                     .make_service = make_service};
        auto led = follow(context, *opening, std::move(orders), *stop, followed);
        if (!led) return led.error();
        if (!*led) return std::unique_ptr<host::Serving>();
      }
      auto started =
          host::Serving::start(*opening, *place, *kit, version().number, make_service, {where, certificates});
      // Several may have seen that nobody leads; one of them does now.
      const bool another = !started && started.error().code == Code::conflict &&
                           started.error().message.find(" leads this store") != std::string::npos;
      if (!another || !follows(context)) return started;
    }
  }();
  if (!serving) return serving.error();
  if (*serving == nullptr) return Code::ok;
  tell_service(context.variables, "READY=1");
  (*serving)->run(*stop, reload);
  tell_service(context.variables, "STOPPING=1");
  stop.reset();
  serving->reset();
  return Code::ok;
}

// ---------------------------------------------------------------------------------------------------------- status

// What the `sluice serve` of this home says of itself; nothing if none runs.
Result<std::optional<json::object>> status_of(const Context& context, const host::Home& home, const Clock& clock) {
  using Found = std::optional<json::object>;
  if (auto trusted = home.check("run"); !trusted) return trusted.error();
  auto door = host::RemoteDoor::open(host::socket_of(home), clock, {.purpose = context.given.command->name});
  // A path that is too long for a socket is one where nobody can listen.
  if (!door && (door.error().code == Code::not_found || door.error().code == Code::invalid)) return Found();
  if (!door) return door.error();
  auto status = (*door)->status();
  if (!status && status.error().code == Code::unavailable) return Found();  // it ends just now
  if (!status) return status.error();
  return Found(*std::move(status));
}

std::string text_of(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr) return "";
  if (value->is_string()) return std::string(value->get_string());
  return value->is_int64() ? std::to_string(value->get_int64()) : "";
}

std::string status_text(const outputs::Status& status, const Terminal& terminal) {
  auto number = [](const std::optional<int64_t>& one) { return std::to_string(one.value_or(0)); };
  std::string text = terminal.paint(Style::good, "running") + "  pid " + number(status.pid) + " since " +
                     (status.since ? utc_text(status.since->ms) : "") + ", version " + status.version.value_or("") +
                     "\n" + "kit      " + status.kit.value_or("") + "\n" + "socket   " +
                     printable(status.socket.value_or("")) + "\n" + "flows    " + number(status.openFlows) +
                     " open, journal at " + number(status.position) + "\n" + "store    " + number(status.storeBytes) +
                     " bytes\n";
  if (status.trouble) text += terminal.paint(Style::bad, "trouble") + "  " + printable(*status.trouble) + "\n";
  return text;
}

// Whoever has the store right now is not waited for by someone who only wants to know whether it is served.
Result<host::ViewAnswer> what_runs(Context& context) {
  auto door = CommandDoor::open_any(context);
  if (!door) return door.error();
  auto answer = (*door)->view("status");
  if (!answer && answer.error().code == Code::conflict) return host::ViewAnswer{.document = json::object()};
  return answer;
}

// What the server says of itself, and then what runs.
Result<void> tell_status(Context& context, json::object shown,
                         const std::function<std::string(const outputs::Status&, const Terminal&)>& text) {
  auto answer = what_runs(context);
  if (!answer) return answer.error();
  auto tree = read<host::StatusDocument>(answer->document);
  if (!tree) return tree.error();
  for (const auto& each : answer->document.as_object()) shown[each.key()] = each.value();
  // A control plane of another version may say more.
  json::object known;
  fields::for_each_member<outputs::Status>([&](std::string_view name, auto) {
    if (const json::value* value = shown.if_contains(name)) known[name] = *value;
  });
  auto status = read<outputs::Status>(known);
  if (!status) return status.error();
  context.output.print(to_json(*status), [&](const Terminal& terminal) {
    return text(*status, terminal) + status_tree(*tree, terminal, {}, status->running);
  });
  return {};
}

Result<Code> status(Context& context) {
  auto home = home_of(context);
  if (!home) return home.error();
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  if (opening->server) {
    const std::string url = opening->server->url;
    auto told = tell_status(context, {{"running", true}, {"url", url}}, [&](const outputs::Status&, const Terminal&) {
      return "server   " + printable(url) + ", where commands go\n";
    });
    if (!told) return told.error();
    return Code::ok;
  }
  RealClock clock;
  int64_t until_ns = clock.monotonic_ns() + context.given.number("wait").value_or(0) * 1'000'000;
  while (true) {
    auto found = status_of(context, *home, clock);
    if (!found) return found.error();
    if (*found) {
      json::object shown = **std::move(found);
      shown["running"] = true;
      if (auto told = tell_status(context, std::move(shown), status_text); !told) return told.error();
      return Code::ok;
    }
    if (clock.monotonic_ns() >= until_ns) break;
    clock.sleep_ms(kLook_ms);
  }
  auto told = tell_status(context, {{"running", false}, {"socket", host::socket_of(*home)}},
                          [](const outputs::Status&, const Terminal&) { return std::string("not running\n"); });
  if (!told) return told.error();
  context.output.note("The control plane does not run; next: sluice serve");
  return Code::not_found;
}

// --------------------------------------------------------------------------------------------------------- console

// What is about this machine is not done here where somebody means another one.
Result<void> must_be_here(const Context& context) {
  const std::string server = context.given.text("server");
  if (server.empty()) return {};
  return Error{
      .code = Code::usage,
      .message = context.given.command->name + " is about this machine, and takes no --server; nothing was done",
      .next = "run sluice " + context.given.command->name + " on the machine of " + server};
}

Result<Code> console_link(Context& context) {
  if (auto here = must_be_here(context); !here) return here.error();
  auto home = home_of(context);
  if (!home) return home.error();
  RealClock clock;
  auto status = status_of(context, *home, clock);
  if (!status) return status.error();
  const std::string url = *status ? text_of(**status, "url") : "";
  if (url.empty()) {
    return Error{.code = *status ? Code::conflict : Code::not_found,
                 .message = *status ? "sluice serve runs, but listens at no address that a browser can open"
                                    : "sluice serve does not run, so there is no console",
                 .next = *status ? "sluice stop --control-plane, then sluice serve --listen 127.0.0.1:8431"
                                 : "sluice serve --listen 127.0.0.1:8431"};
  }
  auto door = host::RemoteDoor::open(host::socket_of(*home), clock, {.purpose = context.given.command->name});
  if (!door) return door.error();
  auto made = (*door)->login_code();
  if (!made) return made.error();
  // What follows the # is sent to nobody: the page itself exchanges it for a session.
  const outputs::ConsoleLink shown{.url = url + "/ui/#code=" + text_of(*made, "code"),
                                   .expires = text_of(*made, "expires")};
  context.output.print(to_json(shown), [&](const Terminal&) { return shown.url + "\n"; });
  context.output.note("Open it within a minute; it works once, and logs your browser in as you.");
  return Code::ok;
}

// ------------------------------------------------------------------------------------------------------------ stop

Result<Code> stop(Context& context) {
  if (auto here = must_be_here(context); !here) return here.error();
  auto home = home_of(context);
  if (!home) return home.error();
  if (auto trusted = home->check("run"); !trusted) return trusted.error();
  RealClock clock;
  const bool all = !context.given.flag("control-plane");
  const int64_t until_ms = context.given.number("timeout").value_or(0);
  // First who lets requests in, then who would start again what is stopped, then what runs.
  std::vector<host::RunningRouter> routers;
  if (all) {
    auto stopped = host::stop_routers(context.disk, *home, clock, until_ms);
    if (!stopped) return stopped.error();
    routers = *std::move(stopped);
  }
  auto served = host::stop_serve(context.disk, *home, clock, context.given.text("reason"), until_ms);
  if (!served) return served.error();
  size_t replicas = 0;
  if (all) {
    auto stopped = host::stop_workloads(context.disk, *home, concepts_of(context));
    if (!stopped) return stopped.error();
    replicas = *stopped;
  }
  outputs::Stopped shown{.stopped = *served != 0 || !routers.empty() || replicas != 0};
  if (*served != 0) shown.pid = *served;
  if (!routers.empty()) shown.routers.emplace();
  for (const host::RunningRouter& each : routers) shown.routers->push_back({each.name, each.pid});
  if (replicas != 0) shown.replicas = replicas;
  context.output.print(to_json(shown), [&](const Terminal& terminal) {
    const std::string done = terminal.paint(Style::good, "stopped") + "  ";
    std::string text;
    for (const host::RunningRouter& each : routers) {
      text += done + "router " + each.name + ", pid " + std::to_string(each.pid) + "\n";
    }
    if (*served != 0) text += done + "pid " + std::to_string(*served) + "\n";
    if (replicas != 0) text += done + std::to_string(replicas) + (replicas == 1 ? " replica\n" : " replicas\n");
    return text.empty() ? std::string("not running\n") : text;
  });
  return Code::ok;
}

}  // namespace serve_commands

void add_serve_commands(Commands& commands) {
  using namespace serve_commands;
  commands.add(
      {.name = "serve",
       .group = Group::operate,
       .summary = "Run the engine as one process that all commands use",
       .details =
           "It takes the store, goes on with what is open, runs effects and timers, and listens at run/sluice.sock in "
           "the home. Commands that find it there go through it, with the same output and the same exit codes as "
           "without it; only the home's owner may. It stays in the foreground and says a line for what it does; "
           "SIGTERM, Ctrl-C and `sluice stop` end it in order. What it has started on this machine goes on running. "
           "Builds and other effects run in its environment, not in that of the command that asked for them.\n\n"
           "--listen serves programs and other people over HTTP, who show a token (`sluice access tokens create`); the "
           "owner's own is in run/owner.token of the home while it listens. An address that others can reach needs a "
           "certificate: from files, which are read again when they change and on SIGHUP, or from an authority that "
           "the home makes for itself (--tls-own), whose fingerprint `sluice login` asks for.\n\n"
           "A .sync file of the kit that changes is checked and loaded, as in `sluice kit run`.",
       .args = {{.name = "kit",
                 .help = "the kit's folder, or its name; else Sluice's own",
                 .kind = Kind::path,
                 .optional = true}},
       .options = {lock_timeout_option(),
                   {.name = "listen", .value = "ADDRESS:PORT", .help = "also answer HTTP at this address"},
                   {.name = "store",
                    .value = "URL",
                    .help = "keep the store in PostgreSQL: postgresql://USER@HOST/DATABASE; else $SLUICE_STORE"},
                   {.name = "replica",
                    .value = "NAME",
                    .help = "of --store: what this control plane is called; it follows while another one leads"},
                   {.name = "url",
                    .value = "URL",
                    .help = "of --replica: where the others reach this one; else from --listen"},
                   {.name = "tls-cert", .value = "FILE", .help = "show this certificate there", .kind = Kind::path},
                   {.name = "tls-key", .value = "FILE", .help = "its private key", .kind = Kind::path},
                   {.name = "tls-own", .help = "show a certificate of an authority of this home"},
                   {.name = "tls-name",
                    .value = "NAME",
                    .help = "of --tls-own: what else this server is called",
                    .repeated = true},
                   {.name = "client-ca",
                    .value = "FILE",
                    .help = "who signs the certificates that clients may show",
                    .kind = Kind::path}},
       .example = "sluice serve",
       .run = serve});
  commands.add(
      {.name = "deployer",
       .group = Group::operate,
       .summary = "Serve Light-Deployer's API for a Kubernetes cluster",
       .details =
           "It runs the engine like sluice serve, and listens for what drives a Light-Deployer: /deployments, /events "
           "and "
           "/mcp with its seven tools. Callers show a token (`sluice access tokens create`), and the roles of the "
           "environment that a request names apply to them. What may be deployed is in the policy, deployer.yml: "
           "LIGHT_DEPLOYER_CONFIG names it, else it is in the home. KUBECONFIG, or the pod that it runs in, says which "
           "cluster is meant; without either it is in noop mode.\n\nAn address that others can reach needs a "
           "certificate, as for sluice serve.",
       .options = {lock_timeout_option(),
                   {.name = "listen", .value = "ADDRESS:PORT", .help = "where to listen", .fallback = "127.0.0.1:7088"},
                   {.name = "tls-cert", .value = "FILE", .help = "show this certificate there", .kind = Kind::path},
                   {.name = "tls-key", .value = "FILE", .help = "its private key", .kind = Kind::path},
                   {.name = "tls-own", .help = "show a certificate of an authority of this home"},
                   {.name = "tls-name",
                    .value = "NAME",
                    .help = "of --tls-own: what else this server is called",
                    .repeated = true},
                   {.name = "client-ca",
                    .value = "FILE",
                    .help = "who signs the certificates that clients may show",
                    .kind = Kind::path}},
       .example = "sluice deployer",
       .run = serve});
  commands.add({.name = "status",
                .group = Group::see,
                .summary = "Show what runs, and which share of requests it gets",
                .details = "A tree of environments, deployments, revisions and replicas: the share that was asked for "
                           "and the one that the routers obey, with what each revision has answered; process, address "
                           "and restarts of each replica. The exit code is 0 if sluice serve runs, and 5 if it does "
                           "not.",
                .options = {lock_timeout_option(),
                            {.name = "wait",
                             .value = "TIME",
                             .help = "how long to wait for sluice serve to start",
                             .kind = Kind::duration,
                             .fallback = "0s"}},
                .example = "sluice status",
                .run = status});
  commands.add({.name = "console",
                .group = Group::see,
                .summary = "Print a link to the console that logs you in",
                .details = "The link works once, within a minute. Its code follows the #, so no server and no log ever "
                           "sees it before the page posts it. sluice serve must listen at an address (--listen).",
                .example = "sluice console",
                .run = console_link});
  commands.add({.name = "stop",
                .group = Group::operate,
                .summary = "Stop routers, control plane and workloads, in order",
                .details = "Routers finish the requests under way first, then sluice serve ends, then each workload "
                           "within its drain time. Nothing is forgotten: the next `sluice up` or `sluice serve` "
                           "starts the workloads again, and what is open in the store goes on.",
                .options = {{.name = "control-plane", .help = "only sluice serve; routers and workloads go on"},
                            {.name = "timeout",
                             .value = "TIME",
                             .help = "how long to wait for its end",
                             .kind = Kind::duration,
                             .fallback = "60s"},
                            {.name = "reason", .value = "TEXT", .help = "why, for its log"}},
                .example = "sluice stop",
                .run = stop});
}

}  // namespace sluice::cli
