// A Redis that lets us in, one that does not, and all that can come instead of a reply.
#include "router/pins/redis_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing_wait.h"
#include "router/testing_proxy.h"
#include "router/testing_redis.h"

namespace sluice::router {
namespace redis_link_test {

using testing::ElementsAre;
using testing::IsEmpty;

class RedisLinkTest : public testing::Test {
 protected:
  void use(const std::string& url) {
    link.use(parse_redis_url(url).value());
    turn();
  }
  void turn(int64_t later_us = 0) {
    now_us += later_us;
    link.set_time(now_us);
    link.step();
    link.flush();
  }
  int fd() const { return wire.connected.back(); }
  void says(const std::string& text) {
    wire.at(fd()).incoming += text;
    link.happened({.readable = true});
  }
  std::vector<std::string> asked() {
    turn();
    return redis_commands(std::exchange(wire.at(fd()).written, ""));
  }
  // "lost", or a reply's text, of each that is answered.
  std::vector<std::string> replies() {
    std::vector<std::string> all;
    for (const RedisReply& each : link.replies()) {
      all.push_back(!each ? "lost" : each->str != nullptr ? each->str : std::to_string(each->integer));
    }
    link.replies().clear();
    return all;
  }
  // How often it has tried to connect within so long.
  size_t tries_within(int64_t span_us) {
    size_t before = wire.connected.size();
    for (int64_t left_us = span_us; left_us > 0; left_us -= 50'000) turn(50'000);
    return wire.connected.size() - before;
  }

  TestingWire wire;
  int64_t now_us = 1'000'000;
  RedisLink link{wire};
};

TEST_F(RedisLinkTest, WithoutAPlaceItDoesNothing) {
  turn();
  EXPECT_FALSE(link.takes_commands());
  EXPECT_FALSE(link.command({"PING"}));
  EXPECT_TRUE(wire.connected.empty());
}

TEST_F(RedisLinkTest, GreetsAndIsUpWhenItIsLetIn) {
  use("redis://ann:s3cret@127.0.0.1:7000/2");
  EXPECT_EQ(wire.at(fd()).to, "127.0.0.1:7000");
  EXPECT_THAT(asked(), ElementsAre("AUTH ann s3cret", "SELECT 2", "PING"));
  says("+OK\r\n+OK\r\n");
  EXPECT_FALSE(link.is_up());
  says("+PONG\r\n");
  EXPECT_TRUE(link.is_up());
  EXPECT_THAT(replies(), IsEmpty()) << "nobody has asked for these";
}

TEST_F(RedisLinkTest, ReachesAUnixSocketAndAName) {
  use("redis+unix:///run/redis.sock");
  EXPECT_EQ(wire.at(fd()).to, "unix:/run/redis.sock");
  EXPECT_THAT(asked(), ElementsAre("PING"));
  use("redis://localhost:7000");
  EXPECT_TRUE(eventually([&] {
    turn();
    return wire.connected.size() == 2;
  }));
  EXPECT_THAT(wire.at(fd()).to, testing::EndsWith(":7000"));
}

TEST_F(RedisLinkTest, AnswersInOrder) {
  use("redis://127.0.0.1");
  says("+PONG\r\n");
  EXPECT_TRUE(link.command({"GET", "a"}));
  EXPECT_TRUE(link.command({"GET", "b c\r\n"}));
  EXPECT_THAT(asked(), ElementsAre("PING", "GET a", "GET b c\r\n"));
  says("$1\r");
  EXPECT_THAT(replies(), IsEmpty());
  says("\nx\r\n:7\r\n");
  EXPECT_THAT(replies(), ElementsAre("x", "7"));
}

TEST_F(RedisLinkTest, WhatIsAskedBeforeItIsUpGoesBehindTheGreeting) {
  wire.slow_connects = true;
  link.use(parse_redis_url("redis://:s3cret@127.0.0.1").value());
  EXPECT_TRUE(link.takes_commands());
  EXPECT_TRUE(link.command({"GET", "a"}));
  turn();
  EXPECT_TRUE(link.command({"GET", "b"}));
  EXPECT_THAT(asked(), IsEmpty()) << "it is not connected yet";
  link.happened({.writable = true});
  EXPECT_THAT(asked(), ElementsAre("AUTH s3cret", "PING", "GET a", "GET b"));
  says("+OK\r\n+PONG\r\n$1\r\n1\r\n$1\r\n2\r\n");
  EXPECT_THAT(replies(), ElementsAre("1", "2"));
}

TEST_F(RedisLinkTest, WritesTheRestWhenThereIsRoom) {
  use("redis://127.0.0.1");
  says("+PONG\r\n");
  asked();
  wire.at(fd()).room = 10;
  EXPECT_TRUE(link.command({"GET", "abc"}));
  turn();
  EXPECT_EQ(wire.at(fd()).written.size(), 10U);
  wire.at(fd()).room = SIZE_MAX;
  link.happened({.writable = true});
  EXPECT_THAT(asked(), ElementsAre("GET abc"));
}

TEST_F(RedisLinkTest, WhatIsLostIsAnsweredByNothing) {
  use("redis://127.0.0.1");
  says("+PONG\r\n");
  link.command({"GET", "a"});
  link.command({"GET", "b"});
  turn();
  says("$1\r\nx\r\n");
  wire.at(fd()).ends = true;
  link.happened({.readable = true, .ended = true});
  EXPECT_THAT(replies(), ElementsAre("x", "lost"));
  EXPECT_FALSE(link.is_up());
  EXPECT_STREQ(link.trouble(), "it has closed the connection");
  EXPECT_FALSE(link.takes_commands()) << "nobody is asked while it is away";
  turn(100'000);
  says("+PONG\r\n");
  EXPECT_TRUE(link.is_up());
}

TEST_F(RedisLinkTest, SaysInItsOwnWordsWhyItIsNotLetIn) {
  auto trouble = [&](const std::string& url, const std::string& said) {
    link.use(std::nullopt);
    use(url);
    says(said);
    EXPECT_FALSE(link.is_up());
    return std::string(link.trouble());
  };
  EXPECT_EQ(trouble("redis://:s3cret@127.0.0.1", "-WRONGPASS s3cret is wrong\r\n"), "it refuses the password");
  EXPECT_EQ(trouble("redis://127.0.0.1", "-NOAUTH Authentication required.\r\n"), "it wants a password");
  EXPECT_EQ(trouble("redis://127.0.0.1/9", "-ERR DB index is out of range\r\n"), "it has no such database");
  EXPECT_EQ(trouble("redis://127.0.0.1", "-LOADING Redis is loading the dataset in memory\r\n"), "it is not ready");
  EXPECT_EQ(trouble("redis://127.0.0.1", ":1\r\n"), "it is not ready");
}

TEST_F(RedisLinkTest, GivesUpWhoSendsGarbage) {
  const std::pair<const char*, std::string> kinds[] = {
      {"what it sends is no reply", "HTTP/1.1 400 Bad Request\r\n\r\n"},
      {"what it sends is no reply", std::string("\0\0\0\0\r\n", 6)},
      {"what it sends is no reply", "*2000000000\r\n"},
      {"what it sends is no reply", "$2000000000\r\n" + std::string(2'000'000, 'x')},
      {"what it sends is no reply", "$-7\r\n"},
      {"what it sends is no reply", "*-7\r\n"},
      {"it replies without being asked", "+OK\r\n"},
      {"it replies without being asked", "-ERR max number of clients reached\r\n"},
      {"it replies without being asked", "$-1\r\n*0\r\n"}};
  for (const auto& [why, garbage] : kinds) {
    link.use(std::nullopt);
    use("redis://127.0.0.1");
    says("+PONG\r\n");
    ASSERT_TRUE(link.is_up());
    says(garbage);
    EXPECT_FALSE(link.is_up()) << garbage.substr(0, 40);
    EXPECT_STREQ(link.trouble(), why) << garbage.substr(0, 40);
    EXPECT_TRUE(wire.at(fd()).closed);
  }
}

TEST_F(RedisLinkTest, GivesUpWhoIsSilent) {
  use("redis://127.0.0.1");
  turn(900'000);
  EXPECT_STREQ(link.trouble(), "") << "it may still say something";
  turn(200'000);
  EXPECT_STREQ(link.trouble(), "it does not answer");
  turn(100'000);
  says("+PONG\r\n");
  turn(60'000'000);
  EXPECT_TRUE(link.is_up()) << "it was not asked anything";
  link.command({"GET", "a"});
  turn(1'100'000);
  EXPECT_FALSE(link.is_up());
  EXPECT_THAT(replies(), ElementsAre("lost"));
}

TEST_F(RedisLinkTest, TriesAgainLessAndLessUntilItIsFoundWell) {
  wire.refusing = {"127.0.0.1:6379"};
  use("redis://127.0.0.1");
  EXPECT_STREQ(link.trouble(), "it cannot be reached");
  EXPECT_FALSE(link.takes_commands());
  wire.refusing.clear();
  auto refuses = [&](int64_t span_us) {
    size_t tries = 0;
    for (int64_t left_us = span_us; left_us > 0; left_us -= 50'000) {
      size_t before = wire.connected.size();
      turn(50'000);
      if (wire.connected.size() == before) continue;
      ++tries;
      says("-LOADING\r\n");
    }
    return tries;
  };
  EXPECT_EQ(refuses(3'000'000), 4U) << "after 0.1, 0.2, 0.4, 0.8 seconds";
  refuses(60'000'000);
  EXPECT_EQ(refuses(50'000'000), 10U) << "every five seconds at last";
  EXPECT_EQ(tries_within(5'000'000), 1U);
  says("+PONG\r\n");
  link.found_well();
  link.lose("so that it is tried again");
  EXPECT_EQ(tries_within(100'000), 1U);
}

TEST_F(RedisLinkTest, TakesNoMoreThanItCanRemember) {
  use("redis://127.0.0.1");
  says("+PONG\r\n");
  size_t taken = 0;
  while (taken < 10'000 && link.command({"GET", "a"})) ++taken;
  EXPECT_EQ(taken, 4'096U);
}

TEST_F(RedisLinkTest, AnotherPlaceLosesWhatWasAskedOfTheFirst) {
  use("redis://127.0.0.1");
  says("+PONG\r\n");
  link.command({"GET", "a"});
  int first = fd();
  use("redis://127.0.0.1");
  EXPECT_TRUE(link.is_up()) << "it is the same";
  use("redis://127.0.0.2");
  EXPECT_TRUE(wire.at(first).closed);
  EXPECT_THAT(replies(), ElementsAre("lost"));
  EXPECT_EQ(wire.at(fd()).to, "127.0.0.2:6379");
}

}  // namespace redis_link_test
}  // namespace sluice::router
