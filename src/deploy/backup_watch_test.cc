// The archive is told where it goes, once for each change.
#include "deploy/backup_watch.h"

#include <gtest/gtest.h>

#include <vector>

#include "backup.gen.h"
#include "deploy/testing_views.h"

namespace sluice::deploy {
namespace backup_watch_test {

class Told final : public BackupMeans {
 public:
  Result<Made> create(const std::string&, const std::string&, const std::string&) override { return Made{}; }
  Result<Proven> verify(const std::string&) override { return Proven{}; }
  Result<Proven> drill(const std::string&) override { return Proven{}; }
  Result<void> remove(const std::string&) override { return {}; }
  bool is_there(const std::string&) override { return false; }
  void archive(const std::string& folder, const std::string& recipient) override {
    told.push_back(folder + " for " + recipient);
  }
  Archived archived() override { return {}; }

  std::vector<std::string> told;
};

TEST(BackupWatch, TellsEachChangeOnce) {
  RowsInMemory rows;
  Told means;
  BackupWatch watch(means);
  const lang::Observer::Tell tell = [](const std::string&, const json::object&) {};
  const auto configure = [&](const std::string& place) {
    backup::State(rows.rows).put_whole({.place = place, .recipient = "key"});
    watch.compare(rows, tell);
  };
  configure("/backups");
  configure("/backups");
  EXPECT_EQ(means.told, std::vector<std::string>{"/backups for key"});
  configure("/elsewhere");
  EXPECT_EQ(means.told.back(), "/elsewhere for key");
  EXPECT_EQ(means.told.size(), 2U);
}

}  // namespace backup_watch_test
}  // namespace sluice::deploy
