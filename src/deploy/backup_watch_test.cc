// The archive is told where it goes, once for each change.
#include "deploy/backup_watch.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <utility>
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
  Result<uint64_t> prune(const std::string&) override { return uint64_t{0}; }
  bool is_there(const std::string&) override { return false; }
  void archive(const std::string& folder, const std::string& recipient) override {
    told.push_back(folder + " for " + recipient);
  }
  Archived archived() override { return status; }
  Result<std::vector<Found>> found(const std::string&) override { return there; }

  std::vector<std::string> told;
  Archived status;
  std::vector<Found> there;
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

// What the watch told, each call on a line.
struct Calls {
  lang::Observer::Tell tell = [this](const std::string& action, const json::object& input) {
    said += action + " " + json::serialize(input) + "\n";
  };
  std::string taken() { return std::exchange(said, ""); }
  std::string said;
};

TEST(BackupWatch, TellsOfBackupsThatNobodyKnowsAndOfTroubleOnce) {
  RowsInMemory rows;
  Told means;
  BackupWatch watch(means);
  Calls calls;
  backup::State state(rows.rows);
  state.put_whole({.place = "/backups", .recipient = "key"});
  state.put(backup::BackupId("known"), {.folder = "/backups/known"});
  means.there = {{.id = "known", .folder = "/backups/known", .made = {}},
                 {.id = "own", .folder = "/backups/own", .made = {.position = 7, .at_ms = 1, .signer = "k"}}};
  watch.compare(rows, calls.tell);
  EXPECT_EQ(calls.taken(), "");
  watch.look(calls.tell);
  EXPECT_EQ(calls.taken(),
            "Backup/note {\"backup\":\"own\",\"folder\":\"/backups/own\",\"position\":7,\"madeAt\":"
            "\"1970-01-01T00:00:00.001Z\",\"bytes\":0,\"signer\":\"k\",\"contents\":\"\"}\n");
  means.status.trouble = "the disk is full";
  watch.look(calls.tell);
  watch.look(calls.tell);
  EXPECT_EQ(calls.taken(), "Backup/noteTrouble {\"message\":\"the disk is full\"}\n");
  means.there.push_back({.id = "next", .folder = "/backups/next", .made = {}});
  ++means.status.made;
  watch.look(calls.tell);
  EXPECT_EQ(calls.taken().find("Backup/note {\"backup\":\"next\""), 0U);
}

TEST(BackupWatch, TellsOnceThatSomethingIsOutdated) {
  RowsInMemory rows;
  Told means;
  BackupWatch watch(means);
  Calls calls;
  backup::State state(rows.rows);
  state.put_whole({.place = "/backups", .recipient = "key", .keep = 1});
  state.put(backup::BackupId("a"), {.folder = "/backups/a", .madeAt = {1}});
  watch.compare(rows, calls.tell);
  EXPECT_EQ(calls.taken(), "");
  state.put(backup::BackupId("b"), {.folder = "/backups/b", .madeAt = {2}});
  watch.compare(rows, calls.tell);
  watch.compare(rows, calls.tell);
  EXPECT_EQ(calls.taken(), "Backup/prune {}\n");
}

}  // namespace backup_watch_test
}  // namespace sluice::deploy
