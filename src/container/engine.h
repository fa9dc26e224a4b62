// Engine asks a container engine, podman or Docker, through its Unix socket, in the Engine API that both speak (1.41).
//
//   Engine engine("/run/podman/podman.sock", clock);
//   auto id = engine.create("sluice-4f…", {.image = "sha256:…", .user = "65532:65532"});
//   auto started = engine.start(*id);
//
// Errors: `unavailable` (nobody answers at the socket, or not in time), `not_found`, `conflict`, `invalid`, and
// `failed` with the engine's own words. Every call has a connection of its own: it may be used from many threads, and
// an engine that was restarted is met again by the next call.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"
#include "container/log_frames.h"
#include "http/client.h"

namespace sluice::container {

using Labels = std::map<std::string, std::string>;

struct EngineVersion {
  std::string name;     // "Libpod", "Docker"
  std::string version;  // "4.3.1"
  std::string os;
  std::string architecture;  // "amd64"; this machine's, where the engine is
};

struct Image {
  std::string id;  // "sha256:…", the digest of its config
  std::string user;
  std::vector<std::string> tags;
  std::vector<std::string> digests;  // "registry.example/team/shop@sha256:…"
  uint64_t bytes = 0;
};

struct Mount {
  std::string source;  // of this machine
  std::string target;
  bool writable = false;
};

// What a container is made of. It has no capabilities and can get none, is never started again by the engine, and
// listens on the loopback alone.
struct ContainerSpec {
  std::string image;
  std::vector<std::string> command;  // instead of the image's; empty: the image's
  std::map<std::string, std::string> environment;
  std::string user;  // "65532:65532"; empty: the image's
  Labels labels;
  std::string network;  // empty: it has none
  struct Port {
    uint16_t inner = 0;
    uint16_t outer = 0;        // on 127.0.0.1
    std::string address = {};  // and on this one; empty: on no other
  };
  std::optional<Port> port;
  std::vector<Mount> mounts;
  std::map<std::string, uint64_t> memory_folders;  // by path, how many bytes they take
  bool writable = false;                           // its root
  double cpu = 1;
  uint64_t memory_bytes = 0;
  uint32_t processes = 0;
  uint32_t files = 0;
  uint64_t user_processes = 0;  // of its user on the whole machine (RLIMIT_NPROC); 0: as the engine has it
};

struct Container {
  std::string id;
  std::string name;
  std::string image;  // its id
  bool running = false;
  std::string status;  // "created", "running", "exited"
  int pid = 0;
  int exit_code = 0;
  bool out_of_memory = false;  // podman does not notice that where the control groups are of the first version
  std::string error;
  std::string stop_signal;  // "SIGTERM", "15"; empty if the image names none
  Labels labels;
};

// How far a pull has come: the bytes of all layers that were told of.
struct PullProgress {
  uint64_t done_bytes = 0;
  uint64_t all_bytes = 0;
  size_t layers = 0;
  size_t layers_done = 0;
};

// What a name and a password are for an engine: the header that goes with a pull.
std::string registry_auth(const std::string& user, const std::string& password, const std::string& host);

// What the stream of a pull says, line by line; taken apart apart from the wire.
class PullStream {
 public:
  // What came so far; the error if the engine told of one.
  Result<void> take(std::string_view bytes);
  const PullProgress& progress() const { return progress_; }

 private:
  struct Layer {
    uint64_t done = 0, all = 0;
    bool complete = false;
  };
  Result<void> take_line(std::string_view line);

  std::string held_;
  std::map<std::string, Layer> layers_;
  PullProgress progress_;
};

class Engine {
 public:
  Engine(std::string socket, const Clock& clock) : socket_(std::move(socket)), clock_(clock) {}

  const std::string& socket() const { return socket_; }
  // What its greeting says. podman's own answer to `version` takes a second: it looks for the packages of its parts.
  Result<EngineVersion> version() const;

  // From a registry, by its whole name with a digest. `auth` is of registry_auth, or empty. Errors of the registry are
  // told apart: `not_found` (no such image), `denied` (a login is missing or wrong), `failed`.
  Result<void> pull(const std::string& reference, const std::string& auth,
                    const std::function<void(const PullProgress&)>& told, const std::function<bool()>& cancelled) const;
  // From a tar in the form of `docker save`.
  Result<void> load(File& archive) const;
  Result<Image> image(const std::string& name) const;
  Result<std::vector<Image>> images() const;
  Result<void> tag(const std::string& image, const std::string& repository, const std::string& tag) const;
  // Only the name goes if the image has others; what a container uses is a `conflict`.
  Result<void> remove_image(const std::string& name) const;

  // The id.
  Result<std::string> create(const std::string& name, const ContainerSpec& spec) const;
  Result<void> start(const std::string& id) const;
  // One that does not run is no fault.
  Result<void> kill(const std::string& id, const std::string& signal) const;
  Result<Container> inspect(const std::string& name) const;
  // Ended first if it runs. One that is not there is no fault.
  Result<void> remove(const std::string& id) const;
  // Those with all of these labels, also those that do not run.
  Result<std::vector<Container>> list(const Labels& labels) const;

  // What it says, with times, from `since` on (seconds of the epoch, or 0), until it has ended or nobody wants to hear
  // more. `stop` is asked every 100 ms.
  Result<void> follow_logs(const std::string& id, int64_t since_s, const LogFrames::Each& each,
                           const std::function<bool()>& stop) const;
  // The same of what it has said so far.
  Result<void> logs(const std::string& id, int64_t since_s, const LogFrames::Each& each) const;

  // `conflict` if there is one of that name.
  Result<void> create_network(const std::string& name, const Labels& labels) const;
  Result<std::optional<Labels>> network(const std::string& name) const;
  // One that is not there is no fault; one that is used is a `conflict`.
  Result<void> remove_network(const std::string& name) const;

 private:
  Result<http::Answer> ask(const std::string& method, const std::vector<std::string>& path, const http::Query& query,
                           const std::string& body, int64_t timeout_ms) const;
  Result<std::unique_ptr<http::Client>> connect() const;
  Result<void> read_logs(const std::string& id, bool follow, int64_t since_s, const LogFrames::Each& each,
                         const std::function<bool()>& stop) const;

  std::string socket_;
  const Clock& clock_;
};

// The body that a container is created with; a JSON object.
std::string body_of(const ContainerSpec& spec);

}  // namespace sluice::container
