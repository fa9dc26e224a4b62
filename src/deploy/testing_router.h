// A router as the control plane meets it: a control socket in a folder of its own, and a router.json. It obeys signed
// orders and keeps them; no request ever comes through it.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/document.h"
#include "crypto/ed25519.h"
#include "router/table/table_document.h"

namespace sluice::deploy {

class TestingRouter {
 public:
  // `folder` is that of all routers; orders must be signed by the key.
  TestingRouter(const std::string& folder, const std::string& name, crypto::PublicKey trusted,
                const std::string& listen = "127.0.0.1:8080");
  ~TestingRouter();
  TestingRouter(const TestingRouter&) = delete;
  TestingRouter& operator=(const TestingRouter&) = delete;

  // Stops; in order, it takes its router.json along.
  void stop(bool in_order = true);

  int64_t generation() const { return generation_; }
  void set_generation(int64_t generation) { generation_ = generation; }
  void set_environment(const std::string& environment);
  // "load 1", "patch 2", in their order.
  std::vector<std::string> orders() const;
  // The last table or patch.
  std::string last() const;
  // How often a drain is answered with something under way.
  void keep_busy(int times) { busy_ = times; }
  int drains() const { return drains_; }
  void count(json::object usage);
  // What it answers to `counts`: the revisions of whichever deployment.
  void count_revisions(json::array revisions);

  // What it answers to `certificates`.
  void show(json::object certificates);

  const std::string& router() const { return router_; }
  const std::string& control() const { return control_; }

 private:
  void serve();
  void serve_one(int fd);
  json::object answer(const json::object& request, const std::string& bytes);
  json::object obey(const json::object& request, const std::string& bytes);

  std::string folder_, router_, control_;
  crypto::PublicKey trusted_;
  int listener_ = -1;
  std::atomic<bool> ending_ = false;
  std::atomic<int64_t> generation_ = 0;
  std::atomic<int> busy_ = 0, drains_ = 0;
  mutable std::mutex mutex_;
  std::string environment_;
  std::vector<std::string> orders_;
  std::string last_;
  json::object usage_;
  json::object certificates_ = {{"ok", false}};
  json::array revisions_;
  std::thread thread_;
};

}  // namespace sluice::deploy
