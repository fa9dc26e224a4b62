// A client where there is nobody.
#include "router/control_client.h"

#include <gtest/gtest.h>

#include "base/testing_folder.h"

namespace sluice::router {
namespace control_client_test {

TEST(ControlClient, SaysThatNobodyListens) {
  TestingFolder folder;
  auto client = ControlClient::connect(folder.path("control.sock"));
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, Code::unavailable);
  EXPECT_TRUE(client.error().message.starts_with("no router listens at " + folder.path("control.sock")));
}

}  // namespace control_client_test
}  // namespace sluice::router
