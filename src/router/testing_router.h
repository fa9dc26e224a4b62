// A whole router as a child process, and a server for it to pass requests on to.
#pragma once

#include <atomic>
#include <boost/json.hpp>
#include <string>
#include <thread>

#include "base/document.h"
#include "base/testing_folder.h"
#include "crypto/ed25519.h"
#include "router/master.h"
#include "router/table/table_document.h"

namespace sluice::router {

// Answers every request with 200 and the body that it was given, until it is destroyed.
class TestingServer {
 public:
  explicit TestingServer(std::string body);
  ~TestingServer();
  std::string address() const;  // as a replica's

 private:
  void serve();

  std::string body_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

class TestingRouter {
 public:
  // Begins at once; before any thread of the test.
  explicit TestingRouter(const TableDocument* table = nullptr);
  ~TestingRouter();

  // What is answered to a request at the first listener, or at another address; empty if nothing is.
  std::string fetch(const std::string& request) const { return fetch_at(listen, request); }
  static std::string fetch_at(const std::string& address, const std::string& request);
  int worker_pid() const;
  // Its worker goes on.
  void kill_master();
  // Once more, after that.
  void start();
  // Stops it as SIGTERM does; whether it ended well.
  bool stop();

  TestingFolder folder;
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  RouterOptions options;
  std::string listen, admin, control;
  int pid = 0;
};

}  // namespace sluice::router
