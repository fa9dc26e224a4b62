// Where nobody listens; api/ has the tests against a server.
#include "host/remote_link.h"

#include <gtest/gtest.h>

#include "base/testing_folder.h"

namespace sluice::host {
namespace remote_link_test {

TEST(RemoteLinks, NobodyListens) {
  TestingFolder folder;
  RealClock clock;
  EXPECT_EQ(RemoteLink::open(folder.path("s.sock"), clock, "up").error().code, Code::not_found);
}

}  // namespace remote_link_test
}  // namespace sluice::host
