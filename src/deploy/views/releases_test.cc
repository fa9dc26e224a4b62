// That each view of promotion is there once; what they say is tested beside what reads it.
#include "deploy/views/releases.h"

#include <gtest/gtest.h>

#include <set>

namespace sluice::deploy::views {
namespace releases_views_test {

TEST(ReleasesViews, AreThereOnce) {
  std::set<std::string> names;
  for (const lang::View& each : releases_views()) EXPECT_TRUE(names.insert(each.name).second) << each.name;
  EXPECT_EQ(names, (std::set<std::string>{"definitions", "git-sources", "pin-history", "pins", "pipelines",
                                          "promotion-plan", "release-diff", "release-history", "releases"}));
}

}  // namespace releases_views_test
}  // namespace sluice::deploy::views
