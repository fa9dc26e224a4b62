// Keys of children, and the view that refuses to write.
#include "lang/run/rows.h"

#include <gtest/gtest.h>

#include "lang/run/memory_rows.h"

namespace sluice::lang {
namespace rows_test {

TEST(ChildKey, PartsTheOwnerFromTheElement) {
  EXPECT_EQ(child_key("a", "1"), std::string("a\0001", 3));
  EXPECT_EQ(child_key("a"), std::string("a\0", 2));
}

TEST(ReadOnlyRows, ReadsAndNeverWrites) {
  MemoryRows rows;
  rows.put("Box", "b1", json::object{{"n", 1}});
  ReadOnlyRows reads(rows);
  EXPECT_EQ(reads.get("Box", "b1"), json::value(json::object{{"n", 1}}));
  EXPECT_EQ(reads.scan("Box", "", "", 10).size(), 1);
  EXPECT_EQ(reads.last("Box", "")->key, "b1");
  EXPECT_EQ(reads.find("Box", "n", 1).size(), 1);
  EXPECT_EQ(reads.now(), rows.now());
  try {
    reads.put("Box", "b2", {});
    FAIL();
  } catch (const std::logic_error& thrown) {
    EXPECT_STREQ(thrown.what(), "a query wrote to Box");
  }
  EXPECT_THROW(reads.erase("Box", "b1"), std::logic_error);
  EXPECT_THROW(reads.new_id(), std::logic_error);
  EXPECT_EQ(rows.relations().at("Box").size(), 1);
}

}  // namespace rows_test
}  // namespace sluice::lang
