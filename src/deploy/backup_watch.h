// BackupWatch has the archive go where Backup's state says that it goes, tells which backups there are that the state
// does not know, why the archive does not go on, and that some backups are not needed any more.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "deploy/backup_means.h"
#include "lang/run/observer.h"

namespace sluice::deploy {

class BackupWatch final : public lang::Observer {
 public:
  // Must outlive it.
  explicit BackupWatch(BackupMeans& means) : means_(means) {}

  std::string_view concept_name() const override { return "Backup"; }
  void look(const Tell& tell) override;
  void compare(const lang::Snapshot& committed, const Tell& tell) override;

 private:
  void tell_found(const Tell& tell);

  BackupMeans& means_;
  std::optional<std::pair<std::string, std::string>> told_;  // place and recipient
  // As it was committed last.
  std::set<std::string> known_;
  std::string trouble_;
  // What was looked for, and told.
  std::optional<uint64_t> made_;
  std::string pruned_;  // the newest backup that is outdated
};

}  // namespace sluice::deploy
