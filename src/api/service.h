// Service is the engine as HTTP (docs/internals/api.md): a request becomes a caller, an action or a read, and an answer
// in JSON with a fixed shape; errors are problems with the codes of base/code.h. It is the same code on every listener.
//
//   Service service({.engine = …, .store = …, …});
//   auto server = http::Server::start(*std::move(socket), service.handler(), clock, {}, service.closed());
//
// The home's owner may do everything. Whoever else reaches it is denied, and the journal says so.
#pragma once

#include <atomic>
#include <boost/json/value.hpp>
#include <functional>
#include <memory>
#include <string>

#include "api/snapshots.h"
#include "base/clock.h"
#include "base/disk.h"
#include "engine/engine.h"
#include "http/server.h"
#include "lang/check/check.h"

namespace sluice::api {

struct ServiceParts {
  engine::Engine* engine = nullptr;
  store::Store* store = nullptr;
  Disk* disk = nullptr;
  const Clock* clock = nullptr;
  std::string owner;  // "uid:1000"
  // The kit that runs now: what the codes of variants are read from.
  std::function<std::shared_ptr<const lang::CheckedKit>()> kit;
  // What /v1/status says besides what the engine knows: pid, version, kit, since.
  std::function<json::object()> about;
  // Somebody asked for the end. Must not wait for it.
  std::function<void()> stop;
  // One line for each change that was asked for.
  std::function<void(const std::string&)> log;
};

class Service {
 public:
  explicit Service(ServiceParts parts) : parts_(std::move(parts)), snapshots_(*parts_.store) {}

  http::Response answer(const http::Request& request, const http::Peer& peer);
  http::Server::Handler handler() {
    return [this](const http::Request& request, const http::Peer& peer) { return answer(request, peer); };
  }
  http::Server::Closed closed() {
    return [this](uint64_t connection) { snapshots_.close_all(connection); };
  }
  // Those who wait for something are answered now: the server is about to stop.
  void stop_waiting() { stopping_ = true; }

 private:
  struct Call;
  struct Route;
  static const std::vector<Route>& routes();
  static std::string denied_thing(const Route& route, const http::Request& request);

  http::Response health();
  http::Response status(const Call& call);
  http::Response stop(const Call& call);
  http::Response act(const Call& call);
  http::Response describe(const Call& call);
  http::Response ask(const Call& call, const lang::ActionSymbol& action, const std::string& name,
                     const json::object& input, const engine::Caller& caller);
  http::Response decide(const Call& call);
  http::Response flows(const Call& call);
  http::Response flow(const Call& call);
  http::Response steps(const Call& call);
  http::Response state(const Call& call);
  http::Response position(const Call& call);
  http::Response journal(const Call& call);
  http::Response events(const Call& call);
  void stream_events(uint64_t from, http::Stream& to);
  http::Response open_snapshot(const Call& call);
  http::Response read_snapshot(const Call& call);
  http::Response close_snapshot(const Call& call);

  std::function<bool()> until(const Call& call, int64_t otherwise_ms) const;
  void log(const std::string& text) const {
    if (parts_.log) parts_.log(text);
  }

  ServiceParts parts_;
  Snapshots snapshots_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace sluice::api
