// sluice serve, status and stop: the engine as a process of its own.
#include <boost/json.hpp>

#include "api/remote_door.h"
#include "base/clock.h"
#include "base/lock_file.h"
#include "cli/all_commands.h"
#include "cli/context.h"
#include "cli/home.h"
#include "cli/home_store.h"
#include "cli/kit_place.h"
#include "cli/loaded_concepts.h"
#include "cli/serving.h"
#include "deploy/deploy_kit.h"
#include "process/system.h"

namespace sluice::cli {
namespace serve_commands {

constexpr int64_t kLook_ms = 20;

Result<Code> serve(Context& context) {
  static const LoadedConcepts kNone;
  const LoadedConcepts& loaded = context.concepts != nullptr ? *context.concepts : kNone;
  std::string name = context.given.text("kit");
  auto place = place_of_kit(name.empty() ? std::string(deploy::kKitFolder) : name, context);
  if (!place) return place.error();
  if (auto exists = must_exist(*place); !exists) return exists.error();
  KitReload reload(context, *place, loaded);
  auto kit = reload.first();
  if (!kit) return kit.error();
  // Before the threads are made, which are not to take the signal; gone before the engine is, so that a second Ctrl-C
  // does not wait for effects under way.
  std::optional<StopSignal> stop(std::in_place);
  auto serving = Serving::start(context, *place, loaded, *kit);
  if (!serving) return serving.error();
  (*serving)->run(*stop, reload);
  stop.reset();
  serving->reset();
  return Code::ok;
}

// ---------------------------------------------------------------------------------------------------------- status

// What the `sluice serve` of this home says of itself; nothing if none runs.
Result<std::optional<json::object>> status_of(const Context& context, const Home& home, const Clock& clock) {
  using Found = std::optional<json::object>;
  if (auto trusted = home.check("run"); !trusted) return trusted.error();
  auto door = api::RemoteDoor::open(socket_of(home), clock, context.given.command->name);
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

std::string status_text(const json::object& status, const Terminal& terminal) {
  std::string text = terminal.paint(Style::good, "running") + "  pid " + text_of(status, "pid") + " since " +
                     text_of(status, "since") + ", version " + text_of(status, "version") + "\n" + "kit      " +
                     text_of(status, "kit") + "\n" + "socket   " + printable(text_of(status, "socket")) + "\n" +
                     "flows    " + text_of(status, "openFlows") + " open, journal at " + text_of(status, "position") +
                     "\n" + "store    " + text_of(status, "storeBytes") + " bytes\n";
  std::string trouble = text_of(status, "trouble");
  if (!trouble.empty()) text += terminal.paint(Style::bad, "trouble") + "  " + printable(trouble) + "\n";
  return text;
}

Result<Code> status(Context& context) {
  auto home = find_home(context.disk, context.variables);
  if (!home) return home.error();
  RealClock clock;
  int64_t until_ns = clock.monotonic_ns() + context.given.number("wait").value_or(0) * 1'000'000;
  while (true) {
    auto found = status_of(context, *home, clock);
    if (!found) return found.error();
    if (*found) {
      json::object shown = **std::move(found);
      shown["running"] = true;
      context.output.print(shown, [&](const Terminal& terminal) { return status_text(shown, terminal); });
      return Code::ok;
    }
    if (clock.monotonic_ns() >= until_ns) break;
    clock.sleep_ms(kLook_ms);
  }
  context.output.print(json::object{{"running", false}, {"socket", socket_of(*home)}},
                       [](const Terminal&) { return "not running\n"; });
  context.output.note("Commands open the store themselves; next: sluice serve");
  return Code::not_found;
}

// ------------------------------------------------------------------------------------------------------------ stop

Result<Code> stop(Context& context) {
  auto home = find_home(context.disk, context.variables);
  if (!home) return home.error();
  if (auto trusted = home->check("run"); !trusted) return trusted.error();
  RealClock clock;
  auto owner = read_lock_owner(context.disk, (home->root() / "run" / "store.lock").string());
  auto door = api::RemoteDoor::open(socket_of(*home), clock, "stop");
  auto asked = door ? (*door)->stop(context.given.text("reason")) : Result<json::object>(door.error());
  if (!asked && (asked.error().code == Code::not_found || asked.error().code == Code::invalid)) {
    context.output.print(json::object{{"stopped", false}}, [](const Terminal&) { return "not running\n"; });
    return Code::ok;
  }
  if (!asked) return asked.error();
  std::string pid = text_of(*asked, "pid");
  bool known = owner && std::to_string(owner->process.pid) == pid;
  int64_t until_ns = clock.monotonic_ns() + context.given.number("timeout").value_or(0) * 1'000'000;
  // By a handle it is heard when it ends; without one, that nobody is at the socket any more.
  auto handle = known ? process::ProcessHandle::open(owner->process)
                      : Result<process::ProcessHandle>(Error{.code = Code::unavailable});
  auto has_ended = [&] {
    if (handle) return handle->wait_ms(kLook_ms);
    if (known && handle.error().code == Code::not_found) return true;
    if (!http::connect_unix(socket_of(*home))) return true;
    clock.sleep_ms(kLook_ms);
    return false;
  };
  while (!has_ended()) {
    if (clock.monotonic_ns() >= until_ns) {
      return Error{.code = Code::timeout,
                   .message = "sluice serve, pid " + pid +
                              ", was asked to stop and has not ended yet; it may wait for an "
                              "effect under way",
                   .next = "sluice stop --timeout 5m, or kill -9 " + pid + ": nothing that was committed is lost"};
    }
  }
  context.output.print(json::object{{"stopped", true}, {"pid", asked->at("pid")}}, [&](const Terminal& terminal) {
    return terminal.paint(Style::good, "stopped") + "  pid " + pid + "\n";
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
           "A .sync file of the kit that changes is checked and loaded, as in `sluice kit run`.",
       .args = {{.name = "kit",
                 .help = "the kit's folder, or its name; else Sluice's own",
                 .kind = Kind::path,
                 .optional = true}},
       .options = {lock_timeout_option()},
       .example = "sluice serve",
       .run = serve});
  commands.add({.name = "status",
                .group = Group::operate,
                .summary = "Say whether sluice serve runs, and how it is",
                .details = "The exit code is 0 if it runs, and 5 if it does not.",
                .options = {{.name = "wait",
                             .value = "TIME",
                             .help = "wait so long for one that begins",
                             .kind = Kind::duration,
                             .fallback = "0s"}},
                .example = "sluice status",
                .run = status});
  commands.add({.name = "stop",
                .group = Group::operate,
                .summary = "Stop sluice serve, and wait until it has ended",
                .details = "What runs on this machine goes on running, and what is open in the store goes on with the "
                           "next `sluice serve` or command.",
                .options = {{.name = "timeout",
                             .value = "TIME",
                             .help = "how long to wait for its end",
                             .kind = Kind::duration,
                             .fallback = "60s"},
                            {.name = "reason", .value = "TEXT", .help = "why, for its log"}},
                .example = "sluice stop",
                .run = stop});
}

}  // namespace sluice::cli
