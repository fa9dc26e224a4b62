// A server for tests that stands for an observability backend: it keeps what it was sent, and answers as it is told.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/real_disk.h"
#include "deploy/telemetry_backends.h"
#include "http/server.h"

namespace sluice::deploy {

class MarkerServer {
 public:
  MarkerServer() {
    auto listening = http::listen_tcp("127.0.0.1", 0);
    port_ = http::port_of(*listening);
    server_ = http::Server::start(
                  *std::move(listening),
                  [this](const http::Request& request, const http::Peer&) {
                    std::lock_guard lock(mutex_);
                    requests.push_back(request);
                    return http::Response{.status = status, .headers = headers, .body = says ? says(request) : body};
                  },
                  clock_)
                  .value();
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  std::atomic<int> status = 200;
  std::vector<http::Header> headers;
  std::string body = "{}";
  std::function<std::string(const http::Request&)> says;  // the body, if it depends on the request
  std::vector<http::Request> requests;

 private:
  RealClock clock_;
  std::mutex mutex_;
  uint16_t port_ = 0;
  std::unique_ptr<http::Server> server_;
};

}  // namespace sluice::deploy
