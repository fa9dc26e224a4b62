// The master: opens what is listened at, says where that is, and keeps a worker running. It does nothing else, so that
// nothing can go wrong in it.
#pragma once

#include <boost/describe/class.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "crypto/ed25519.h"

namespace sluice::router {

struct RouterOptions {
  std::string name = "main";
  std::string folder;  // its own, which is there
  std::vector<std::string> listen = {"127.0.0.1:8080"};
  std::string admin = "127.0.0.1:0";
  std::string table_file;
  std::string access_log;  // a path, "-" or empty for none
  std::vector<crypto::PublicKey> trusted;
  std::string bounds_file;  // the operator's bounds; empty for none
  std::vector<crypto::PublicKey> bounds_trusted;
  std::string certificates;  // a folder: router/tls/certificates.h; for listeners that speak TLS
  std::string challenges;    // a folder: router/tls/challenges.h
  size_t threads = 0;        // 0: one a core
  int64_t drain_ms = 30'000;
  bool kept = false;  // somebody starts it again if it is killed
  // The words of a command of this program that runs beside the worker, and is started again when it ends; empty: none.
  std::vector<std::string> beside;
};

// What a master finds in upgrade.json when it gets SIGUSR2, and what it answers in upgraded.json.
struct UpgradeOrder {
  std::string id;
  std::string binary;
  int64_t threads = 0;  // 0: as before
};
BOOST_DESCRIBE_STRUCT(UpgradeOrder, (), (id, binary, threads))

struct UpgradeEnd {
  std::string id;
  std::string code;  // `ok`, `rolled_back` (the worker of before serves on), `conflict`
  std::string message;
  int64_t worker = 0;  // pids
  int64_t before = 0;
};
BOOST_DESCRIBE_STRUCT(UpgradeEnd, (), (id, code, message, worker, before))

// Serves until it is told to stop by a signal. `say` gets the line of sluice.router-process.v1 when it listens.
Result<void> run_router(const RouterOptions& options, Disk& disk, const std::function<void(const std::string&)>& say);

}  // namespace sluice::router
