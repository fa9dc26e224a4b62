// sluice revisions on a home of its own. What really runs is tested end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
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
  EXPECT_THAT(home.run({"revisions", "list", "local"}).out, HasSubstr("shop@1  local-dev  1.0.0    staged"));
  EXPECT_EQ(home.run({"revisions", "archive", "local", "shop@1", "--dry-run"}).exit, 0);
  EXPECT_EQ(home.run({"revisions", "archive", "local", "shop@1", "--yes"}).exit, 0);
  EXPECT_EQ(home.data({"revisions", "list", "local"}).as_array().size(), 1U);
  EXPECT_EQ(home.data({"revisions", "list", "local", "--archived"}).as_array().size(), 2U);
  EXPECT_EQ(home.run({"revisions", "archive", "local", "shop@1", "--yes"}).exit, 0) << "it is archived";
}

TEST(Revisions, AreListedByCustomer) {
  ObjectsHome home;
  const std::string file = home.archive();
  home.data({"bundles", "add", "local", file, "--customer-id", "one"});
  const json::value two = home.data({"bundles", "add", "local", file, "--customer-id", "two"});
  json::value listed = home.data({"revisions", "list", "local", "--customer-id", "two"});
  ASSERT_EQ(listed.as_array().size(), 1U);
  EXPECT_EQ(listed.as_array()[0].at("revision_id"), two.at("revision"));
  EXPECT_EQ(home.run({"revisions", "list", "local", "--customer-id", "nobody"}).exit, 5);
}

TEST(Revisions, AreKeptAsTheEnvironmentsRetentionSays) {
  ObjectsHome home;
  const std::string file = home.archive();
  home.data({"bundles", "add", "local", file});
  auto all = [&] { return home.data({"revisions", "list", "local", "--archived"}).as_array().size(); };
  home.run({"revisions", "archive", "local", "shop@1", "--yes"});
  home.run({"revisions", "stage", "local", file});
  EXPECT_EQ(all(), 2U) << "for fourteen days";
  home.run({"env", "update", "local", "--archived-max-age-days", "0"});
  home.run({"revisions", "stage", "local", file});
  EXPECT_EQ(all(), 2U) << "shop@1 is forgotten";
}

TEST(Revisions, ThatAreStagedAgainStayWithinTheCount) {
  ObjectsHome home;
  const std::string file = home.archive();
  home.run({"env", "update", "local", "--staged-max-count", "2"});
  home.data({"bundles", "add", "local", file});
  home.run({"revisions", "warm", "local", "shop@1"});  // which fails
  home.run({"revisions", "stage", "local", file});
  home.run({"revisions", "stage", "local", file});
  EXPECT_EQ(home.run({"revisions", "retry", "local", "shop@1"}).exit, 0);
  std::string staged;
  const json::value listed = home.data({"revisions", "list", "local"});
  for (const json::value& each : listed.as_array()) {
    staged += write(each.at("sequence")) + std::string(each.at("lifecycle").as_string()) + " ";
  }
  EXPECT_EQ(staged, "1staged 3staged ");
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
