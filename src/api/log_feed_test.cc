// Lines of a log as the body of an answer, a part at a time.
#include "api/log_feed.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>

#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::api {
namespace log_feed_test {

// Knows one replica, as long as it is there.
struct OneReplica final : host::Door {
  deploy::views::ReplicaView replica;
  bool there = true;

  Result<host::ViewAnswer> view(const std::string&, const json::object&) override {
    if (!there) return Error{.code = Code::not_found};
    return host::ViewAnswer{.document = json::array{to_json(replica)}};
  }
  Result<host::Answer> call(const host::Call&, const host::Waiting&) override { return Error{}; }
  Result<host::Answer> answer_of(const Ulid&, host::WaitFor, const host::Waiting&) override { return Error{}; }
  Result<host::Decided> decide(engine::Decision, const host::Waiting&) override { return Error{}; }
  Result<void> follow(uint64_t, const std::function<bool(const engine::Step&)>&,
                      const std::function<bool()>&) override {
    return Error{};
  }
  Result<std::string> put(File&, const std::string&) override { return Error{}; }
  Result<int> exec(const host::ExecAsk&, const host::ExecEnds&) override { return Error{}; }
  Result<void> read_logs(const host::LogAsk&, const host::VisitLine&, const std::function<bool()>&) override {
    return Error{};
  }
};

struct LogFeeds : testing::Test {
  LogFeeds() {
    door->replica = {.replica = "r.1.0", .label = "shop@1.0", .log = folder.path(), .instance = "r"};
    say("2026-03-01T09:30:00.125Z out listening");
    say("2026-03-01T09:30:01.125Z out~ GET /health");
  }
  void say(const std::string& line) { std::ofstream(folder.path("replica.log"), std::ios::app) << line << "\n"; }
  LogFeed feed(host::LogAsk ask, const std::string& search = "") {
    ask.names = {"shop"};
    auto reading = host::LogReading::open(*door, disk, ask, [this](const std::string&) { return may; });
    EXPECT_TRUE(reading);
    LogFeed made(door, *std::move(reading), search, [this] { return left; });
    made.begin([this] { ++woken; });
    return made;
  }

  TestingFolder folder;
  RealDisk disk;
  std::shared_ptr<OneReplica> door = std::make_shared<OneReplica>();
  Result<void> may;
  bool left = false;
  int woken = 0;
};

TEST_F(LogFeeds, EndWithTheLastLineUnlessTheyAreFollowed) {
  LogFeed whole = feed({});
  std::string said;
  EXPECT_FALSE(whole.next(said));
  EXPECT_EQ(said,
            "{\"time\":\"2026-03-01T09:30:00.125Z\",\"replica\":\"r.1.0\",\"label\":\"shop@1.0\",\"stream\":"
            "\"out\",\"text\":\"listening\"}\n");
  LogFeed followed = feed({.follow = true});
  said.clear();
  EXPECT_TRUE(followed.next(said));
  EXPECT_EQ(woken, 0) << "there is no more for now";
  say("2026-03-01T09:30:02.125Z err sold out");
  said.clear();
  EXPECT_TRUE(followed.next(said));
  EXPECT_NE(said.find("sold out"), std::string::npos);
  left = true;
  EXPECT_FALSE(followed.next(said));
}

TEST_F(LogFeeds, HaveOnlyWhatIsAskedFor) {
  std::string said;
  feed({.all = true}).next(said);
  EXPECT_NE(said.find("GET /health"), std::string::npos);
  said.clear();
  feed({}, "nothing like it").next(said);
  EXPECT_EQ(said, "");
}

TEST_F(LogFeeds, AreGivenAPartAtATime) {
  const std::string line(1'000, 'x');
  for (int i = 0; i < 200; ++i) say("2026-03-01T09:30:02.125Z out " + line);
  LogFeed whole = feed({});
  std::string said;
  EXPECT_TRUE(whole.next(said));
  EXPECT_LT(said.size(), 200U * line.size());
  EXPECT_EQ(woken, 1) << "it is asked again at once";
  while (whole.next(said)) {
  }
  EXPECT_GT(said.size(), 200U * line.size());
}

TEST_F(LogFeeds, OfWhatMayNotBeReadAreRefused) {
  may = Error{.code = Code::denied, .message = "no"};
  auto refused = host::LogReading::open(*door, disk, {.names = {"shop"}}, [this](const std::string&) { return may; });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::denied);
  door->there = false;
  EXPECT_EQ(host::LogReading::open(*door, disk, {.names = {"shop"}}).error().code, Code::not_found);
}

}  // namespace log_feed_test
}  // namespace sluice::api
