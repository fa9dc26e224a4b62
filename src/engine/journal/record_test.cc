// How records are named.
#include "engine/journal/record.h"

#include <gtest/gtest.h>

#include "engine/testing_engine.h"

namespace sluice::engine {
namespace record_test {

TEST(Record, IdsTellRequestsFromCompletions) {
  RecordId completion{test_id(7), RecordKind::completion}, request{test_id(7), RecordKind::request};
  EXPECT_EQ(to_string(completion), sluice::to_string(test_id(7)));
  EXPECT_EQ(to_string(request), sluice::to_string(test_id(7)) + "?");
  EXPECT_LT(request, completion);
  EXPECT_LT(completion, (RecordId{test_id(8), RecordKind::request}));
}

}  // namespace record_test
}  // namespace sluice::engine
