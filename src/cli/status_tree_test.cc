// The tree of a home in which something is deployed and nothing runs; with routers and replicas it is tested end to
// end.
#include "cli/status_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace status_tree_test {

using testing::MatchesRegex;

TEST(StatusTree, ShowsEnvironmentsDeploymentsAndRevisions) {
  ObjectsHome home;
  home.data({"bundles", "add", "local", home.archive()});
  Ran shown = home.run({"status"});
  EXPECT_EQ(shown.exit, 5);
  EXPECT_THAT(shown.out, MatchesRegex("not running\nlocal, no router\n"
                                      "└─ shop for local-dev \\([0-9A-Z]+\\)\n"
                                      "   └─ shop@1 \\([0-9A-Z]+\\) staged, asked 0%, obeyed by nobody\n"));
  json::value data = json::parse(home.run({"status", "-o", "json"}).out);
  json::value revision = data.at("environments").as_array()[0].at("deployments").as_array()[0].at("revisions");
  EXPECT_EQ(revision.as_array()[0].at("lifecycle"), json::value("staged"));
  EXPECT_TRUE(revision.as_array()[0].at("weight_obeyed_bps").is_null());
}

TEST(StatusTree, IsEmptyWhereNothingIsDeployed) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"status"}).out, "not running\n");
  home.data({"env", "list"});
  EXPECT_EQ(home.run({"status"}).out, "not running\n");
}

}  // namespace status_tree_test
}  // namespace sluice::cli
