// Plans made complete, of rows in memory; what is wrong with archives and settings is in apply_sync_test.cc.
#include "deploy/views/environment_checks.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/testing_views.h"

namespace sluice::deploy::views {
namespace environment_checks_test {

class EnvironmentChecks : public testing::Test {
 protected:
  EnvironmentChecks() { rows.deployment("d1"); }
  Result<std::vector<PlannedChange>> steps(std::vector<PlannedChange> changes) {
    return steps_of(States(rows), {.environment = "local", .changes = std::move(changes)}, shelf);
  }
  static PlannedChange change(const std::string& action, json::object input, const std::string& bundle = "shop") {
    return {.what = action, .action = action, .input = std::move(input), .bundle = bundle, .customer = "acme"};
  }

  RowsInMemory rows;
  TestingFolder folder;
  RealDisk disk;
  BundleShelf shelf{disk, folder.path("shelf")};
};

TEST_F(EnvironmentChecks, WhatAnUpdateLeavesAsItIsIsFilledIn) {
  auto found = steps({change("Deployment/update", {{"deployment", "d1"}, {"pathPrefixes", json::array{"/a"}}})});
  ASSERT_TRUE(found) << found.error().message;
  const json::object& input = found->at(0).input;
  EXPECT_EQ(input.at("hosts"), (json::value{"acme.example"}));
  EXPECT_EQ(input.at("pathPrefixes"), (json::value{"/a"}));
  EXPECT_EQ(input.at("bundle"), json::value("shop"));
  EXPECT_EQ(input.at("customer"), json::value("acme"));
}

TEST_F(EnvironmentChecks, WhatIsTakenAwayIsTakenAwayWhole) {
  auto found = steps({change("Traffic/clear", {}), change("Revision/archive", {}), change("Deployment/remove", {})});
  ASSERT_EQ(found.value().size(), 1U);
  EXPECT_EQ(found->at(0).action, "Deployment/remove");
}

TEST_F(EnvironmentChecks, RoutesThatTwoWouldShareAreRefused) {
  const json::object same{{"hosts", json::array{"acme.example"}}, {"pathPrefixes", json::array()}};
  EXPECT_EQ(steps({change("Deployment/add", same, "notes")}).error().code, Code::conflict);
  EXPECT_TRUE(steps({change("Deployment/remove", {}), change("Deployment/add", same, "notes")}))
      << "the other is gone by then";
}

TEST_F(EnvironmentChecks, AFileIsNotInTheHome) {
  EXPECT_EQ(steps({change("Revision/stage", {{"source", "/shop.bundle"}})}).error().message,
            "the bundle_source_uri of shop names a file; put its bytes into the home, and name it by its digest, "
            "sha256:…");
}

}  // namespace environment_checks_test
}  // namespace sluice::deploy::views
