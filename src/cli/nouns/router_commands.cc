// sluice router: the data plane as a process, and what it says of itself.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <iostream>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/lock_file.h"
#include "base/random.h"
#include "base/table.h"
#include "base/ulid.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/command_door.h"
#include "cli/context.h"
#include "cli/losing.h"
#include "cli/nouns/router_stats.h"
#include "cli/nouns/status_tree.h"
#include "cli/opening.h"
#include "cli/outputs.h"
#include "cli/public_keys.h"
#include "cli/service_notice.h"
#include "crypto/key_file.h"
#include "host/background.h"
#include "host/home.h"
#include "host/home_store.h"
#include "host/link/link_agent.h"
#include "host/link/membership.h"
#include "host/link/routers_view.h"
#include "host/remote_door.h"
#include "router/address.h"
#include "router/control_client.h"
#include "router/listening.h"
#include "router/master.h"
#include "router/table/bounds.h"

namespace sluice::cli {
namespace router_commands {

constexpr int64_t kMostThreads = 64;
constexpr int64_t kUpgradePatience_ms = 60'000;
constexpr int64_t kLookAgain_ms = 10;
constexpr size_t kMaxUpgradeEnd = 64 << 10;
constexpr int64_t kInterval_ms = 1'000;
constexpr int64_t kShortestInterval_ms = 100;
constexpr int64_t kLongestInterval_ms = 3'600'000;

Result<std::string> router_name(const Context& context) {
  std::string name = context.given.text("name");
  auto fits = [](char c) { return isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_'; };
  if (!name.empty() && name.size() <= 40 && std::all_of(name.begin(), name.end(), fits)) return name;
  return Error{.code = Code::usage, .message = "--name: expected at most 40 letters, digits, - and _"};
}

Result<std::vector<crypto::PublicKey>> trusted_keys(Context& context, const host::Home& home) {
  std::vector<crypto::PublicKey> trusted;
  for (const std::string& path : context.given.texts("trust")) {
    auto keys = public_keys_in(context.disk, path);
    if (!keys) return keys.error();
    trusted.insert(trusted.end(), keys->begin(), keys->end());
  }
  if (!trusted.empty()) return trusted;
  auto folder = home.check("keys");
  if (!folder) return folder.error();
  std::string path = (*folder / "operator.pem").string();
  auto there = context.disk.exists(path);
  if (!there) return there.error();
  if (!*there) return trusted;  // it obeys its file alone
  auto key = crypto::load_private_key(context.disk, path);
  if (!key) return key.error();
  trusted.push_back(key->public_key());
  return trusted;
}

Result<void> check_run(const Context& context) {
  if (auto threads = context.given.number("threads"); threads && (*threads < 1 || *threads > kMostThreads)) {
    return Error{.code = Code::usage, .message = "--threads: expected 1 to 64"};
  }
  if (auto address = router::parse_address(context.given.text("admin")); !address) {
    return Error{.code = Code::usage, .message = "--admin: " + address.error().message};
  }
  for (const std::string& text : context.given.texts("listen")) {
    auto at = router::parse_listen(text);
    if (!at) return Error{.code = Code::usage, .message = "--listen: " + at.error().message};
  }
  return {};
}

// What an operator has bound the router to. It is looked at here, so that a person sees at once what is wrong.
Result<void> read_bounds_options(Context& context, router::RouterOptions& options) {
  if (context.given.has("bounds") != context.given.has("bounds-trust")) {
    return Error{.code = Code::usage,
                 .message = "--bounds and --bounds-trust go together",
                 .next = "sluice bounds show FILE says who signed the bounds"};
  }
  if (!context.given.has("bounds")) return {};
  options.bounds_file = context.given.text("bounds");
  for (const std::string& path : context.given.texts("bounds-trust")) {
    auto keys = public_keys_in(context.disk, path);
    if (!keys) return keys.error();
    options.bounds_trusted.insert(options.bounds_trusted.end(), keys->begin(), keys->end());
  }
  for (const crypto::PublicKey& key : options.bounds_trusted) {
    if (std::ranges::find(options.trusted, key) == options.trusted.end()) continue;
    return Error{.code = Code::usage,
                 .message = "the key of --bounds-trust may also sign orders: who has it could widen the bounds",
                 .next = "sign bounds with a key that the control plane does not have"};
  }
  auto text = read_file(context.disk, options.bounds_file, router::kMaxBoundsBytes);
  if (!text) return text.error();
  auto bounds = router::read_bounds(*text, options.bounds_trusted);
  if (!bounds) return bounds.error();
  return {};
}

// Where clients speak TLS, the certificates of this home are shown unless another folder is named.
Result<std::string> certificates_folder(const Context& context, const host::Home& home,
                                        const std::vector<std::string>& listen) {
  if (context.given.has("certificates")) return context.given.text("certificates");
  const bool secure = std::ranges::any_of(listen, [](const std::string& text) {
    auto at = router::parse_listen(text);
    return at && at->secure;
  });
  if (!secure) return std::string();
  auto folder = home.folder("tls");
  if (!folder) return folder.error();
  return folder->string();
}

// In a home that has joined a control plane elsewhere, the router is the one that joined, and obeys that one's orders.
Result<void> obey_elsewhere(const Context& context, const host::Home& home, const host::Membership& membership,
                            router::RouterOptions& options) {
  auto trusted = host::trusted_by(membership);
  if (!trusted) return trusted.error();
  if (options.name != membership.name) {
    return Error{.code = Code::usage,
                 .message = "this home has joined a control plane as the router " + membership.name,
                 .next = "sluice router run, without --name"};
  }
  if (!context.given.has("trust")) options.trusted = *std::move(trusted);
  if (!context.given.has("listen") && !membership.listen.empty()) options.listen = membership.listen;
  options.beside = host::link_process_words(home);
  return {};
}

Result<Code> run(Context& context) {
  auto name = router_name(context);
  if (!name) return name.error();
  if (auto sound = check_run(context); !sound) return sound.error();
  auto home = home_of(context);
  if (!home) return home.error();
  auto membership = host::read_membership(context.disk, *home);
  if (!membership) return membership.error();
  if (*membership && !context.given.has("name")) name = (*membership)->name;
  auto routers = home->folder("router");
  if (!routers) return routers.error();
  std::string folder = (*routers / *name).string();
  if (auto made = context.disk.make_folder(folder, 0700); !made && made.error().code != Code::conflict)
    return made.error();
  auto trusted = trusted_keys(context, *home);
  if (!trusted) return trusted.error();
  router::RouterOptions options{.name = *name, .folder = folder, .trusted = *std::move(trusted)};
  if (auto bound = read_bounds_options(context, options); !bound) return bound.error();
  if (context.given.has("listen")) options.listen = context.given.texts("listen");
  if (*membership) {
    if (auto elsewhere = obey_elsewhere(context, *home, **membership, options); !elsewhere) return elsewhere.error();
  }
  options.admin = context.given.text("admin");
  auto certificates = certificates_folder(context, *home, options.listen);
  if (!certificates) return certificates.error();
  options.certificates = *std::move(certificates);
  options.challenges = (home->root() / "tls" / ".challenges").string();
  options.table_file = context.given.text("table");
  options.threads = static_cast<size_t>(context.given.number("threads").value_or(0));
  options.drain_ms = context.given.number("drain").value_or(0);
  options.kept = context.given.flag("kept");
  std::string log = context.given.text("access-log");
  options.access_log = log == "none" ? "" : log.empty() ? folder + "/access.log" : log;
  if (options.trusted.empty() && options.table_file.empty()) {
    return Error{.code = Code::not_found,
                 .message = "this home has no operator's key yet, so the router would obey nobody",
                 .next = "run it with --table FILE, or with --trust FILE"};
  }
  auto served = router::run_router(options, context.disk, [&](const std::string& line) {
    std::cout << line << std::endl;
    tell_service(context.variables, "READY=1");
  });
  if (!served) return served.error();
  return Code::ok;
}

// ----------------------------------------------------------------------------------------------------------- stats

Result<Code> stats(Context& context) {
  auto name = router_name(context);
  if (!name) return name.error();
  auto home = home_of(context);
  if (!home) return home.error();
  auto routers = home->check("router");
  if (!routers) return routers.error();
  const std::string socket = (*routers / *name / "control.sock").string();
  auto look = [&]() -> Result<json::object> {
    auto client = router::ControlClient::connect(socket);
    if (!client) {
      Error error = client.error();
      error.next = host::command_to_run_router(*name);
      return error;
    }
    return client->ask({{"op", "stats"}});
  };
  const int64_t interval_ms = context.given.number("interval").value_or(kInterval_ms);
  if (interval_ms < kShortestInterval_ms || interval_ms > kLongestInterval_ms) {
    return Error{.code = Code::usage, .message = "--interval: expected 100ms to 1h"};
  }
  const Output::Settings& settings = context.output.settings();
  const bool live = settings.format == Format::table && settings.out.tty && !context.given.flag("once") &&
                    context.variables("TERM").value_or("dumb") != "dumb";
  if (live) return watch_router(context, *name, interval_ms, look);
  auto answer = look();
  if (!answer) return answer.error();
  context.output.print(*answer, [&](const Terminal& terminal) {
    return stats_text(seen_in(*answer), names_of_revisions(context), terminal);
  });
  return Code::ok;
}

// ----------------------------------------------------------------------------------------------------------- upgrade

// The record of a router that runs and can be upgraded.
Result<std::string> upgradable_router(Context& context, const std::string& folder, const std::string& name) {
  constexpr size_t kMaxRecord = 64 << 10;
  auto text = read_file(context.disk, folder + "/router.json", kMaxRecord);
  auto parsed = text ? parse_json(*text) : Result<Document>(text.error());
  auto owner = read_lock_owner(context.disk, folder + "/lock");
  auto runs = owner ? is_running(owner->process) : Result<bool>(false);
  if (!parsed || !runs || !*runs) {
    return Error{.code = Code::unavailable,
                 .message = "no router " + name + " runs in this home",
                 .next = host::command_to_run_router(name)};
  }
  const json::value* can = parsed->root.as_object().if_contains("upgrades");
  if (can == nullptr || *can != json::value(true)) {
    return Error{.code = Code::conflict,
                 .message = "the router " + name + " was started by a version that cannot be upgraded; it serves on",
                 .next = "sluice stop, then " + host::command_to_run_router(name)};
  }
  return std::to_string(owner->process.pid);
}

Result<Code> upgrade(Context& context) {
  auto name = router_name(context);
  if (!name) return name.error();
  if (auto threads = context.given.number("threads"); threads && (*threads < 1 || *threads > kMostThreads)) {
    return Error{.code = Code::usage, .message = "--threads: expected 1 to 64"};
  }
  auto home = home_of(context);
  if (!home) return home.error();
  auto routers = home->check("router");
  if (!routers) return routers.error();
  const std::string folder = (*routers / *name).string();
  auto master = upgradable_router(context, folder, *name);
  if (!master) return master.error();
  std::error_code failed;
  const std::string binary = context.given.has("binary")
                                 ? std::filesystem::absolute(context.given.text("binary"), failed)
                                 : std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed || ::access(binary.c_str(), X_OK) != 0) {
    return Error{.code = Code::not_found, .message = binary + " is no program that can be run; nothing was changed"};
  }
  RealRandom random;
  RealClock clock;
  UlidSource ids(clock, random);
  const router::UpgradeOrder order{
      .id = to_string(ids.next()), .binary = binary, .threads = context.given.number("threads").value_or(0)};
  auto written = write_atomically(context.disk, folder + "/upgrade.json", write(to_json(order)) + "\n", 0600);
  if (!written) return written.error();
  if (::kill(std::atoi(master->c_str()), SIGUSR2) != 0) return error_from(errno, "tell", "the router's master");
  const int64_t until_ns = clock.monotonic_ns() + kUpgradePatience_ms * 1'000'000;
  while (clock.monotonic_ns() < until_ns) {
    auto text = read_file(context.disk, folder + "/upgraded.json", kMaxUpgradeEnd);
    auto parsed = text ? parse_json(*text) : Result<Document>(text.error());
    auto end = parsed ? read<router::UpgradeEnd>(*parsed) : Result<router::UpgradeEnd>(parsed.error());
    if (!end || end->id != order.id) {
      clock.sleep_ms(kLookAgain_ms);
      continue;
    }
    if (end->code != code_name(Code::ok)) {
      return Error{.code = code_named(end->code).value_or(Code::failed),
                   .message = end->message,
                   .next = "see what it said: the end of " + (home->root() / "logs" / "router.log").string()};
    }
    const outputs::RouterUpgraded shown{
        .name = *name, .binary = binary, .worker_pid = end->worker, .before_pid = end->before};
    context.output.print(to_json(shown), [&](const Terminal& terminal) {
      return terminal.paint(Style::good, "upgraded") + "  " + *name + ": pid " + std::to_string(end->worker) +
             " serves; pid " + std::to_string(end->before) + " finishes what is under way\n";
    });
    return Code::ok;
  }
  return Error{.code = Code::timeout,
               .message = "the router " + *name + " has not said what came of the upgrade",
               .next = "sluice router stats --name " + *name + " --once"};
}

// ----------------------------------------------------------------------------------------------- on other machines

// The control plane that commands go to.
Result<std::unique_ptr<host::RemoteDoor>> control_plane(Context& context, const Clock& clock) {
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  const host::RemoteWords words{.purpose = context.given.command->name};
  if (opening->server) return host::RemoteDoor::open(*opening->server, clock, words);
  auto door = host::RemoteDoor::open(host::socket_of(opening->home), clock, words);
  if (door || door.error().code != Code::not_found) return door;
  return Error{.code = Code::not_found,
               .message = "sluice serve does not run, so no router can be linked",
               .next = "sluice serve --listen ADDRESS:PORT --tls-own"};
}

Result<Code> token(Context& context) {
  RealClock clock;
  auto door = control_plane(context, clock);
  if (!door) return door.error();
  auto made = (*door)->router_token(context.given.text("environment"));
  if (!made) return made.error();
  auto shown = read<outputs::RouterToken>(json::value(*made));
  if (!shown) return shown.error();
  context.output.print(to_json(*shown), [&](const Terminal&) { return shown->token + "\n"; });
  context.output.note("It is good once, until " + shown->expires + "; in an empty home on the other machine: sluice " +
                      "router join " + shown->url + " --token …");
  return Code::ok;
}

Result<Code> join(Context& context) {
  auto home = home_of(context);
  if (!home) return home.error();
  const std::string url = context.given.text("url");
  if (context.given.text("token").empty()) {
    return Error{.code = Code::usage,
                 .message = "a router joins with a token, which is missing",
                 .next = "sluice router token, at the control plane to join"};
  }
  for (const std::string& text : context.given.texts("listen")) {
    auto at = router::parse_listen(text);
    if (!at) return Error{.code = Code::usage, .message = "--listen: " + at.error().message};
  }
  RealClock clock;
  auto joined = host::join_as_router(context.disk, *home, clock,
                                     {.url = url,
                                      .token = context.given.text("token"),
                                      .name = context.given.has("name") ? context.given.text("name") : "",
                                      .listen = context.given.texts("listen")});
  if (!joined) return joined.error();
  const outputs::RouterJoined shown{.joined = url, .name = joined->name, .environment = joined->environment};
  context.output.print(to_json(shown), [&](const Terminal& terminal) {
    return terminal.paint(Style::good, "joined") + "  " + printable(url) + " as " + joined->name + ", for " +
           printable(joined->environment) + "\n";
  });
  context.output.note("next: sluice router run");
  return Code::ok;
}

Result<Code> list(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  json::object query;
  if (context.given.has("environment")) query["environment"] = context.given.text("environment");
  auto found = (*door)->read<host::RoutersDocument>("router-list", query);
  if (!found) return found.error();
  context.output.print(to_json(*found), [&](const Terminal& terminal) {
    Table table{.columns = {{"ROUTER"}, {"ENVIRONMENT"}, {"MACHINE"}, {"LISTENS AT"}, {"OBEYS"}, {"CERTIFICATE"}},
                .rows = {},
                .empty = "There are no routers.\n"};
    for (const host::RouterRow& each : found->routers) {
      std::string machine = each.machine ? *each.machine + (each.address ? " (" + *each.address + ")" : "") : "here";
      std::string listen;
      for (const std::string& one : each.listen) listen += (listen.empty() ? "" : ", ") + one;
      const bool newest = each.generation >= each.newest;
      std::string obeys = std::to_string(each.generation);
      if (!newest) obeys += " of " + std::to_string(each.newest);
      if (!each.reachable) obeys += ", unreachable";
      table.rows.push_back({{printable(each.name)},
                            {printable(each.environment)},
                            {printable(machine)},
                            {printable(listen)},
                            {obeys, newest && each.reachable ? Style::plain : Style::bad},
                            {certificate_words(each.certificate_s)}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

Result<Code> remove(Context& context) {
  RealClock clock;
  const std::string name = context.given.text("router");
  const std::string what = "remove the router " + name;
  if (context.given.flag("dry-run")) {
    return print_loss(context, {.action = "",
                                .input = {},
                                .what = what,
                                .loses = {"its certificate, which counts no more; it serves on from what it has"}});
  }
  auto sure = confirmed(context, what);
  if (!sure) return sure.error();
  if (!*sure) return Code::denied;
  auto door = control_plane(context, clock);
  if (!door) return door.error();
  auto removed = (*door)->remove_router(name);
  if (!removed) return removed.error();
  auto shown = read<outputs::RouterRemoved>(json::value(*removed));
  if (!shown) return shown.error();
  context.output.print(to_json(*shown), [&](const Terminal& terminal) {
    return terminal.paint(Style::good, "removed") + "  " + printable(shown->removed) + ", on " +
           printable(shown->machine) + "\n";
  });
  return Code::ok;
}

}  // namespace router_commands

void add_router_commands(Commands& commands) {
  using namespace router_commands;
  Option name{.name = "name", .value = "NAME", .help = "which router of this home", .fallback = "main"};
  commands.add_noun({.name = "router", .group = Group::operate, .summary = "Run routers and watch their traffic"});
  commands.add(
      {.name = "router run",
       .summary = "Run the router in the foreground",
       .details = "It takes requests, finds the deployment by host, path and tenant, picks a revision and passes them "
                  "on. What "
                  "it obeys comes signed over its control socket and is kept on disk, so it goes on without the "
                  "control plane; "
                  "or from a table file alone. It prints a line of JSON with the addresses that it listens at.\n\n"
                  "The router main serves the environment local, another one the environment that has its name.\n\n"
                  "SIGTERM and Ctrl-C stop it: requests under way finish. SIGHUP reads the table file and the "
                  "certificates again.",
       .options =
           {name,
            {.name = "listen",
             .value = "ADDRESS",
             .help = "where clients connect: 127.0.0.1:8080, [::1]:0, unix:/path; with ,tls or ,proxy behind it",
             .repeated = true},
            {.name = "admin",
             .value = "ADDRESS",
             .help = "where /healthz, /readyz and /metrics are",
             .fallback = "127.0.0.1:0"},
            {.name = "certificates",
             .value = "DIR",
             .help = "what to show with TLS: a folder per certificate; else what sluice tls keeps",
             .kind = Kind::path},
            {.name = "table", .value = "FILE", .help = "obey this table", .kind = Kind::path},
            {.name = "trust",
             .value = "FILE",
             .help = "obey orders signed by these public keys; else the operator's",
             .kind = Kind::path,
             .repeated = true},
            {.name = "bounds",
             .value = "FILE",
             .help = "obey nothing beyond these signed bounds (sluice bounds)",
             .kind = Kind::path},
            {.name = "bounds-trust",
             .value = "FILE",
             .help = "whose bounds count: public keys that sign no orders",
             .kind = Kind::path,
             .repeated = true},
            {.name = "threads", .value = "N", .help = "how many threads; else one per core", .kind = Kind::count},
            {.name = "drain",
             .value = "TIME",
             .help = "how long a stop waits for requests in flight",
             .kind = Kind::duration,
             .fallback = "30s"},
            {.name = "kept", .help = "let sluice serve restart it at the same address if it dies"},
            {.name = "access-log",
             .value = "FILE",
             .help = "where to write the access log: a file, - for stdout, or none"}},
       .example = "sluice router run --table table.json --listen 127.0.0.1:0",
       .run = run});
  commands.add(
      {.name = "router list",
       .summary = "List the routers here and on other machines",
       .details = "OBEYS is the generation of the table that the router has acknowledged, and the newest if "
                  "that is another one. CERTIFICATE says for how long the certificate of a router on another "
                  "machine holds; it is renewed by itself.",
       .options = reading_options({{.name = "environment", .value = "ENV", .help = "those of this environment alone"}}),
       .example = "sluice router list",
       .run = list});
  commands.add(
      {.name = "router token",
       .summary = "Make a token with which another machine joins",
       .details = "It is good once and for an hour, for one router of one environment, and names the "
                  "authority that certifies this server. The control plane must listen with TLS.",
       .options =
           {{.name = "environment", .value = "ENV", .help = "whose requests the router takes", .fallback = "local"}},
       .example = "sluice router token",
       .run = token});
  commands.add({.name = "router join",
                .summary = "Join a control plane on another machine",
                .details = "The key of the router is made here and stays here. It gets a certificate for 24 hours, "
                           "which it renews by itself. Then sluice router run serves, and obeys that control plane.",
                .args = {{.name = "url", .help = "of the control plane, such as https://sluice.example:8443"}},
                .options = {{.name = "token", .value = "TOKEN", .help = "from sluice router token"},
                            {.name = "name", .value = "NAME", .help = "what to call it; else as the machine is called"},
                            {.name = "listen",
                             .value = "ADDRESS",
                             .help = "where sluice router run listens, as it takes it",
                             .repeated = true}},
                .example = "sluice router join https://sluice.example:8443 --token slr_TOKEN",
                .run = join});
  commands.add({.name = "router remove",
                .summary = "Remove a router that joined from another machine",
                .details = "Its certificate counts no more from then on, and changes do not wait for it. The router "
                           "itself serves on from what it has until somebody stops it.",
                .args = {{.name = "router", .help = "its name"}},
                .options = {{.name = "dry-run", .help = "say what would be lost, and change nothing"},
                            {.name = "yes", .help = "do not ask"}},
                .example = "sluice router remove edge --yes",
                .run = remove});
  commands.add(
      {.name = "router upgrade",
       .summary = "Have a new binary serve, without losing a request",
       .details =
           "Starts a worker of the new binary at the same sockets. When it serves, the one before takes no new "
           "connections: those that it has are answered once more and told to go, streams and WebSockets go on "
           "until they end or the router's --drain is over. Pins, session tickets and counts go along.\n\nIf the "
           "new one does not serve within 30 seconds, or ends, the one before serves on: exit code 9.",
       .options = {name,
                   {.name = "binary",
                    .value = "FILE",
                    .help = "the program; else the one that this command is",
                    .kind = Kind::path},
                   {.name = "threads", .value = "N", .help = "how many threads; else as before", .kind = Kind::count}},
       .example = "sluice router upgrade",
       .run = upgrade});
  commands.add(
      {.name = "router stats",
       .summary = "Show what passes through a router",
       .details = "For each revision: its weight and its actual share, requests in flight and WebSockets, answers of "
                  "400 and 500 and above since the counters began, and the latencies of the median and the 99th "
                  "percentile. REPLICAS are those that get requests; \"1 of 2\" means that one has failed and is left "
                  "out for a while.\n\nOn a terminal the table redraws every second (--interval), with the rates, "
                  "shares and latencies of that second, until Ctrl-C. With --once, elsewhere, and in the other "
                  "formats, it is printed once, with the counts since the counters began.",
       .options = reading_options({name,
                                   {.name = "once", .help = "print it once, even on a terminal"},
                                   {.name = "interval",
                                    .value = "TIME",
                                    .help = "how often to redraw it on a terminal",
                                    .kind = Kind::duration,
                                    .fallback = "1s"}}),
       .example = "sluice router stats",
       .run = stats});
}

}  // namespace sluice::cli
