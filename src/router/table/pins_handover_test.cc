// Pins go from one table to another of other numbers by the ids of deployments and revisions.
#include "router/table/pins_handover.h"

#include <gtest/gtest.h>

#include "router/table/table_compile.h"
#include "router/testing_proxy.h"

namespace sluice::router {
namespace pins_handover_test {

TEST(PinsHandover, FollowsTheIdsOfRevisions) {
  DeploymentDocument deployment = testing_deployment();
  deployment.stickiness = {.mode = StickyMode::session, .key_header = "X-Session"};
  RevisionDocument second = deployment.revisions[0];
  second.id = "r2";
  second.weight_bps = 0;
  const HashKey key{1, 2};
  auto compile = [&](std::vector<RevisionDocument> revisions) {
    TableCompiler compiler(key, [](const SeriesName&) { return 0U; });
    deployment.revisions = std::move(revisions);
    return *compiler.load({.document = testing_table({deployment})}, nullptr);
  };
  const RevisionDocument first = deployment.revisions[0];
  auto before = compile({first, second}), after = compile({second, first});
  auto pins = [](const Table& table) { return (*table.named("d1"))->memory->pins.get(); };
  auto number = [](const Table& table, const char* id) { return (*table.named("d1"))->named(id)->memory->number; };
  ASSERT_NE(number(*before, "r1"), number(*after, "r1"));
  pins(*before)->put("ann", number(*before, "r1"), 100);
  pins(*before)->put("ben", number(*before, "r2"), 100);
  take_pins(*after, saved_pins(*before));
  EXPECT_EQ(pins(*after)->find("ann", 100, 60)->revision, number(*after, "r1"));
  EXPECT_EQ(pins(*after)->find("ben", 100, 60)->revision, number(*after, "r2"));
  take_pins(*after, "damaged");
  EXPECT_EQ(pins(*after)->size(), 2U);
}

}  // namespace pins_handover_test
}  // namespace sluice::router
