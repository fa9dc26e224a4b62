// The engine of host/testing_work.h behind a socket, for tests of both ends of it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/service.h"
#include "host/testing_work.h"
#include "http/server.h"

namespace sluice::api {

class TestingServed : public host::TestingWork {
 public:
  TestingServed();
  ~TestingServed();

  std::string socket() const { return folder.path("s.sock"); }
  std::vector<std::string> logged();

  store::BlobStore uploads{disk, folder.path("uploads")};
  std::atomic<int> stops = 0;
  std::unique_ptr<Service> service;
  std::unique_ptr<http::Server> server;

 private:
  std::mutex mutex_;
  std::vector<std::string> logged_;
};

}  // namespace sluice::api
