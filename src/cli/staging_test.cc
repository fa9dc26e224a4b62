// What is no archive is refused before anything is changed.
#include "cli/staging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace staging_test {

using testing::HasSubstr;

TEST(Staging, LooksAtTheArchiveFirst) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"bundles", "add", "local", home.folder.path("none")}).exit, 5);
  home.archive();
  EXPECT_THAT(home.run({"bundles", "add", "local", home.folder.path("shop")}).err, HasSubstr("sluice bundles build"));
  EXPECT_EQ(home.run({"bundles", "add", "local", home.folder.path("shop/bundle.yaml")}).exit, 1);
  EXPECT_EQ(home.run({"bundles", "list", "local"}).out, "Nothing is deployed here.\n");
}

TEST(Staging, RefusesAnswersThatNobodyAskedFor) {
  ObjectsHome home;
  std::string file = home.archive();
  EXPECT_EQ(home.run({"bundles", "add", "local", file, "--set", "color"}).exit, 2);
  Ran ran = home.run({"bundles", "add", "local", file, "--set", "color=red"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.err, HasSubstr("runtime-config: shop has no setting color"));
  EXPECT_EQ(home.run({"bundles", "list", "local"}).out, "Nothing is deployed here.\n");
}

}  // namespace staging_test
}  // namespace sluice::cli
