// Makes reports on a thread of its own, one after the other, so that whoever obeys changes waits for none of them: a
// report of all deployments is megabytes, and asks the threads that serve.
//
//   reporter.make(peer, [frame] { return metrics_of(frame); });
//   … poll reporter.fd() …
//   for (auto& [peer, text] : reporter.take()) …
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sluice::router {

class Reporter {
 public:
  Reporter();
  ~Reporter();  // waits for the report that is being made; the others are not made

  void make(uint64_t whom, std::function<std::string()> report);
  // Can be read when there is something to take.
  int fd() const { return ready_; }
  // Those that are made, for whom.
  std::vector<std::pair<uint64_t, std::string>> take();

 private:
  void run();

  int ready_;
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::pair<uint64_t, std::function<std::string()>>> asked_;
  std::vector<std::pair<uint64_t, std::string>> made_;
  bool ending_ = false;
  std::thread thread_;  // begins with the first report
};

}  // namespace sluice::router
