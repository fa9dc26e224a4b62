// Patches of objects, path by path.
#include "render/component/patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::component::patch_test {
namespace {

using testing::HasSubstr;

std::string patched(const char* object, PatchOp op, const char* path, const char* value = "null") {
  auto node = json::parse(object);
  const auto before = node;
  auto done = apply_patch(node, op, path, json::parse(value));
  if (!done) {
    EXPECT_EQ(node, before);
  }
  return done ? json::serialize(node) : done.error().message;
}

TEST(Patch, AddSetsInsertsAndAppends) {
  EXPECT_EQ(patched(R"({"a":{}})", PatchOp::add, "/a/b/c", "1"), R"({"a":{"b":{"c":1}}})");
  EXPECT_EQ(patched(R"({"a":[1,3]})", PatchOp::add, "/a/1", "2"), R"({"a":[1,2,3]})");
  EXPECT_EQ(patched(R"({"a":[1]})", PatchOp::add, "/a/1", "2"), R"({"a":[1,2]})");
  EXPECT_EQ(patched("{}", PatchOp::add, "/a/-", "1"), R"({"a":[1]})");
  EXPECT_EQ(patched(R"({"data":{}})", PatchOp::add, "/data/8080", "\"web\""), R"({"data":{"8080":"web"}})");
  EXPECT_EQ(patched("{}", PatchOp::add, "/a~1b~0c", "1"), R"({"a/b~c":1})");
  EXPECT_THAT(patched(R"({"a":[1]})", PatchOp::add, "/a/3", "2"), HasSubstr("the list has 1 items"));
}

TEST(Patch, Choreo13ReplaceWantsWhatIsThereAndRemoveOfAFieldDoesNot) {
  EXPECT_EQ(patched(R"({"a":1})", PatchOp::replace, "/a", "2"), R"({"a":2})");
  EXPECT_THAT(patched("{}", PatchOp::replace, "/a", "2"), HasSubstr("there is nothing to replace"));
  EXPECT_EQ(patched(R"({"a":1})", PatchOp::remove, "/b"), R"({"a":1})");
  EXPECT_EQ(patched(R"({"a":1,"b":2})", PatchOp::remove, "/a"), R"({"b":2})");
  EXPECT_THAT(patched(R"({"a":[1,2]})", PatchOp::remove, "/a/5"), HasSubstr("the list has 2 items"));
  EXPECT_THAT(patched(R"({"a":[]})", PatchOp::remove, "/a/0"), HasSubstr("the list has 0 items"));
}

TEST(Patch, Choreo12FiltersAndWildcardsFanOutAndAnEmptyListIsAnError) {
  const char* list = R"({"l":[{"n":"a","v":1},{"n":"b","v":2},{"n":"a","v":3}]})";
  EXPECT_EQ(patched(list, PatchOp::replace, "/l[?(@.n=='a')]/v", "9"),
            R"({"l":[{"n":"a","v":9},{"n":"b","v":2},{"n":"a","v":9}]})");
  EXPECT_EQ(patched(list, PatchOp::remove, "/l[?(@.n=='a')]"), R"({"l":[{"n":"b","v":2}]})");
  EXPECT_EQ(patched(list, PatchOp::add, "/l[*]/w", "0"),
            R"({"l":[{"n":"a","v":1,"w":0},{"n":"b","v":2,"w":0},{"n":"a","v":3,"w":0}]})");
  EXPECT_EQ(patched(list, PatchOp::replace, "/l[1]/v", "7"),
            R"({"l":[{"n":"a","v":1},{"n":"b","v":7},{"n":"a","v":3}]})");
  EXPECT_THAT(patched(list, PatchOp::replace, "/l[?(@.n=='z')]/v", "9"), HasSubstr("no item fits the filter"));
  EXPECT_THAT(patched(R"({"l":[]})", PatchOp::add, "/l[*]/w", "0"), HasSubstr("the list is empty"));
  EXPECT_EQ(patched(R"({"l":[{"n":"x]y","v":1}]})", PatchOp::replace, "/l[?(@.n=='x]y')]/v", "2"),
            R"({"l":[{"n":"x]y","v":2}]})");
}

TEST(Patch, MergeShallowPutsFieldsIntoAMap) {
  EXPECT_EQ(patched(R"({"a":{"x":{"k":1},"y":2}})", PatchOp::mergeShallow, "/a", R"({"x":{"m":1},"z":3})"),
            R"({"a":{"x":{"m":1},"y":2,"z":3}})");
  EXPECT_EQ(patched("{}", PatchOp::mergeShallow, "/a", R"({"x":1})"), R"({"a":{"x":1}})");
  EXPECT_THAT(patched(R"({"a":1})", PatchOp::mergeShallow, "/a", R"({"x":1})"), HasSubstr("wants a map"));
}

TEST(Patch, PathsAreReadStrictly) {
  for (const char* path : {"", "a", "/a[", "/a[?(@.n>1)]", "/a[?(@.n=='x')/b", "/a[1]b"}) {
    EXPECT_THAT(patched(R"({"a":[{"n":"x"}]})", PatchOp::replace, path, "1"), testing::Not(testing::StartsWith("{")))
        << path;
  }
}

}  // namespace
}  // namespace sluice::component::patch_test
