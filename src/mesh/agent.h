// What the agent of a node does each time it looks: fetch, judge, switch, and take back what nobody confirmed. Where
// artifacts come from is a seam: a config server, or a folder.
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
#include "mesh/node_store.h"

namespace sluice::mesh {

inline constexpr size_t kMaxServedBytes = 64 << 20;

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

// A config server over mTLS with the node's own certificate, without a vertex in between.
class DirectSource final : public ConfigSource {
 public:
  DirectSource(Disk& disk, const Clock& clock, std::string url, std::string identity_folder)
      : disk_(disk), clock_(clock), url_(std::move(url)), identity_folder_(std::move(identity_folder)) {}
  Result<Fetched> fetch(const NodeState& state) override;
  bool proves_the_set() const override { return true; }

 private:
  Disk& disk_;
  const Clock& clock_;
  std::string url_, identity_folder_;
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
