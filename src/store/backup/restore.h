// Brings a backup, and what was archived behind it, into an empty home and an empty store.
//
//   auto chosen = choose_backup(disk, folder, signer, {.position = 1200});
//   auto restored = restore({disk, folder, signer, key, home}, *chosen, {.position = 1200}, store, later);
//
// A moment is the end of a batch: what nobody was told of yet is not one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "crypto/recipient.h"
#include "store/backup/backup.h"
#include "store/store.h"

namespace sluice::store {

// Neither: the newest there is.
struct RestoreMoment {
  std::optional<uint64_t> position;
  std::optional<int64_t> at_ms;
};

// The newest backup that is not later than the moment; `not_found` if there is none.
Result<KnownBackup> choose_backup(Disk& disk, const std::string& folder, const std::string& signer,
                                  const RestoreMoment& moment);

struct RestoreFrom {
  Disk& disk;
  std::string folder;  // of backups and segments
  std::string signer;
  const crypto::RecipientKey& key;
  std::string home;
};

struct Restored {
  uint64_t position = 0;
  int64_t at_ms = 0;
  uint64_t segments = 0;  // that were read
  uint64_t known_to = 0;  // the last position that anything here knows of
  // Manifests of segments beyond the moment that are damaged: what was revoked there is not known.
  std::vector<std::string> unread = {};
};

// Everything up to the moment is verified before anything is written; a segment that is damaged or missing before it is
// an error. `later` is given each record of the journal beyond the moment.
Result<Restored> restore(const RestoreFrom& from, const KnownBackup& backup, const RestoreMoment& moment, Store& store,
                         const std::function<void(const JournalRow&)>& later);

// What else the folder knows beyond a position: the newest backup of each other line, and of the restored line if it is
// beyond all that was read of it (nothing was archived for a time).
Result<std::vector<KnownBackup>> later_backups(const RestoreFrom& from, const KnownBackup& restored_from,
                                               const Restored& restored);
// Gives `later` each record that is archived behind such a backup, and adds to what is known and what is unread.
Result<void> read_segments(const RestoreFrom& from, const KnownBackup& backup, Restored& restored,
                           const std::function<void(const JournalRow&)>& later);

}  // namespace sluice::store
