// RFC 8785's own samples and numbers, the order of keys, and what has no canonical form. tests/base/ compares many
// more numbers and objects with Node's.
#include "base/canonical_json.h"

#include <gtest/gtest.h>

#include <bit>
#include <boost/json.hpp>
#include <limits>

#include "base/json.h"

namespace sluice {
namespace canonical_json_test {

std::string canonical_of(std::string_view text) {
  auto document = parse_json(text);
  if (!document) return "not JSON: " + to_string(document.error());
  auto result = canonical(document->root);
  return result ? *result : to_string(result.error());
}

struct NumberRow {
  uint64_t bits;
  std::string_view text;
};

TEST(Rfc8785, PrintsTheNumbersOfAppendixB) {
  constexpr NumberRow kRows[] = {
      {0x0000000000000000, "0"},
      {0x8000000000000000, "0"},
      {0x0000000000000001, "5e-324"},
      {0x8000000000000001, "-5e-324"},
      {0x7fefffffffffffff, "1.7976931348623157e+308"},
      {0xffefffffffffffff, "-1.7976931348623157e+308"},
      {0x4340000000000000, "9007199254740992"},
      {0xc340000000000000, "-9007199254740992"},
      {0x4430000000000000, "295147905179352830000"},
      {0x44b52d02c7e14af5, "9.999999999999997e+22"},
      {0x44b52d02c7e14af6, "1e+23"},
      {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
      {0x444b1ae4d6e2ef4e, "999999999999999700000"},
      {0x444b1ae4d6e2ef4f, "999999999999999900000"},
      {0x444b1ae4d6e2ef50, "1e+21"},
      {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
      {0x3eb0c6f7a0b5ed8d, "0.000001"},
      {0x41b3de4355555553, "333333333.3333332"},
      {0x41b3de4355555554, "333333333.33333325"},
      {0x41b3de4355555555, "333333333.3333333"},
      {0x41b3de4355555556, "333333333.3333334"},
      {0x41b3de4355555557, "333333333.33333343"},
      {0xbecbf647612f3696, "-0.0000033333333333333333"},
      {0x43143ff3c1cb0959, "1424953923781206.2"},
      {0x7fffffffffffffff, "NaN has no canonical form"},
      {0x7ff0000000000000, "an infinite number has no canonical form"},
      {0xfff0000000000000, "an infinite number has no canonical form"},
  };
  for (const NumberRow& row : kRows) {
    auto result = canonical(std::bit_cast<double>(row.bits));
    EXPECT_EQ(result ? *result : result.error().message, row.text) << std::hex << row.bits;
  }
}

TEST(Rfc8785, WritesTheSampleOfSection322) {
  EXPECT_EQ(canonical_of(R"({
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  })"),
            "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
            "\"string\":\"\u20ac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
}

TEST(Rfc8785, SortsTheKeysOfSection323) {
  EXPECT_EQ(canonical_of(R"({
    "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
    "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis"
  })"),
            "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\","
            "\"\u00f6\":\"Latin Small Letter O With Diaeresis\",\"\u20ac\":\"Euro Sign\","
            "\"\U0001F600\":\"Emoji: Grinning Face\",\"\uFB33\":\"Hebrew Letter Dalet With Dagesh\"}");
}

TEST(Rfc8785, SortsByUtf16CodeUnitsAtEveryLevel) {
  EXPECT_EQ(
      canonical_of(
          R"({"b": {"\uffff": 1, "\ud800\udc00": 2, "\ud7ff": 3, "\ue000": 4}, "aa": [{"z": 0, "": 1}], "a": 2})"),
      "{\"a\":2,\"aa\":[{\"\":1,\"z\":0}],\"b\":{\"\uD7FF\":3,\"\U00010000\":2,\"\uE000\":4,\"\uFFFF\":1}}");
}

TEST(Rfc8785, EscapesOnlyWhatJsonMust) {
  EXPECT_EQ(canonical_of(R"("\u0000\u0001\b\t\n\u000b\f\r\u001f\"\\\/\u007f\u2028")"),
            "\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f\\\"\\\\/\u007F\u2028\"");
}

TEST(Rfc8785, KeepsIntegersThatADoubleHolds) {
  EXPECT_EQ(canonical_of("[0, -0, -1, 9007199254740992, -9007199254740992, 9007199254740994]"),
            "[0,0,-1,9007199254740992,-9007199254740992,9007199254740994]");
  EXPECT_EQ(canonical_of("1152921504606846976"), "1152921504606847000");  // 2^60
  EXPECT_EQ(canonical_of("1152921504606847000"), "1152921504606847000");
  EXPECT_EQ(canonical_of("9223372036854775808"), "9223372036854776000");  // 2^63
  EXPECT_EQ(canonical_of("-9223372036854775808"), "-9223372036854776000");
  EXPECT_EQ(canonical_of("100000000000000000000"), "100000000000000000000");
}

TEST(Rfc8785, RefusesIntegersThatADoubleCannotHold) {
  EXPECT_EQ(canonical_of(R"({"a": [1, {"~": 9007199254740993}]})"),
            "/a/1/~0: the integer 9007199254740993 has no canonical form, a double cannot hold it exactly");
  EXPECT_EQ(canonical_of("-9007199254740993"),
            "the integer -9007199254740993 has no canonical form, a double cannot hold it exactly");
  EXPECT_EQ(canonical_of("9223372036854775807"),
            "the integer 9223372036854775807 has no canonical form, a double cannot hold it exactly");
  EXPECT_EQ(canonical_of("18446744073709551615"),
            "the integer 18446744073709551615 has no canonical form, a double cannot hold it exactly");
}

TEST(Rfc8785, RefusesNanAndInfinityWithTheirPointer) {
  auto result = canonical(json::value{{"b", 1}, {"a", {1.5, std::numeric_limits<double>::quiet_NaN()}}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), (Error{.code = Code::invalid, .message = "NaN has no canonical form", .path = "/a/1"}));
}

TEST(Rfc8785, RefusesStringsThatAreNotUtf8) {
  EXPECT_EQ(to_string(canonical(json::value{{"a", "\xED\xA0\x80"}}).error()),
            "/a: a string that is not valid UTF-8 has no canonical form");
  EXPECT_FALSE(canonical(json::value{{"\xFF", 1}}));
}

TEST(Rfc8785, RefusesTreesThatAreTooDeep) {
  auto nested = [](size_t depth) {
    return parse_json(std::string(depth, '[') + std::string(depth, ']'), "", {.max_depth = depth}).value().root;
  };
  EXPECT_TRUE(canonical(nested(1000)));
  EXPECT_EQ(canonical(nested(1001)).error().code, Code::limit);
  EXPECT_EQ(canonical(nested(1001)).error().message, "arrays and objects are nested deeper than 1000 levels");
}

TEST(Rfc8785, IsTheSameForEqualValues) {
  EXPECT_EQ(canonical_of(R"({"b": 1.0, "a": "\u0041"})"), canonical_of("{\"a\":\"A\",\n\"b\":1e0}"));
}

}  // namespace canonical_json_test
}  // namespace sluice
