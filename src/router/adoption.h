// How a worker goes on without its master, and how the next master finds it: over the control socket it is asked for
// what it serves from, and hands over its listening sockets and the counters' spare memory. So both have them again,
// and either may be killed.
#pragma once

#include <sys/types.h>

#include <boost/describe/class.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "base/result.h"

namespace sluice::router {

// What a worker is asked to do, in words that two masters can compare.
struct ServedPlan {
  std::vector<std::string> listen;  // with the ports that they got
  std::string admin;
  std::string table_file;
  std::string access_log;
  std::vector<std::string> trusted;  // keys, in base64
  int64_t threads = 0;
  int64_t drain_ms = 0;
  std::optional<std::string> bounds_file;  // left out without bounds: older masters do not know it
  std::optional<std::vector<std::string>> bounds_trusted;
  std::optional<std::string> certificates;  // left out without TLS
  std::optional<int64_t> sockets;           // of each place; left out where there is one a thread
};

BOOST_DESCRIBE_STRUCT(ServedPlan, (),
                      (listen, admin, table_file, access_log, trusted, threads, drain_ms, bounds_file, bounds_trusted,
                       certificates, sockets))

// As many as the kernel takes in one message.
inline constexpr size_t kMostHandedOver = 253;

// Whether a worker that does the first does all that is asked by the second, in which a port of 0 stands for any, and
// 0 threads for as many as there are.
bool does(const ServedPlan& served, const ServedPlan& asked);

// What a worker that has no master hands over.
struct LeftWorker {
  int pid = 0;
  ServedPlan plan;
  // For each place of `listen` its sockets; then the control socket, the admin socket, the spare memory, and, if the
  // worker knows of them, the memory of the gauges and a channel. The taker's own.
  std::vector<int> fds;

  size_t sockets() const { return static_cast<size_t>(plan.sockets.value_or(plan.threads)); }
  bool has_channel() const { return fds.size() == plan.listen.size() * sockets() + 5; }
};

// Asks at the control socket; `unavailable` if nobody is there, `conflict` if it is about to end.
Result<LeftWorker> adopt_worker(const std::string& control);

// Sends the first bytes of a text with descriptors; how many bytes, or -1 and errno.
ssize_t send_with_descriptors(int socket, const std::string& text, const std::vector<int>& fds);

}  // namespace sluice::router
