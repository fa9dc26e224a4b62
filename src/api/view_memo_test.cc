// How old an answer may be, whose it is, and that those who ask at once share one read.
#include "api/view_memo.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace sluice::api {
namespace view_memo_test {

struct Memo : testing::Test {
  ManualClock clock;
  ViewMemo memo{clock};
  uint64_t reads = 0;

  uint64_t ask(const std::string& key, int64_t age_ms) {
    return memo.get(key, age_ms, [&]() -> Result<ViewAnswer> { return ViewAnswer{.position = ++reads}; })
        .value()
        ->position;
  }
};

TEST_F(Memo, SharesAnAnswerForAsLongAsItMayBeOld) {
  EXPECT_EQ(ask("ann fleet", 1'000), 1U);
  clock.advance_ms(900);
  EXPECT_EQ(ask("ann fleet", 1'000), 1U);
  EXPECT_EQ(ask("dan fleet", 1'000), 2U) << "another caller sees something else";
  EXPECT_EQ(ask("ann fleet", 500), 3U);
  clock.advance_ms(1'100);
  EXPECT_EQ(ask("ann fleet", 1'000), 4U);
  clock.advance_ms(60'000);
  EXPECT_EQ(ask("ann fleet", 3'600'000), 5U) << "nothing is kept for long";
}

TEST_F(Memo, KeepsNoError) {
  auto failed = memo.get("k", 1'000, [] { return Result<ViewAnswer>(Error{.message = "no"}); });
  EXPECT_EQ(failed.error().message, "no");
  EXPECT_EQ(ask("k", 1'000), 1U);
}

TEST_F(Memo, ForgetsWhenThereIsTooMuch) {
  for (int i = 0; i < 3'000; ++i) ask(std::to_string(i), 1'000);
  EXPECT_EQ(ask("2999", 1'000), 3'000U);
  EXPECT_EQ(ask("0", 1'000), 3'001U);
}

TEST_F(Memo, OfThoseWhoAskAtOnceOneReads) {
  std::atomic<int> began = 0;
  std::atomic<int> slow_reads = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      ++began;
      auto answer = memo.get("k", 1'000, [&]() -> Result<ViewAnswer> {
        while (began < 8) std::this_thread::yield();
        ++slow_reads;
        return ViewAnswer{.position = 7};
      });
      EXPECT_EQ(answer.value()->position, 7U);
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(slow_reads, 1);
}

}  // namespace view_memo_test
}  // namespace sluice::api
