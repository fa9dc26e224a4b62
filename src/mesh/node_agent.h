// The agent of a node in one mesh: it looks for news, switches, tells the vertices, and takes back what does not work.
// Commands reach a running one over HTTP on its Unix socket, RUN/agent.sock: GET /status, POST /sync, POST /confirm.
//
//   auto agent = NodeAgent::open(disk, clock, options);
//   (*agent)->serve([&] { return stopping; });
//
// Only one agent works in a scope at a time. May be used from many threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/json_fields.h"
#include "base/lock_file.h"
#include "base/result.h"
#include "mesh/agent.h"
#include "mesh/node_store.h"
#include "mesh/vertices.h"

namespace sluice::mesh {

struct AgentOptions {
  std::string root;
  std::string scope;
  std::string direct;                // the URL of a config server that is reached without a vertex
  std::string folder;                // a compiled tree in place of a server
  std::vector<std::string> program;  // the vertex program and its words
  std::string path;                  // the variable PATH of vertices
  int64_t poll_ms = 5 * 60 * 1000;
  int64_t confirm_ms = 5 * 60 * 1000;  // 0: a new set need not be confirmed
  int64_t patience_ms = kServerPatience_ms;
};

struct AgentStatus {
  std::string scope;
  std::string node;
  bool running = false;  // whether an agent answered; else this is what the disk says
  uint64_t version = 0;  // of the set in force
  std::string set;
  std::optional<int64_t> confirm_within_ms;  // nothing: it is confirmed
  std::string trouble;                       // why the last set is not in force; empty if nothing is wrong
  int64_t checked_ms = 0;                    // when a config server was last reached; 0: never
  std::vector<Rejection> rejected;
  std::vector<VertexStatus> vertices;
};
BOOST_DESCRIBE_STRUCT(AgentStatus, (),
                      (scope, node, running, version, set, confirm_within_ms, trouble, checked_ms, rejected, vertices))

// What came of one look, for a person: "unchanged", "changed", "confirmed", "taken back".
struct AgentSync {
  std::string outcome;
  uint64_t version = 0;  // in force now
  std::vector<std::string> vertices;
};
BOOST_DESCRIBE_STRUCT(AgentSync, (), (outcome, version, vertices))

std::string agent_socket(const std::string& root, const std::string& scope);

class NodeAgent {
 public:
  // `conflict`: another agent works in this scope.
  static Result<std::unique_ptr<NodeAgent>> open(Disk& disk, Clock& clock, AgentOptions options);

  // Starts the vertices with the set in force. Without it an agent only looks and switches.
  void begin();
  Result<AgentSync> sync_now();
  Result<void> confirm();
  AgentStatus status();
  // One pass: a set whose time is over is taken back, the server is asked if it is time, vertices are kept running.
  void turn();
  // Turns until it is told to stop, and answers commands meanwhile. Then the vertices are ended.
  Result<void> serve(const std::function<bool()>& stopping);

 private:
  NodeAgent(Disk& disk, Clock& clock, AgentOptions options, NodeStore store, LockFile lock);

  Result<AgentSync> look();
  // Tells the vertices of the set in force; goes back if one refuses.
  Result<void> tell_vertices();
  void take_back(const std::string& reason);
  std::unique_ptr<ConfigSource> source();
  std::unique_ptr<VertexSource> through_vertex();
  std::string set_folder() const;

  Disk& disk_;
  Clock& clock_;
  AgentOptions options_;
  std::mutex mutex_;
  NodeStore store_;
  LockFile lock_;
  std::optional<Vertices> vertices_;
  int64_t next_ns_ = 0;
};

// What the disk says, where no agent runs.
Result<AgentStatus> status_on_disk(Disk& disk, const Clock& clock, const std::string& root, const std::string& scope);

}  // namespace sluice::mesh
