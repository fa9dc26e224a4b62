// Brings a backup into an empty home, with its store there or in an empty PostgreSQL. What must be done by an engine
// afterwards is kept in the store, and done when it starts: what was revoked later is revoked again, and the audit gets
// a record of the restore.
//
//   auto report = restore_home(opening, clock, {.folder = "/var/backups/sluice", .key = …, .signer = "…"});
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "crypto/recipient.h"
#include "engine/engine.h"
#include "host/opening.h"
#include "store/backup/restore.h"
#include "store/store.h"

namespace sluice::host {

struct RestoreOrder {
  std::string folder;  // of backups
  const crypto::RecipientKey& key;
  std::string signer;  // the id of the operator's key that signed it
  store::RestoreMoment moment = {};
  // Only moved: nothing is raised, as nobody has seen anything later.
  bool moved = false;
  std::string history_of = {};  // a store.db or postgresql://… whose later records are kept; empty: none
};

struct RestoreReport {
  std::string backup;
  uint64_t position = 0;
  int64_t at_ms = 0;
  std::string contents;               // the digest of all rows, as that of a backup of this moment
  uint64_t known_to = 0;              // up to which position anything is known of
  uint64_t history = 0;               // later records that are kept
  uint64_t revoked = 0;               // revocations that are made again
  std::vector<std::string> may_have;  // effects that may have happened after the moment
  std::vector<std::string> unread;    // damaged beyond the moment: what was revoked there is not known
};

Result<RestoreReport> restore_home(const Opening& opening, Clock& clock, const RestoreOrder& order);

// For an engine that has just been started on such a store: what was put off.
Result<void> finish_restore(store::Store& store, engine::Engine& engine);

}  // namespace sluice::host
