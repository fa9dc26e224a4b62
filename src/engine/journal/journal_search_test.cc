// Finding a step by its invocation's id, and a flow's steps from its head.
#include "engine/journal/journal_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/journal/retention.h"
#include "engine/testing_engine.h"
#include "engine/testing_journal.h"
#include "store/memory_store.h"

namespace sluice::engine {
namespace journal_search_test {

using store::FlowStatus;
using testing::ElementsAre;

constexpr int64_t kStart_ms = 1'900'000'000'000;

Ulid id_at(int64_t at_ms, uint8_t number = 0) {
  return Ulid::from(at_ms, std::array<uint8_t, Ulid::kRandomBytes>{number});
}

Step act(const Ulid& id, int64_t at_ms) {
  Step step{.at_ms = at_ms, .flow = id, .invocation = id, .action = "A/go", .end = End{.variant = "ok"}};
  step.root = Root{.sync_set = "s"};
  return step;
}

// The number of the step that begins an invocation; 0 if there is none.
uint64_t begin_of(store::Store& store, const Ulid& id) {
  auto snapshot = store.read();
  auto found = find_begin(**snapshot, id);
  EXPECT_TRUE(found) << to_string(found.error());
  return *found ? (*found)->seq : 0;
}

TEST(JournalSearch, FindsEveryInvocationAmongMany) {
  store::MemoryStore store;
  TestingJournal journal(store);
  std::vector<Ulid> ids;
  for (int i = 0; i < 500; ++i) {
    // Three ids a millisecond, made up to two milliseconds before their step.
    int64_t at_ms = kStart_ms + i / 3 * 10;
    ids.push_back(id_at(at_ms - i % 3, static_cast<uint8_t>(i % 3)));
    journal.add(act(ids.back(), at_ms), FlowStatus::settled_ok);
  }
  for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(begin_of(store, ids[i]), i + 1);
}

TEST(JournalSearch, KnowsWhatIsNotThere) {
  store::MemoryStore store;
  EXPECT_EQ(begin_of(store, id_at(kStart_ms)), 0U);
  TestingJournal journal(store);
  for (int i = 0; i < 10; ++i) journal.add(act(id_at(kStart_ms + i), kStart_ms + i), FlowStatus::settled_ok);
  EXPECT_EQ(begin_of(store, id_at(kStart_ms - 1)), 0U);
  EXPECT_EQ(begin_of(store, id_at(kStart_ms + 3, 1)), 0U);
  EXPECT_EQ(begin_of(store, id_at(kStart_ms + 10)), 0U);
}

TEST(JournalSearch, TakesNeitherWhatAsksForItNorWhatEndsIt) {
  store::MemoryStore store;
  TestingJournal journal(store);
  Ulid flow = id_at(kStart_ms);
  Ulid effect = id_at(kStart_ms, 1);
  Step asking = act(flow, kStart_ms);
  asking.fired = {{.sync = "S", .matched = {{flow}}, .rows = 1, .then = {{.id = effect, .action = "A/do"}}}};
  journal.add(asking);
  Step begin{.at_ms = kStart_ms, .flow = flow, .invocation = effect, .kind = Step::Kind::begin, .action = "A/do"};
  begin.work = json::object{{"n", 1}};
  journal.add(begin);
  Step finish{.at_ms = kStart_ms + 5, .flow = flow, .invocation = effect, .kind = Step::Kind::finish, .action = "A/do"};
  finish.end = End{.variant = "ok"};
  finish.by = "effect";
  journal.add(finish, FlowStatus::settled_ok);

  auto snapshot = store.read();
  auto found = find_begin(**snapshot, effect);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->seq, 2U);
  EXPECT_EQ((*found)->kind, Step::Kind::begin);
  EXPECT_EQ((*found)->work, json::value(json::object{{"n", 1}}));

  auto all = invocations_of(*steps_from(**snapshot, 3));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all.at(flow).seq, 1U);
  EXPECT_EQ(all.at(effect).action, "A/do");
  EXPECT_EQ(all.at(effect).seq, 3U);
  EXPECT_EQ(all.at(effect).end, End{.variant = "ok"});
}

TEST(JournalSearch, FindsWhatIsPackedToo) {
  store::MemoryStore store;
  TestingJournal journal(store);
  std::vector<Ulid> ids;
  for (int i = 0; i < 100; ++i) {
    ids.push_back(id_at(kStart_ms + i));
    // Every third flow stays open, so that it is not packed.
    journal.add(act(ids.back(), kStart_ms + i), i % 3 == 0 ? FlowStatus::waiting : FlowStatus::settled_ok);
  }
  ASSERT_EQ(*pack_settled(store, kStart_ms + 1000, {.keep_flows = 0}), 66U);
  for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(begin_of(store, ids[i]), i + 1) << i;
  auto snapshot = store.read();
  auto steps = steps_from(**snapshot, 2);
  ASSERT_TRUE(steps) << to_string(steps.error());
  ASSERT_EQ(steps->size(), 1U);
  EXPECT_EQ(steps->front().invocation, ids[1]);
}

TEST(JournalSearch, EndsWithTheLastRecordPackedOrNot) {
  store::MemoryStore store;
  auto end = [&] { return *journal_end(**store.read()); };
  EXPECT_EQ(end().seq, 0U);
  EXPECT_EQ(end().chain, kFirstChain);
  TestingJournal journal(store);
  journal.add(act(id_at(kStart_ms), kStart_ms), FlowStatus::settled_ok);
  journal.add(act(id_at(kStart_ms + 1), kStart_ms + 1), FlowStatus::settled_ok);
  std::string chain = chain_of((*(*store.read())->journal(2))->record);
  EXPECT_EQ(end().chain, chain);
  ASSERT_EQ(*pack_settled(store, kStart_ms + 1000, {.keep_flows = 0}), 2U);
  EXPECT_EQ(end().seq, 2U);
  EXPECT_EQ(end().chain, chain);
  EXPECT_EQ(end().at_ms, kStart_ms + 1);
}

TEST(JournalSearch, ReadsAFlowsStepsOldestFirst) {
  store::MemoryStore store;
  TestingJournal journal(store);
  Ulid one = id_at(kStart_ms, 1);
  Ulid other = id_at(kStart_ms, 2);
  journal.add(act(one, kStart_ms));
  journal.add(act(other, kStart_ms));
  Step late{.at_ms = kStart_ms + 1, .flow = one, .invocation = one, .kind = Step::Kind::late};
  journal.add(late);
  auto snapshot = store.read();
  auto numbers = [&](uint64_t head) {
    std::vector<uint64_t> numbers;
    auto steps = steps_from(**snapshot, head);
    EXPECT_TRUE(steps);
    for (const Step& step : *steps) numbers.push_back(step.seq);
    return numbers;
  };
  EXPECT_THAT(numbers(3), ElementsAre(1, 3));
  EXPECT_THAT(numbers(2), ElementsAre(2));
  EXPECT_THAT(numbers(0), ElementsAre());
}

TEST(JournalSearch, SaysWhichRecordIsMissing) {
  store::MemoryStore store;
  auto snapshot = store.read();
  auto steps = steps_from(**snapshot, 7);
  ASSERT_FALSE(steps);
  EXPECT_EQ(steps.error().code, Code::verification_failed);
  EXPECT_EQ(steps.error().message, "the journal lacks record 7");
  EXPECT_EQ(steps.error().next, "sluice audit verify");
}

TEST(JournalSearch, SaysThatARecordIsDamaged) {
  store::MemoryStore store;
  ASSERT_TRUE(store.commit({.journal = {{.seq = 1, .flow = test_id(1), .record = "{}"}}}));
  auto snapshot = store.read();
  EXPECT_EQ(find_begin(**snapshot, id_at(kStart_ms)).error().message,
            R"(a journal record is damaged: it does not begin with {"chain":" and 64 hex digits)");
  EXPECT_FALSE(steps_from(**snapshot, 1));
}

}  // namespace journal_search_test
}  // namespace sluice::engine
