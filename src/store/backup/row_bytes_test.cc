// Rows become bytes and come back as they were.
#include "store/backup/row_bytes.h"

#include <gtest/gtest.h>

#include "store/store_conformance.h"

namespace sluice::store {
namespace row_bytes_test {

Batch every_kind() {
  return {.journal = {{.seq = 300, .flow = test_id(1), .prev = 7, .record = "{}"},
                      {.seq = 301, .flow = test_id(2), .packed_hash = "h"}},
          .state = {{.rel = "A", .key = std::string("a\0b", 3), .generation = 200, .seq = 300, .value = "1"},
                    {.rel = "A", .key = "gone", .seq = 1}},
          .lookups = {{.rel = "A", .field = "f", .value = "1", .key = "a"},
                      {.rel = "A", .field = "f", .value = "1", .key = "b", .present = false}},
          .flows = {{.id = test_id(1),
                     .head = 300,
                     .status = FlowStatus::stuck,
                     .sync_set = "s",
                     .settled_at_ms = 5,
                     .summary = "{}"}},
          .heads = {{.id = test_id(2), .head = 301}},
          .timers = {{.invocation = test_id(3), .flow = test_id(1), .due_ms = 1'700'000'000'000}},
          .timers_done = {test_id(4)},
          .keys = {{.caller = "c",
                    .key = "k",
                    .request_hash = "h",
                    .flow = test_id(1),
                    .invocation = test_id(3),
                    .expires_ms = 9}},
          .sync_sets = {{"h", "content"}},
          .meta = {{"name", "value"}},
          .packed = {{test_id(2), "blob"}}};
}

TEST(RowBytes, GiveBackWhatWasWritten) {
  const std::string bytes = bytes_of(every_kind());
  auto again = batch_in(bytes);
  ASSERT_TRUE(again);
  EXPECT_EQ(bytes_of(*again), bytes);
  EXPECT_EQ(again->journal, every_kind().journal);
  EXPECT_EQ(again->flows, every_kind().flows);
  EXPECT_EQ(again->timers, every_kind().timers);
  EXPECT_EQ(again->keys, every_kind().keys);
  EXPECT_EQ(again->state[1].value, std::nullopt);
  EXPECT_EQ(again->packed, every_kind().packed);
}

TEST(RowBytes, AreRefusedWhereverTheyAreCut) {
  const std::string bytes = bytes_of(every_kind());
  size_t read = 0;
  for (size_t size = 0; size < bytes.size(); ++size) {
    auto batch = batch_in(std::string_view(bytes).substr(0, size));
    if (!batch) {
      EXPECT_EQ(batch.error().code, Code::verification_failed);
      continue;
    }
    ++read;
    EXPECT_EQ(bytes_of(*batch), bytes.substr(0, size)) << "only whole rows are read";
  }
  EXPECT_EQ(read, 14U) << "between two rows";
  EXPECT_EQ(batch_in("?").error().code, Code::verification_failed);
}

}  // namespace row_bytes_test
}  // namespace sluice::store
