// Handles as text, and how long the values behind them last.
#include "engine/sealed.h"

#include <gtest/gtest.h>

#include "engine/testing_engine.h"

namespace sluice::engine {
namespace sealed_test {

TEST(Sealed, AHandleIsReadBackAsItWasWritten) {
  SealedHandle handle{test_id(7), 3};
  std::string text = to_string(handle);
  EXPECT_EQ(text, "sealed:" + to_string(test_id(7)) + ":3");
  auto back = parse_sealed_handle(text);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, handle);
  EXPECT_EQ(parse_sealed_handle("sealed:" + to_string(test_id(7)) + ":18446744073709551615")->number, UINT64_MAX);
}

TEST(Sealed, WhatIsNoHandleIsRefused) {
  std::string id = to_string(test_id(7));
  std::string lower = id;
  lower.back() = 'a';
  for (const std::string& text :
       {std::string(), std::string("sealed:"), "sealed:" + id, "sealed:" + id + ":", "sealed:" + id + ":x",
        "sealed:" + id + ":1x", "sealed:" + id + ":-1", "sealed:" + id + ": 1", "sealed:" + id + "-1",
        "sealed:" + id + ":18446744073709551616", "sealed:" + lower + ":1", "secret:" + id + ":1", id + ":1"}) {
    auto read = parse_sealed_handle(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Code::invalid);
    EXPECT_EQ(read.error().message, "\"" + text + "\" is no handle of a sealed value");
  }
}

TEST(Sealed, AValueLastsTenMinutes) {
  ManualClock clock(1'000);
  SealedValues values(clock);
  std::string secret("key\0with\xff bytes", 15);
  values.put({test_id(1), 0}, secret);
  clock.advance_ms(SealedValues::kLife_ms - 1);
  EXPECT_EQ(values.get({test_id(1), 0}), secret);
  clock.advance_ms(1);
  EXPECT_EQ(values.get({test_id(1), 0}), std::nullopt);
  static_assert(SealedValues::kLife_ms == 600'000);
}

TEST(Sealed, TheWallClockHasNoSayInIt) {
  ManualClock clock(1'000);
  SealedValues values(clock);
  values.put({test_id(1), 0}, "a");
  clock.set_wall_ms(1'000'000'000);
  EXPECT_EQ(values.get({test_id(1), 0}), "a");
}

TEST(Sealed, PuttingAgainReplacesAndBeginsTheTimeAnew) {
  ManualClock clock(1'000);
  SealedValues values(clock);
  values.put({test_id(1), 0}, "old");
  clock.advance_ms(SealedValues::kLife_ms - 1);
  values.put({test_id(1), 0}, "new");
  clock.advance_ms(SealedValues::kLife_ms - 1);
  EXPECT_EQ(values.get({test_id(1), 0}), "new");
}

TEST(Sealed, HandlesAreToldApartByInvocationAndNumber) {
  ManualClock clock(1'000);
  SealedValues values(clock);
  values.put({test_id(1), 0}, "a");
  values.put({test_id(1), 1}, "b");
  values.put({test_id(2), 0}, "c");
  EXPECT_EQ(values.get({test_id(1), 0}), "a");
  EXPECT_EQ(values.get({test_id(1), 1}), "b");
  EXPECT_EQ(values.get({test_id(2), 0}), "c");
  EXPECT_EQ(values.get({test_id(2), 1}), std::nullopt);
}

}  // namespace sealed_test
}  // namespace sluice::engine
