// The contract of Rows, as the memory keeps it.
#include "lang/run/memory_rows.h"

#include <gtest/gtest.h>

namespace sluice::lang {
namespace memory_rows_test {

TEST(MemoryRows, KeepsAndErases) {
  MemoryRows rows;
  EXPECT_EQ(rows.get("Box", "a"), std::nullopt);
  rows.put("Box", "a", 1);
  rows.put("Box", "a", 2);
  rows.put("Lid", "a", 3);
  EXPECT_EQ(rows.get("Box", "a"), json::value(2));
  EXPECT_TRUE(rows.erase("Box", "a"));
  EXPECT_FALSE(rows.erase("Box", "a"));
  EXPECT_FALSE(rows.erase("Bag", "a"));
  EXPECT_EQ(rows.get("Lid", "a"), json::value(3));
}

TEST(MemoryRows, ScansAPrefixInOrderAPageAtATime) {
  MemoryRows rows;
  for (const char* key : {"b1", "a2", "a1", "a3", "c"}) rows.put("Box", key, key);
  auto keys = [](const std::vector<Row>& found) {
    std::string all;
    for (const Row& row : found) all += row.key + " ";
    return all;
  };
  EXPECT_EQ(keys(rows.scan("Box", "a", "", 2)), "a1 a2 ");
  EXPECT_EQ(keys(rows.scan("Box", "a", "a2", 2)), "a3 ");
  EXPECT_EQ(keys(rows.scan("Box", "", "", 9)), "a1 a2 a3 b1 c ");
  EXPECT_EQ(keys(rows.scan("Box", "x", "", 9)), "");
  EXPECT_EQ(rows.last("Box", "a")->key, "a3");
  EXPECT_EQ(rows.last("Box", "x"), std::nullopt);
}

TEST(MemoryRows, FindsByAFieldOrAPath) {
  MemoryRows rows;
  rows.put("Box", "a", json::object{{"size", 1}, {"lid", json::object{{"colour", "red"}}}});
  rows.put("Box", "b", json::object{{"size", 2}});
  EXPECT_EQ(rows.find("Box", "size", 2).at(0).key, "b");
  EXPECT_EQ(rows.find("Box", "lid.colour", "red").at(0).key, "a");
  EXPECT_TRUE(rows.find("Box", "lid.colour.deep", "red").empty());
  EXPECT_TRUE(rows.find("Box", "none", nullptr).empty());
}

TEST(MemoryRows, MakesIdsInOrder) {
  MemoryRows rows;
  EXPECT_EQ(rows.new_id(), "00000000000000000000000001");
  EXPECT_EQ(rows.new_id(), "00000000000000000000000002");
}

}  // namespace memory_rows_test
}  // namespace sluice::lang
