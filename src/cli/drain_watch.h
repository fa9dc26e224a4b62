// While it lives it says, whenever that changes, how much of a revision the routers still have under way.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "cli/context.h"
#include "host/home.h"

namespace sluice::cli {

// What is under way of a revision, over all routers of the home.
struct UnderWay {
  int64_t requests = 0;
  int64_t websockets = 0;

  bool operator==(const UnderWay&) const = default;
};
UnderWay under_way(const Context& context, const host::Home& home, const std::string& deployment,
                   const std::string& revision);

// "2 requests and 1 WebSocket under way"
std::string to_text(const UnderWay& counts);

// Warns of requests that a drain has cut, as its answer says.
void tell_cut(Context& context, const std::string& what, const json::object& fields);

class DrainWatch {
 public:
  // The context must outlive it.
  DrainWatch(Context& context, host::Home home, std::string deployment, std::string revision);
  ~DrainWatch();
  DrainWatch(const DrainWatch&) = delete;
  DrainWatch& operator=(const DrainWatch&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace sluice::cli
