// Tables, lists and sets over rows in memory, beyond one page.
#include "lang/run/state.h"

#include <gtest/gtest.h>

#include "lang/run/memory_rows.h"

namespace sluice::lang {
namespace state_test {

struct Box {
  int64_t size = 0;
  std::optional<std::string> label;

  bool operator==(const Box&) const = default;
};
BOOST_DESCRIBE_STRUCT(Box, (), (size, label))
using BoxId = Id<struct BoxOwner>;

TEST(Table, AddsEditsFindsAndErases) {
  MemoryRows rows;
  Table<BoxId, Box> boxes(rows, "Box");
  BoxId one = boxes.add({.size = 1});
  BoxId two = boxes.add({.size = 2, .label = "two"});
  EXPECT_EQ(boxes.get(two), (Box{.size = 2, .label = "two"}));
  EXPECT_TRUE(boxes.edit(one, [](Box& box) { box.size = 2; }));
  EXPECT_FALSE(boxes.edit(BoxId("x"), [](Box&) { FAIL(); }));
  EXPECT_EQ(boxes.find("size", int64_t{2}).size(), 2);
  EXPECT_EQ(boxes.find("label", std::string("two")).at(0).id, two);
  EXPECT_TRUE(boxes.erase(one));
  EXPECT_FALSE(boxes.has(one));
  EXPECT_EQ(boxes.get(one), std::nullopt);
}

TEST(Table, WalksAllRowsInOrderAcrossPages) {
  MemoryRows rows;
  Table<BoxId, Box> boxes(rows, "Box");
  for (int i = 0; i < 600; i++) boxes.add({.size = i});
  int64_t next = 0;
  for (const auto& [id, box] : boxes.all()) EXPECT_EQ(box.size, next++);
  EXPECT_EQ(next, 600);
}

TEST(Table, RefusesKeysThatNoRowCanHave) {
  MemoryRows rows;
  Table<std::string, Box> boxes(rows, "Box");
  EXPECT_THROW(boxes.put("", {}), std::invalid_argument);
  EXPECT_THROW(boxes.put(std::string("a\0b", 3), {}), std::invalid_argument);
}

TEST(Table, SaysWhichRowDoesNotFit) {
  MemoryRows rows;
  rows.put("Box", "b", json::object{{"size", "large"}});
  try {
    Table<std::string, Box>(rows, "Box").get("b");
    FAIL();
  } catch (const std::runtime_error& thrown) {
    EXPECT_STREQ(thrown.what(), "the row \"b\" of Box is not readable: /size: expected an integer, found a string");
  }
}

TEST(List, IsEditedElementByElement) {
  MemoryRows rows;
  List<std::string> names(rows, "Box.names", "b");
  EXPECT_TRUE(names.empty());
  EXPECT_EQ(names.push("a"), 0);
  EXPECT_EQ(names.push("b"), 1);
  EXPECT_EQ(names.push("c"), 2);
  EXPECT_TRUE(names.erase(1));
  EXPECT_FALSE(names.erase(1));
  EXPECT_FALSE(names.put(1, "x"));
  EXPECT_TRUE(names.put(2, "C"));
  EXPECT_EQ(names.push("d"), 3);
  EXPECT_EQ(names.values(), (std::vector<std::string>{"a", "C", "d"}));
  EXPECT_EQ(names.at(2), "C");
  EXPECT_EQ(names.at(1), std::nullopt);
  names.assign({"x"});
  EXPECT_EQ(names.values(), std::vector<std::string>{"x"});
}

TEST(List, HoldsManyAndKeepsThoseOfOthersApart) {
  MemoryRows rows;
  List<int64_t> numbers(rows, "Box.numbers", "b");
  List<int64_t> others(rows, "Box.numbers", "b2");
  for (int i = 0; i < 1000; i++) numbers.push(i);
  others.push(7);
  EXPECT_EQ(numbers.size(), 1000);
  int64_t next = 0;
  for (const auto& element : numbers) {
    EXPECT_EQ(element.number, next);
    EXPECT_EQ(element.value, next++);
  }
  numbers.clear();
  EXPECT_TRUE(numbers.empty());
  EXPECT_EQ(others.size(), 1);
}

TEST(Set, KeepsEachValueOnce) {
  MemoryRows rows;
  Set<std::string> names(rows, "Box.names", "b");
  EXPECT_TRUE(names.insert("b"));
  EXPECT_TRUE(names.insert(std::string("a\0", 2)));
  EXPECT_FALSE(names.insert("b"));
  EXPECT_TRUE(names.contains("b"));
  EXPECT_EQ(names.values(), (std::vector<std::string>{std::string("a\0", 2), "b"}));
  EXPECT_TRUE(names.erase("b"));
  EXPECT_FALSE(names.contains("b"));
  EXPECT_EQ(names.size(), 1);
}

}  // namespace state_test
}  // namespace sluice::lang
