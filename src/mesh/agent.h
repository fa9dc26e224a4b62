// What the agent of a node does each time it looks: fetch, judge, switch, and take back what nobody confirmed. Where
// artifacts come from is a seam: a config server, directly or through a vertex, or a folder.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"
#include "http/message.h"
#include "mesh/node_store.h"

namespace sluice::mesh {

inline constexpr size_t kMaxServedBytes = 64 << 20;
inline constexpr int64_t kServerPatience_ms = 30'000;

struct Fetched {
  bool news = false;  // false: what the node has is the newest
  std::vector<Artifact> artifacts;
  std::vector<Artifact> chain;
};

class ConfigSource {
 public:
  virtual ~ConfigSource() = default;
  virtual Result<Fetched> fetch(const NodeState& state) = 0;
  // Whether having reached it shows that the set in force works.
  virtual bool proves_the_set() const = 0;
  // Whether it is the config server, so that the node is in touch with it.
  virtual bool is_server() const { return proves_the_set(); }
};

// {"artifacts": […], "chain": […]}, as a config server answers.
Result<Fetched> parse_served(std::string_view text);

// A compiled tree: a folder that has NODE/mgmt, NODE/ctrl and NODE/chain.
class FolderSource final : public ConfigSource {
 public:
  FolderSource(Disk& disk, std::string folder) : disk_(disk), folder_(std::move(folder)) {}
  Result<Fetched> fetch(const NodeState& state) override;
  bool proves_the_set() const override { return false; }

 private:
  Disk& disk_;
  std::string folder_;
};

// What a config server answers to a request of this node.
struct ServerAnswer {
  int status = 0;
  std::string body;
};

// A config server that is asked for both planes, with a proof of who asks (mesh/proof.h). How its answers come is the
// caller's: directly, or through a vertex.
class ServerSource : public ConfigSource {
 public:
  ServerSource(Disk& disk, const Clock& clock, std::string identity_folder, int64_t patience_ms)
      : disk_(disk), clock_(clock), patience_ms_(patience_ms), identity_folder_(std::move(identity_folder)) {}
  Result<Fetched> fetch(const NodeState& state) override;
  bool proves_the_set() const override { return true; }
  bool is_server() const override { return true; }
  // Tells the server what the node obeys. Nothing hangs on it.
  Result<void> report(const NodeState& state);

 protected:
  virtual Result<ServerAnswer> ask(const NodeState& state, const std::string& method, const std::string& target,
                                   const std::string& body, const std::vector<http::Header>& headers) = 0;
  Result<std::string> identity_file(const std::string& name) const;

  Disk& disk_;
  const Clock& clock_;
  const int64_t patience_ms_;  // for one answer, from the first byte to the last

 private:
  Result<ServerAnswer> ask_with_proof(const NodeState& state, const std::string& method, const std::string& target,
                                      const std::string& body);

  std::string identity_folder_;
};

// Over TLS with the node's own certificate, or over plain HTTP on loopback; without a vertex in between, so where
// vertices run it says nothing about whether the set in force works.
class DirectSource final : public ServerSource {
 public:
  DirectSource(Disk& disk, const Clock& clock, std::string url, std::string identity_folder,
               int64_t patience_ms = kServerPatience_ms, bool proves = true)
      : ServerSource(disk, clock, std::move(identity_folder), patience_ms), url_(std::move(url)), proves_(proves) {}
  bool proves_the_set() const override { return proves_; }

 protected:
  Result<ServerAnswer> ask(const NodeState& state, const std::string& method, const std::string& target,
                           const std::string& body, const std::vector<http::Header>& headers) override;

 private:
  std::string url_;
  bool proves_;
};

// Through the vertex that serves the node's principal: SOCKS5 to config-server.DOMAIN.rete. The vertices authenticate
// both ends.
class VertexSource final : public ServerSource {
 public:
  VertexSource(Disk& disk, const Clock& clock, HostPort socks5, std::string identity_folder,
               int64_t patience_ms = kServerPatience_ms)
      : ServerSource(disk, clock, std::move(identity_folder), patience_ms), socks5_(std::move(socks5)) {}

 protected:
  Result<ServerAnswer> ask(const NodeState& state, const std::string& method, const std::string& target,
                           const std::string& body, const std::vector<http::Header>& headers) override;

 private:
  HostPort socks5_;
};

enum class Synced { unchanged, changed, confirmed, taken_back };

struct SyncOutcome {
  Synced what = Synced::unchanged;
  Accepted change;
};

// One look. A failure leaves the set in force, and is in the state.
Result<SyncOutcome> sync(NodeStore& store, ConfigSource& source, const Clock& clock, int64_t confirm_within_ms);

// Takes back a set whose time is over; nothing if there is none.
Result<std::optional<SyncOutcome>> enforce_deadline(NodeStore& store, const Clock& clock);

}  // namespace sluice::mesh
