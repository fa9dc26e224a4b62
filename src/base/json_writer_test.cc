// What types become, and that reading gives them back.
#include "base/json_writer.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/json_reader.h"

namespace sluice {
namespace json_writer_test {

enum class Size { small, large_ };
BOOST_DESCRIBE_ENUM(Size, small, large_)

struct Box {
  std::string label;
  std::optional<int> weight;
  std::vector<Box> inner;
  bool operator==(const Box&) const = default;
};
BOOST_DESCRIBE_STRUCT(Box, (), (label, weight, inner))

struct Shelf {
  Size size = Size::small;
  uint64_t serial = 0;
  double height = 0;
  bool locked_ = false;
  std::vector<bool> taken;
  std::map<std::string, Box> boxes;
  json::value note;
  std::variant<int64_t, std::string> place;
  bool operator==(const Shelf&) const = default;
};
BOOST_DESCRIBE_STRUCT(Shelf, (), (size, serial, height, locked_, taken, boxes, note, place))

Shelf sample() {
  return Shelf{.size = Size::large_,
               .serial = 18446744073709551615U,
               .height = 1.0,
               .locked_ = true,
               .taken = {true, false},
               .boxes = {{"b", {.label = "x", .weight = -3, .inner = {{.label = "y"}}}}, {"a", {}}},
               .note = json::array{1, nullptr},
               .place = "hall"};
}

TEST(JsonWriter, WritesFieldsInTheirOrderAndLeavesAbsentOptionalsOut) {
  EXPECT_EQ(write(to_json(sample())),
            R"({"size":"large","serial":18446744073709551615,"height":1.0,"locked":true,"taken":[true,false],)"
            R"("boxes":{"a":{"label":"","inner":[]},"b":{"label":"x","weight":-3,"inner":[{"label":"y","inner":[]}]}},)"
            R"("note":[1,null],"place":"hall"})");
}

TEST(JsonWriter, WhatItWritesReadsBackTheSame) {
  auto back = read<Shelf>(to_json(sample()));
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(*back, sample());
}

}  // namespace json_writer_test
}  // namespace sluice
