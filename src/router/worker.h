// The worker: all that a router does but listening and starting again. It runs in a process of its own, which the
// master forks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/disk.h"
#include "crypto/ed25519.h"
#include "router/listening.h"

namespace sluice::router {

struct WorkerPlan {
  std::string name;
  std::string router;  // its ULID
  std::string folder;  // where its state is
  std::string table_file;
  std::string access_log;  // a path, "-" or empty for none
  std::vector<crypto::PublicKey> trusted;
  size_t threads = 1;
  int64_t drain_ms = 30'000;
  int master_pid = 0;
  int spare = -1;  // Counters::make_spare()
};

// Serves until it is told to stop, by SIGTERM or SIGINT, which must be blocked. The process's exit code.
int run_worker(const WorkerPlan& plan, const std::vector<ListeningPlace>& places, int control_fd, int admin_fd,
               Disk& disk);

// A line for whoever looks at the router's stderr.
void narrate(const std::string& text);

}  // namespace sluice::router
