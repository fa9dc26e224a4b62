// The fleet of a home in which nothing is deployed; with deployments it is tested end to end.
#include "host/fleet_view.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "store/memory_store.h"

namespace sluice::host {
namespace fleet_view_test {

TEST(FleetView, CountsNothingWhereNothingIsDeployed) {
  store::MemoryStore store;
  const lang::Tools tools;
  auto moment = Moment::of(store, nullptr, tools, 1'000);
  EXPECT_EQ(write(*(*find_view("fleet"))->read((*moment)->reading(), {{"health", json::array{"failed"}}})),
            R"({"deployments":0,"found":0,"environments":[],"shown":[]})");
}

}  // namespace fleet_view_test
}  // namespace sluice::host
