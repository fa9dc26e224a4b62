// BackupWatch has the archive go where Backup's state says that it goes.
#pragma once

#include <optional>
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
  void look(const Tell&) override {}
  void compare(const lang::Snapshot& committed, const Tell& tell) override;

 private:
  BackupMeans& means_;
  std::optional<std::pair<std::string, std::string>> told_;  // place and recipient
};

}  // namespace sluice::deploy
