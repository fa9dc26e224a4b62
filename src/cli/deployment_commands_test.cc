// sluice bundles add, update, remove and list on a home of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace deployment_commands_test {

using testing::HasSubstr;

TEST(Deployments, TwoCustomersOfOneBundleAreTwo) {
  ObjectsHome home;
  std::string file = home.archive();
  json::value one = home.data({"bundles", "add", "local", file, "--customer-id", "acme", "--host", "a.example"});
  EXPECT_EQ(one.at("sequence"), json::value(1));
  home.data({"bundles", "add", "local", file, "--customer-id", "other"});
  EXPECT_EQ(home.run({"bundles", "add", "local", file, "--customer-id", "other"}).exit, 6);
  EXPECT_EQ(home.data({"bundles", "list", "local"}).as_array().size(), 2U);
  EXPECT_THAT(home.run({"bundles", "list", "local"}).out, HasSubstr("shop    acme      active  a.example"));
  Ran clash = home.run({"bundles", "update", "local", "--customer-id", "other", "--host", "a.example"});
  EXPECT_EQ(clash.exit, 6);
  EXPECT_THAT(clash.err, HasSubstr("a.example/ is the route of"));
}

TEST(Deployments, AreUpdatedPausedAndRemoved) {
  ObjectsHome home;
  home.data({"bundles", "add", "local", home.archive(), "--revenue-share", "agency:30%,sluice:70%"});
  json::value shown = home.data({"bundles", "list", "local"}).as_array()[0];
  EXPECT_EQ(shown.at("revenue_share").as_array()[0].at("basis_points"), json::value(3000));
  EXPECT_EQ(home.run({"bundles", "update", "local", "--revenue-share", "sluice:99%"}).exit, 1);
  EXPECT_EQ(home.run({"bundles", "update", "local", "--revenue-share", "sluice"}).exit, 2);
  EXPECT_EQ(home.run({"bundles", "update", "local", "--status", "paused", "--path", "/shop"}).exit, 0);
  EXPECT_EQ(home.run({"bundles", "update", "local"}).err, "nothing to change\n");
  EXPECT_EQ(home.data({"bundles", "list", "local"}).as_array()[0].at("status"), json::value("paused"));
  Ran refused = home.run({"bundles", "remove", "local", "--yes"});
  EXPECT_EQ(refused.exit, 6);
  EXPECT_THAT(refused.err, HasSubstr("next:  sluice revisions archive local "));
  EXPECT_EQ(home.run({"revisions", "archive", "local", "shop@1", "--yes"}).exit, 0);
  EXPECT_EQ(home.run({"bundles", "remove", "local", "--yes"}).exit, 0);
  EXPECT_EQ(home.run({"bundles", "list", "local"}).out, "Nothing is deployed here.\n");
}

TEST(Deployments, NameTheirCustomerOutsideLocal) {
  ObjectsHome home;
  home.run({"env", "create", "prod", "--extends", "local"});
  EXPECT_THAT(home.run({"bundles", "add", "prod", home.archive()}).err, HasSubstr("add --customer-id"));
  Ran unsigned_ = home.run({"bundles", "add", "prod", home.folder.path("shop.bundle"), "--customer-id", "acme"});
  EXPECT_EQ(unsigned_.exit, 11);
  EXPECT_THAT(unsigned_.err, HasSubstr("sluice revisions retry prod"));
}

}  // namespace deployment_commands_test
}  // namespace sluice::cli
