// The vertex programs of a node: started with the folder of the set in force, told of a new one, started again when
// they end. What a vertex does with its set is its own; docs/internals/mesh.md has what it is given and how it answers.
//
// A vertex that outlived the agent that started it, as after kill -9, is found by its socket and goes on. May be used
// from one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json_fields.h"
#include "base/process_identity.h"
#include "base/result.h"
#include "mesh/artifact.h"
#include "process/spawn.h"

namespace sluice::mesh {

inline constexpr int64_t kVertexPatience_ms = 10'000;
inline constexpr int kConfigRejected = 78;  // EX_CONFIG: a vertex that ends so is not started again with this set

struct VertexReply {
  enum class Kind { taken, restart, refused };

  Kind kind = Kind::restart;
  std::string reason;  // why it is to be restarted, or why it refused
};

// One line `set FOLDER` to the vertex, and its line back: `taken`, `restart` or `refused REASON`. Nobody there, another
// answer, or none in time is `restart`.
VertexReply tell_vertex(const std::string& socket, const std::string& folder, const Clock& clock,
                        int64_t patience_ms = kVertexPatience_ms);

struct VertexStatus {
  std::string name;
  std::string kind;
  std::string state;  // running, waiting (to be started again), rejected (its set), stopped (there is no program)
  int64_t pid = 0;
  int64_t restarts = 0;
  std::string last;  // how it ended last, or what it answered

  bool operator==(const VertexStatus&) const = default;
};
BOOST_DESCRIBE_STRUCT(VertexStatus, (), (name, kind, state, pid, restarts, last))

class Vertices {
 public:
  struct Settings {
    std::vector<std::string> program;  // that is run for each vertex; empty: none is
    std::string scope;
    std::string node;
    std::string run_folder;  // sockets and logs
    std::string path;        // the variable PATH of what is started
    int64_t patience_ms = kVertexPatience_ms;
  };

  Vertices(Settings settings, const Clock& clock) : settings_(std::move(settings)), clock_(clock) {}
  ~Vertices();

  // Makes these run, with this folder: what runs is told of it, what does not is started, what is not listed is ended.
  // `gate_rejected` with the first refusal; all are told then, too.
  Result<void> use(const std::vector<SupervisedVertex>& listed, const std::string& folder);
  // Starts again what has ended. A vertex that rejects its set is named, once.
  std::optional<std::string> turn();
  // Ends all, in reverse order.
  void stop();

  std::vector<VertexStatus> status() const;

 private:
  struct One {
    SupervisedVertex vertex;
    std::optional<process::Child> child;
    std::optional<ProcessIdentity> adopted;  // of one that another agent has started
    int64_t started_ns = 0, next_ns = 0;
    int64_t backoff_ms = 0;
    int64_t restarts = 0;
    bool rejected = false;
    std::string last;

    bool runs() const { return child || adopted; }
  };

  std::string socket_of(const One& one) const { return settings_.run_folder + "/agent/" + one.vertex.name + ".sock"; }
  void start(One& one);
  void find(One& one);
  void end(One& one);
  bool has_ended(One& one);

  Settings settings_;
  const Clock& clock_;
  std::string folder_;
  std::vector<std::unique_ptr<One>> all_;
};

}  // namespace sluice::mesh
