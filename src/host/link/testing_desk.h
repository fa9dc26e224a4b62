// A control plane as far as routers on other machines meet it: a RouterDesk behind a server with TLS.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "host/home.h"
#include "host/link/router_desk.h"
#include "http/server.h"

namespace sluice::host {

struct TestingDesk {
  TestingDesk();
  ~TestingDesk();

  std::string url() const { return "https://127.0.0.1:" + std::to_string(port); }
  std::string control_of(const std::string& name) const {
    return (home.root() / "router" / name / "control.sock").string();
  }
  http::Response answer(const http::Request& request, const http::Peer& peer);

  TestingFolder folder;
  RealDisk disk;
  Home home{disk, folder.path("plane")};
  RealClock clock;
  crypto::MadeCertificate authority;
  std::string fingerprint;
  uint16_t port = 0;
  std::unique_ptr<RouterDesk> desk;
  std::unique_ptr<http::Server> server;
};

}  // namespace sluice::host
