// Which backups are kept. Every moment since the oldest one that is kept can be restored, so nothing is removed from
// the middle: what goes is older than all that is kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backup.gen.h"
#include "lang/run/handler.h"

namespace sluice::deploy {

struct KeptBackup {
  std::string id, folder;
  int64_t made_ms = 0;
  int64_t position = 0;
};

// Where backups go, and for whom; empty: nowhere.
struct BackupPlace {
  std::string folder, recipient;
};
BackupPlace backup_place(const lang::Snapshot& snapshot);

// Those below the folder that is configured, oldest first.
std::vector<KeptBackup> backups_in_place(const backup::State& state);

// Those of them that neither the last `keep` backups nor every moment of the last `keep_days` days need. The moments
// since N days ago need the newest backup that is older than that. 0 keeps everything.
std::vector<KeptBackup> outdated(const std::vector<KeptBackup>& oldest_first, int64_t keep, int64_t keep_days,
                                 int64_t now_ms);
std::vector<KeptBackup> outdated(const backup::State& state, int64_t now_ms);

}  // namespace sluice::deploy
