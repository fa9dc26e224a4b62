// The short form, and what it comes to.
#include <gtest/gtest.h>

#include "render/component/schema.h"

namespace sluice::component::short_schema_test {
namespace {

std::string expanded(const char* fields) {
  auto schema = expand_short_schema(json::parse(fields).as_object());
  return schema ? json::serialize((*schema)["properties"]) : schema.error().path + ": " + schema.error().message;
}

TEST(ShortSchema, TypesWithConstraints) {
  EXPECT_EQ(expanded(R"({"replicas": "integer | default=30"})"), R"({"replicas":{"type":"integer","default":30}})");
  EXPECT_EQ(expanded(R"({"r": "integer | default=1 minimum=1 | maximum=5"})"),
            R"({"r":{"type":"integer","default":1,"minimum":1,"maximum":5}})");
  EXPECT_EQ(expanded(R"({"s": "string | enum=a,b default=a pattern='^[a b]$'"})"),
            R"({"s":{"type":"string","enum":["a","b"],"default":"a","pattern":"^[a b]$"}})");
  EXPECT_EQ(expanded(R"({"s": "string | default=8080"})"), R"({"s":{"type":"string","default":"8080"}})");
  EXPECT_EQ(
      expanded(R"({"l": "[]integer | default=[1, 2]", "m": "map<array<string>>"})"),
      R"({"l":{"type":"array","items":{"type":"integer"},"default":[1,2]},"m":{"type":"object","additionalProperties":{"type":"array","items":{"type":"string"}}}})");
}

TEST(ShortSchema, ObjectsHaveADefaultOfTheirOwn) {
  EXPECT_EQ(
      expanded(R"({"o": {"$default": {}, "x": "integer | default=1"}})"),
      R"({"o":{"type":"object","additionalProperties":false,"default":{},"properties":{"x":{"type":"integer","default":1}}}})");
}

TEST(ShortSchema, TypesHaveNames) {
  EXPECT_EQ(
      expanded(R"({"types": {"Port": "integer | maximum=65535"}, "p": "Port", "l": "[]Port"})"),
      R"({"p":{"type":"integer","maximum":65535},"l":{"type":"array","items":{"type":"integer","maximum":65535}}})");
  EXPECT_EQ(expanded(R"({"types": {"A": "A"}, "p": "A"})"), "/p: a schema is at most 64 levels deep");
}

TEST(ShortSchema, WhatItCannotReadHasAPlace) {
  EXPECT_EQ(
      expanded(R"({"a": {"b": "interger"}})"),
      "/a/b: there is no type 'interger'; there are string, integer, number, boolean, object, []T, map<T> and those "
      "under types");
  EXPECT_EQ(expanded(R"({"a": "integer | min=1"})"), "/a: there is no constraint 'min'");
  EXPECT_EQ(expanded(R"({"a": "integer | default"})"), "/a: expected constraint=value, found 'default'");
  EXPECT_EQ(expanded(R"({"a": 7})"),
            "/a: a field is declared by its type, as in 'integer | default=1', or by its own fields");
}

}  // namespace
}  // namespace sluice::component::short_schema_test
