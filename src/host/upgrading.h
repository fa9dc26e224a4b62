// Brings the store of a home, or the PostgreSQL that it belongs to, from an older format to the one that this program
// works on: behind a backup that has been verified and drilled, which is also the way back, and in one transaction.
//
//   auto report = upgrade_store(opening, clock, {.folder = "/var/backups/sluice", .recipient = "slr_…"});
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "host/opening.h"

namespace sluice::host {

// Empty: as the home's own Backup is configured.
struct UpgradeOrder {
  std::string folder;
  std::string recipient;
};

struct UpgradeReport {
  int from = 0, to = 0;   // the same: nothing was done
  std::string backup;     // its folder; of an earlier upgrade if nothing was done, empty if there was none
  std::string signer;     // whose key has signed it; empty if nothing was done
  uint64_t position = 0;  // that it has; 0 if nothing was done
  int64_t at_ms = 0;
};

// The store must not be in use. A failure leaves it in the older format, whole.
Result<UpgradeReport> upgrade_store(const Opening& opening, Clock& clock, const UpgradeOrder& order);

}  // namespace sluice::host
