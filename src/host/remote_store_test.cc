// Where nobody listens; api/ has the tests against a server.
#include "host/remote_store.h"

#include <gtest/gtest.h>

#include "base/testing_folder.h"

namespace sluice::host {
namespace remote_store_test {

TEST(RemoteStores, NobodyListens) {
  TestingFolder folder;
  RealClock clock;
  EXPECT_FALSE(RemoteStore(folder.path("s.sock"), clock, "up").read());
}

}  // namespace remote_store_test
}  // namespace sluice::host
