// What is read and refused as JSON, where errors point, and that writing reads back.
#include "base/json.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>
#include <limits>

#include "base/yaml.h"
#include "base/yaml_emit.h"

namespace sluice {
namespace json_test {

std::string error_of(std::string_view text, JsonLimits limits = {}) {
  auto document = parse_json(text, "x.json", limits);
  return document ? "no error" : to_string(document.error());
}

std::string nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(Json, IsReadTheSameWithoutMarks) {
  const char* text = R"({"a": [1, "two", null]})";
  EXPECT_EQ(*parse_json_value(text), parse_json(text)->root);
  EXPECT_EQ(to_string(parse_json_value("{\n  1}").error()), to_string(parse_json("{\n  1}").error()));
  EXPECT_EQ(parse_json_value("[[1]]", {.max_depth = 1}).error().code, Code::limit);
}

TEST(Json, ReadsEveryKindOfValue) {
  auto document = parse_json(R"( {"n": null, "t": true, "f": false, "i": -7, "u": 18446744073709551615,
    "d": 0.5, "s": "a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00", "a": [1, [], {}], "": ""} )",
                             "x.json");
  ASSERT_TRUE(document) << to_string(document.error());
  const json::object& root = document->root.as_object();
  EXPECT_TRUE(root.at("n").is_null());
  EXPECT_EQ(root.at("t"), json::value(true));
  EXPECT_EQ(root.at("f"), json::value(false));
  EXPECT_EQ(root.at("i"), json::value(-7));
  EXPECT_EQ(root.at("u").as_uint64(), 18446744073709551615U);
  EXPECT_EQ(root.at("d").as_double(), 0.5);
  EXPECT_EQ(root.at("s").as_string(), "a\"\\/\b\f\n\r\t\u00e9\U0001F600");
  EXPECT_EQ(write(root.at("a")), "[1,[],{}]");
  EXPECT_EQ(root.at("").as_string(), "");
  EXPECT_EQ(document->file, "x.json");
}

TEST(Json, ReadsEscapedKeys) {
  auto document = parse_json(R"({"a\u0062c": 1, "\n": 2})");
  ASSERT_TRUE(document);
  EXPECT_EQ(write(document->root), R"({"abc":1,"\n":2})");
}

TEST(Json, ReadsDoublesToTheLastBit) {
  auto number = [](std::string_view text) { return parse_json(text).value().root.as_double(); };
  EXPECT_EQ(number("0.1"), 0.1);
  EXPECT_EQ(number("9007199254740993.0"), 9007199254740992.0);
  EXPECT_EQ(number("2.2250738585071291e-308"), 2.2250738585071291e-308);
  EXPECT_EQ(number("5e-324"), 5e-324);
  EXPECT_EQ(number("1.7976931348623157e308"), 1.7976931348623157e308);
  EXPECT_EQ(number("18446744073709551616.0"), 18446744073709551616.0);
  EXPECT_EQ(number("1e-400"), 0.0);
  EXPECT_TRUE(std::signbit(number("-1e-400")));
  EXPECT_TRUE(std::signbit(number("-0.0")));
}

TEST(Json, RefusesIntegersBeyond64Bits) {
  EXPECT_EQ(error_of("123456789012345678901234567890"), "x.json:1:1: the integer does not fit into 64 bits");
  EXPECT_EQ(error_of("{\"a\":\n  [1, -9223372036854775809]}"),
            "x.json:2:7: /a/1: the integer does not fit into 64 bits");
  EXPECT_EQ(error_of("[18446744073709551616 ]"), "x.json:1:2: /0: the integer does not fit into 64 bits");
  EXPECT_EQ(error_of(std::string(100'000, '9')), "x.json:1:1: the integer does not fit into 64 bits");
  EXPECT_EQ(parse_json("-9223372036854775808").value().root.as_int64(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(parse_json("18446744073709551615").value().root.as_uint64(), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(parse_json("-0").value().root.as_int64(), 0);
  EXPECT_EQ(parse_json("1E30").value().root.as_double(), 1e30);
}

TEST(Json, ReadsTheLargeDoublesOfCanonicalText) {
  EXPECT_EQ(parse_json("100000000000000000000").value().root.as_double(), 1e20);
  EXPECT_EQ(parse_json("-9223372036854776000").value().root.as_double(), -9223372036854775808.0);
  EXPECT_EQ(error_of("100000000000000000001"), "x.json:1:1: the integer does not fit into 64 bits");
  EXPECT_EQ(error_of("1000000000000000000000"), "x.json:1:1: the integer does not fit into 64 bits");  // 1e+21
}

TEST(Json, ReadsAndYamlReadsAgainWhatIsAsDeepAsCanBe) {
  json::value deepest = parse_json(nested(128)).value().root;
  EXPECT_EQ(parse_yaml(emit_yaml(deepest)).value().root, deepest);
  EXPECT_EQ(parse_json(write(deepest)).value().root, deepest);
  EXPECT_FALSE(parse_yaml(nested(129)));
}

TEST(Json, MarksEachNodeInPreOrderWithMembersAtTheirKeys) {
  auto document = parse_json("{\n  \"a\": [1, \"\xC3\xA9\", {\"b\\\"\": null}],\n\t\"c\": -2.5e3\n}", "x.json");
  ASSERT_TRUE(document) << to_string(document.error());
  EXPECT_EQ(document->marks, (std::vector<Mark>{{1, 1}, {2, 3}, {2, 9}, {2, 12}, {2, 17}, {2, 18}, {3, 2}}));
  EXPECT_EQ(document->position_of("/a/2/b\""), (Position{"x.json", 2, 18}));
}

TEST(Json, RefusesDuplicateKeysWithTheirPointerAndPosition) {
  auto document = parse_json("{\"a\": [0, {\"k/\": 1,\n  \"k\\/\": 2}]}", "x.json");
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error(), (Error{.code = Code::invalid,
                                     .message = "duplicate key \"k/\"",
                                     .next = "remove one of the two",
                                     .path = "/a/1/k~1",
                                     .position = Position{"x.json", 2, 3}}));
}

TEST(Json, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(error_of(""), "x.json:1:1: the JSON text ends too early");
  EXPECT_EQ(error_of("  \n"), "x.json:2:1: the JSON text ends too early");
  EXPECT_EQ(error_of("{\"a\": [1,"), "x.json:1:10: the JSON text ends too early");
  EXPECT_EQ(error_of("\"abc"), "x.json:1:5: the JSON text ends too early");
  EXPECT_EQ(error_of("-"), "x.json:1:2: the JSON text ends too early");
  EXPECT_EQ(error_of("[1,]"), "x.json:1:4: not valid JSON: unexpected ']'");
  EXPECT_EQ(error_of("{\"a\": 1,}"), "x.json:1:9: not valid JSON: unexpected '}'");
  EXPECT_EQ(error_of("{a: 1}"), "x.json:1:2: not valid JSON: unexpected 'a'");
  EXPECT_EQ(error_of("[\n  1 // one\n]"), "x.json:2:5: not valid JSON: unexpected '/'");
  EXPECT_EQ(error_of("[01]"), "x.json:1:3: not valid JSON: unexpected '1'");
  EXPECT_EQ(error_of("[NaN]"), "x.json:1:2: not valid JSON: unexpected 'N'");
  EXPECT_EQ(error_of("{} x"), "x.json:1:4: unexpected text after the JSON value");
  EXPECT_EQ(error_of("1 2"), "x.json:1:3: unexpected text after the JSON value");
  EXPECT_EQ(error_of("\"\\ud800\\u0041\""), "x.json:1:10: a \\u escape is half of a surrogate pair");
  EXPECT_EQ(error_of("\"\\u12x4\""), "x.json:1:6: a \\u escape needs four hexadecimal digits");
  EXPECT_EQ(error_of("[1e400]"), "x.json:1:2: /0: the number is too large");
  EXPECT_EQ(error_of("\xEF\xBB\xBF{}"), "x.json:1:1: not valid JSON: unexpected byte 0xef");
}

TEST(Json, CountsColumnsInCodePoints) {
  EXPECT_EQ(error_of("[\"\xC3\xA9\xF0\x9F\x98\x80\", x]"), "x.json:1:8: not valid JSON: unexpected 'x'");
}

TEST(Json, RefusesInvalidUtf8) {
  for (std::string_view bad : {"\x80", "\xC3", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF", "\xE2\x82"}) {
    EXPECT_FALSE(parse_json("[\"" + std::string(bad) + "\"]"));
    EXPECT_FALSE(parse_json("{\"" + std::string(bad) + "\": 1}"));
  }
  EXPECT_EQ(error_of("[\"\xFF\"]"), "x.json:1:3: not valid JSON: unexpected byte 0xff");
}

TEST(Json, RefusesNulAndControlBytes) {
  EXPECT_EQ(error_of(std::string_view("[1]\0", 4)), "x.json:1:4: unexpected text after the JSON value");
  EXPECT_EQ(error_of(std::string_view("[\"a\0\"]", 6)), "x.json:1:4: not valid JSON: unexpected byte 0x00");
  EXPECT_EQ(error_of("[\"\n\"]"), "x.json:1:3: not valid JSON: unexpected byte 0x0a");
}

TEST(Json, LimitsDepth) {
  EXPECT_TRUE(parse_json(nested(128)));
  EXPECT_EQ(error_of(nested(129)), "x.json:1:129: arrays and objects are nested deeper than 128 levels");
  EXPECT_EQ(error_of(std::string(1'000'000, '[')),
            "x.json:1:129: arrays and objects are nested deeper than 128 levels");
  EXPECT_EQ(error_of(nested(3), {.max_depth = 2}), "x.json:1:3: arrays and objects are nested deeper than 2 levels");
}

TEST(Json, LimitsSize) {
  EXPECT_TRUE(parse_json("[10]", "", {.max_bytes = 4}));
  EXPECT_EQ(error_of("[100]", {.max_bytes = 4}), "x.json:1:1: the JSON text is larger than 4 bytes");
}

TEST(Json, LimitsTheNumberOfValues) {
  EXPECT_TRUE(parse_json(R"({"a": [1, "b"]})", "", {.max_nodes = 4}));
  for (std::string_view last : {"2", "-2", "0.5", "18446744073709551615", "true", "null", R"("c")", "[]", "{}"}) {
    auto document = parse_json(R"({"a": [1, "b", )" + std::string(last) + "]}", "", {.max_nodes = 4});
    ASSERT_FALSE(document) << last;
    EXPECT_EQ(document.error().path, "/a/2");
    EXPECT_EQ(document.error().message, "the JSON text has more than 4 values");
  }
}

TEST(Json, SaysThatALimitWasReachedAndTheNextStep) {
  auto error = [](std::string_view text, JsonLimits limits) { return parse_json(text, "", limits).error(); };
  for (const Error& reached :
       {error("[[1]]", {.max_depth = 1}), error("[1]", {.max_bytes = 2}), error("[1]", {.max_nodes = 1})}) {
    EXPECT_EQ(reached.code, Code::limit);
    EXPECT_NE(reached.next, "");
  }
  EXPECT_EQ(parse_json("[1").error().code, Code::invalid);
}

TEST(Json, WritesCompactly) {
  json::value value = {{"z", {1, -2, 18446744073709551615U}}, {"a", {{"s", "\"\\\x01\n\u00e9/"}, {"n", nullptr}}}};
  EXPECT_EQ(write(value), "{\"z\":[1,-2,18446744073709551615],\"a\":{\"s\":\"\\\"\\\\\\u0001\\n\u00e9/\",\"n\":null}}");
  EXPECT_EQ(write(json::array{}), "[]");
  EXPECT_EQ(write(json::object{}), "{}");
}

TEST(Json, WritesForPeople) {
  EXPECT_EQ(write_pretty(parse_json(R"({"a":[1,{"b":true}],"c":{},"d":[]})").value().root),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": true\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}\n");
}

TEST(Json, WritesDoublesSoThatTheyReadBackAsDoubles) {
  for (double number : {1.0, -0.0, 0.1, 1e19, 1e20, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, -123456.789}) {
    json::value back = parse_json(write(number)).value().root;
    ASSERT_TRUE(back.is_double()) << write(number);
    EXPECT_EQ(back.as_double(), number);
    EXPECT_EQ(std::signbit(back.as_double()), std::signbit(number));
  }
  EXPECT_EQ(write(1.0), "1.0");
  EXPECT_EQ(write(1e21), "1e+21");
}

TEST(Json, WritesWhatJsonCannotSay) {
  EXPECT_EQ(write(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(write(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(write(json::value("a\xFF\xC3z")), "\"a\uFFFD\uFFFDz\"");
}

}  // namespace json_test
}  // namespace sluice
