// The status of a home in which nothing is deployed; with routers and replicas it is tested end to end.
#include "host/status_view.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "store/memory_store.h"

namespace sluice::host {
namespace status_view_test {

TEST(StatusView, IsEmptyWhereNothingIsDeployed) {
  store::MemoryStore store;
  const lang::Tools tools;
  auto moment = Moment::of(store, nullptr, tools, 1'000);
  EXPECT_EQ(write(*(*find_view("status"))->read((*moment)->reading(), {})), "{}");
}

}  // namespace status_view_test
}  // namespace sluice::host
