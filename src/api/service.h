// Service is the engine as HTTP (docs/internals/api.md): a request becomes a caller, an action or a read, and an answer
// in JSON with a fixed shape; errors are problems with the codes of base/code.h. It is the same code on every listener.
//
//   Service service({.engine = …, .store = …, …});
//   http::Response response = service.answer(request, peer);
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
#include "host/engine_door.h"
#include "host/serving.h"
#include "http/server.h"
#include "lang/check/check.h"

namespace sluice::api {

class Service final : public host::SocketService {
 public:
  explicit Service(host::ServiceParts parts) : parts_(std::move(parts)), snapshots_(*parts_.store) {}

  http::Response answer(const http::Request& request, const http::Peer& peer) override;
  void closed(uint64_t connection) override { snapshots_.close_all(connection); }
  void stop_waiting() override { stopping_ = true; }

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
  http::Response answer_of(const Call& call);
  http::Response views(const Call& call);
  http::Response view(const Call& call);
  http::Response view_schema(const Call& call);
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

  // What a caller is told that needs another kit than the one that runs.
  std::optional<Error> other_kit(const http::Request& request) const;
  host::EngineDoor door_for(const Call& call);
  http::Response answered(const Call& call, const host::Answer& answer);
  std::function<bool()> until(const Call& call, int64_t otherwise_ms) const;
  void log(const std::string& text) const {
    if (parts_.log) parts_.log(text);
  }

  host::ServiceParts parts_;
  Snapshots snapshots_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace sluice::api
