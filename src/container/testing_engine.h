// An engine for tests that says what it is told to, byte for byte, at a Unix socket. What real ones do is tested in
// tests/container.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sluice::container {

class TestingEngine {
 public:
  TestingEngine();
  ~TestingEngine();
  TestingEngine(const TestingEngine&) = delete;
  TestingEngine& operator=(const TestingEngine&) = delete;

  const std::string& socket() const { return path_; }
  // What it answers to a request whose first line begins so: a status with its reason, and a body.
  void answer(const std::string& request, const std::string& status, const std::string& body);
  // How it greets: as podman 4.3, or with this `Server`.
  void greet(const std::string& server = "Libpod/4.3.1 (linux)");
  // The same with all bytes of the answer, which may be cut short.
  void answer_bytes(const std::string& request, const std::string& bytes);
  // What it was asked: first line, headers and body.
  std::vector<std::string> asked() const;

 private:
  void serve();
  void serve_one(int connection);

  std::string folder_, path_;
  int listening_ = -1;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> answers_;
  std::vector<std::string> asked_;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace sluice::container
