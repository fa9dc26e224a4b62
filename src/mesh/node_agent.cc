// All work is done under one mutex: a command waits for a look that is under way.
#include "mesh/node_agent.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_writer.h"
#include "http/server.h"
#include "http/socket.h"
#include "mesh/authority.h"

namespace sluice::mesh {
namespace node_agent {

constexpr int64_t kTurn_ms = 100;
constexpr int64_t kWhilePending_ms = 2'000;  // a set that is not confirmed yet is proved soon, or taken back
constexpr int64_t kMs_ns = 1'000'000;

const char* word_of(Synced what) {
  switch (what) {
    case Synced::changed:
      return "changed";
    case Synced::confirmed:
      return "confirmed";
    case Synced::taken_back:
      return "taken back";
    default:
      return "unchanged";
  }
}

void fill(AgentStatus& status, NodeStore& store, const Clock& clock) {
  const NodeState& state = store.state();
  status.node = state.node;
  if (auto set = store.active_set()) status.version = set->version();
  status.set = state.active;
  status.confirm_within_ms = store.left_ms(clock);
  status.trouble = state.trouble;
  status.checked_ms = state.checked_ms;
  status.rejected = state.rejected;
}

http::Response answer_of(const Error& error) {
  return {
      .status = sluice::entry(error.code).http_status,
      .body = write(json::object{{"code", code_name(error.code)}, {"message", error.message}, {"next", error.next}})};
}

}  // namespace node_agent

std::string agent_socket(const std::string& root, const std::string& scope) {
  return root + "/run/" + scope + "/agent.sock";
}

NodeAgent::NodeAgent(Disk& disk, Clock& clock, AgentOptions options, NodeStore store, LockFile lock)
    : disk_(disk), clock_(clock), options_(std::move(options)), store_(std::move(store)), lock_(std::move(lock)) {}

Result<std::unique_ptr<NodeAgent>> NodeAgent::open(Disk& disk, Clock& clock, AgentOptions options) {
  auto there = disk.exists(options.root + "/state/" + options.scope);
  if (!there) return there.error();
  if (!*there)
    return Error{.code = Code::not_found,
                 .message = "this node is not in the mesh " + options.scope,
                 .next = "sluice mesh agent enrol BUNDLE"};
  auto lock = LockFile::acquire(disk, clock, options.root + "/state/" + options.scope + "/agent.lock", 0);
  if (!lock) return lock.error();
  auto store = NodeStore::open(disk, options.root, options.scope);
  if (!store) return store.error();
  if (auto made = make_folders(disk, store->run_folder() + "/agent", 0755); !made) return made.error();
  return std::unique_ptr<NodeAgent>(
      new NodeAgent(disk, clock, std::move(options), *std::move(store), *std::move(lock)));
}

std::string NodeAgent::set_folder() const {
  return options_.root + "/sets/" + options_.scope + "/" + store_.state().active;
}

std::unique_ptr<ConfigSource> NodeAgent::source() {
  if (!options_.folder.empty()) return std::make_unique<FolderSource>(disk_, options_.folder);
  if (!options_.direct.empty())
    return std::make_unique<DirectSource>(disk_, clock_, options_.direct, store_.identity_folder(),
                                          options_.patience_ms, options_.program.empty());
  return through_vertex();
}

std::unique_ptr<VertexSource> NodeAgent::through_vertex() {
  HostPort socks5;
  if (auto set = store_.active_set()) socks5 = set->agent().control_plane.via.addr;
  return std::make_unique<VertexSource>(disk_, clock_, socks5, store_.identity_folder(), options_.patience_ms);
}

void NodeAgent::begin() {
  const std::lock_guard guard(mutex_);
  vertices_.emplace(Vertices::Settings{.program = options_.program,
                                       .scope = options_.scope,
                                       .node = store_.state().node,
                                       .run_folder = store_.run_folder(),
                                       .path = options_.path},
                    clock_);
  if (auto told = tell_vertices(); !told) (void)store_.note_trouble(told.error().message);
}

Result<void> NodeAgent::tell_vertices() {
  if (!vertices_) return {};
  auto set = store_.active_set();
  if (!set) return set.error();
  return vertices_->use(set->agent().vertices, set_folder());
}

void NodeAgent::take_back(const std::string& reason) {
  if (!store_.state().pending) {
    (void)store_.note_trouble(reason);
    return;
  }
  if (!store_.roll_back(reason)) return;
  (void)tell_vertices();
}

Result<AgentSync> NodeAgent::look() {
  auto from = source();
  // What comes directly is obeyed, and the way over the vertices is still what confirms it.
  if (store_.state().pending && vertices_ && !options_.direct.empty() && !options_.program.empty()) {
    if (through_vertex()->fetch(store_.state())) (void)store_.confirm();
  }
  const NodeState before = store_.state();
  auto outcome = sync(store_, *from, clock_, options_.confirm_ms);
  const auto tell_server = [&] {
    auto* server = dynamic_cast<ServerSource*>(from.get());
    if (server != nullptr && store_.state().checked_ms != before.checked_ms) (void)server->report(store_.state());
  };
  if (!outcome) {
    tell_server();
    return outcome.error();
  }
  AgentSync done{.outcome = node_agent::word_of(outcome->what), .vertices = outcome->change.vertices};
  if (outcome->what == Synced::changed || outcome->what == Synced::taken_back) {
    if (auto told = tell_vertices(); !told) {
      take_back(told.error().message);
      tell_server();
      return told.error();
    }
  }
  tell_server();
  if (auto set = store_.active_set()) done.version = set->version();
  return done;
}

Result<AgentSync> NodeAgent::sync_now() {
  const std::lock_guard guard(mutex_);
  return look();
}

Result<void> NodeAgent::confirm() {
  const std::lock_guard guard(mutex_);
  return store_.confirm();
}

AgentStatus NodeAgent::status() {
  const std::lock_guard guard(mutex_);
  AgentStatus status{.scope = options_.scope, .running = vertices_.has_value()};
  node_agent::fill(status, store_, clock_);
  if (vertices_) status.vertices = vertices_->status();
  return status;
}

void NodeAgent::turn() {
  const std::lock_guard guard(mutex_);
  auto overdue = enforce_deadline(store_, clock_);
  if (overdue && *overdue) (void)tell_vertices();
  if (vertices_) {
    if (auto rejected = vertices_->turn()) take_back(*rejected);
  }
  if (clock_.monotonic_ns() < next_ns_) return;
  (void)look();  // what went wrong is in the state
  // Nodes that were started together do not ask together for ever: the time differs by up to a tenth with the node.
  const int64_t spread = static_cast<int64_t>(std::hash<std::string>()(store_.state().node) % 100);
  const int64_t wait_ms = store_.state().pending ? std::min(node_agent::kWhilePending_ms, options_.poll_ms)
                                                 : options_.poll_ms - options_.poll_ms * spread / 1000;
  next_ns_ = clock_.monotonic_ns() + wait_ms * node_agent::kMs_ns;
}

Result<void> NodeAgent::serve(const std::function<bool()>& stopping) {
  auto listening = http::listen_unix(disk_, agent_socket(options_.root, options_.scope));
  if (!listening) return listening.error();
  const auto handle = [this](const http::Request& request, const http::Peer&) -> http::Response {
    const std::string what = request.path.size() == 1 ? request.method + " " + request.path[0] : "";
    if (what == "GET status") return {.body = write(to_json(status()))};
    if (what == "POST sync") {
      auto done = sync_now();
      return done ? http::Response{.body = write(to_json(*done))} : node_agent::answer_of(done.error());
    }
    if (what == "POST confirm") {
      auto done = confirm();
      return done ? http::Response{.body = "{}"} : node_agent::answer_of(done.error());
    }
    return node_agent::answer_of({.code = Code::not_found, .message = "there is nothing here"});
  };
  auto server = http::Server::start(*std::move(listening), handle, clock_);
  if (!server) return server.error();
  begin();
  while (!stopping()) {
    turn();
    clock_.sleep_ms(node_agent::kTurn_ms);
  }
  (*server)->stop();
  const std::lock_guard guard(mutex_);
  vertices_->stop();
  return {};
}

Result<AgentStatus> status_on_disk(Disk& disk, const Clock& clock, const std::string& root, const std::string& scope) {
  auto store = NodeStore::open(disk, root, scope);
  if (!store) return store.error();
  AgentStatus status{.scope = scope};
  node_agent::fill(status, *store, clock);
  return status;
}

}  // namespace sluice::mesh
