// What a door gives the host to open a home with: where the home is, who asks and why, and how long it may wait.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/disk.h"
#include "host/contexts.h"
#include "host/home.h"
#include "host/loaded_concepts.h"
#include "host/narrator.h"

namespace sluice::host {

// A store that is not in the home, and what this process is called there.
struct StoreElsewhere {
  std::string address;  // postgresql://…
  std::string replica = "main";
  std::string url = {};  // where others reach it
};

struct Opening {
  Disk& disk;
  Home home;
  Narrator& narrator;
  const LoadedConcepts& concepts;            // what this program can run
  std::string purpose;                       // the command or route, as a record of a denial names it: "traffic set"
  std::string reason = {};                   // why, for the audit
  std::optional<ServerContext> server = {};  // where commands go instead of to the home
  int64_t lock_timeout_ms = 0;               // how long to wait for another process that has the store
  std::optional<StoreElsewhere> store = {};  // of `sluice serve` alone; none: it is in the home
};

}  // namespace sluice::host
