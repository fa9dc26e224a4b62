// Only a change of place or recipient is told: the archive is not begun anew at every look.
#include "deploy/backup_watch.h"

#include "backup.gen.h"

namespace sluice::deploy {

void BackupWatch::compare(const lang::Snapshot& committed, const Tell&) {
  lang::ReadOnlyRows rows(committed.rows_of("Backup"));
  const auto whole = backup::State(rows).whole();
  const std::pair now(whole.place, whole.recipient);
  if (told_ == now) return;
  told_ = now;
  means_.archive(whole.place, whole.recipient);
}

}  // namespace sluice::deploy
