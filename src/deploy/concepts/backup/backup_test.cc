// Backup through the harness, with means that only count: one test a variant.
#include <gtest/gtest.h>

#include <stdexcept>

#include "crypto/recipient.h"
#include "deploy/backup_means.h"
#include "deploy/concepts/backup/backup_work.h"
#include "lang/run/harness.h"

namespace sluice::deploy::backup {
namespace backup_test {

class CountingMeans final : public BackupMeans {
 public:
  Result<Made> create(const std::string& folder, const std::string&, const std::string&) override {
    if (trouble) return *trouble;
    created.push_back(folder);
    return Made{.position = 7, .at_ms = 1, .bytes = 9, .signer = "k", .contents = "sha256:c"};
  }
  Result<Proven> verify(const std::string&) override {
    if (trouble) return *trouble;
    return Proven{.position = 7, .records = 7, .rows = 2, .files = 3};
  }
  Result<Proven> drill(const std::string& folder) override { return verify(folder); }
  Result<void> remove(const std::string&) override { return trouble ? Result<void>(*trouble) : Result<void>(); }
  Result<uint64_t> prune(const std::string&) override {
    return trouble ? Result<uint64_t>(*trouble) : Result<uint64_t>(3);
  }
  Result<std::vector<Found>> found(const std::string&) override { return std::vector<Found>(); }
  bool is_there(const std::string&) override { return !trouble; }
  void archive(const std::string&, const std::string&) override {}
  Archived archived() override {
    if (trouble) throw std::runtime_error(trouble->message);
    return {.position = 5, .behind_s = 2, .trouble = ""};
  }

  std::optional<Error> trouble;
  std::vector<std::string> created;
};

const std::string& recipient() {
  static const std::string kRecipient = crypto::RecipientKey::generate().recipient();
  return kRecipient;
}

}  // namespace backup_test

void prepare(lang::Harness& harness) {
  static backup_test::CountingMeans means;
  harness.tools().add<BackupMeans>(means);
}

namespace backup_test {

class BackupTest : public testing::Test {
 protected:
  BackupTest() { harness.tools().add<BackupMeans>(means); }
  auto create(std::optional<std::string> folder = "/backups") {
    return harness.invoke(Create{.folder = std::move(folder), .recipient = recipient()});
  }
  CountingMeans means;
  lang::Harness harness{backup_binding()};
};

TEST_F(BackupTest, GoWhereItIsConfigured) {
  EXPECT_TRUE(harness.invoke(Create{}).is<Create::Invalid>());
  EXPECT_EQ(harness.invoke(Configure{.folder = "/backups", .recipient = "me"}).as<Configure::Invalid>().message,
            "'me' is no recipient: a recipient begins with slr_ and has 32 bytes in base64url");
  const auto set = harness.invoke(Configure{.folder = "/backups", .recipient = recipient()}).as<Configure::Ok>();
  EXPECT_EQ(set.limit, 256);
  const auto made = harness.invoke(Create{}).as<Create::Ok>();
  EXPECT_EQ(made.folder, "/backups/" + made.backup.text());
  EXPECT_EQ(means.created, std::vector<std::string>{"/backups"});
  const auto listed = harness.invoke(List{}).as<List::Ok>();
  EXPECT_EQ(listed.folder, "/backups");
  EXPECT_EQ(listed.archived, 5);
  EXPECT_EQ(listed.behind, 2);
  ASSERT_EQ(listed.backups.size(), 1U);
  EXPECT_EQ(listed.backups[0].position, 7);
  EXPECT_TRUE(listed.backups[0].present);
}

TEST_F(BackupTest, AreAsManyAsMayBe) {
  harness.invoke(Configure{.folder = "/backups", .recipient = recipient(), .limit = 2}).as<Configure::Ok>();
  EXPECT_TRUE(harness.invoke(Configure{.folder = "/b", .recipient = recipient(), .limit = 0}).is<Configure::Invalid>());
  const auto first = create().as<Create::Ok>();
  create().as<Create::Ok>();
  EXPECT_EQ(create().as<Create::Full>().message, "there are 2 backups, which is the limit; remove one");
  EXPECT_TRUE(harness.invoke(Remove{.backup = first.backup}).is<Remove::Ok>());
  EXPECT_TRUE(harness.invoke(Remove{.backup = first.backup}).is<Remove::NotFound>());
  EXPECT_TRUE(create().is<Create::Ok>());
}

TEST_F(BackupTest, AreProvenOrNot) {
  EXPECT_TRUE(harness.invoke(Drill{}).is<Drill::NotFound>());
  EXPECT_TRUE(harness.invoke(Verify{.backup = BackupId("x")}).is<Verify::NotFound>());
  const BackupId id = create().as<Create::Ok>().backup;
  EXPECT_EQ(harness.invoke(Verify{.backup = id}).as<Verify::Ok>().records, 7);
  EXPECT_EQ(harness.invoke(Drill{}).as<Drill::Ok>().backup.text(), id.text());
  EXPECT_EQ(harness.invoke(List{}).as<List::Ok>().drilled, id.text());
  means.trouble = Error{.code = Code::verification_failed, .message = "it is damaged"};
  EXPECT_EQ(harness.invoke(Verify{.backup = id}).as<Verify::Damaged>().message, "it is damaged");
  EXPECT_EQ(harness.invoke(Drill{}).as<Drill::Damaged>().message, "it is damaged");
  means.trouble = Error{.code = Code::unavailable, .message = "the disk is away"};
  EXPECT_TRUE(harness.invoke(Verify{.backup = id}).is<Verify::Failed>());
  EXPECT_TRUE(harness.invoke(Drill{}).is<Drill::Failed>());
  EXPECT_TRUE(harness.invoke(Remove{.backup = id}).is<Remove::Failed>());
  EXPECT_TRUE(create().is<Create::Failed>());
  EXPECT_TRUE(harness.invoke(List{}).is<List::Failed>());
}

TEST_F(BackupTest, GoWhenNothingNeedsThemAnyMore) {
  EXPECT_TRUE(harness.invoke(Prune{}).as<Prune::Ok>().removed.empty());
  harness.invoke(Configure{.folder = "/backups", .recipient = recipient(), .keep = 1}).as<Configure::Ok>();
  EXPECT_TRUE(harness.invoke(Configure{.folder = "/b", .recipient = recipient(), .keep = -1}).is<Configure::Invalid>());
  const auto first = create().as<Create::Ok>();
  harness.invoke(
      Note{.backup = BackupId("zz"), .folder = "/backups/zz", .position = 9, .madeAt = harness.rows().now()});
  EXPECT_EQ(harness.invoke(Remove{.backup = BackupId("zz")}).as<Remove::Needed>().message,
            "the archive goes on from this backup, the newest one; make another one first");
  means.trouble = Error{.code = Code::denied, .message = "the folder cannot be read"};
  EXPECT_EQ(harness.invoke(Prune{}).as<Prune::Failed>().message,
            "nothing was removed: /backups/zz, which would be the oldest, is not there");
  means.trouble = std::nullopt;
  const auto pruned = harness.invoke(Prune{}).as<Prune::Ok>();
  EXPECT_EQ(pruned.removed, std::vector<std::string>{first.backup.text()});
  EXPECT_EQ(pruned.segments, 3);
  const auto listed = harness.invoke(List{}).as<List::Ok>();
  ASSERT_EQ(listed.backups.size(), 1U);
  EXPECT_EQ(listed.since, 9);
  EXPECT_EQ(listed.keep, 1);
}

TEST_F(BackupTest, TheirTroubleIsKeptUntilItIsOver) {
  EXPECT_EQ(harness.invoke(NoteTrouble{.message = "full"}).as<NoteTrouble::Ok>().message, "full");
  EXPECT_EQ(State(harness.rows()).whole().trouble, "full");
  harness.invoke(NoteTrouble{});
  EXPECT_FALSE(State(harness.rows()).whole().troubleAt);
}

TEST_F(BackupTest, ARestoreIsKept) {
  EXPECT_EQ(harness.invoke(Restored{.backup = "b", .position = 7, .knownTo = 9, .open = {"Runtime/deploy 01J"}})
                .as<Restored::Ok>()
                .position,
            7);
}

}  // namespace backup_test
}  // namespace sluice::deploy::backup
