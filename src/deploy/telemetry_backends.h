// What observability backends are told: that a deployment has begun or ended. A marker is a log record (OTLP/HTTP in
// JSON), an annotation (Grafana) or an event (Datadog); docs/guide/telemetry.md shows each.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
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

// Why nobody can read a key from there; empty if it may be tried.
std::string fault_of_key(const std::string& key);

// The key's value; empty if there is none.
Result<std::string> read_backend_key(const std::string& key, Disk& disk, const Variables& variables);

// "shop 2.0.0 completed in local: …"
std::string sentence_of(const Marker& marker);

// The request that carries the marker; `key` is the key's value.
http::OutgoingRequest request_of(const Marker& marker, const MarkerBackend& backend, const std::string& key);

class MarkerOutlet {
 public:
  // All must outlive it.
  MarkerOutlet(Disk& disk, const Clock& clock, Variables variables);

  // An error says why the backend does not have the marker.
  Result<void> send(const Marker& marker, const MarkerBackend& backend);

 private:
  Disk& disk_;
  const Clock& clock_;
  Variables variables_;
};

}  // namespace sluice::deploy
