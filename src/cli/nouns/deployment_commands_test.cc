// sluice bundles add, update, remove and list on a home of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "cli/testing_objects.h"

namespace sluice::cli {
namespace deployment_commands_test {

using testing::HasSubstr;

TEST(Deployments, TwoCustomersOfOneBundleAreTwo) {
  ObjectsHome home;
  std::string file = home.archive();
  json::value one =
      home.data({"bundles", "add", "local", file, "--customer-id", "acme", "--host", "a.example", "--tenant", "t1"});
  EXPECT_EQ(one.at("sequence"), json::value(1));
  home.data({"bundles", "add", "local", file, "--customer-id", "other"});
  EXPECT_EQ(home.run({"bundles", "add", "local", file, "--customer-id", "other"}).exit, 6);
  EXPECT_EQ(home.data({"bundles", "list", "local"}).as_array().size(), 2U);
  EXPECT_THAT(home.run({"bundles", "list", "local"}).out, HasSubstr("shop    acme      active  a.example tenant:t1"));
  Ran clash =
      home.run({"bundles", "update", "local", "--customer-id", "other", "--host", "a.example", "--tenant", "t1"});
  EXPECT_EQ(clash.exit, 6);
  EXPECT_THAT(clash.err, HasSubstr("a.example/ for tenant t1 is the route of"));
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
  Ran removed = home.run({"bundles", "remove", "local", "--yes", "--idempotency-key", "k", "--bundle", "shop"});
  EXPECT_EQ(removed.exit, 0);
  EXPECT_EQ(home.run({"bundles", "list", "local"}).out, "Nothing is deployed here.\n");
  Ran again = home.run({"bundles", "remove", "local", "--yes", "--idempotency-key", "k", "--bundle", "shop"});
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_EQ(again.out, removed.out);
  EXPECT_EQ(home.run({"bundles", "remove", "local", "--yes", "--idempotency-key", "k", "--bundle", "mail"}).exit, 5);
  EXPECT_EQ(home.run({"bundles", "remove", "local", "--yes", "--bundle", "shop"}).exit, 5);
}

TEST(Deployments, AreAddedAndStagedAtTheGenerationThatWasSeen) {
  ObjectsHome home;
  const std::string file = home.archive();
  const std::string seen = write(home.data({"env", "show", "local"}).at("generation"));
  home.run({"env", "update", "local", "--name", "Here"});
  Ran stale = home.run({"bundles", "add", "local", file, "--expect-generation", seen});
  EXPECT_EQ(stale.exit, 6);
  EXPECT_THAT(stale.err, HasSubstr("expected generation " + seen + ", it is at "));
  EXPECT_THAT(stale.err, HasSubstr(", changed at "));
  EXPECT_THAT(stale.err, HasSubstr(" by uid:"));
  const std::string now = write(home.data({"env", "show", "local"}).at("generation"));
  EXPECT_EQ(home.run({"bundles", "add", "local", file, "--expect-generation", now}).exit, 0);
  auto generation = [&] { return write(home.data({"bundles", "list", "local"}).as_array()[0].at("generation")); };
  const std::string before = generation();
  EXPECT_EQ(home.run({"revisions", "stage", "local", file, "--expect-generation", before}).exit, 0);
  home.run({"bundles", "update", "local", "--path", "/shop"});
  stale = home.run({"revisions", "stage", "local", file, "--expect-generation", before});
  EXPECT_EQ(stale.exit, 6);
  EXPECT_THAT(stale.err, HasSubstr("expected generation " + before + ", it is at " + generation() + ", changed at "));
  EXPECT_EQ(home.data({"revisions", "list", "local"}).as_array().size(), 2U);
}

TEST(Deployments, SayWhatHelpsNext) {
  ObjectsHome home;
  const std::string file = home.archive();
  home.data({"bundles", "add", "local", file, "--customer-id", "one"});
  Ran second = home.run({"bundles", "add", "local", file, "--customer-id", "two"});
  EXPECT_THAT(second.err, HasSubstr("next: sluice revisions warm local 01")) << "shop@1 would mean two";
  EXPECT_THAT(home.run({"bundles", "add", "local", file, "--customer-id", "one"}).err,
              HasSubstr("next:  sluice revisions stage local"));
  home.run({"bundles", "update", "local", "--customer-id", "one", "--status", "archived", "--yes"});
  EXPECT_THAT(home.run({"bundles", "add", "local", file, "--customer-id", "one"}).err,
              HasSubstr("next:  sluice bundles remove local --deployment "));
  Ran bad = home.run({"bundles", "update", "local", "--customer-id", "two", "--revenue-share", "a:1%"});
  EXPECT_THAT(bad.err, HasSubstr("next:  sluice bundles update --help"));
}

TEST(Deployments, NameTheirCustomerOutsideLocal) {
  ObjectsHome home;
  home.run({"env", "create", "prod", "--extends", "local"});
  EXPECT_THAT(home.run({"bundles", "add", "prod", home.archive()}).err,
              HasSubstr("none is named\nnext:  name the customer that it is for\n"));
  Ran unsigned_ = home.run({"bundles", "add", "prod", home.folder.path("shop.bundle"), "--customer-id", "acme"});
  EXPECT_EQ(unsigned_.exit, 11);
  EXPECT_THAT(unsigned_.err, HasSubstr("have a trusted key sign it, and then: sluice revisions stage prod"));
}

}  // namespace deployment_commands_test
}  // namespace sluice::cli
