// Both rules name the oldest backup that they need; the older one of the two is where keeping begins.
#include "deploy/backup_retention.h"

#include <algorithm>

#include "base/disk.h"

namespace sluice::deploy {
namespace {

constexpr int64_t kDay_ms = int64_t{24} * 3'600 * 1'000;

}  // namespace

BackupPlace backup_place(const lang::Snapshot& snapshot) {
  lang::ReadOnlyRows rows(snapshot.rows_of("Backup"));
  const auto whole = backup::State(rows).whole();
  return {.folder = whole.place, .recipient = whole.recipient};
}

std::vector<KeptBackup> backups_in_place(const backup::State& state) {
  std::vector<KeptBackup> all;
  const std::string place = state.whole().place;
  if (place.empty()) return all;
  for (const auto& [id, record] : state.all()) {
    if (folder_of(record.folder) != place) continue;
    all.push_back({.id = id.text(), .folder = record.folder, .made_ms = record.madeAt.ms, .position = record.position});
  }
  std::ranges::sort(all, {}, [](const KeptBackup& each) { return std::pair(each.made_ms, each.id); });
  return all;
}

std::vector<KeptBackup> outdated(const std::vector<KeptBackup>& oldest_first, int64_t keep, int64_t keep_days,
                                 int64_t now_ms) {
  if (keep <= 0 && keep_days <= 0) return {};
  if (oldest_first.empty()) return {};
  size_t first = oldest_first.size() - 1;  // that is kept
  if (keep > 0) first = oldest_first.size() - std::min(oldest_first.size(), static_cast<size_t>(keep));
  if (keep_days > 0) {
    const auto after = std::ranges::upper_bound(oldest_first, now_ms - keep_days * kDay_ms, {}, &KeptBackup::made_ms);
    const auto needed = static_cast<size_t>(after - oldest_first.begin());
    first = std::min(first, needed == 0 ? 0 : needed - 1);
  }
  return {oldest_first.begin(), oldest_first.begin() + static_cast<std::ptrdiff_t>(first)};
}

std::vector<KeptBackup> outdated(const backup::State& state, int64_t now_ms) {
  const auto whole = state.whole();
  return outdated(backups_in_place(state), whole.keep, whole.keepDays, now_ms);
}

}  // namespace sluice::deploy
