// Each kind of field, and each way in which a document can be wrong, with the whole sentence.
#include "base/json_reader.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/json_writer.h"

namespace sluice {
namespace reader_test {

enum class Strategy { rolling, canary, delete_ };
BOOST_DESCRIBE_ENUM(Strategy, rolling, canary, delete_)

struct Seconds {
  int64_t count = 0;
  bool operator==(const Seconds&) const = default;
};

struct Step {
  int weight = 0;
  std::vector<Step> then;
  static constexpr std::string_view kDefaulted[] = {"then"};
  bool operator==(const Step&) const = default;
};
BOOST_DESCRIBE_STRUCT(Step, (), (weight, then))

struct App {
  std::string name;
  std::optional<std::string> note;
  uint16_t port = 8080;
  bool public_ = false;
  double ratio = 0;
  Strategy strategy = Strategy::rolling;
  std::map<std::string, int8_t> limits;
  std::vector<Step> steps;
  json::value extra;
  std::optional<Seconds> drain;
  std::optional<std::variant<int64_t, std::string, Step>> target;
  static constexpr std::string_view kDefaulted[] = {"port", "public", "ratio", "strategy", "limits", "steps", "extra"};
};
BOOST_DESCRIBE_STRUCT(App, (), (name, note, port, public_, ratio, strategy, limits, steps, extra, drain, target))

struct Wide {
  int64_t i = 0;
  uint64_t u = 0;
};
BOOST_DESCRIBE_STRUCT(Wide, (), (i, u))

struct Nothing {};
BOOST_DESCRIBE_STRUCT(Nothing, (), ())

}  // namespace reader_test

template <>
struct JsonScalar<reader_test::Seconds> {
  static constexpr std::string_view kExpected = "a duration such as \"5s\"";
  [[maybe_unused]] static constexpr std::string_view kPattern = "^[0-9]+s$";
  static Result<reader_test::Seconds> parse(std::string_view text) {
    if (!text.ends_with('s')) {
      return Error{.message = "expected a duration that ends in s", .next = "write it as \"5s\""};
    }
    return reader_test::Seconds{std::stoll(std::string(text))};
  }
  static std::string print(const reader_test::Seconds& seconds) { return std::to_string(seconds.count) + "s"; }
};

namespace json_reader_test {

using namespace reader_test;  // NOLINT: the types of this test

Result<App> read_app(std::string_view text) {
  auto document = parse_json(text, "app.json");
  if (!document) return document.error();
  return read<App>(*document);
}

std::string error_of(std::string_view text) {
  auto app = read_app(text);
  return app ? "no error" : to_string(app.error());
}

TEST(JsonReader, ReadsEveryKindOfField) {
  auto app = read_app(R"({"name": "shop", "note": "n", "port": 65535, "public": true, "ratio": 0.25,
    "strategy": "delete", "limits": {"a": -128, "b": 127}, "steps": [{"weight": 1, "then": [{"weight": 2}]}],
    "extra": {"any": [null]}, "drain": "30s", "target": "x"})");
  ASSERT_TRUE(app) << to_string(app.error());
  EXPECT_EQ(app->name, "shop");
  EXPECT_EQ(app->note, "n");
  EXPECT_EQ(app->port, 65535);
  EXPECT_TRUE(app->public_);
  EXPECT_EQ(app->ratio, 0.25);
  EXPECT_EQ(app->strategy, Strategy::delete_);
  EXPECT_EQ(app->limits, (std::map<std::string, int8_t>{{"a", -128}, {"b", 127}}));
  EXPECT_EQ(app->steps, (std::vector<Step>{{.weight = 1, .then = {{.weight = 2}}}}));
  EXPECT_EQ(write(app->extra), R"({"any":[null]})");
  EXPECT_EQ(app->drain, Seconds{30});
  EXPECT_EQ(std::get<std::string>(app->target.value()), "x");
}

TEST(JsonReader, LeavesOptionalFieldsEmptyAndDefaultedFieldsAsTheyAre) {
  auto app = read_app(R"({"name": "shop"})");
  ASSERT_TRUE(app) << to_string(app.error());
  EXPECT_EQ(app->note, std::nullopt);
  EXPECT_EQ(app->port, 8080);
  EXPECT_EQ(app->strategy, Strategy::rolling);
  EXPECT_EQ(app->target, std::nullopt);
}

TEST(JsonReader, ReadsAnIntegerAsADouble) { EXPECT_EQ(read_app(R"({"name": "", "ratio": 3})").value().ratio, 3.0); }

TEST(JsonReader, ReadsTheWholeRangeOf64BitIntegers) {
  auto wide = read<Wide>(parse_json(R"({"i": -9223372036854775808, "u": 18446744073709551615})").value());
  ASSERT_TRUE(wide) << to_string(wide.error());
  EXPECT_EQ(wide->i, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(wide->u, std::numeric_limits<uint64_t>::max());
}

TEST(JsonReader, ErrorsCarryCodePointerAndPosition) {
  auto app = read_app("{\"name\": \"shop\",\n  \"steps\": [{\"weight\": 1},\n            {\"weight\": \"2\"}]}");
  ASSERT_FALSE(app);
  EXPECT_EQ(app.error(), (Error{.code = Code::invalid,
                                .message = "expected an integer, found a string",
                                .path = "/steps/1/weight",
                                .position = Position{"app.json", 3, 14}}));
}

TEST(JsonReader, SaysTheNextStepForAField) {
  EXPECT_EQ(read_app(R"({"nmae": "shop"})").error().next, "rename the field");
  EXPECT_EQ(read_app(R"({"name": "shop", "zzzzzzzz": 1})").error().next, "remove or rename the field");
  EXPECT_EQ(read_app("{}").error().next, "add the field");
}

TEST(JsonReader, ErrorsOfABareValueHaveNoPosition) {
  auto app = read<App>(json::value{{"name", 1}});
  ASSERT_FALSE(app);
  EXPECT_EQ(to_string(app.error()), "/name: expected a string, found an integer");
}

TEST(JsonReader, RefusesTheWrongKind) {
  EXPECT_EQ(error_of("[]"), "app.json:1:1: expected an object, found an array");
  EXPECT_EQ(error_of(R"({"name": null})"), "app.json:1:2: /name: expected a string, found null");
  EXPECT_EQ(error_of(R"({"note": null})"), "app.json:1:2: /note: expected a string, found null");
  EXPECT_EQ(error_of(R"({"port": 80.5})"), "app.json:1:2: /port: expected an integer, found the number 80.5");
  EXPECT_EQ(error_of(R"({"public": "yes"})"), "app.json:1:2: /public: expected true or false, found a string");
  EXPECT_EQ(error_of(R"({"ratio": true})"), "app.json:1:2: /ratio: expected a number, found true");
  EXPECT_EQ(error_of(R"({"limits": []})"), "app.json:1:2: /limits: expected an object, found an array");
  EXPECT_EQ(error_of(R"({"steps": {}})"), "app.json:1:2: /steps: expected an array, found an object");
  EXPECT_EQ(error_of(R"({"strategy": 1})"),
            "app.json:1:2: /strategy: expected one of rolling, canary, delete, found an integer");
  EXPECT_EQ(error_of(R"({"drain": 5})"), "app.json:1:2: /drain: expected a duration such as \"5s\", found an integer");
  EXPECT_EQ(error_of(R"({"target": []})"),
            "app.json:1:2: /target: expected an integer or a string or an object, found an array");
}

TEST(JsonReader, RefusesIntegersOutOfRange) {
  EXPECT_EQ(error_of(R"({"port": 65536})"), "app.json:1:2: /port: expected an integer from 0 to 65535, found 65536");
  EXPECT_EQ(error_of(R"({"port": -1})"), "app.json:1:2: /port: expected an integer from 0 to 65535, found -1");
  EXPECT_EQ(error_of(R"({"port": 18446744073709551615})"),
            "app.json:1:2: /port: expected an integer from 0 to 65535, found 18446744073709551615");
  EXPECT_EQ(error_of(R"({"limits": {"a/b": 128}})"),
            "app.json:1:13: /limits/a~1b: expected an integer from -128 to 127, found 128");
  EXPECT_EQ(to_string(read<Wide>(parse_json(R"({"i": 9223372036854775808})").value()).error()),
            "1:2: /i: expected an integer from -9223372036854775808 to 9223372036854775807, found 9223372036854775808");
}

TEST(JsonReader, RefusesUnknownFieldsAndSuggestsTheNearest) {
  EXPECT_EQ(error_of(R"({"prot": 80, "name": 1})"), "app.json:1:2: /prot: unknown field, did you mean \"port\"?");
  EXPECT_EQ(error_of(R"({"steps": [{"hostname": 1}]})"),
            "app.json:1:13: /steps/0/hostname: unknown field, expected one of weight, then");
  EXPECT_EQ(to_string(read<Nothing>(json::value{{"a", 1}}).error()), "/a: unknown field, there are none here");
}

TEST(JsonReader, RefusesMissingFields) {
  EXPECT_EQ(error_of("\n{\"port\": 80}"), "app.json:2:1: /name: missing field, expected a string");
  EXPECT_EQ(error_of("{\"name\": \"\", \"steps\": [{}]}"),
            "app.json:1:24: /steps/0/weight: missing field, expected an integer");
}

TEST(JsonReader, RefusesUnknownEnumeratorsWithTheAllowedNames) {
  EXPECT_EQ(error_of(R"({"strategy": "big-bang"})"),
            "app.json:1:2: /strategy: expected one of rolling, canary, delete, found \"big-bang\"");
  EXPECT_EQ(
      error_of(R"({"strategy": "canery"})"),
      "app.json:1:2: /strategy: expected one of rolling, canary, delete, found \"canery\"; did you mean \"canary\"?");
}

TEST(JsonReader, GivesAScalarsOwnErrorItsPlace) {
  auto app = read_app(R"({"drain": "5m"})");
  ASSERT_FALSE(app);
  EXPECT_EQ(app.error(), (Error{.code = Code::invalid,
                                .message = "expected a duration that ends in s",
                                .next = "write it as \"5s\"",
                                .path = "/drain",
                                .position = Position{"app.json", 1, 2}}));
}

TEST(JsonReader, ReadsAVariantByTheKindOfItsValue) {
  EXPECT_EQ(std::get<int64_t>(read_app(R"({"name": "", "target": 7})").value().target.value()), 7);
  EXPECT_EQ(std::get<Step>(read_app(R"({"name": "", "target": {"weight": 5}})").value().target.value()),
            Step{.weight = 5});
  EXPECT_EQ(error_of(R"({"target": {"wieght": 5}})"),
            "app.json:1:13: /target/wieght: unknown field, did you mean \"weight\"?");
}

}  // namespace json_reader_test
}  // namespace sluice
