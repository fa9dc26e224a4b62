// sluice audit on a home whose journal was written by hand.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "cli/testing_flows.h"
#include "crypto/key_file.h"
#include "engine/journal/audit.h"

namespace sluice::cli {
namespace audit_commands_test {

struct AuditCommands : testing::Test {
  AuditCommands() {
    home.write_orders();
    home.write([&](store::Store& store) {
      auto snapshot = *store.read();
      chain = engine::chain_of(snapshot->journal(snapshot->position()).value()->record);
    });
  }
  // Signs a head with a new operator key.
  void sign(uint64_t seq, const std::string& of) {
    std::filesystem::create_directories(home.path("keys"));
    std::filesystem::permissions(home.path("keys"), std::filesystem::perms::owner_all);
    crypto::PrivateKey key = crypto::PrivateKey::generate();
    ASSERT_TRUE(crypto::store_private_key(disk, home.path("keys/operator.pem"), key));
    auto log = engine::HeadLog::open(disk, home.path("store/audit.heads"));
    ASSERT_TRUE(log) << to_string(log.error());
    ASSERT_TRUE(log->append(engine::sign({.seq = seq, .chain = of, .at_ms = 1}, key)));
  }

  RealDisk disk;
  TestingHome home;
  std::string chain;
};

TEST_F(AuditCommands, ListShowsWhoDecidedWhat) {
  auto done = home.run({"audit", "list"});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_EQ(done.out,
            "SEQ  TIME                      CALLER    ACTION       OUTCOME     FLOW                        REASON\n"
            "  1  2030-03-17T17:46:41.000Z  uid:1000  Order/place  ok          " +
                to_string(id(1)) +
                "  tea time\n"
                "  7  2030-03-17T17:46:47.000Z  uid:7     Shop/open    ok          " +
                to_string(id(5)) +
                "\n"
                "  8  2030-03-17T17:46:48.000Z  uid:8     Shop/open    denied × 3\n");
  auto one = home.run({"audit", "list", "--flow", short_id(id(5)), "-o", "json"});
  EXPECT_EQ(one.out,
            "[\n  {\n    \"seq\": 7,\n    \"at\": \"2030-03-17T17:46:47.000Z\",\n    \"caller\": \"uid:7\",\n"
            "    \"step\": \"act\",\n    \"action\": \"Shop/open\",\n    \"flow\": \"" +
                to_string(id(5)) + "\",\n    \"id\": \"" + to_string(id(5)) +
                "\",\n    \"input\": {},\n    \"outcome\": \"ok\"\n  }\n]\n");
  EXPECT_EQ(home.run({"audit", "list", "--flow", "ZZZZZZ"}).exit, 5);
}

TEST_F(AuditCommands, ListShowsWhatIsPackedAsBefore) {
  auto before = home.run({"audit", "list", "-o", "json"});
  home.pack_all();
  auto after = home.run({"audit", "list", "-o", "json"});
  EXPECT_EQ(after.exit, 0) << after.err;
  EXPECT_EQ(after.out, before.out);
  sign(8, chain);
  EXPECT_EQ(home.run({"audit", "verify"}).out, "The journal holds.\n8 records, 7 of them packed; chain " + chain +
                                                   "\ncomplete up to record 8, by 1 signed head\n");
}

TEST_F(AuditCommands, VerifyProvesAsFarAsTheHeadsGo) {
  sign(8, chain);
  EXPECT_EQ(home.run({"audit", "verify"}).out,
            "The journal holds.\n8 records; chain " + chain + "\ncomplete up to record 8, by 1 signed head\n");
}

TEST_F(AuditCommands, FirstWeek25VerifyFailsWithElevenWithoutHeads) {
  const std::string missing =
      "Signed heads are missing.\n8 records; chain " + chain +
      "\nno signed head proves that it is complete\n"
      "not proven: that nothing was cut off or rewritten after record 0: no head is signed for 8 of 8 records\n"
      "next:  sluice audit verify --heads COPY, with a copy of audit.heads that was kept elsewhere\n";
  auto none = home.run({"audit", "verify"});
  EXPECT_EQ(none.exit, 11);
  EXPECT_EQ(none.out, missing);
  sign(8, chain);
  EXPECT_EQ(home.run({"audit", "verify"}).exit, 0);
  ASSERT_TRUE(write_atomically(disk, home.path("store/audit.heads"), "", 0600));
  auto emptied = home.run({"audit", "verify"});
  EXPECT_EQ(emptied.exit, 11);
  EXPECT_EQ(emptied.out, missing);
}

TEST_F(AuditCommands, FirstWeek25VerifyNamesARowThatNoRecordWrote) {
  sign(8, chain);
  home.write([&](store::Store& store) {
    engine::Step step{.seq = 9, .at_ms = 1, .kind = engine::Step::Kind::state};
    ASSERT_TRUE(store.commit({.journal = {{.seq = 9, .record = engine::write_step(step, chain)}},
                              .state = {{"Trust", "evil", 1, 3, R"({"key":"x"})"}}}));
  });
  auto done = home.run({"audit", "verify"});
  EXPECT_EQ(done.exit, 11);
  EXPECT_TRUE(done.out.starts_with("State is not what the journal says.\n")) << done.out;
  EXPECT_NE(done.out.find("Trust evil: no record wrote it\n"), std::string::npos) << done.out;
}

TEST_F(AuditCommands, VerifyFailsWithElevenWhenTheJournalDoesNotHold) {
  sign(9, chain);
  auto done = home.run({"audit", "verify"});
  EXPECT_EQ(done.exit, 11);
  EXPECT_EQ(done.out,
            "The journal does not hold.\nrecord 9: the journal ends with record 8, but a head was signed for record 9: "
            "the end was cut off\n");
  auto data = home.run({"audit", "verify", "-o", "json"});
  EXPECT_EQ(data.exit, 11);
  EXPECT_NE(data.out.find("\"holds\": false"), std::string::npos);
}

TEST_F(AuditCommands, VerifyTakesHeadsAndAKeyFromElsewhere) {
  sign(8, chain);
  crypto::PrivateKey other = crypto::PrivateKey::generate();
  ASSERT_TRUE(write_atomically(disk, home.path("other.pem"), other.public_key().to_pem(), 0600));
  ASSERT_TRUE(write_atomically(disk, home.path("kept.heads"),
                               engine::write_head(engine::sign({.seq = 8, .chain = chain, .at_ms = 1}, other)), 0600));
  auto stranger = home.run({"audit", "verify", "--key", home.path("other.pem")});
  EXPECT_EQ(stranger.exit, 11);
  EXPECT_EQ(stranger.out, "The journal is not proven.\n8 records; chain " + chain +
                              "\nno signed head proves that it is complete\n"
                              "1 head signed by another key than the one that counts here\n"
                              "not proven: that nothing was cut off or rewritten after record 0: no head is signed "
                              "for 8 of 8 records\n"
                              "next:  sluice audit verify --key FILE, with the public key of whoever signed them\n");
  EXPECT_NE(home.run({"audit", "verify", "--key", home.path("other.pem"), "-o", "json"}).out.find("\"holds\": false"),
            std::string::npos);
  EXPECT_EQ(home.run({"audit", "verify", "--heads", home.path("kept.heads"), "--key", home.path("other.pem")}).out,
            "The journal holds.\n8 records; chain " + chain + "\ncomplete up to record 8, by 1 signed head\n");
  auto none = home.run({"audit", "verify", "--heads", home.path("none")});
  EXPECT_EQ(none.exit, 5);
  EXPECT_TRUE(none.err.starts_with("error: there is no file " + home.path("none") + "\nnext:  name a copy of "))
      << none.err;
}

TEST_F(AuditCommands, VerifySaysWhichKeyItCannotTake) {
  sign(8, chain);
  auto wrong = home.run({"audit", "verify", "--key", home.path("store/audit.heads")});
  EXPECT_EQ(wrong.exit, 1);
  EXPECT_TRUE(wrong.err.starts_with("error: " + home.path("store/audit.heads") +
                                    " is no public key: expected a line \"-----BEGIN PUBLIC KEY-----\" and what "
                                    "follows it in PEM\nnext:  openssl pkey -in "))
      << wrong.err;
}

TEST_F(AuditCommands, AnEmptyHomeIsSaidInAFriendlyWay) {
  TestingHome empty;
  EXPECT_EQ(empty.run({"audit", "verify"}).out, "Nothing has run here yet.\nnext:  sluice kit run FOLDER\n");
  EXPECT_EQ(empty.run({"audit", "list"}).out, "No records with a caller.\n");
  EXPECT_EQ(empty.run({"audit", "list", "--flow", "latest"}).exit, 5);
}

}  // namespace audit_commands_test
}  // namespace sluice::cli
