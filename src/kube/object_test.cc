// Names of objects, and looking into trees of any shape.
#include "kube/object.h"

#include <gtest/gtest.h>

namespace sluice::kube {
namespace object_test {

TEST(KubeObject, IsNamed) {
  const json::value object =
      json::parse(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"}})");
  const ObjectRef ref = ref_of(object);
  EXPECT_EQ(to_string(ref), "Deployment/web in shop");
  EXPECT_EQ(ref.group(), "apps");
  EXPECT_EQ(ref.version(), "v1");
  EXPECT_EQ(ref_of(json::parse(R"({"apiVersion":"v1"})")).group(), "");
  EXPECT_EQ(ref_of(json::value(3)), ObjectRef{});
}

TEST(KubeObject, LooksIntoAnyTree) {
  const json::value object = json::parse(R"({"a":{"b":"c","n":3,"t":true,"l":[1]},
      "status":{"conditions":[{"type":"Ready","status":"True"}]}})");
  EXPECT_EQ(text_at(object, {"a", "b"}), "c");
  EXPECT_EQ(text_at(object, {"a", "n"}), "");
  EXPECT_EQ(number_at(object, {"a", "n"}), 3);
  EXPECT_EQ(number_at(object, {"a", "b"}), 0);
  EXPECT_TRUE(flag_at(object, {"a", "t"}));
  EXPECT_EQ(list_at(object, {"a", "l"}).size(), 1U);
  EXPECT_TRUE(list_at(object, {"a", "b", "c"}).empty());
  EXPECT_TRUE(map_at(object, {"x"}).empty());
  EXPECT_EQ(text_at(condition(object, "Ready"), {"status"}), "True");
  EXPECT_TRUE(condition(object, "Available").is_null());
}

}  // namespace object_test
}  // namespace sluice::kube
