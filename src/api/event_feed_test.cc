// A feed begins where it is asked to, and ends when the server stops.
#include "api/event_feed.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "api/testing_served.h"

namespace sluice::api {
namespace event_feed_test {

TEST(EventFeed, BeginsWhereItIsAskedToAndEndsWithTheServer) {
  TestingServed served;
  http::Request request{.method = "GET", .target = "/v1/events?from=1&raw=true", .headers = {{"Host", "h"}}};
  ASSERT_TRUE(http::take_target_apart(request));
  http::Peer peer{.credentials = http::Credentials{.user = ::geteuid(), .pid = ::getpid()}};
  http::Response response = served.service->answer(request, peer);
  ASSERT_TRUE(response.feed) << response.body;
  std::string out;
  EXPECT_TRUE(response.feed->next(out));
  EXPECT_TRUE(out.starts_with(": from 1\n\n")) << out;
  served.service->stop_waiting();
  EXPECT_FALSE(response.feed->next(out));
}

}  // namespace event_feed_test
}  // namespace sluice::api
