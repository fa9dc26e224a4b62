// What store.h promises, tested on every store that is instantiated (see store_conformance.h).
#include "store/store_conformance.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

namespace sluice::store {
namespace store_conformance_test {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> keys_of(Snapshot& snapshot, const std::string& rel, const std::string& prefix) {
  std::vector<std::string> keys;
  for (const StateRow& row : all_of<StateRow>([&](auto& visit) { return snapshot.scan(rel, prefix, visit); })) {
    keys.push_back(row.key);
  }
  return keys;
}

std::vector<std::string> found(Snapshot& snapshot, const std::string& rel, const std::string& field,
                               const std::string& value) {
  return all_of<std::string>([&](auto& visit) { return snapshot.lookup(rel, field, value, visit); });
}

std::vector<Ulid> ids_of(const std::vector<FlowRow>& flows) {
  std::vector<Ulid> ids;
  for (const FlowRow& flow : flows) ids.push_back(flow.id);
  return ids;
}

TEST_P(StoreConformance, StartsEmpty) {
  auto snapshot = read();
  EXPECT_EQ(snapshot->position(), 0u);
  EXPECT_EQ(*snapshot->get("A", "a"), std::nullopt);
  EXPECT_EQ(*snapshot->journal(1), std::nullopt);
  EXPECT_EQ(*snapshot->flow(test_id(1)), std::nullopt);
  EXPECT_EQ(*snapshot->packed(test_id(1)), std::nullopt);
  EXPECT_EQ(*snapshot->key("ann", "k"), std::nullopt);
  EXPECT_EQ(*snapshot->sync_set("h"), std::nullopt);
  EXPECT_EQ(*snapshot->meta("m"), std::nullopt);
  EXPECT_THAT(keys_of(*snapshot, "A", ""), IsEmpty());
  EXPECT_THAT(found(*snapshot, "A", "f", "1"), IsEmpty());
  EXPECT_THAT(all_of<FlowRow>([&](auto& visit) { return snapshot->open_flows(visit); }), IsEmpty());
  EXPECT_THAT(all_of<TimerRow>([&](auto& visit) { return snapshot->timers(visit); }), IsEmpty());
  EXPECT_EQ(store().broken(), std::nullopt);
}

TEST_P(StoreConformance, AnEmptyBatchIsCommitted) {
  commit({});
  EXPECT_EQ(read()->position(), 0u);
}

TEST_P(StoreConformance, EveryKindOfRowComesBackAsItWentIn) {
  Batch batch;
  batch.journal = {{.seq = 1, .flow = test_id(5), .record = std::string("a\0\xff", 3)},
                   {.seq = 2, .flow = test_id(5), .prev = 1, .record = ""}};
  batch.state = {{.rel = "Rollout", .key = "r1", .generation = 3, .seq = 2, .value = "{\"step\":1}"}};
  batch.lookups = {{.rel = "Rollout", .field = "deployment", .value = "\"d1\"", .key = "r1"}};
  FlowRow flow{.id = test_id(5),
               .head = 2,
               .status = FlowStatus::settled_failed,
               .sync_set = "set1",
               .settled_at_ms = 99,
               .summary = "{}"};
  batch.flows = {flow};
  TimerRow timer{.invocation = test_id(7), .flow = test_id(5), .due_ms = -4};
  batch.timers = {timer};
  KeyRow key{.caller = "ann",
             .key = "k1",
             .request_hash = "abc",
             .flow = test_id(5),
             .invocation = test_id(7),
             .expires_ms = 1000};
  batch.keys = {key};
  batch.sync_sets = {{"set1", "sync A …"}};
  batch.meta = {{"epoch", "12"}};
  commit(batch);

  auto snapshot = read();
  EXPECT_EQ(snapshot->position(), 2u);
  EXPECT_EQ(*snapshot->journal(1), batch.journal[0]);
  EXPECT_EQ(*snapshot->journal(2), batch.journal[1]);
  EXPECT_EQ(*snapshot->journal(3), std::nullopt);
  EXPECT_EQ(*snapshot->get("Rollout", "r1"), (StateRow{"Rollout", "r1", 3, 2, "{\"step\":1}"}));
  EXPECT_THAT(found(*snapshot, "Rollout", "deployment", "\"d1\""), ElementsAre("r1"));
  EXPECT_EQ(*snapshot->flow(test_id(5)), flow);
  EXPECT_THAT(all_of<TimerRow>([&](auto& visit) { return snapshot->timers(visit); }), ElementsAre(timer));
  EXPECT_EQ(*snapshot->key("ann", "k1"), key);
  EXPECT_EQ(*snapshot->key("bob", "k1"), std::nullopt);
  EXPECT_EQ(*snapshot->sync_set("set1"), "sync A …");
  std::vector<std::string> sets;
  EXPECT_TRUE(snapshot->sync_sets([&](const std::string& hash) {
    sets.push_back(hash);
    return true;
  }));
  EXPECT_EQ(sets, std::vector<std::string>{"set1"});
  EXPECT_EQ(*snapshot->meta("epoch"), "12");
}

TEST_P(StoreConformance, AHeadChangesNothingElseOfItsFlow) {
  FlowRow flow{.id = test_id(1),
               .head = 1,
               .status = FlowStatus::waiting,
               .sync_set = "h",
               .settled_at_ms = 7,
               .summary = "{}",
               .packed = false};
  commit({.flows = {flow}});
  commit({.heads = {{test_id(1), 5}, {test_id(2), 6}}});
  flow.head = 5;
  auto snapshot = read();
  EXPECT_EQ(*snapshot->flow(test_id(1)), flow);
  EXPECT_EQ(*snapshot->flow(test_id(2)), std::nullopt);
}

TEST_P(StoreConformance, RowsReplaceThoseWithTheSameKey) {
  commit({.state = {{.rel = "A", .key = "a", .generation = 1, .seq = 1, .value = "1"}},
          .flows = {{.id = test_id(1), .head = 1}},
          .timers = {{.invocation = test_id(2), .due_ms = 10}},
          .keys = {{.caller = "ann", .key = "k", .request_hash = "old"}},
          .sync_sets = {{"h", "x"}},
          .meta = {{"m", "1"}}});
  commit({.state = {{.rel = "A", .key = "a", .generation = 2, .seq = 5, .value = "2"}},
          .flows = {{.id = test_id(1), .head = 5, .status = FlowStatus::waiting}},
          .timers = {{.invocation = test_id(2), .due_ms = 20}},
          .keys = {{.caller = "ann", .key = "k", .request_hash = "new"}},
          .sync_sets = {{"h", "x"}},
          .meta = {{"m", "2"}}});
  auto snapshot = read();
  EXPECT_EQ(*snapshot->get("A", "a"), (StateRow{"A", "a", 2, 5, "2"}));
  EXPECT_EQ((*snapshot->flow(test_id(1)))->status, FlowStatus::waiting);
  EXPECT_EQ((*snapshot->flow(test_id(1)))->head, 5u);
  EXPECT_THAT(all_of<TimerRow>([&](auto& visit) { return snapshot->timers(visit); }),
              ElementsAre(TimerRow{.invocation = test_id(2), .due_ms = 20}));
  EXPECT_EQ((*snapshot->key("ann", "k"))->request_hash, "new");
  EXPECT_EQ(*snapshot->meta("m"), "2");
}

TEST_P(StoreConformance, OfTwoChangesToARowInOneBatchTheLaterHolds) {
  commit({.state = {{.rel = "A", .key = "a", .value = "1"},
                    {.rel = "A", .key = "b", .value = "1"},
                    {.rel = "A", .key = "a", .value = std::nullopt},
                    {.rel = "A", .key = "b", .value = "2"}},
          .lookups = {{"A", "f", "1", "a", true}, {"A", "f", "1", "a", false}, {"A", "f", "1", "b", true}},
          .timers = {{.invocation = test_id(1), .due_ms = 1}, {.invocation = test_id(2), .due_ms = 1}},
          .timers_done = {test_id(1), test_id(9)}});
  auto snapshot = read();
  EXPECT_EQ(*snapshot->get("A", "a"), std::nullopt);
  EXPECT_EQ((*snapshot->get("A", "b"))->value, "2");
  EXPECT_THAT(found(*snapshot, "A", "f", "1"), ElementsAre("b"));
  EXPECT_EQ(all_of<TimerRow>([&](auto& visit) { return snapshot->timers(visit); }).size(), 1u);
}

TEST_P(StoreConformance, ABatchThatDoesNotFollowTheJournalChangesNothing) {
  commit({.journal = {{.seq = 1, .flow = test_id(1)}}, .meta = {{"m", "old"}}});
  for (uint64_t wrong : {0, 1, 3}) {
    auto refused = store().commit({.journal = {{.seq = wrong}},
                                   .state = {{.rel = "A", .key = "a", .value = "1"}},
                                   .flows = {{.id = test_id(1)}},
                                   .meta = {{"m", "new"}}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::conflict);
    EXPECT_EQ(refused.error().message,
              "step " + std::to_string(wrong) + " does not follow step 1, the journal's last; nothing was changed");
  }
  auto late = store().commit({.journal = {{.seq = 2}, {.seq = 2}}, .meta = {{"m", "new"}}});
  ASSERT_FALSE(late);
  auto snapshot = read();
  EXPECT_EQ(snapshot->position(), 1u);
  EXPECT_EQ(*snapshot->get("A", "a"), std::nullopt);
  EXPECT_EQ(*snapshot->flow(test_id(1)), std::nullopt);
  EXPECT_EQ(*snapshot->meta("m"), "old");
  commit({.journal = {{.seq = 2}}});
  EXPECT_EQ(read()->position(), 2u);
}

TEST_P(StoreConformance, ScansVisitAPrefixInByteOrder) {
  const std::string nul(1, '\0');
  commit({.state = {{.rel = "A", .key = "b", .value = "1"},
                    {.rel = "A", .key = "a" + nul + "2", .value = "1"},
                    {.rel = "A", .key = "a" + nul + "10", .value = "1"},
                    {.rel = "A", .key = "a", .value = "1"},
                    {.rel = "A", .key = "ab", .value = "1"},
                    {.rel = "A", .key = "a\xff", .value = "1"},
                    {.rel = "A", .key = "\xff\xff", .value = "1"},
                    {.rel = "A", .key = "\xff", .value = "1"},
                    {.rel = "A", .key = "\xfe", .value = "1"},
                    {.rel = "A", .key = "", .value = "1"},
                    {.rel = "A.list", .key = "a", .value = "1"},
                    {.rel = "B", .key = "a", .value = "1"}}});
  auto snapshot = read();
  EXPECT_THAT(keys_of(*snapshot, "A", ""),
              ElementsAre("", "a", "a" + nul + "10", "a" + nul + "2", "ab", "a\xff", "b", "\xfe", "\xff", "\xff\xff"));
  EXPECT_THAT(keys_of(*snapshot, "A", "a"), ElementsAre("a", "a" + nul + "10", "a" + nul + "2", "ab", "a\xff"));
  EXPECT_THAT(keys_of(*snapshot, "A", "a" + nul), ElementsAre("a" + nul + "10", "a" + nul + "2"));
  EXPECT_THAT(keys_of(*snapshot, "A", "a\xff"), ElementsAre("a\xff"));
  EXPECT_THAT(keys_of(*snapshot, "A", "\xff"), ElementsAre("\xff", "\xff\xff"));
  EXPECT_THAT(keys_of(*snapshot, "A", "c"), IsEmpty());
  EXPECT_THAT(keys_of(*snapshot, "A.list", ""), ElementsAre("a"));
}

TEST_P(StoreConformance, LookupsFindKeysInOrderByTheWholeValue) {
  commit({.lookups = {{"A", "f", "\"x\"", "k2"},
                      {"A", "f", "\"x\"", "k1"},
                      {"A", "f", "\"x\"", "k1"},
                      {"A", "f", "\"xy\"", "k3"},
                      {"A", "g", "\"x\"", "k4"},
                      {"AB", "f", "\"x\"", "k5"}}});
  auto before = read();
  commit({.lookups = {{"A", "f", "\"x\"", "k1", false}, {"A", "f", "\"none\"", "k1", false}}});
  EXPECT_THAT(found(*before, "A", "f", "\"x\""), ElementsAre("k1", "k2"));
  auto after = read();
  EXPECT_THAT(found(*after, "A", "f", "\"x\""), ElementsAre("k2"));
  EXPECT_THAT(found(*after, "A", "f", "\"xy\""), ElementsAre("k3"));
}

TEST_P(StoreConformance, AVisitEndsWhenToldAndMayReadOn) {
  Batch batch;
  for (uint64_t n = 1; n <= 5; ++n) {
    std::string key = "k" + std::to_string(n);
    batch.journal.push_back({.seq = n, .flow = test_id(1), .prev = n - 1});
    batch.state.push_back({.rel = "A", .key = key, .value = "1"});
    batch.lookups.push_back({"A", "f", "1", key});
    batch.flows.push_back({.id = test_id(static_cast<int64_t>(n))});
    batch.timers.push_back({.invocation = test_id(static_cast<int64_t>(n))});
  }
  commit(batch);
  auto snapshot = read();
  Snapshot& s = *snapshot;
  EXPECT_EQ(first_of<StateRow>(2, [&](auto& visit) { return s.scan("A", "", visit); }).size(), 2u);
  EXPECT_EQ(first_of<std::string>(2, [&](auto& visit) { return s.lookup("A", "f", "1", visit); }).size(), 2u);
  EXPECT_EQ(first_of<JournalRow>(2, [&](auto& visit) { return s.journal_from(1, visit); }).size(), 2u);
  EXPECT_EQ(first_of<FlowRow>(2, [&](auto& visit) { return s.open_flows(visit); }).size(), 2u);
  EXPECT_EQ(first_of<FlowRow>(2, [&](auto& visit) { return s.flows_newest_first({}, visit); }).size(), 2u);
  EXPECT_EQ(first_of<FlowRow>(2, [&](auto& visit) { return s.flows_oldest_first({}, visit); }).size(), 2u);
  EXPECT_EQ(first_of<TimerRow>(2, [&](auto& visit) { return s.timers(visit); }).size(), 2u);

  size_t pairs = 0;
  ASSERT_TRUE(s.scan("A", "", [&](const StateRow&) {
    EXPECT_TRUE(s.scan("A", "", [&](const StateRow& inner) {
      EXPECT_TRUE((*s.get("A", inner.key)).has_value());
      ++pairs;
      return true;
    }));
    return true;
  }));
  EXPECT_EQ(pairs, 25u);
}

TEST_P(StoreConformance, TheJournalIsReadFromAnyPlace) {
  Batch batch;
  for (uint64_t n = 1; n <= 4; ++n) batch.journal.push_back({.seq = n, .flow = test_id(1), .record = "r"});
  commit(batch);
  auto snapshot = read();
  std::vector<uint64_t> seqs;
  for (const JournalRow& row : all_of<JournalRow>([&](auto& visit) { return snapshot->journal_from(3, visit); })) {
    seqs.push_back(row.seq);
  }
  EXPECT_THAT(seqs, ElementsAre(3, 4));
  EXPECT_THAT(all_of<JournalRow>([&](auto& visit) { return snapshot->journal_from(5, visit); }), IsEmpty());
  EXPECT_EQ(*snapshot->journal(~uint64_t{0}), std::nullopt);
  EXPECT_THAT(all_of<JournalRow>([&](auto& visit) { return snapshot->journal_from(~uint64_t{0}, visit); }), IsEmpty());
}

TEST_P(StoreConformance, FlowsAreListedByAgeAndTheOpenOnesApart) {
  commit({.flows = {{.id = test_id(3), .status = FlowStatus::waiting},
                    {.id = test_id(1), .status = FlowStatus::running},
                    {.id = test_id(2), .status = FlowStatus::settled_ok},
                    {.id = test_id(4), .status = FlowStatus::settled_failed},
                    {.id = test_id(5), .status = FlowStatus::stuck}}});
  auto snapshot = read();
  auto newest = [&](std::optional<Ulid> before) {
    return ids_of(all_of<FlowRow>([&](auto& visit) { return snapshot->flows_newest_first(before, visit); }));
  };
  auto oldest = [&](std::optional<Ulid> after) {
    return ids_of(all_of<FlowRow>([&](auto& visit) { return snapshot->flows_oldest_first(after, visit); }));
  };
  EXPECT_THAT(newest(std::nullopt), ElementsAre(test_id(5), test_id(4), test_id(3), test_id(2), test_id(1)));
  EXPECT_THAT(newest(test_id(3)), ElementsAre(test_id(2), test_id(1)));
  EXPECT_THAT(newest(test_id(1)), IsEmpty());
  EXPECT_THAT(oldest(std::nullopt), ElementsAre(test_id(1), test_id(2), test_id(3), test_id(4), test_id(5)));
  EXPECT_THAT(oldest(test_id(3)), ElementsAre(test_id(4), test_id(5)));
  EXPECT_THAT(oldest(test_id(5)), IsEmpty());

  auto open = [&] {
    auto now = read();
    return ids_of(all_of<FlowRow>([&](auto& visit) { return now->open_flows(visit); }));
  };
  EXPECT_THAT(open(), ElementsAre(test_id(1), test_id(3), test_id(5)));
  commit({.flows = {{.id = test_id(3), .status = FlowStatus::settled_ok, .settled_at_ms = 7}}});
  EXPECT_THAT(open(), ElementsAre(test_id(1), test_id(5)));
  commit({.flows = {{.id = test_id(4), .status = FlowStatus::running}}});
  EXPECT_THAT(open(), ElementsAre(test_id(1), test_id(4), test_id(5)));
}

TEST_P(StoreConformance, TimersComeByDueTimeThenByInvocation) {
  commit({.timers = {{.invocation = test_id(1), .due_ms = 30},
                     {.invocation = test_id(3), .due_ms = 10},
                     {.invocation = test_id(2), .due_ms = 10},
                     {.invocation = test_id(4), .due_ms = 20}}});
  commit({.timers = {{.invocation = test_id(1), .due_ms = 15}}, .timers_done = {test_id(4)}});
  auto snapshot = read();
  std::vector<Ulid> order;
  for (const TimerRow& timer : all_of<TimerRow>([&](auto& visit) { return snapshot->timers(visit); })) {
    order.push_back(timer.invocation);
  }
  EXPECT_THAT(order, ElementsAre(test_id(2), test_id(3), test_id(1)));
}

TEST_P(StoreConformance, ASnapshotDoesNotSeeLaterCommits) {
  commit({.journal = {{.seq = 1, .flow = test_id(1), .record = "one"}},
          .state = {{.rel = "A", .key = "a", .generation = 1, .value = "1"}, {.rel = "A", .key = "b", .value = "1"}},
          .flows = {{.id = test_id(1)}},
          .timers = {{.invocation = test_id(1)}},
          .keys = {{.caller = "ann", .key = "k", .expires_ms = 1}},
          .sync_sets = {{"h", "x"}},
          .meta = {{"m", "1"}}});
  auto before = read();
  commit({.journal = {{.seq = 2, .flow = test_id(2)}},
          .state = {{.rel = "A", .key = "a", .generation = 2, .value = "2"},
                    {.rel = "A", .key = "b", .value = std::nullopt},
                    {.rel = "A", .key = "c", .value = "3"}},
          .flows = {{.id = test_id(1), .status = FlowStatus::settled_ok}, {.id = test_id(2)}},
          .timers_done = {test_id(1)},
          .meta = {{"m", "2"}}});
  ASSERT_TRUE(store().forget(100, {"h"}));
  auto after = read();

  EXPECT_EQ(before->position(), 1u);
  EXPECT_EQ(*before->journal(2), std::nullopt);
  EXPECT_EQ((*before->get("A", "a"))->value, "1");
  EXPECT_THAT(keys_of(*before, "A", ""), ElementsAre("a", "b"));
  EXPECT_EQ((*before->flow(test_id(1)))->status, FlowStatus::running);
  EXPECT_EQ(*before->flow(test_id(2)), std::nullopt);
  EXPECT_EQ(all_of<TimerRow>([&](auto& visit) { return before->timers(visit); }).size(), 1u);
  EXPECT_TRUE((*before->key("ann", "k")).has_value());
  EXPECT_EQ(*before->sync_set("h"), "x");
  EXPECT_EQ(*before->meta("m"), "1");

  EXPECT_EQ(after->position(), 2u);
  EXPECT_EQ((*after->get("A", "a"))->value, "2");
  EXPECT_THAT(keys_of(*after, "A", ""), ElementsAre("a", "c"));
  EXPECT_EQ(*after->key("ann", "k"), std::nullopt);
}

TEST_P(StoreConformance, PackingReplacesRecordsByOneBlobAndKeepsTheirHashes) {
  commit({.journal = {{.seq = 1, .flow = test_id(1), .prev = 0, .record = "one"},
                      {.seq = 2, .flow = test_id(2), .prev = 0, .record = "two"},
                      {.seq = 3, .flow = test_id(1), .prev = 1, .record = "three"}},
          .flows = {{.id = test_id(1), .head = 3, .status = FlowStatus::settled_ok, .settled_at_ms = 9},
                    {.id = test_id(2), .head = 2, .status = FlowStatus::running}}});
  auto before = read();
  auto done = store().pack({{.flow = test_id(1), .blob = "blob", .record_hashes = {{1, "h1"}, {3, "h3"}}}});
  ASSERT_TRUE(done) << done.error().message;
  auto after = read();
  EXPECT_EQ((*before->journal(3))->record, "three");
  EXPECT_EQ(*before->packed(test_id(1)), std::nullopt);
  EXPECT_FALSE((*before->flow(test_id(1)))->packed);

  EXPECT_EQ(after->position(), 3u);
  EXPECT_EQ(*after->journal(3), (JournalRow{.seq = 3, .flow = test_id(1), .prev = 1, .packed_hash = "h3"}));
  EXPECT_EQ(*after->journal(1), (JournalRow{.seq = 1, .flow = test_id(1), .packed_hash = "h1"}));
  EXPECT_EQ((*after->journal(2))->record, "two");
  EXPECT_EQ(*after->packed(test_id(1)), "blob");
  EXPECT_TRUE((*after->flow(test_id(1)))->packed);
  EXPECT_EQ(ids_of(all_of<FlowRow>([&](auto& visit) { return after->flows_newest_first({}, visit); })).size(), 2u);

  commit({.flows = {{.id = test_id(1), .head = 3, .status = FlowStatus::settled_ok, .summary = "new"}}});
  EXPECT_TRUE((*read()->flow(test_id(1)))->packed) << "a commit unpacks nothing";
}

// What a copy is made of, and made from again.
TEST_P(StoreConformance, ShowsAllOfTheTablesThatAreElseLookedUpIn) {
  const KeyRow key{.caller = "uid:1",
                   .key = "k",
                   .request_hash = "h",
                   .flow = test_id(1),
                   .invocation = test_id(2),
                   .expires_ms = 9};
  commit({.lookups = {{.rel = "B", .field = "f", .value = "1", .key = "y"},
                      {.rel = "A", .field = "f", .value = "2", .key = "x"},
                      {.rel = "A", .field = "f", .value = "1", .key = "z"},
                      {.rel = "A", .field = "f", .value = "1", .key = "x"},
                      {.rel = "A", .field = "f", .value = "2", .key = "x", .present = false}},
          .keys = {key},
          .meta = {{"two", std::string("a\0b", 3)}, {"one", ""}}});
  auto snapshot = read();
  EXPECT_EQ(all_of<LookupRow>([&](auto& visit) { return snapshot->lookups(visit); }),
            (std::vector<LookupRow>{{"A", "f", "1", "x"}, {"A", "f", "1", "z"}, {"B", "f", "1", "y"}}));
  EXPECT_EQ(all_of<KeyRow>([&](auto& visit) { return snapshot->keys(visit); }), std::vector<KeyRow>{key});
  using Pair = std::pair<std::string, std::string>;
  EXPECT_EQ(all_of<Pair>([&](auto& visit) { return snapshot->metas(visit); }),
            (std::vector<Pair>{{"one", ""}, {"two", std::string("a\0b", 3)}}));
}

TEST_P(StoreConformance, TakesPackedFlowsAsAnotherStoreHasThem) {
  const JournalRow packed{.seq = 1, .flow = test_id(1), .packed_hash = "h1"};
  const JournalRow open{.seq = 2, .flow = test_id(2), .record = "two"};
  commit({.journal = {packed, open},
          .flows = {{.id = test_id(1), .head = 1, .status = FlowStatus::settled_ok},
                    {.id = test_id(2), .head = 2, .status = FlowStatus::running}},
          .packed = {{test_id(1), "blob"}}});
  auto snapshot = read();
  EXPECT_EQ(*snapshot->journal(1), packed);
  EXPECT_EQ(*snapshot->journal(2), open);
  EXPECT_EQ(*snapshot->packed(test_id(1)), "blob");
  EXPECT_TRUE((*snapshot->flow(test_id(1)))->packed);
  EXPECT_FALSE((*snapshot->flow(test_id(2)))->packed);
}

TEST_P(StoreConformance, PackingIsRefusedWholeWhenOneFlowIsWrong) {
  commit({.journal = {{.seq = 1, .flow = test_id(1), .record = "one"},
                      {.seq = 2, .flow = test_id(2), .record = "two"},
                      {.seq = 3, .flow = test_id(1), .prev = 1, .record = "three"}},
          .flows = {{.id = test_id(1), .head = 3, .status = FlowStatus::settled_ok},
                    {.id = test_id(2), .head = 2, .status = FlowStatus::waiting}}});
  PackedFlow good{.flow = test_id(1), .blob = "b", .record_hashes = {{1, "h"}, {3, "h"}}};
  auto refused = [&](const PackedFlow& bad) {
    auto done = store().pack({good, bad});
    EXPECT_FALSE(done);
    auto now = read();
    EXPECT_EQ((*now->journal(1))->record, "one");
    EXPECT_EQ(*now->packed(test_id(1)), std::nullopt);
    EXPECT_FALSE((*now->flow(test_id(1)))->packed);
    return done ? Code::ok : done.error().code;
  };
  EXPECT_EQ(refused({.flow = test_id(2), .record_hashes = {{2, "h"}}}), Code::conflict);
  EXPECT_EQ(refused({.flow = test_id(9)}), Code::not_found);
  EXPECT_EQ(refused(good), Code::conflict) << "packed twice";
  commit({.flows = {{.id = test_id(3), .head = 2, .status = FlowStatus::settled_ok},
                    {.id = test_id(4), .head = 8, .status = FlowStatus::settled_ok}}});
  EXPECT_EQ(refused({.flow = test_id(3), .record_hashes = {{2, "h"}}}), Code::invalid) << "another flow's head";
  EXPECT_EQ(refused({.flow = test_id(4), .record_hashes = {{8, "h"}}}), Code::invalid) << "a head that is not there";
  good.record_hashes = {{3, "h"}};
  EXPECT_EQ(refused(good), Code::invalid);
  good.record_hashes = {{1, "h"}, {2, "h"}, {3, "h"}};
  EXPECT_EQ(refused(good), Code::invalid);
}

TEST_P(StoreConformance, ForgettingKeepsWhatIsStillNeeded) {
  commit(
      {.flows = {{.id = test_id(1), .status = FlowStatus::stuck, .sync_set = "open"},
                 {.id = test_id(2), .status = FlowStatus::settled_ok, .sync_set = "settled"}},
       .keys = {{.caller = "ann", .key = "old", .expires_ms = 99}, {.caller = "ann", .key = "new", .expires_ms = 100}},
       .sync_sets = {{"open", "1"}, {"settled", "2"}, {"unused", "3"}, {"unnamed", "4"}}});
  ASSERT_TRUE(store().forget(100, {"open", "settled", "unused", "none"}));
  auto snapshot = read();
  EXPECT_EQ(*snapshot->key("ann", "old"), std::nullopt);
  EXPECT_TRUE((*snapshot->key("ann", "new")).has_value());
  EXPECT_EQ(*snapshot->sync_set("open"), "1");
  EXPECT_EQ(*snapshot->sync_set("settled"), std::nullopt);
  EXPECT_EQ(*snapshot->sync_set("unused"), std::nullopt);
  EXPECT_EQ(*snapshot->sync_set("unnamed"), "4");
}

TEST_P(StoreConformance, HoldsAHundredThousandRows) {
  constexpr uint64_t kRows = 100'000;
  constexpr uint64_t kBatch = 5'000;
  for (uint64_t first = 1; first <= kRows; first += kBatch) {
    Batch batch;
    for (uint64_t n = first; n < first + kBatch; ++n) {
      // Spread over the key space, so that rows do not come in key order.
      std::string key = std::to_string((n * 7919) % 1'000'003);
      batch.journal.push_back({.seq = n, .flow = test_id(static_cast<int64_t>(n)), .record = key});
      batch.state.push_back({.rel = "A", .key = key, .generation = 1, .seq = n, .value = key});
      batch.lookups.push_back({"A", "last", key.substr(key.size() - 1), key});
    }
    commit(batch);
  }
  auto snapshot = read();
  EXPECT_EQ(snapshot->position(), kRows);
  auto keys = keys_of(*snapshot, "A", "");
  EXPECT_EQ(keys.size(), kRows);
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  size_t looked_up = 0;
  for (char digit = '0'; digit <= '9'; ++digit)
    looked_up += found(*snapshot, "A", "last", std::string(1, digit)).size();
  EXPECT_EQ(looked_up, kRows);
  EXPECT_EQ((*snapshot->journal(77'777))->record, std::to_string((uint64_t{77'777} * 7919) % 1'000'003));
  EXPECT_EQ((*snapshot->get("A", "7919"))->seq, 1u);
}

TEST_P(StoreConformance, HoldsValuesOfAMegabyte) {
  std::string large(1 << 20, 'x');
  commit({.journal = {{.seq = 1, .flow = test_id(1), .record = large}},
          .state = {{.rel = "A", .key = "a", .value = large}}});
  auto snapshot = read();
  EXPECT_EQ((*snapshot->journal(1))->record, large);
  EXPECT_EQ((*snapshot->get("A", "a"))->value, large);
}

// Each commit moves one unit between two rows; every snapshot must see their sum, and its own position's values.
TEST_P(StoreConformance, SnapshotsOnOtherThreadsSeeWholeBatches) {
  constexpr uint64_t kCommits = 200;
  commit({.state = {{.rel = "A", .key = "x", .seq = 0, .value = "1000"}, {.rel = "A", .key = "y", .value = "1000"}}});
  std::atomic<bool> done = false;
  std::atomic<uint64_t> wrong = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      uint64_t last = 0;
      while (!done) {
        auto snapshot = store().read();
        if (!snapshot) {
          ++wrong;
          break;
        }
        auto x = (*snapshot)->get("A", "x");
        auto y = (*snapshot)->get("A", "y");
        if (!x || !y || !*x || !*y || std::stoi((*x)->value) + std::stoi((*y)->value) != 2000) ++wrong;
        if ((*snapshot)->position() < last || (x && *x && (*x)->seq != (*snapshot)->position())) ++wrong;
        last = (*snapshot)->position();
      }
    });
  }
  for (uint64_t n = 1; n <= kCommits; ++n) {
    commit({.journal = {{.seq = n, .flow = test_id(1)}},
            .state = {{.rel = "A", .key = "x", .seq = n, .value = std::to_string(1000 - n)},
                      {.rel = "A", .key = "y", .seq = n, .value = std::to_string(1000 + n)}}});
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace store_conformance_test
}  // namespace sluice::store
