// A vertex's output goes to a file and not through the agent, so that it does not end with the agent's pipe.
#include "mesh/vertices.h"

#include <signal.h>

#include <algorithm>

#include "http/socket.h"
#include "process/system.h"

namespace sluice::mesh {
namespace {

constexpr int64_t kFirstBackoff_ms = 100, kMostBackoff_ms = 30'000, kSettled_ms = 10'000;
constexpr int64_t kGrace_ms = 5'000;
constexpr size_t kMaxReply = 4 << 10;
constexpr int64_t kMs_ns = 1'000'000;

}  // namespace

VertexReply tell_vertex(const std::string& path, const std::string& folder, const Clock& clock, int64_t patience_ms) {
  auto socket = http::connect_unix(path);
  if (!socket) return {.reason = "nobody listens at its socket"};
  http::Wire wire(*std::move(socket), clock);
  const int64_t deadline_ns = clock.monotonic_ns() + patience_ms * kMs_ns;
  if (!wire.write("set " + folder + "\n", deadline_ns)) return {.reason = "it does not listen"};
  std::string line;
  while (line.find('\n') == std::string::npos) {
    if (line.size() > kMaxReply) return {.reason = "its answer does not end"};
    const auto read = wire.read(line, deadline_ns, -1);
    if (read == http::Wire::Read::late) return {.reason = "it did not answer in time"};
    if (read != http::Wire::Read::some) return {.reason = "it closed the connection"};
  }
  line.resize(line.find('\n'));
  if (line == "taken") return {.kind = VertexReply::Kind::taken};
  if (line == "restart") return {.reason = "it asked for it"};
  if (line == "refused" || line.starts_with("refused "))
    return {.kind = VertexReply::Kind::refused, .reason = line.size() > 8 ? line.substr(8) : "without a reason"};
  return {.reason = "it answered something else"};
}

Vertices::~Vertices() { stop(); }

void Vertices::find(One& one) {
  auto socket = http::connect_unix(socket_of(one));
  if (!socket) return;
  const auto who = http::credentials_of(*socket);
  auto process = who ? identify_process(who->pid) : Result<ProcessIdentity>(Error{});
  if (!process) return;
  one.adopted = *process;
  one.last = "was running already";
}

void Vertices::start(One& one) {
  if (settings_.program.empty()) return;
  // The shell becomes the program; it only opens the log.
  process::SpawnRequest request{
      .program = "/bin/sh",
      .argv = {"sh", "-c", "exec \"$@\" >>\"$SLUICE_VERTEX_LOG\" 2>&1", "sh"},
      .folder = "/",
      .environment = {{"PATH", settings_.path},
                      {"SLUICE_MESH_SCOPE", settings_.scope},
                      {"SLUICE_MESH_NODE", settings_.node},
                      {"SLUICE_VERTEX", one.vertex.name},
                      {"SLUICE_VERTEX_KIND", one.vertex.kind == VertexKind::link ? "link" : "mesh"},
                      {"SLUICE_VERTEX_SET", folder_},
                      {"SLUICE_VERTEX_SOCKET", socket_of(one)},
                      {"SLUICE_VERTEX_LOG", settings_.run_folder + "/agent/" + one.vertex.name + ".log"}}};
  request.argv.insert(request.argv.end(), settings_.program.begin(), settings_.program.end());
  request.argv.insert(request.argv.end(), {folder_, one.vertex.name});
  auto child = process::Child::spawn(request);
  one.started_ns = clock_.monotonic_ns();
  if (!child) {
    one.last = child.error().message;
    one.backoff_ms = std::clamp(one.backoff_ms * 2, kFirstBackoff_ms, kMostBackoff_ms);
    one.next_ns = one.started_ns + one.backoff_ms * kMs_ns;
    return;
  }
  one.child.emplace(*std::move(child));
}

bool Vertices::has_ended(One& one) {
  if (one.adopted) {
    auto runs = is_running(*one.adopted);
    return runs && !*runs;
  }
  return one.child && one.child->ended();
}

void Vertices::end(One& one) {
  if (one.runs()) {
    auto process = one.adopted ? Result<ProcessIdentity>(*one.adopted) : identify_process(one.child->id());
    auto handle = process ? process::ProcessHandle::open(*process) : Result<process::ProcessHandle>(process.error());
    if (handle && handle->send(SIGTERM) && !handle->wait_ms(kGrace_ms)) (void)handle->send(SIGKILL);
  }
  one.child.reset();  // what it has started ends with it
  one.adopted.reset();
}

Result<void> Vertices::use(const std::vector<SupervisedVertex>& listed, const std::string& folder) {
  folder_ = folder;
  for (size_t i = all_.size(); i-- > 0;) {
    if (std::ranges::find(listed, all_[i]->vertex) != listed.end()) continue;
    end(*all_[i]);
    all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  std::vector<std::unique_ptr<One>> ordered;
  for (const SupervisedVertex& each : listed) {
    auto known = std::ranges::find_if(all_, [&](const auto& one) { return one && one->vertex == each; });
    if (known != all_.end()) {
      ordered.push_back(std::move(*known));
      continue;
    }
    ordered.push_back(std::make_unique<One>());
    ordered.back()->vertex = each;
    find(*ordered.back());
  }
  all_ = std::move(ordered);
  Result<void> done;
  for (const auto& one : all_) {
    one->rejected = false;
    if (one->runs() && !has_ended(*one)) {
      const VertexReply reply = tell_vertex(socket_of(*one), folder, clock_, settings_.patience_ms);
      if (reply.kind == VertexReply::Kind::taken) {
        one->last = "took its set";
        continue;
      }
      if (reply.kind == VertexReply::Kind::refused) {
        one->last = "refused: " + reply.reason;
        if (done)
          done = Error{.code = Code::gate_rejected,
                       .message = "the vertex " + std::string(one->vertex.name) + " refused its set: " + reply.reason};
        continue;
      }
      one->last = "restarted: " + reply.reason;
      ++one->restarts;
      end(*one);
    }
    one->child.reset();
    one->adopted.reset();
    one->backoff_ms = 0;
    start(*one);
  }
  return done;
}

std::optional<std::string> Vertices::turn() {
  std::optional<std::string> rejected;
  const int64_t now_ns = clock_.monotonic_ns();
  for (const auto& one : all_) {
    if (one->rejected) continue;
    if (one->runs()) {
      if (!has_ended(*one)) continue;
      process::Exit exit;
      if (one->child) exit = one->child->kill_and_wait();
      one->child.reset();
      one->adopted.reset();
      one->last = exit.signal != 0 ? "killed by signal " + std::to_string(exit.signal)
                                   : "ended with exit code " + std::to_string(exit.code);
      if (exit.signal == 0 && exit.code == kConfigRejected) {
        one->rejected = true;
        if (!rejected) rejected = "the vertex " + std::string(one->vertex.name) + " rejected its set (exit code 78)";
        continue;
      }
      if (now_ns - one->started_ns > kSettled_ms * kMs_ns) one->backoff_ms = 0;
      one->backoff_ms = std::clamp(one->backoff_ms * 2, kFirstBackoff_ms, kMostBackoff_ms);
      one->next_ns = now_ns + one->backoff_ms * kMs_ns;
      ++one->restarts;
    }
    if (!one->runs() && now_ns >= one->next_ns) start(*one);
  }
  return rejected;
}

void Vertices::stop() {
  for (size_t i = all_.size(); i-- > 0;) end(*all_[i]);
  all_.clear();
}

std::vector<VertexStatus> Vertices::status() const {
  std::vector<VertexStatus> all;
  for (const auto& one : all_) {
    all.push_back({.name = one->vertex.name,
                   .kind = one->vertex.kind == VertexKind::link ? "link" : "mesh",
                   .state = one->rejected               ? "rejected"
                            : one->runs()               ? "running"
                            : settings_.program.empty() ? "stopped"
                                                        : "waiting",
                   .pid = one->adopted ? one->adopted->pid
                          : one->child ? one->child->id()
                                       : 0,
                   .restarts = one->restarts,
                   .last = one->last});
  }
  return all;
}

}  // namespace sluice::mesh
