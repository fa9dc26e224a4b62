// That state is bound to the journal: every row that was changed, put in or taken out behind Sluice's back is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing_volatile_disk.h"
#include "engine/journal/audit.h"
#include "engine/journal/retention.h"
#include "engine/testing_engine.h"
#include "engine/testing_machine.h"

namespace sluice::engine {
namespace audit_state_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kKeys = R"(concept Keys [K] {
  state { keys: set K; owner: K -> String }
  actions {
    action trust(key: String, owner: String) { -> ok(key: String) }
    action forget(key: String) { -> ok(key: String) }
  }
}
)";

struct Bound : World {
  Bound() : World({kKeys}, "") {
    on("Keys/trust").act = [](const json::object& ask, lang::Rows& rows) {
      rows.put("Keys", std::string(ask.at("key").as_string()), json::object{{"owner", ask.at("owner")}});
      return lang::Completion{"ok", {{"key", ask.at("key")}}};
    };
    on("Keys/forget").act = [](const json::object& ask, lang::Rows& rows) {
      rows.erase("Keys", std::string(ask.at("key").as_string()));
      return lang::Completion{"ok", {{"key", ask.at("key")}}};
    };
  }
  void trust(const std::string& key, const std::string& owner) {
    run("Keys/trust", R"({"key": ")" + key + R"(", "owner": ")" + owner + R"("})");
  }
  // As SQL would.
  void forge(const std::string& key, std::optional<std::string> value, uint64_t generation = 1, uint64_t seq = 1) {
    ASSERT_TRUE(store->commit({.state = {{"Keys", key, generation, seq, std::move(value)}}}));
  }
  AuditReport report() { return verify(**store->read(), {}, {}).value(); }
  std::vector<std::string> differing() {
    std::vector<std::string> lines;
    AuditReport found = report();
    EXPECT_FALSE(found.fault);
    EXPECT_EQ(found.holds(), found.state.empty());
    for (const StateFault& each : found.state) lines.push_back(each.relation + " " + each.key + ": " + each.what);
    return lines;
  }
};

TEST(FirstWeek25, StateThatOnlyActionsChangedIsAsTheJournalSays) {
  Bound world;
  world.trust("a", "ann");
  world.trust("b", "bob");
  world.trust("a", "eve");
  world.run("Keys/forget", R"({"key": "b"})");
  EXPECT_THAT(world.differing(), IsEmpty());
  EXPECT_EQ(world.report().rows, 1U);
  EXPECT_EQ(world.report().bound_from, 1U);
  world.restart();
  world.trust("b", "bob");
  EXPECT_THAT(world.differing(), IsEmpty());
  ASSERT_GT(*pack_settled(*world.store, world.clock.wall_ms() + 1, {.keep_ms = 0}), 0U);
  EXPECT_THAT(world.differing(), IsEmpty());
}

TEST(FirstWeek25, ARowThatWasPutInIsNamed) {
  Bound world;
  world.trust("a", "ann");
  world.forge("evil", R"({"owner":"mallory"})");
  EXPECT_THAT(world.differing(), ElementsAre("Keys evil: no record wrote it"));
  world.trust("b", "bob");
  world.restart();
  EXPECT_THAT(world.differing(), ElementsAre("Keys evil: no record wrote it"));
}

TEST(FirstWeek25, EveryRowThatWasChangedOrTakenOutIsNamed) {
  Bound world;
  for (const char* key : {"a", "b", "c", "d"}) world.trust(key, "ann");
  world.forge("a", R"({"owner":"mallory"})");
  world.forge("b", std::nullopt);
  world.forge("c", R"({"owner":"ann"})", 2);  // another generation lets a stale caller in
  EXPECT_THAT(world.differing(),
              ElementsAre("Keys a: it is not what the journal says was written",
                          "Keys c: it is not what the journal says was written", "Keys b: it is missing"));
}

TEST(FirstWeek25, ARowInABlobIsBoundByItsDigest) {
  Bound world;
  VolatileDisk disk;
  store::BlobStore blobs(disk, "/blobs");
  world.blobs = &blobs;
  world.trust("a", std::string(100'000, 'x'));
  ASSERT_TRUE(world.row("Keys", "a")->starts_with("@sha256:"));
  EXPECT_THAT(world.differing(), IsEmpty());
}

// A store of an earlier version: its records do not say what they wrote, and nothing was bound.
void make_old(World& world) {
  auto snapshot = *world.store->read();
  store::Batch old;
  std::string chain(kFirstChain);
  for (Step step : world.steps()) {
    auto row = *(*snapshot->journal(step.seq));
    step.wrote.clear();
    row.record = write_step(step, chain);
    chain = chain_of(row.record);
    old.journal.push_back(row);
  }
  ASSERT_TRUE(snapshot->scan("Keys", "", [&](const store::StateRow& row) {
    old.state.push_back({row.rel, row.key, row.generation, row.seq, row.value});
    return true;
  }));
  ASSERT_TRUE(snapshot->flows_oldest_first(std::nullopt, [&](const store::FlowRow& row) {
    old.flows.push_back(row);
    return true;
  }));
  world.stop();
  world.store = std::make_shared<store::MemoryStore>();
  ASSERT_TRUE(world.store->commit(old));
}

TEST(FirstWeek25, AStoreOfAnEarlierVersionOpensAndWhatItCannotProveIsSaid) {
  Bound world;
  world.trust("a", "ann");
  world.trust("b", "bob");
  make_old(world);
  AuditReport before = world.report();
  EXPECT_TRUE(before.holds());
  EXPECT_EQ(before.bound_from, 0U);
  EXPECT_THAT(before.unproven, testing::Contains(HasSubstr("the 2 rows of state: an earlier version wrote")));

  world.trust("c", "cid");
  EXPECT_EQ(world.steps()[2].kind, Step::Kind::state);
  AuditReport after = world.report();
  EXPECT_TRUE(after.holds());
  EXPECT_EQ(after.bound_from, 3U);
  EXPECT_THAT(after.unproven, testing::Contains(HasSubstr("what rows of state were before record 3")));
  // And from there on everything is bound.
  world.forge("b", R"({"owner":"mallory"})");
  world.forge("evil", R"({"owner":"mallory"})");
  EXPECT_THAT(world.differing(),
              ElementsAre("Keys b: it is not what the journal says was written", "Keys evil: no record wrote it"));
}

TEST(FirstWeek25, WhoMakesSluiceBindStateAnewIsFound) {
  Bound world;
  world.trust("a", "ann");
  auto rows = world.steps();
  world.stop();
  world.forge("evil", R"({"owner":"mallory"})");
  // The note that state is bound is gone from the store's meta data.
  auto snapshot = *world.store->read();
  auto forged = std::make_shared<store::MemoryStore>();
  store::Batch batch;
  batch.journal.push_back(**snapshot->journal(1));
  batch.flows.push_back(**snapshot->flow(rows[0].flow));
  batch.state = {{"Keys", "a", 1, 1, *world.row("Keys", "a")}, {"Keys", "evil", 1, 1, *world.row("Keys", "evil")}};
  ASSERT_TRUE(forged->commit(batch));
  snapshot.reset();
  world.store = forged;
  world.trust("c", "cid");
  EXPECT_EQ(world.steps()[1].kind, Step::Kind::state);
  EXPECT_THAT(world.differing(), ElementsAre("Keys evil: no record wrote it"));
}

TEST(FirstWeek25, AHeadThatTheJournalSaysWasSignedIsMissed) {
  Bound world;
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  world.trust("a", "ann");
  SignedHead head = sign({.seq = 1, .chain = world.machine().chain(), .at_ms = 7}, key);
  world.machine().note_head(1);
  world.trust("b", "bob");
  world.trust("c", "cid");
  EXPECT_EQ(world.steps()[1].head, 1U);
  EXPECT_EQ(world.steps()[2].head, 0U);  // it is said once
  std::vector<crypto::PublicKey> trusted = {key.public_key()};
  AuditReport whole = verify(**world.store->read(), std::vector{head}, trusted).value();
  EXPECT_TRUE(whole.holds());
  EXPECT_THAT(whole.unproven, ElementsAre("that nothing was cut off or rewritten after record 1: no head is signed for "
                                          "2 of 3 records"));
  AuditReport emptied = verify(**world.store->read(), {}, trusted).value();
  EXPECT_FALSE(emptied.holds());
  EXPECT_THAT(emptied.missing_heads, ElementsAre(1U));
}

}  // namespace audit_state_test
}  // namespace sluice::engine
