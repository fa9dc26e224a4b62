// Each construct becomes the schema that it says, and what is none is told with its place.
#include "cli/shape.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sluice::cli {
namespace shape_test {

const ShapeBook kBook{.shape =
                          [](std::string_view name) {
                            return std::string(name == "pair" ? "{ a: text }" : name == "self" ? "[@self]" : "");
                          },
                      .answer = [](std::string_view action) -> json::value {
                        if (action != "Job/start") return nullptr;
                        return {{"type", "object"},
                                {"properties", {{"job", {{"type", "string"}}}}},
                                {"required", json::array{"job"}},
                                {"additionalProperties", false}};
                      },
                      .view = [](std::string_view name) -> json::value {
                        if (name != "jobs") return nullptr;
                        return {{"type", "array"}};
                      }};

json::value made(std::string_view shape) {
  auto schema = schema_of_shape(shape, kBook);
  return schema ? json::value(*schema) : json::value(schema.error().message);
}

TEST(Shape, TakesViewsAsTheyAre) {
  EXPECT_EQ(made("&jobs"), json::parse(R"({"type":"array"})"));
  EXPECT_EQ(made("&jobs | text").at("anyOf").as_array().size(), 2U);
  EXPECT_TRUE(made("&work").is_string());
}

TEST(Shape, KnowsPlainTypes) {
  EXPECT_EQ(made("text"), json::parse(R"({"type":"string"})"));
  EXPECT_EQ(made("int?"), json::parse(R"({"anyOf":[{"type":"integer"},{"type":"null"}]})"));
  EXPECT_EQ(made("'a' | 'b'"), json::parse(R"({"anyOf":[{"const":"a"},{"const":"b"}]})"));
  EXPECT_EQ(made("[bool]"), json::parse(R"({"type":"array","items":{"type":"boolean"}})"));
  EXPECT_EQ(made("time"), json::parse(R"({"type":"string","format":"date-time"})"));
  EXPECT_EQ(made("any"), json::object());
}

TEST(Shape, KnowsObjects) {
  EXPECT_EQ(
      made("{ a: number, b?: object }"),
      json::parse(R"({"type":"object","properties":{"a":{"type":"number"},"b":{"type":"object"}},"required":["a"]})"));
  EXPECT_EQ(made("{ *: text }"),
            json::parse(R"({"type":"object","properties":{},"required":[],"additionalProperties":{"type":"string"}})"));
  EXPECT_EQ(
      made("@pair + { b: int }"),
      json::parse(
          R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a","b"]})"));
}

TEST(Shape, TakesAnswersFromActions) {
  EXPECT_EQ(
      made("=Job/start"),
      json::parse(
          R"({"type":"object","properties":{"job":{"type":"string"},"flow":{"type":"string"}},"required":["job","flow"]})"));
  EXPECT_EQ(made("~Job/start"),
            json::parse(R"({"type":"object","properties":{"job":{"type":"string"}},"required":["job"]})"));
}

TEST(Shape, ClosedObjectsHaveNoFurtherMembers) {
  EXPECT_EQ(closed(schema_of_shape("[{ a: { *: text } }]", kBook).value()),
            json::parse(R"({"type":"array","items":{"type":"object","properties":{"a":{"type":"object",
                "properties":{},"required":[],"additionalProperties":{"type":"string"}}},"required":["a"],
                "additionalProperties":false}})"));
}

TEST(Shape, SaysWhatIsWrong) {
  EXPECT_EQ(made("txt"), "expected a shape at 'txt' of a shape");
  EXPECT_EQ(made("{ a }"), "expected : at '}' of a shape");
  EXPECT_EQ(made("[text"), "expected ] at '' of a shape");
  EXPECT_EQ(made("@none"), "expected a name that is known before at '' of a shape");
  EXPECT_EQ(made("=Job/none"), "expected an action that is known before at '' of a shape");
  EXPECT_EQ(made("@self"), "expected a shape that does not name itself at '[@self]' of a shape");
}

}  // namespace shape_test
}  // namespace sluice::cli
