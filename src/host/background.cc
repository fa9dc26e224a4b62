// Locks say who runs; signals go through handles, never to a pid.
#include "host/background.h"

#include <signal.h>

#include <algorithm>
#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <cstdlib>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/lock_file.h"
#include "host/home_store.h"
#include "host/remote_door.h"
#include "process/own_program.h"
#include "process/port.h"
#include "process/system.h"
#include "router/control_client.h"

namespace sluice::host {
namespace {

constexpr int64_t kLookAgain_ms = 5;
constexpr int64_t kStart_ms = 30'000;
constexpr int64_t kFirstWait_ms = 1'000, kLongestWait_ms = 60'000, kCalm_ms = 60'000;  // between two starts
constexpr uint16_t kUsualPort = 8080;
constexpr uint16_t kUsualSecurePort = 8443;
constexpr size_t kMaxRouterRecord = 64 << 10;
constexpr size_t kMaxLogTail = 2'000;
constexpr std::string_view kMainRouter = "main";

std::string tail_of(Disk& disk, const std::string& log) {
  auto text = read_file(disk, log, size_t{64} << 20U);
  if (!text) return "";
  return text->size() > kMaxLogTail ? text->substr(text->size() - kMaxLogTail) : *text;
}

// Waits until it is as it should be, or the process has ended, or it takes too long.
Result<void> await_start(Disk& disk, Clock& clock, pid_t pid, const std::string& what, const std::string& log,
                         const std::function<bool()>& is_up) {
  const int64_t until_ns = clock.monotonic_ns() + kStart_ms * 1'000'000;
  while (!is_up()) {
    const bool ended = process::ends_within(pid, kLookAgain_ms);
    if (ended && is_up()) return {};
    if (ended || clock.monotonic_ns() >= until_ns) {
      return Error{.code = ended ? Code::failed : Code::timeout,
                   .message = what + (ended ? " has ended before it was ready" : " is not ready after 30 s") +
                              "; its log says:\n" + tail_of(disk, log),
                   .next = "less " + log};
    }
  }
  return {};
}

Result<std::string> log_of(const Home& home, const std::string& name) {
  auto folder = home.folder("logs");
  if (!folder) return folder.error();
  return (*folder / (name + ".log")).string();
}

std::string text_at(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

// The process that holds a lock.
std::optional<ProcessIdentity> holder_of(Disk& disk, const std::string& lock) {
  auto owner = read_lock_owner(disk, lock);
  if (!owner) return std::nullopt;
  auto runs = is_running(owner->process);
  if (!runs || !*runs) return std::nullopt;
  return owner->process;
}

std::optional<ProcessIdentity> router_master(Disk& disk, const std::string& folder) {
  return holder_of(disk, folder + "/lock");
}

// The router's process: its master, or the worker that serves on without one.
std::optional<ProcessIdentity> router_process(Disk& disk, const std::string& folder) {
  auto master = router_master(disk, folder);
  return master ? master : holder_of(disk, folder + "/worker.lock");
}

Result<pid_t> start_router_at(const Home& home, const std::vector<std::string>& places) {
  auto log = log_of(home, "router");
  if (!log) return log.error();
  std::vector<std::string> words = {"router", "run", "--kept", "--name", std::string(kMainRouter)};
  for (const std::string& each : places) {
    words.emplace_back("--listen");
    words.push_back(each);
  }
  return process::start_own_program(words, *log);
}

bool speaks_tls(const std::vector<std::string>& places) {
  return std::ranges::any_of(places, [](const std::string& each) { return each.find(",tls") != std::string::npos; });
}

// The places that are given, and one for TLS if there is none and it is asked for.
Result<pid_t> start_router_with(const Home& home, std::vector<std::string> places, bool secure) {
  if (secure && !speaks_tls(places)) {
    uint16_t port = kUsualSecurePort;
    if (process::is_port_taken(port)) {
      auto free = process::free_port();
      if (!free) return free.error();
      port = *free;
    }
    places.push_back("127.0.0.1:" + std::to_string(port) + ",tls");
  }
  return start_router_at(home, places);
}

Result<pid_t> start_router(const Home& home, uint16_t port, bool secure) {
  return start_router_with(home, {"127.0.0.1:" + std::to_string(port)}, secure);
}

// Below the ports of outgoing connections: the router comes back to this one, and a connection must not have it then.
Result<pid_t> start_router_anywhere(const Home& home, bool secure) {
  auto port = process::free_port();
  if (!port) return port.error();
  return start_router(home, *port, secure);
}

// What a router says of itself in its folder; nothing if it has none, or was stopped in order.
std::optional<json::object> record_in(Disk& disk, const std::string& folder) {
  auto text = read_file(disk, folder + "/router.json", kMaxRouterRecord);
  auto parsed = text ? parse_json(*text) : Result<Document>(text.error());
  if (!parsed || !parsed->root.is_object()) return std::nullopt;
  return std::move(parsed->root.get_object());
}

int64_t pid_in(const json::object& record) {
  const json::value* pid = record.if_contains("pid");
  return pid != nullptr && pid->is_int64() ? pid->get_int64() : 0;
}

std::vector<std::string> places_in(const json::object& record) {
  std::vector<std::string> places;
  const json::value* listen = record.if_contains("listen");
  if (listen == nullptr || !listen->is_array()) return places;
  for (const json::value& each : listen->get_array()) {
    if (each.is_string()) places.emplace_back(each.get_string());
  }
  return places;
}

std::string folder_of_router(const Home& home, std::string_view name) {
  return (home.root() / "router" / name).string();
}

// Where the router main is to listen, and whether it is to run: what is kept of it when its process is gone.
struct KeptRouter {
  std::vector<std::string> listen;
  bool wanted = false;
};
BOOST_DESCRIBE_STRUCT(KeptRouter, (), (listen, wanted))

KeptRouter kept_router(Disk& disk, const std::string& folder) {
  auto text = read_file(disk, folder + "/kept.json", kMaxRouterRecord);
  auto parsed = text ? parse_json(*text) : Result<Document>(text.error());
  auto kept = parsed ? read<KeptRouter>(*parsed) : Result<KeptRouter>(parsed.error());
  if (kept) return *kept;
  // One that an earlier version has started says so in its own record alone.
  auto record = record_in(disk, folder);
  const json::value* flag = record ? record->if_contains("kept") : nullptr;
  if (flag == nullptr || *flag != json::value(true)) return {};
  return {.listen = places_in(*record), .wanted = true};
}

Result<void> keep_router(Disk& disk, const std::string& folder, const KeptRouter& kept) {
  return write_atomically(disk, folder + "/kept.json", write(sluice::to_json(kept)), 0600);
}

// A port of these that somebody listens on.
std::optional<uint16_t> taken_port(const std::vector<std::string>& places) {
  for (const std::string& each : places) {
    const size_t colon = each.rfind(':');
    if (colon == std::string::npos || each.starts_with("unix:")) continue;
    const auto port = static_cast<uint16_t>(std::atoi(each.c_str() + colon + 1));
    if (port != 0 && process::is_port_taken(port)) return port;
  }
  return std::nullopt;
}

// One on another machine, as its link has written it down, if somebody is at its control socket.
std::optional<RunningRouter> linked_router(const json::object& record) {
  RunningRouter router{.name = text_at(record, "name"),
                       .router = text_at(record, "router"),
                       .control = text_at(record, "control"),
                       .machine = text_at(record, "machine")};
  if (router.machine.empty() || !http::connect_unix(router.control)) return std::nullopt;
  const json::value* said = record.if_contains("joined");
  if (said != nullptr && said->is_object()) router.listen = places_in(said->get_object());
  return router;
}

std::optional<RunningRouter> main_router(Disk& disk, const Home& home) {
  for (RunningRouter& each : running_routers(disk, home)) {
    if (each.name == kMainRouter) return std::move(each);
  }
  return std::nullopt;
}

}  // namespace

std::vector<RunningRouter> running_routers(Disk& disk, const Home& home) {
  std::vector<RunningRouter> all;
  const std::string folder = (home.root() / "router").string();
  auto entries = disk.list(folder);
  if (!entries) return all;
  for (const FolderEntry& each : *entries) {
    const std::string own = folder + "/" + each.name;
    auto holder = router_process(disk, own);
    auto record = record_in(disk, own);
    if (!record) continue;
    if (!holder) {
      if (auto linked = linked_router(*record)) all.push_back(*std::move(linked));
      continue;
    }
    RunningRouter router{.name = text_at(*record, "name"),
                         .router = text_at(*record, "router"),
                         .pid = holder->pid,
                         .listen = places_in(*record),
                         .control = text_at(*record, "control")};
    // A record of an earlier process says nothing of this one, unless its worker serves on.
    if (pid_in(*record) != holder->pid && !holder_of(disk, own + "/worker.lock")) continue;
    all.push_back(std::move(router));
  }
  return all;
}

std::string command_to_run_router(const std::string& name) {
  return name == kMainRouter ? "sluice router run" : "sluice router run --name " + name;
}

bool serve_runs(const Home& home, const Clock& clock) {
  auto door = RemoteDoor::open(socket_of(home), clock, {.purpose = "up"});
  return door && (*door)->status();
}

Result<bool> ensure_serve(Disk& disk, const Home& home, Clock& clock) {
  if (serve_runs(home, clock)) return false;
  auto log = log_of(home, "serve");
  if (!log) return log.error();
  auto pid = process::start_own_program({"serve", "--lock-timeout", "30s"}, *log);
  if (!pid) return pid.error();
  auto started = await_start(disk, clock, *pid, "sluice serve", *log, [&] { return serve_runs(home, clock); });
  if (!started) return started.error();
  return true;
}

Result<pid_t> begin_router(Disk& disk, const Home& home, uint16_t port, bool secure) {
  const std::string folder = folder_of_router(home, kMainRouter);
  if (auto running = main_router(disk, home); running && secure && !speaks_tls(running->listen)) {
    return Error{.code = Code::conflict,
                 .message = "the router runs already, and listens nowhere for TLS",
                 .next = "sluice stop, then sluice up --tls"};
  }
  if (main_router(disk, home) || router_master(disk, folder)) return 0;
  const std::vector<std::string> before = kept_router(disk, folder).listen;
  const bool again = port == 0 && !before.empty();
  auto taken = taken_port(again ? before : std::vector<std::string>{":" + std::to_string(port)});
  if (taken && !main_router(disk, home) && !router_master(disk, folder)) {
    return Error{
        .code = Code::conflict,
        .message =
            "port " + std::to_string(*taken) + (again ? ", where the router listened before," : "") + " is taken",
        .next = again ? "free it, or choose another with --port" : "choose another with --port, or leave it out"};
  }
  if (again) return start_router_with(home, before, secure);
  if (port != 0) return start_router(home, port, secure);
  return process::is_port_taken(kUsualPort) ? start_router_anywhere(home, secure)
                                            : start_router(home, kUsualPort, secure);
}

Result<RouterHere> finish_router(Disk& disk, const Home& home, Clock& clock, uint16_t port, pid_t begun, bool secure) {
  std::optional<RunningRouter> found;
  auto log = log_of(home, "router");
  if (!log) return log.error();
  const std::string folder = folder_of_router(home, kMainRouter);
  auto is_up = [&] {
    found = main_router(disk, home);
    return found.has_value();
  };
  auto listens = [&](pid_t pid) { return await_start(disk, clock, pid, "the router", *log, is_up); };
  // One that the control plane or another command has started, which was quicker.
  auto other_listens = [&]() -> Result<void> {
    while (!is_up() && router_master(disk, folder)) clock.sleep_ms(kLookAgain_ms);
    if (is_up()) return {};
    return Error{.message = "the router has ended before it was ready; its log says:\n" + tail_of(disk, *log)};
  };
  auto up = begun == 0 ? other_listens() : listens(begun);
  if (!up && up.error().code == Code::failed && router_master(disk, folder)) up = other_listens();
  // A port that nobody has asked for may have been taken meanwhile: the second attempt has another.
  const bool has_choice = port == 0 || secure;
  if (!up && up.error().code == Code::failed && has_choice && kept_router(disk, folder).listen.empty()) {
    auto again = port == 0 ? start_router_anywhere(home, secure) : start_router(home, port, secure);
    if (!again) return again.error();
    up = listens(*again);
  }
  if (!up) return up.error();
  if (auto kept = keep_router(disk, folder, {.listen = found->listen, .wanted = true}); !kept) return kept.error();
  return RouterHere{*std::move(found), begun != 0};
}

RouterKeeper::RouterKeeper(Disk& disk, Home home, const Clock& clock)
    : disk_(disk), home_(std::move(home)), folder_(folder_of_router(home_, kMainRouter)), clock_(clock) {}

std::optional<std::string> RouterKeeper::look() {
  const int64_t now_ns = clock_.monotonic_ns();
  if (now_ns < next_ns_) return std::nullopt;
  next_ns_ = now_ns + kFirstWait_ms * 1'000'000;
  if (child_ != 0 && process::ends_within(child_, 0)) child_ = 0;
  const KeptRouter kept = kept_router(disk_, folder_);
  if (!kept.wanted || router_master(disk_, folder_)) return std::nullopt;
  const bool calm = now_ns - started_ns_ > kCalm_ms * 1'000'000;
  wait_ms_ = calm ? kFirstWait_ms : std::clamp(2 * wait_ms_, kFirstWait_ms, kLongestWait_ms);
  started_ns_ = now_ns;
  next_ns_ = now_ns + wait_ms_ * 1'000'000;
  auto started = start_router_at(home_, kept.listen);
  if (!started) return "the router main has ended, and cannot be started again: " + started.error().message;
  child_ = *started;
  return "the router main has ended; it is started again, pid " + std::to_string(child_);
}

Result<std::vector<RunningRouter>> stop_routers(Disk& disk, const Home& home, Clock& clock, int64_t at_most_ms) {
  std::vector<RunningRouter> stopped;
  const std::string main = folder_of_router(home, kMainRouter);
  if (KeptRouter kept = kept_router(disk, main); kept.wanted) {
    kept.wanted = false;
    if (auto noted = keep_router(disk, main, kept); !noted) return noted.error();
  }
  const int64_t until_ns = clock.monotonic_ns() + at_most_ms * 1'000'000;
  for (RunningRouter& each : running_routers(disk, home)) {
    auto holder = router_process(disk, folder_of_router(home, each.name));
    if (!holder) continue;
    auto process = process::ProcessHandle::open(*holder);
    if (!process) continue;
    if (auto sent = process->send(SIGTERM); !sent) return sent.error();
    const int64_t left_ms = std::max<int64_t>((until_ns - clock.monotonic_ns()) / 1'000'000, 1);
    if (!process->wait_ms(left_ms)) {
      return Error{.code = Code::timeout,
                   .message = "the router " + each.name + ", pid " + std::to_string(each.pid) +
                              ", was asked to stop and waits for requests under way",
                   .next = "sluice stop --timeout 5m"};
    }
    stopped.push_back(std::move(each));
  }
  return stopped;
}

Result<int64_t> stop_serve(Disk& disk, const Home& home, Clock& clock, const std::string& reason, int64_t at_most_ms) {
  auto owner = read_lock_owner(disk, (home.root() / "run" / "store.lock").string());
  auto door = RemoteDoor::open(socket_of(home), clock, {.purpose = "stop"});
  auto asked = door ? (*door)->stop(reason) : Result<json::object>(door.error());
  if (!asked && (asked.error().code == Code::not_found || asked.error().code == Code::invalid)) return int64_t{0};
  if (!asked) return asked.error();
  const json::value* said = asked->if_contains("pid");
  const int64_t pid = said != nullptr && said->is_int64() ? said->get_int64() : 0;
  bool known = owner && owner->process.pid == pid;
  int64_t until_ns = clock.monotonic_ns() + at_most_ms * 1'000'000;
  // By a handle it is heard when it ends; without one, that nobody is at the socket any more.
  auto handle = known ? process::ProcessHandle::open(owner->process)
                      : Result<process::ProcessHandle>(Error{.code = Code::unavailable});
  auto has_ended = [&] {
    if (handle) return handle->wait_ms(kLookAgain_ms);
    if (known && handle.error().code == Code::not_found) return true;
    if (!http::connect_unix(socket_of(home))) return true;
    clock.sleep_ms(kLookAgain_ms);
    return false;
  };
  while (!has_ended()) {
    if (clock.monotonic_ns() >= until_ns) {
      return Error{.code = Code::timeout,
                   .message = "sluice serve, pid " + std::to_string(pid) +
                              ", was asked to stop and has not ended yet; it may wait for an "
                              "effect under way",
                   .next = "sluice stop --timeout 5m, or kill -9 " + std::to_string(pid) +
                           ": nothing that was committed is lost"};
    }
  }
  return pid;
}

bool workloads_run(Disk& disk, const Home& home, const LoadedConcepts& concepts) {
  auto there = disk.stat((home.root() / "runtime" / "replicas").string(), FollowLinks::no);
  auto replicas = there ? local_replicas(concepts) : there.error();
  auto names = replicas ? (*replicas)->list() : replicas.error();
  return names && std::ranges::any_of(*names, [&](const std::string& name) {
           auto state = (*replicas)->look(name);
           return state && !process::is_over(state->phase);
         });
}

Result<size_t> stop_workloads(Disk& disk, const Home& home, const LoadedConcepts& concepts) {
  auto there = disk.stat((home.root() / "runtime" / "replicas").string(), FollowLinks::no);
  if (!there) return size_t{0};
  auto replicas = local_replicas(concepts);
  if (!replicas) return size_t{0};
  return (*replicas)->stop_all();
}

Result<process::Replicas*> local_replicas(const LoadedConcepts& concepts) {
  auto* replicas = concepts.tools.find<process::Replicas>();
  if (replicas == nullptr) {
    return Error{.code = Code::unavailable, .message = "this program has no local runtime"};
  }
  return replicas;
}

}  // namespace sluice::host
