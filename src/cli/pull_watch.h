// While it lives it says, once a second at most, how far the pull of a revision's image has come.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "cli/context.h"
#include "host/home.h"

namespace sluice::cli {

class PullWatch {
 public:
  // The context must outlive it.
  PullWatch(Context& context, const host::Home& home, std::string revision);
  ~PullWatch();
  PullWatch(const PullWatch&) = delete;
  PullWatch& operator=(const PullWatch&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace sluice::cli
