// Places spell JSON pointers.
#include "base/json_place.h"

#include <gtest/gtest.h>

namespace sluice {
namespace json_place_test {

TEST(JsonPlace, TheRootIsTheEmptyPointer) { EXPECT_EQ(Place().pointer(), ""); }

TEST(JsonPlace, SpellsMembersAndElementsFromTheRoot) {
  Place root;
  Place ports = root.member("ports");
  Place first = ports.element(10);
  EXPECT_EQ(first.member("name").pointer(), "/ports/10/name");
}

TEST(JsonPlace, EscapesTildeAndSlashAndKeepsEmptyKeys) {
  Place root;
  Place odd = root.member("a/b~c");
  EXPECT_EQ(odd.member("").pointer(), "/a~1b~0c/");
}

}  // namespace json_place_test
}  // namespace sluice
