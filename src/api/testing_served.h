// An engine with one concept behind a socket, for tests of both ends of it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/service.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "base/ulid.h"
#include "engine/engine.h"
#include "http/server.h"
#include "lang/binding.h"
#include "lang/handler.h"
#include "store/memory_store.h"

namespace sluice::api {

// The concept Work: go(n) is pure (`ok`, and `late` with the code conflict above 100), look() a query, wait(n) an
// effect that ends when `release` is set, ask(n) is answered by wait(n), sign() by people only.
class TestingServed {
 public:
  TestingServed();
  ~TestingServed();

  std::string socket() const { return folder.path("s.sock"); }
  std::vector<std::string> logged();

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  store::MemoryStore store;
  std::string owner;  // this process's user, unless a test says another
  std::atomic<bool> release = false;
  std::atomic<int> stops = 0;
  std::shared_ptr<const lang::CheckedKit> kit;
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<Service> service;
  std::unique_ptr<http::Server> server;

 private:
  RealRandom random_;
  lang::Tools tools_;
  lang::ConceptBinding binding_;
  std::mutex mutex_;
  std::vector<std::string> logged_;
};

}  // namespace sluice::api
