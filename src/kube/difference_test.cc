// Differences as patch understands them, and what counts as none.
#include "kube/difference.h"

#include <gtest/gtest.h>

namespace sluice::kube {
namespace difference_test {

json::value map_of(int from, int to, int changed = -1) {
  json::object data;
  for (int i = from; i < to; ++i) data["k" + std::to_string(10 + i)] = i == changed ? "new" : "v";
  return json::object{{"data", std::move(data)}};
}

TEST(Difference, HunksWithThreeLinesAround) {
  EXPECT_EQ(unified_difference(map_of(0, 10), map_of(0, 10), "x"), "");
  EXPECT_EQ(unified_difference(map_of(0, 10), map_of(0, 10, 5), "ConfigMap/a"),
            "--- current/ConfigMap/a\n+++ target/ConfigMap/a\n@@ -4,7 +4,7 @@\n   k12: v\n   k13: v\n   k14: v\n"
            "-  k15: v\n+  k15: new\n   k16: v\n   k17: v\n   k18: v\n");
  EXPECT_EQ(unified_difference(nullptr, json::parse(R"({"a":1})"), "n"),
            "--- current/n\n+++ target/n\n@@ -0,0 +1 @@\n+a: 1\n");
  EXPECT_EQ(unified_difference(json::parse(R"({"a":1})"), nullptr, "n"),
            "--- current/n\n+++ target/n\n@@ -1 +0,0 @@\n-a: 1\n");
}

TEST(Difference, ChangesFarApartAreHunksOfTheirOwn) {
  json::value after = map_of(0, 40, 2);
  after.at("data").as_object()["k45"] = "other";
  const std::string text = unified_difference(map_of(0, 40), after, "n");
  EXPECT_NE(text.find("@@ -1,7 +1,7 @@\n"), std::string::npos) << text;
  EXPECT_NE(text.find("@@ -34,7 +34,7 @@\n"), std::string::npos) << text;
}

TEST(Difference, WhatServersKeepForThemselvesIsNone) {
  const json::value before = json::parse(R"({"kind":"A","metadata":{"name":"a","resourceVersion":"1","generation":1,
      "labels":{"x":"y","lightapi.net/request-id":"r1"},"managedFields":[{"manager":"m","operation":"Apply","time":"1","fieldsV1":{"f:a":{}}}]},
      "status":{"x":1}})");
  const json::value after = json::parse(R"({"metadata":{"name":"a","resourceVersion":"2","generation":2,
      "labels":{"lightapi.net/request-id":"r2","x":"y"},"managedFields":[{"manager":"m","operation":"Apply","time":"2","fieldsV1":{"f:a":{}}}]},
      "kind":"A"})");
  EXPECT_TRUE(is_same(before, after, "m"));
  json::value other = after;
  other.at_pointer("/metadata/labels/x") = "z";
  EXPECT_FALSE(is_same(before, other, "m"));
  other = after;
  other.at_pointer("/metadata/managedFields/0/fieldsV1") = json::parse(R"({"f:b":{}})");
  EXPECT_FALSE(is_same(before, other, "m")) << "owning other fields is a change";
  EXPECT_TRUE(is_same(before, other, "another"));
}

}  // namespace difference_test
}  // namespace sluice::kube
