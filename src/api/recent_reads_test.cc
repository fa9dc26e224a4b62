// What is given once more, to whom, and until when.
#include "api/recent_reads.h"

#include <gtest/gtest.h>

namespace sluice::api {
namespace recent_reads_test {

constexpr int64_t kNever = INT64_MAX;
constexpr int64_t kLong_ns = 1'000'000'000;

http::Request asked(std::vector<http::Header> headers, const std::string& target = "/v1/views/flows?limit=3") {
  http::Request request{.method = "GET", .target = target, .headers = std::move(headers)};
  EXPECT_TRUE(http::take_target_apart(request));
  return request;
}

const http::Peer kNear{.connection = 1, .credentials = http::Credentials{}, .address = ""};
const http::Peer kFar{.connection = 1, .credentials = {}, .address = "192.0.2.1"};
const std::vector<http::Header> kAnn = {{"Authorization", "Bearer ann"}};

TEST(RecentReads, AreGivenAgainUntilSomethingIsCommittedOrTimeHasPassed) {
  RecentReads recent;
  const std::string key = RecentReads::key_of(asked(kAnn), kFar);
  EXPECT_FALSE(recent.find(key, 7, 0));
  recent.keep(key, {.body = "seven"}, 7, 0, kNever);
  EXPECT_EQ(recent.find(key, 7, 1)->body, "seven");
  EXPECT_FALSE(recent.find(key, 8, 1)) << "something was committed";
  EXPECT_FALSE(recent.find(key, 7, kLong_ns)) << "a second is too old for what no commit tells";
  recent.keep(key, {.body = "eight"}, 8, 2, kNever);
  recent.keep(key, {.body = "seven"}, 7, 3, kNever);
  EXPECT_EQ(recent.find(key, 8, 4)->body, "eight") << "what was read before does not come back";
}

TEST(RecentReads, EndWithTheToken) {
  RecentReads recent;
  const std::string key = RecentReads::key_of(asked(kAnn), kFar);
  recent.keep(key, {.body = "seven"}, 7, 0, 100);
  EXPECT_TRUE(recent.find(key, 7, 99));
  EXPECT_FALSE(recent.find(key, 7, 100));
}

TEST(RecentReads, AreTheSameCallersAndTheSameQuestions) {
  const std::string key = RecentReads::key_of(asked(kAnn), kFar);
  EXPECT_EQ(RecentReads::key_of(asked(kAnn), kFar), key);
  EXPECT_EQ(key.find("ann"), std::string::npos);
  EXPECT_NE(RecentReads::key_of(asked({{"Authorization", "Bearer bob"}}), kFar), key);
  EXPECT_NE(RecentReads::key_of(asked({}), kFar), key);
  EXPECT_NE(RecentReads::key_of(asked({{"Cookie", "Bearer ann"}}), kFar), key);
  EXPECT_NE(RecentReads::key_of(asked({kAnn[0], {"If-None-Match", "\"7\""}}), kFar), key);
  EXPECT_NE(RecentReads::key_of(asked({kAnn[0], {"origin", "https://evil.example"}}), kFar), key);
  EXPECT_NE(RecentReads::key_of(asked({kAnn[0], {"Sluice-Kit", "other"}}), kFar), key);
  EXPECT_NE(RecentReads::key_of(asked(kAnn, "/v1/views/flows?limit=4"), kFar), key);
  http::Peer certified = kFar;
  certified.certificate = "PEM";
  EXPECT_NE(RecentReads::key_of(asked(kAnn), certified), key);
  EXPECT_EQ(RecentReads::key_of(asked(kAnn), kNear), "") << "who comes by the socket";
  EXPECT_EQ(RecentReads::key_of(asked(kAnn, "/v1/flows"), kFar), "");
}

}  // namespace recent_reads_test
}  // namespace sluice::api
