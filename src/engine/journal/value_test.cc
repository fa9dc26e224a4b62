// What is equal, what comes first, and what is not there.
#include "engine/journal/value.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <cstdint>
#include <limits>

namespace sluice::engine {
namespace value_test {

json::value value(const std::string& text) { return json::parse(text); }

TEST(Value, NumbersAreEqualByWorth) {
  EXPECT_TRUE(equal(value("1"), value("1.0")));
  EXPECT_TRUE(equal(json::value(uint64_t{5}), json::value(int64_t{5})));
  EXPECT_TRUE(equal(value("-0.0"), value("0")));
  EXPECT_FALSE(equal(value("1"), value("1.5")));
  EXPECT_FALSE(equal(value("1"), value("\"1\"")));
  EXPECT_FALSE(equal(value("1"), value("true")));
}

TEST(Value, ListsAndRecordsAreEqualByWhatTheyHold) {
  EXPECT_TRUE(equal(value(R"({"a":1,"b":[2,{"c":3}]})"), value(R"({"b":[2.0,{"c":3}],"a":1})")));
  EXPECT_FALSE(equal(value("[1,2]"), value("[2,1]")));
  EXPECT_FALSE(equal(value(R"({"a":1})"), value(R"({"a":1,"b":1})")));
}

TEST(Value, TheOrderIsTotalAndAgreesWithEqualityAndHash) {
  std::vector<json::value> sorted = {value("null"),
                                     value("false"),
                                     value("true"),
                                     value("-1e300"),
                                     json::value(std::numeric_limits<int64_t>::min()),
                                     value("-1.5"),
                                     value("-1"),
                                     value("-0.5"),
                                     value("0"),
                                     value("0.5"),
                                     value("1"),
                                     json::value(9007199254740993),
                                     json::value(int64_t{9223372036854775807}),
                                     json::value(9223372036854775808.0),
                                     json::value(uint64_t{9223372036854775809u}),
                                     json::value(std::numeric_limits<uint64_t>::max()),
                                     value("1e300"),
                                     value("\"\""),
                                     value("\"a\""),
                                     value("\"b\""),
                                     value("[]"),
                                     value("[1]"),
                                     value("[1,0]"),
                                     value("[2]"),
                                     value("{}"),
                                     value(R"({"a":1})"),
                                     value(R"({"a":1,"b":0})"),
                                     value(R"({"a":2})"),
                                     value(R"({"b":0})")};
  for (size_t i = 0; i < sorted.size(); ++i) {
    for (size_t k = 0; k < sorted.size(); ++k) {
      EXPECT_TRUE(order(sorted[i], sorted[k]) == (i <=> k)) << i << " " << k;
      EXPECT_EQ(equal(sorted[i], sorted[k]), i == k) << i << " " << k;
      EXPECT_EQ(hash_of(sorted[i]) == hash_of(sorted[k]), i == k) << i << " " << k;
    }
  }
  EXPECT_EQ(hash_of(value("1")), hash_of(value("1.0")));
  EXPECT_EQ(hash_of(value(R"({"a":1})")), hash_of(value(R"({"a":1})").get_object()));
  EXPECT_EQ(hash_of(value("[0, -3]")), hash_of(value("[-0.0, -3.0]")));
  EXPECT_EQ(hash_of(value(R"({"a":1,"b":2})")), hash_of(value(R"({"b":2.0,"a":1})")));
  EXPECT_TRUE(order(Value(), Value(nullptr)) < 0);
}

TEST(Value, NullMembersAreNotThere) {
  json::object row = value(R"({"a":null,"b":{"c":{"d":1},"e":null}})").as_object();
  EXPECT_EQ(member(row, "a"), nullptr);
  EXPECT_EQ(member(row, "z"), nullptr);
  EXPECT_EQ(*member_at(row, "b.c.d"), value("1"));
  EXPECT_EQ(member_at(row, "b.e"), nullptr);
  EXPECT_EQ(member_at(row, "b.c.d.f"), nullptr);
  EXPECT_EQ(member_at(row, "b.x.d"), nullptr);
}

TEST(Value, TextShowsStringsBareAndTheRestAsJson) {
  EXPECT_EQ(text_of(value("\"a b\"")), "a b");
  EXPECT_EQ(text_of(value("[1,\"x\"]")), "[1,\"x\"]");
  EXPECT_EQ(text_of(value("true")), "true");
  EXPECT_EQ(text_of(Value()), "");
  EXPECT_EQ(text_of(value("null")), "");
}

TEST(Value, IsUtf8WhenAllOfItIs) {
  EXPECT_TRUE(is_utf8(value(R"({"ä":["ö",1,null]})")));
  EXPECT_FALSE(is_utf8(json::value("\xff")));
  EXPECT_FALSE(is_utf8(json::array{1, json::object{{"a", "\xfe"}}}));
  EXPECT_FALSE(is_utf8(json::object{{"\xfd", 1}}));
}

}  // namespace value_test
}  // namespace sluice::engine
