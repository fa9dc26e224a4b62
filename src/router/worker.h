// The worker: all that a router does but opening listeners and starting again. It runs in a process of its own, which
// the master forks and which outlives it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/disk.h"
#include "crypto/ed25519.h"
#include "router/adoption.h"
#include "router/keyed_hash.h"
#include "router/listening.h"
#include "router/tls/ticket_keys.h"

namespace sluice::router {

struct WorkerPlan {
  std::string name;
  std::string router;  // its ULID
  std::string folder;  // where its state is
  std::string table_file;
  std::string access_log;  // a path, "-" or empty for none
  std::vector<crypto::PublicKey> trusted;
  std::string bounds_file;  // empty for none
  std::vector<crypto::PublicKey> bounds_trusted;
  std::string certificates;  // a folder; empty for none
  std::string challenges;    // a folder with what certificate authorities are answered; empty for none
  TicketSecret tickets;
  HashKey hash_key;  // of all its workers, so that what one knows by hashes the next does, too
  size_t threads = 1;
  int64_t drain_ms = 30'000;
  int master_pid = 0;
  int spare = -1;           // Counters::make_spare()
  int gauges = -1;          // Counters::make_gauges()
  int channel = -1;         // to its master (router/channel.h)
  bool takes_over = false;  // another worker serves meanwhile, and is told to go when this one does
  int pins = -1;            // a file with the session pins of the worker whose place it takes
};

// What it listens at: the descriptors are those of its master, too.
struct WorkerPlaces {
  std::vector<ListeningPlace> listen;
  ListeningPlace control, admin;
};

// In the words that two masters can compare.
ServedPlan served_plan(const WorkerPlan& plan, const WorkerPlaces& places);

// Serves until it is told to stop, by SIGTERM or SIGINT, which must be blocked; with its master or without. The
// process's exit code.
int run_worker(const WorkerPlan& plan, const WorkerPlaces& places, Disk& disk);

// A line for whoever looks at the router's stderr.
void narrate(const std::string& text);

}  // namespace sluice::router
