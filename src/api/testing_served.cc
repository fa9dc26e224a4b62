// The server.
#include "api/testing_served.h"

#include <unistd.h>

#include <boost/json.hpp>
#include <stdexcept>

namespace sluice::api {

TestingServed::TestingServed() {
  service = std::make_unique<Service>(
      host::ServiceParts{.engine = engine.get(),
                         .store = &store,
                         .uploads = &uploads,
                         .concepts = &loaded,
                         .disk = &disk,
                         .clock = &clock,
                         .home = &home,
                         .owner = owner,
                         .kit = [this] { return kit; },
                         .about =
                             [] {
                               return json::object{{"pid", ::getpid()}, {"kitFolder", "work"}};
                             },
                         .stop = [this] { ++stops; },
                         .log =
                             [this](const std::string& text) {
                               std::lock_guard lock(mutex_);
                               logged_.push_back(text);
                             }});
  auto listening = http::listen_unix(disk, socket());
  if (!listening) throw std::runtime_error(to_string(listening.error()));
  auto served = http::Server::start(
      *std::move(listening),
      [this](const http::Request& request, const http::Peer& peer) { return service->answer(request, peer); }, clock);
  if (!served) throw std::runtime_error(to_string(served.error()));
  server = *std::move(served);
}

TestingServed::~TestingServed() {
  release = true;
  service->stop_waiting();
  server.reset();
}

std::vector<std::string> TestingServed::logged() {
  std::lock_guard lock(mutex_);
  return logged_;
}

}  // namespace sluice::api
