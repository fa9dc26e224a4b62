// Which looks are told: of another commit once, of a server that went and came once each.
#include "deploy/promotion/git_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include "base/json.h"
#include "base/testing_wait.h"
#include "deploy/testing_views.h"
#include "git_source.gen.h"

namespace sluice::deploy {
namespace git_watch_test {

class GitWatchTest : public testing::Test {
 protected:
  GitWatchTest() {
    sources.read_folder = [this](const std::string&, const std::string&, const std::string&) -> Result<GitFolder> {
      std::lock_guard lock(mutex);
      ++asked;
      if (head.empty()) return Error{.code = Code::unavailable, .message = "away"};
      return GitFolder{.commit = head, .files = {}};
    };
  }
  void now(const std::string& commit) {
    std::lock_guard lock(mutex);
    head = commit;
  }
  void commit(const std::string& seen) {
    git_source::State(rows.rows).put(git_source::GitSourceId("shop"), {.url = "https://git.example/x", .commit = seen});
    watch.compare(rows, tell);
  }
  // How many looks were told once the next answer is in: it asks again after that alone.
  size_t told_after() {
    for (int round = 0; round < 2; ++round) {
      const int before = asked;
      clock.advance_ms(GitWatch::kEvery_ns / 1'000'000 + 1);
      EXPECT_TRUE(eventually([&] {
        watch.look(tell);
        return asked > before;
      }));
    }
    return told;
  }

  RowsInMemory rows;
  ManualClock clock;
  ReleaseSources sources;
  std::mutex mutex;
  std::string head = "c1";
  std::atomic<int> asked = 0;
  size_t told = 0;
  lang::Observer::Tell tell = [this](const std::string& action, const json::object& input) {
    EXPECT_EQ(action + write(input), R"(GitSource/look{"source":"shop"})");
    ++told;
  };
  GitWatch watch{clock, sources};
};

TEST_F(GitWatchTest, WhatIsNewIsToldOnce) {
  commit("");
  EXPECT_EQ(told_after(), 1U);
  EXPECT_EQ(told_after(), 1U) << "it is being tried";
  commit("c1");
  EXPECT_EQ(told_after(), 1U);
  now("c2");
  EXPECT_EQ(told_after(), 2U);
}

TEST_F(GitWatchTest, AServerThatIsAwayIsToldOnceAndSoIsItsReturn) {
  commit("c1");
  now("");
  EXPECT_EQ(told_after(), 1U);
  EXPECT_EQ(told_after(), 1U);
  now("c1");
  EXPECT_EQ(told_after(), 2U);
  EXPECT_EQ(told_after(), 2U);
}

}  // namespace git_watch_test
}  // namespace sluice::deploy
