// sluice revisions on a home of its own. What really runs is tested end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace revisions_commands_test {

using testing::HasSubstr;

TEST(Revisions, AreStagedListedAndArchived) {
  ObjectsHome home;
  std::string file = home.archive();
  home.data({"bundles", "add", "local", file});
  Ran staged = home.run({"revisions", "stage", "local", file});
  EXPECT_THAT(staged.out, HasSubstr("staged  shop@2 ("));
  EXPECT_THAT(staged.err, HasSubstr("not verified: "));
  json::value listed = home.data({"revisions", "list", "local", "--bundle", "shop"});
  ASSERT_EQ(listed.as_array().size(), 2U);
  EXPECT_EQ(listed.as_array()[0].at("lifecycle"), json::value("staged"));
  EXPECT_THAT(home.run({"revisions", "list", "local"}).out, HasSubstr("shop@1  1.0.0    staged"));
  EXPECT_EQ(home.run({"revisions", "archive", "local", "shop@1", "--dry-run"}).exit, 0);
  EXPECT_EQ(home.run({"revisions", "archive", "local", "shop@1", "--yes"}).exit, 0);
  EXPECT_EQ(home.data({"revisions", "list", "local"}).as_array().size(), 1U);
  EXPECT_EQ(home.data({"revisions", "list", "local", "--archived"}).as_array().size(), 2U);
}

TEST(Revisions, WhatCannotBeDoneIsSaid) {
  ObjectsHome home;
  home.data({"bundles", "add", "local", home.archive()});
  EXPECT_EQ(home.run({"revisions", "drain", "local", "shop@1", "--yes"}).exit, 6);
  EXPECT_EQ(home.run({"revisions", "retry", "local", "shop@1"}).exit, 6);
  EXPECT_EQ(home.run({"revisions", "warm", "local", "shop@7"}).exit, 5);
  Ran failed = home.run({"revisions", "warm", "local", "shop@1"});
  EXPECT_EQ(failed.exit, 7);
  EXPECT_THAT(failed.err, HasSubstr("provider-health: "));
  EXPECT_THAT(failed.err, HasSubstr("sluice revisions retry local shop@1"));
  EXPECT_EQ(home.run({"revisions", "retry", "local", "shop@1"}).exit, 0);
}

}  // namespace revisions_commands_test
}  // namespace sluice::cli
