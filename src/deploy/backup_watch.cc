// Only a change of place or recipient is told: the archive is not begun anew at every look. What is outdated is told
// once, too, so that a disk which cannot be written is not asked every second.
#include "deploy/backup_watch.h"

#include "backup.gen.h"
#include "base/clock.h"
#include "base/utc_time.h"
#include "deploy/backup_retention.h"

namespace sluice::deploy {

void BackupWatch::look(const Tell& tell) {
  if (!told_ || told_->first.empty()) return;
  const auto archived = means_.archived();
  if (archived.trouble != trouble_) {
    trouble_ = archived.trouble;  // until the next comparison
    tell("Backup/noteTrouble", {{"message", archived.trouble}});
  }
  if (made_ == archived.made) return;
  tell_found(tell);
  made_ = archived.made;
}

void BackupWatch::tell_found(const Tell& tell) {
  auto found = means_.found(told_->first);
  if (!found) return;
  for (const BackupMeans::Found& each : *found) {
    if (!known_.insert(each.id).second) continue;
    tell("Backup/note", {{"backup", each.id},
                         {"folder", each.folder},
                         {"position", static_cast<int64_t>(each.made.position)},
                         {"madeAt", utc_text(each.made.at_ms)},
                         {"bytes", static_cast<int64_t>(each.made.bytes)},
                         {"signer", each.made.signer},
                         {"contents", each.made.contents}});
  }
}

void BackupWatch::compare(const lang::Snapshot& committed, const Tell& tell) {
  lang::ReadOnlyRows rows(committed.rows_of("Backup"));
  const backup::State state(rows);
  const auto whole = state.whole();
  known_.clear();
  for (const auto& [id, unused] : state.all()) known_.insert(id.text());
  trouble_ = whole.trouble;
  if (const std::pair now(whole.place, whole.recipient); told_ != now) {
    told_ = now;
    made_.reset();
    means_.archive(whole.place, whole.recipient);
  }
  const auto old = outdated(state, rows.now().ms);
  const std::string newest = old.empty() ? "" : old.back().id;
  if (newest == pruned_) return;
  pruned_ = newest;
  if (!newest.empty()) tell("Backup/prune", {});
}

}  // namespace sluice::deploy
