// That the audit holds for an untouched journal, and finds whatever was changed.
#include "engine/journal/audit.h"

#include <gmock/gmock.h>

#include "base/atomic_file.h"
#include "base/testing_volatile_disk.h"
#include "engine/journal/retention.h"
#include "engine/testing_engine.h"
#include "engine/testing_journal.h"
#include "engine/testing_machine.h"
#include "store/memory_store.h"

namespace sluice::engine {
namespace audit_test {

using testing::HasSubstr;

const std::array<uint8_t, 32> kSeed = {1};
const std::array<uint8_t, 32> kOtherSeed = {2};

// Six records of two flows and a denied call, kept as rows so that a test can spoil them before they are stored.
struct Audit : testing::Test {
  Audit() {
    store::MemoryStore made;
    TestingJournal journal(made);
    for (int i = 0; i < 5; ++i) {
      Ulid flow = test_id(1 + i % 2);
      journal.add({.flow = flow, .invocation = flow, .action = "A/go", .end = End{.variant = "ok"}});
      heads.push_back({.seq = journal.seq(), .chain = journal.chain(), .at_ms = 7});
    }
    journal.add({.kind = Step::Kind::denied, .action = "A/go", .count = 1});
    heads.push_back({.seq = journal.seq(), .chain = journal.chain(), .at_ms = 7});
    auto read = made.read();
    EXPECT_TRUE((*read)->journal_from(1, [&](const store::JournalRow& row) {
      rows.push_back(row);
      return true;
    }));
  }

  // Writes the rows anew, chained, from the one given on: what a forger would do.
  void rewrite_from(size_t at) {
    std::string chain = at == 0 ? std::string(kFirstChain) : chain_of(rows[at - 1].record);
    for (; at < rows.size(); ++at) {
      rows[at].record = write_step(read_step(rows[at].record).value(), chain);
      chain = chain_of(rows[at].record);
    }
  }

  AuditReport report(const std::vector<SignedHead>& given = {}) {
    store::MemoryStore store;
    std::vector<store::JournalRow> kept = rows;
    EXPECT_TRUE(store.commit({.journal = kept, .flows = flows}));
    if (!packed.record_hashes.empty()) {
      auto done = store.pack({packed});
      EXPECT_TRUE(done) << to_string(done.error());
    }
    std::vector<crypto::PublicKey> trusted = {key.public_key()};
    return verify(**store.read(), given, trusted).value();
  }
  std::string fault(const std::vector<SignedHead>& given = {}) {
    auto found = report(given).fault;
    return found ? std::to_string(found->seq) + ": " + found->what : "none";
  }

  std::vector<store::JournalRow> rows;
  std::vector<Head> heads;
  std::vector<store::FlowRow> flows;
  store::PackedFlow packed;
  crypto::PrivateKey key = crypto::PrivateKey::from_seed(kSeed);
};

TEST_F(Audit, AnUntouchedJournalHolds) {
  AuditReport got = report({sign(heads[2], key), sign(heads[4], key)});
  EXPECT_FALSE(got.fault) << got.fault->what;
  EXPECT_EQ(got.records, 6U);
  EXPECT_EQ(got.packed, 0U);
  EXPECT_EQ(got.heads, 2U);
  EXPECT_EQ(got.proven_to, 5U);
  EXPECT_EQ(got.chain, heads[5].chain);
}

TEST_F(Audit, AnEmptyJournalHolds) {
  rows.clear();
  EXPECT_EQ(fault(), "none");
  EXPECT_EQ(report().chain, kFirstChain);
}

TEST_F(Audit, AChangedRecordIsFoundByTheNext) {
  size_t at = rows[1].record.find("A/go");
  rows[1].record[at] = 'B';
  EXPECT_EQ(fault(), "3: it was not written after record 2 as that is now: one of the two was changed");
}

TEST_F(Audit, ARewrittenJournalIsFoundByAHead) {
  Step step = read_step(rows[1].record).value();
  step.action = "B/go";
  rows[1].record = write_step(step, chain_of(rows[0].record));
  rewrite_from(2);
  EXPECT_EQ(fault(), "none");
  EXPECT_EQ(fault({sign(heads[3], key)}),
            "4: a head that was signed at 7 has another chain: the journal up to here was rewritten");
}

TEST_F(Audit, ACutJournalIsFoundByAHeadBeyondItsEnd) {
  rows.resize(4);
  EXPECT_EQ(fault({sign(heads[2], key)}), "none");
  EXPECT_EQ(fault({sign(heads[2], key), sign(heads[4], key)}),
            "5: the journal ends with record 4, but a head was signed for record 5: the end was cut off");
}

TEST_F(Audit, AWrongLinkWithinAFlowIsFound) {
  rows[4].prev = 2;
  EXPECT_EQ(fault(), "5: it says that record 2 comes before it in its flow, which is record 3");
  rows[4].prev = 3;
  rows[0].prev = 9;
  EXPECT_EQ(fault(), "1: it says that record 9 comes before it in its flow, which is none");
}

TEST_F(Audit, ARecordMustBeThatOfItsRow) {
  rows[1].flow = test_id(9);
  EXPECT_EQ(fault(), "2: the record is not that of its row");
  rows[1].flow = test_id(2);
  Step step = read_step(rows[5].record).value();
  step.seq = 7;
  rows[5].record = write_step(step, heads[4].chain);
  EXPECT_EQ(fault(), "6: the record is not that of its row");
  rows[5].record = "nonsense";
  EXPECT_THAT(fault(), HasSubstr("6: a journal record is damaged"));
}

TEST_F(Audit, AHeadSignedByAnotherProvesNothing) {
  crypto::PrivateKey other = crypto::PrivateKey::from_seed(kOtherSeed);
  AuditReport got = report({sign(heads[2], other)});
  EXPECT_FALSE(got.fault);
  EXPECT_EQ(got.heads, 0U);
  EXPECT_EQ(got.unsigned_heads, 1U);
  EXPECT_EQ(got.proven_to, 0U);
  SignedHead forged = sign(heads[2], other);
  forged.key_id = key.public_key().key_id();
  EXPECT_EQ(fault({forged}), "3: the signature of its head does not hold");
}

TEST_F(Audit, TheChainIsProvenThroughPackedFlows) {
  std::vector<std::string> records = {rows[0].record, rows[2].record, rows[4].record};
  flows = {{.id = test_id(1), .head = 5, .status = store::FlowStatus::settled_ok, .settled_at_ms = 1}};
  packed = {.flow = test_id(1),
            .blob = pack_records(records),
            .record_hashes = {{1, heads[0].chain}, {3, heads[2].chain}, {5, heads[4].chain}}};
  AuditReport got = report({sign(heads[2], key)});
  EXPECT_FALSE(got.fault) << got.fault->what;
  EXPECT_EQ(got.records, 6U);
  EXPECT_EQ(got.packed, 3U);
  EXPECT_EQ(got.chain, heads[5].chain);
  packed.record_hashes[1].second = heads[3].chain;
  EXPECT_EQ(fault(), "3: the packed record was changed: its hash is another");
}

TEST_F(Audit, AChangedBlobIsFound) {
  flows = {{.id = test_id(1), .head = 5, .status = store::FlowStatus::settled_ok, .settled_at_ms = 1}};
  std::vector<std::string> records = {rows[0].record, rows[2].record, rows[4].record};
  records[1].replace(records[1].find("A/go"), 4, "B/go");
  packed = {.flow = test_id(1),
            .blob = pack_records(records),
            .record_hashes = {{1, heads[0].chain}, {3, heads[2].chain}, {5, heads[4].chain}}};
  EXPECT_EQ(fault(), "3: the packed record was changed: its hash is another");
  records.erase(records.begin() + 1);
  packed.blob = pack_records(records);
  EXPECT_EQ(fault(), "3: the packed flow " + to_string(test_id(1)) + " lacks record 3");
  packed.blob = "b";
  EXPECT_EQ(fault(), "1: the packed flow " + to_string(test_id(1)) + " is damaged");
}

TEST(Heads, ALineSaysTheHeadAndWhoSignedIt) {
  crypto::PrivateKey key = crypto::PrivateKey::from_seed(kSeed);
  Head head{.seq = 1000, .chain = std::string(kFirstChain), .at_ms = 5};
  EXPECT_EQ(signed_text(head),
            "DSSEv1 38 application/vnd.sluice.audit-head+json 94 "
            R"({"seq":1000,"chain":"0000000000000000000000000000000000000000000000000000000000000000","at":5})");
  std::string line = write_head(sign(head, key));
  EXPECT_EQ(line.substr(0, 93),
            R"({"seq":1000,"chain":"0000000000000000000000000000000000000000000000000000000000000000","at":5)");
  auto read = parse_heads(line, "audit.heads");
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->heads, (std::vector{sign(head, key)}));
  EXPECT_FALSE(read->torn);
}

TEST(Heads, WhatIsNoLineOfTheFileIsRefused) {
  crypto::PrivateKey key = crypto::PrivateKey::from_seed(kSeed);
  std::string line = write_head(sign({.seq = 4, .chain = std::string(kFirstChain), .at_ms = 5}, key));
  auto error = [](const std::string& text) {
    auto heads = parse_heads(text, "f");
    if (heads) return std::string("none");
    EXPECT_EQ(heads.error().code, Code::verification_failed);
    EXPECT_EQ(heads.error().next,
              "sluice audit verify --heads COPY, with a copy that was kept elsewhere; if it holds, put it in the place "
              "of f");
    return to_string(heads.error());
  };
  EXPECT_EQ(error(line + line), "f:2:1: the head of record 4 follows that of record 4");
  EXPECT_EQ(error(line + "\n"), "f:2:1: the JSON text ends too early");
  EXPECT_EQ(error(" " + line), "f:1:1: the head is not spelt as Sluice spells it");
  EXPECT_EQ(error(line.substr(0, line.find(",\"key\"")) + "}\n"), "f:1:1: /key: missing field, expected a string");
}

TEST(HeadLog, GoesOnWhereItEndedAndDropsATornLine) {
  VolatileDisk disk;
  crypto::PrivateKey key = crypto::PrivateKey::from_seed(kSeed);
  auto head = [&](uint64_t seq) { return sign({.seq = seq, .chain = std::string(kFirstChain), .at_ms = 5}, key); };
  {
    auto log = HeadLog::open(disk, "/audit.heads");
    ASSERT_TRUE(log) << to_string(log.error());
    EXPECT_FALSE(log->last());
    EXPECT_TRUE(log->append(head(3)));
    EXPECT_EQ(log->append(head(3)).error().message, "the head of record 3 cannot follow that of record 3");
  }
  {
    auto file = disk.open("/audit.heads", {.write = true});
    ASSERT_TRUE((*file)->write_at((*file)->size().value(), "{\"seq\":"));
  }
  EXPECT_TRUE(read_heads(disk, "/audit.heads")->torn);
  {
    auto log = HeadLog::open(disk, "/audit.heads");
    ASSERT_TRUE(log) << to_string(log.error());
    EXPECT_EQ(log->last()->seq, 3U);
    EXPECT_TRUE(log->append(head(4)));
  }
  auto read = read_heads(disk, "/audit.heads");
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->heads, (std::vector{head(3), head(4)}));
  EXPECT_TRUE(read_heads(disk, "/none")->heads.empty());
}

TEST(HeadLog, ReadsOnlyTheEndOfALongFile) {
  VolatileDisk disk;
  crypto::PrivateKey key = crypto::PrivateKey::from_seed(kSeed);
  auto head = [&](uint64_t seq) { return sign({.seq = seq, .chain = std::string(kFirstChain), .at_ms = 5}, key); };
  std::string text = "what stands here is for audit verify\n";
  for (uint64_t seq = 1; seq <= 100; ++seq) text += write_head(head(seq));
  ASSERT_TRUE(write_atomically(disk, "/audit.heads", text, 0600));
  auto log = HeadLog::open(disk, "/audit.heads");
  ASSERT_TRUE(log) << to_string(log.error());
  EXPECT_EQ(log->last()->seq, 100U);
  ASSERT_TRUE(write_atomically(disk, "/audit.heads", "nonsense\n", 0600));
  EXPECT_EQ(HeadLog::open(disk, "/audit.heads").error().message,
            "the last line of /audit.heads: not valid JSON: unexpected 'n'");
}

TEST(CheckLastHead, RefusesAJournalThatHasLostWhatWasSigned) {
  World world({"concept Task [T] { actions { action add() { -> ok } } }"}, "");
  world.run("Task/add", "{}");
  auto snapshot = *world.store->read();
  uint64_t last = snapshot->position();
  std::string chain = chain_of((*snapshot->journal(last))->record);
  EXPECT_TRUE(check_last_head(*snapshot, std::nullopt));
  EXPECT_TRUE(check_last_head(*snapshot, Head{.seq = last, .chain = chain}));
  EXPECT_EQ(check_last_head(*snapshot, Head{.seq = last + 7, .chain = chain}).error().message,
            "a head of the journal was signed for record " + std::to_string(last + 7) +
                ", but the journal ends with record " + std::to_string(last));
  EXPECT_EQ(check_last_head(*snapshot, Head{.seq = last, .chain = std::string(kFirstChain)}).error().message,
            "a head of the journal was signed for record " + std::to_string(last) + ", but that record is another now");
}

}  // namespace audit_test
}  // namespace sluice::engine
