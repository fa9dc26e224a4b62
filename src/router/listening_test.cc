// Ports that are chosen once, and shared by the sockets of one router only.
#include "router/listening.h"

#include <gtest/gtest.h>

#include "base/testing_folder.h"

namespace sluice::router {
namespace listening_test {

TEST(Listening, SharesAPortAmongItsSocketsAndWithNobodyElse) {
  auto place = listen_at(*parse_address("127.0.0.1:0"), 3);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->fds.size(), 3U);
  EXPECT_NE(place->address.port(), 0);
  auto other = listen_at(place->address, 2);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().next, "choose another address, or port 0");
  close_place(*place);
  auto after = listen_at(place->address, 2);
  EXPECT_TRUE(after);
  close_place(*after);
}

TEST(Listening, TakesThePlaceOfAUnixSocketThatWasLeft) {
  TestingFolder folder;
  Address address = *parse_address("unix:" + folder.path("s"));
  auto first = listen_at(address, 2);
  ASSERT_TRUE(first);
  close_place(*first);
  auto second = listen_at(address, 1);
  EXPECT_TRUE(second);
  close_place(*second);
}

TEST(Listening, ReadsHowItIsListened) {
  EXPECT_FALSE(parse_listen("127.0.0.1:8080")->secure);
  auto at = parse_listen("[::1]:8443,tls");
  ASSERT_TRUE(at);
  EXPECT_TRUE(at->secure);
  EXPECT_EQ(to_string(*at), "[::1]:8443,tls");
  at = parse_listen("127.0.0.1:80,proxy,tls");
  ASSERT_TRUE(at);
  EXPECT_TRUE(at->secure && at->proxied);
  EXPECT_EQ(to_string(*at), "127.0.0.1:80,tls,proxy");
  for (const char* bad :
       {"127.0.0.1:1,", "127.0.0.1:1,proxy,proxy", "127.0.0.1:1,ssl", "127.0.0.1:1,tls,tls", ",tls", "tls"}) {
    EXPECT_EQ(parse_listen(bad).error().code, Code::invalid) << bad;
  }
}

}  // namespace listening_test
}  // namespace sluice::router
