// Checks, defaults and types of schemas.
#include "render/component/schema.h"

#include <gtest/gtest.h>

namespace sluice::component::schema_test {
namespace {

std::string checked(const char* schema, const char* value) {
  auto parsed = Schema::parse(json::object{{"openAPIV3Schema", json::parse(schema)}});
  if (!parsed) return parsed.error().message;
  std::string text;
  for (const auto& fault : parsed->check(json::parse(value))) text += fault.path + ": " + fault.message + "\n";
  return text;
}

TEST(Schema, EveryFaultIsToldWithItsPlace) {
  const char* schema =
      R"({"properties": {"n": {"type": "integer", "minimum": 1}, "s": {"type": "string", "maxLength": 2},
      "l": {"type": "array", "items": {"enum": ["a", "b"]}}}, "required": ["n"], "additionalProperties": false})";
  EXPECT_EQ(checked(schema, R"({"n": 1, "s": "é€", "l": ["a"]})"), "");
  EXPECT_EQ(checked(schema, R"({"s": "abc", "l": ["c"], "x": 1})"),
            ": 'n' is missing\n/s: expected at most 2 characters\n/l/0: expected one of [\"a\",\"b\"]\n"
            "/x: there is no such field; there are n, s, l\n");
  EXPECT_EQ(checked(schema, R"({"n": 1.5})"), "/n: expected integer, found number\n");
  EXPECT_EQ(checked(schema, R"({"n": 0})"), "/n: expected at least 1\n");
}

TEST(Schema, ReferencesAndChoices) {
  const char* schema = R"({"$defs": {"port": {"type": "integer", "maximum": 65535}},
      "properties": {"p": {"$ref": "#/$defs/port"}, "q": {"oneOf": [{"type": "integer"}, {"type": "string"}]},
      "r": {"not": {"type": "null"}}, "s": {"anyOf": [{"const": 1}, {"const": 2}]}, "u": {"$ref": "#/$defs/none"}}})";
  EXPECT_EQ(checked(schema, R"({"p": 1, "q": "x", "r": 1, "s": 2})"), "");
  EXPECT_EQ(checked(schema, R"({"p": 70000})"), "/p: expected at most 65535\n");
  EXPECT_EQ(checked(schema, R"({"q": true})"), "/q: this fits 0 of the schemas under oneOf, and must fit one\n");
  EXPECT_EQ(checked(schema, R"({"r": null})"), "/r: this fits the schema under not\n");
  EXPECT_EQ(checked(schema, R"({"s": 3})"), "/s: this fits none of the schemas under anyOf\n");
  EXPECT_EQ(checked(schema, R"({"u": 3})"), "/u: the schema refers to what it does not have, or is too deep\n");
}

TEST(Schema, DefaultsAreFilledInWhereTheirObjectIs) {
  auto schema = Schema::parse(json::parse(R"({"openAPIV3Schema": {"properties": {
      "a": {"type": "object", "default": {}, "properties": {"x": {"type": "integer", "default": 1}}},
      "b": {"type": "object", "properties": {"y": {"type": "integer", "default": 2}}},
      "l": {"type": "array", "items": {"type": "object", "properties": {"z": {"default": 3}}}}}}})"));
  json::value value = json::parse(R"({"l": [{}, {"z": 9}]})");
  schema->add_defaults(value);
  EXPECT_EQ(json::serialize(value), R"({"l":[{"z":3},{"z":9}],"a":{"x":1}})");
}

TEST(Schema, PathsThatItKnows) {
  auto schema = Schema::parse(json::parse(R"({"a": {"b": "integer"}, "m": "map<string>"})"));
  for (const char* known : {"", "/a", "/a/b", "/m", "/m/any"}) EXPECT_TRUE(schema->knows(known)) << known;
  for (const char* unknown : {"/b", "/a/c", "/m/any/more"}) EXPECT_FALSE(schema->knows(unknown)) << unknown;
}

TEST(Schema, TypesForExpressions) {
  cel::TypePool pool;
  auto schema = Schema::parse(json::parse(R"({"n": "integer", "l": "[]string", "m": "map<boolean>", "f": "number"})"));
  EXPECT_EQ(cel::to_string(*schema->type(pool)), "{f: dyn, l: list(string), m: map(string, bool), n: int}");
}

}  // namespace
}  // namespace sluice::component::schema_test
