// What goes wrong is noted; the streams are tested with real servers (tests/git).
#include "git/transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"

namespace sluice::git::transport_test {

TEST(Transport, KeepsTheFirstTrouble) {
  auto loaded = library();
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  RealClock clock;
  http::Outgoing outgoing({}, clock);
  Transport transport{.library = **loaded, .outgoing = outgoing, .url = "https://git.example/shop.git"};
  EXPECT_EQ(transport.fail({.code = Code::limit, .message = "too large"}), -1);
  EXPECT_EQ((*loaded)->trouble(), "too large");
  EXPECT_EQ(transport.fail({.code = Code::timeout, .message = "too late"}), -1);
  EXPECT_EQ(transport.trouble->code, Code::limit);
}

}  // namespace sluice::git::transport_test
