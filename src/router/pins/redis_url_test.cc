// Where a Redis is, from its URL; and no password in what is said of a wrong one.
#include "router/pins/redis_url.h"

#include <gtest/gtest.h>

namespace sluice::router {
namespace redis_url_test {

TEST(RedisUrl, SaysWhereItIs) {
  EXPECT_EQ(parse_redis_url("redis://cache.example").value(), (RedisPlace{.host = "cache.example"}));
  EXPECT_EQ(parse_redis_url("redis://127.0.0.1:7000/").value(), (RedisPlace{.host = "127.0.0.1", .port = 7000}));
  EXPECT_EQ(parse_redis_url("redis://[::1]:7000/3").value(), (RedisPlace{.host = "::1", .port = 7000, .db = 3}));
  EXPECT_EQ(parse_redis_url("redis://[::1]").value(), (RedisPlace{.host = "::1"}));
  EXPECT_EQ(parse_redis_url("redis+unix:///run/redis.sock").value(), (RedisPlace{.path = "/run/redis.sock"}));
}

TEST(RedisUrl, SaysWhoIsLetIn) {
  EXPECT_EQ(parse_redis_url("redis://:s3cret@cache:1/2").value(),
            (RedisPlace{.host = "cache", .port = 1, .password = "s3cret", .db = 2}));
  EXPECT_EQ(parse_redis_url("redis://ann:p%40ss%2f%3A@cache").value(),
            (RedisPlace{.host = "cache", .user = "ann", .password = "p@ss/:"}));
  EXPECT_EQ(parse_redis_url("redis+unix://:s3cret@/run/r?db=4").value(),
            (RedisPlace{.path = "/run/r", .password = "s3cret", .db = 4}));
}

TEST(RedisUrl, RefusesTheRestWithoutRepeatingIt) {
  for (const char* wrong : {"",
                            "hunter2",
                            "http://hunter2",
                            "redis://",
                            "redis://hunter2@host",
                            "redis://:@hunter2",
                            "redis://:hunter2@",
                            "redis://:hunter2@:1",
                            "redis://:hunter2@host:",
                            "redis://:hunter2@host:0",
                            "redis://:hunter2@host:65536",
                            "redis://:hunter2@host/x",
                            "redis://:hunter2@host/-1",
                            "redis://:hunter2@ho st",
                            "redis://:hunter2@[::1",
                            "redis://:hunter2@[::z]",
                            "redis://:hunter2@[::1]x",
                            "redis://:hunter2%4@host",
                            "redis://:hunter2%zz@host",
                            "redis+unix://:hunter2@run",
                            "redis+unix:///run?db=x",
                            "rediss://:hunter2@host"}) {
    auto place = parse_redis_url(wrong);
    ASSERT_FALSE(place) << wrong;
    EXPECT_EQ(to_string(place.error()).find("hunter2"), std::string::npos) << wrong;
  }
  EXPECT_EQ(parse_redis_url("rediss://host").error().message,
            "a router speaks no TLS to Redis; expected redis:// or redis+unix://");
  EXPECT_EQ(parse_redis_url("redis://host/1000001").error().message,
            "a database of Redis is a number of at most 1000000");
}

}  // namespace redis_url_test
}  // namespace sluice::router
