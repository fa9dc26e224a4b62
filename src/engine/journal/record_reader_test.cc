// Records of packed flows read as those of the others.
#include "engine/journal/record_reader.h"

#include <gtest/gtest.h>

#include "engine/journal/retention.h"
#include "engine/testing_engine.h"
#include "engine/testing_journal.h"
#include "store/memory_store.h"

namespace sluice::engine {
namespace record_reader_test {

std::vector<std::string> records_in(store::Store& store) {
  auto snapshot = store.read();
  RecordReader reader(**snapshot);
  std::vector<std::string> records;
  auto read = (*snapshot)->journal_from(1, [&](const store::JournalRow& row) {
    auto record = reader.read(row);
    EXPECT_TRUE(record) << to_string(record.error());
    if (record) records.emplace_back(*record);
    return true;
  });
  EXPECT_TRUE(read);
  return records;
}

TEST(RecordReader, ReadsPackedFlowsThatInterleave) {
  store::MemoryStore store;
  TestingJournal journal(store);
  for (int i = 0; i < 30; ++i) {
    Ulid flow = test_id(1 + i % 3);
    journal.add({.flow = flow, .invocation = flow, .action = "A/go", .end = End{.variant = "ok"}},
                i % 3 == 2 ? store::FlowStatus::running : store::FlowStatus::settled_ok);
  }
  auto before = records_in(store);
  ASSERT_EQ(before.size(), 30U);
  ASSERT_EQ(*pack_settled(store, 0, {.keep_flows = 0}), 2U);
  EXPECT_EQ(records_in(store), before);
}

TEST(RecordReader, SaysWhichRecordIsNowhere) {
  store::MemoryStore store;
  auto snapshot = store.read();
  RecordReader reader(**snapshot);
  auto record = reader.read({.seq = 4, .flow = test_id(1)});
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().code, Code::verification_failed);
  EXPECT_EQ(record.error().message,
            "the records of flow " + to_string(test_id(1)) + " are neither in the journal nor packed");
}

}  // namespace record_reader_test
}  // namespace sluice::engine
