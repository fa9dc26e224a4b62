// What observability backends are told: that a deployment has begun or ended. A marker is a log record (OTLP/HTTP in
// JSON), an annotation (Grafana) or an event (Datadog); docs/guide/telemetry.md shows each.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/terminal.h"
#include "http/outgoing.h"

namespace sluice::deploy {

struct Marker {
  std::string id;
  std::string kit;
  std::string version;
  std::string environment;
  std::string status;  // started, completed, rolledback, failed
  std::string deploy;  // the rollout or plan that it is about
  std::string strategy;
  std::string detail;
  int64_t at_ms = 0;
};
BOOST_DESCRIBE_STRUCT(Marker, (), (id, kit, version, environment, status, deploy, strategy, detail, at_ms))

struct MarkerBackend {
  std::string config;
  std::string provider;  // otlp, grafana, datadog
  std::string endpoint;
  std::string key;  // "env:NAME" or "file:/PATH"; empty: none
};
BOOST_DESCRIBE_STRUCT(MarkerBackend, (), (config, provider, endpoint, key))

// A key is named, and its value is in no record. Whoever may name any variable or file of this machine, and the server
// that gets it, could read all of them: so only the home's owner may. For everybody there is the owner's folder
// `keys/backends`, in which a file named HOST or HOST:PORT has the key for that host and no other.

// Why it is not taken from this caller; empty if it is.
std::string fault_of_key(const std::string& key, const std::optional<std::string>& caller);

// The value of a key that was named, or else of the host's; empty if there is none.
Result<std::string> read_backend_key(const std::string& key, const std::string& url, const std::string& folder,
                                     Disk& disk, const Variables& variables);

// "shop 2.0.0 completed in local: …"
std::string sentence_of(const Marker& marker);

// The request that carries the marker; `key` is the key's value.
http::OutgoingRequest request_of(const Marker& marker, const MarkerBackend& backend, const std::string& key);

class MarkerOutlet {
 public:
  // All must outlive it; `keys` is the folder of hosts' keys.
  MarkerOutlet(Disk& disk, const Clock& clock, Variables variables, std::string keys = "");

  // An error says why the backend does not have the marker.
  Result<void> send(const Marker& marker, const MarkerBackend& backend);
  // The value of a key that was named for this endpoint, or else of its host's; empty if there is none.
  Result<std::string> key_for(const std::string& key, const std::string& endpoint) const;

 private:
  Disk& disk_;
  const Clock& clock_;
  Variables variables_;
  std::string keys_;
};

}  // namespace sluice::deploy
