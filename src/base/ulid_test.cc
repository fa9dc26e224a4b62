// Ids have one spelling, sort by creation and never collide, whatever the clock does.
#include "base/ulid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace sluice {
namespace ulid_test {

constexpr std::array<uint8_t, 10> kBytes = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x10, 0x32};

// Every draw is the same byte, so that the random part can be put at the edge of its range.
struct ConstantRandom final : Random {
  uint8_t byte;
  explicit ConstantRandom(uint8_t value) : byte(value) {}
  void fill(std::span<uint8_t> bytes) override { std::fill(bytes.begin(), bytes.end(), byte); }
};

std::string refusal(std::string_view text) {
  auto ulid = Ulid::parse(text);
  if (ulid) return "accepted";
  EXPECT_EQ(ulid.error().code, Code::invalid);
  return ulid.error().message;
}

TEST(Ulid, IsWrittenInCrockfordBase32) {
  EXPECT_EQ(to_string(Ulid()), "00000000000000000000000000");
  // The time of the specification's own example, 01ARYZ6S41….
  EXPECT_EQ(to_string(Ulid::from(1'469'918'176'385, kBytes)), "01ARYZ6S4104HMASW9NF6YY41J");
  std::array<uint8_t, 10> ones;
  ones.fill(0xff);
  EXPECT_EQ(to_string(Ulid::from(Ulid::kMaxMs, ones)), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
}

TEST(Ulid, ReadsBackWhatItWrote) {
  SeededRandom random(1);
  for (int i = 0; i < 1'000; ++i) {
    std::array<uint8_t, 10> bytes;
    random.fill(bytes);
    Ulid ulid = Ulid::from(static_cast<int64_t>(random.below(uint64_t{1} << 48)), bytes);
    EXPECT_EQ(*Ulid::parse(to_string(ulid)), ulid);
  }
}

TEST(Ulid, KeepsItsTimeAndClampsTimesThatDoNotFit) {
  EXPECT_EQ(Ulid::from(1'469'918'176'385, kBytes).wall_ms(), 1'469'918'176'385);
  EXPECT_EQ(Ulid::from(-5, kBytes).wall_ms(), 0);
  EXPECT_EQ(Ulid::from(Ulid::kMaxMs + 1, kBytes).wall_ms(), Ulid::kMaxMs);
}

TEST(Ulid, SortsAsTextAsItSortsAsAValue) {
  SeededRandom random(2);
  std::vector<Ulid> ulids;
  for (int i = 0; i < 500; ++i) {
    std::array<uint8_t, 10> bytes;
    random.fill(bytes);
    ulids.push_back(Ulid::from(static_cast<int64_t>(random.below(20)), bytes));
  }
  std::sort(ulids.begin(), ulids.end());
  EXPECT_TRUE(std::is_sorted(ulids.begin(), ulids.end(),
                             [](const Ulid& a, const Ulid& b) { return to_string(a) < to_string(b); }));
}

TEST(Ulid, RefusesWhatIsNotItsOneSpelling) {
  EXPECT_EQ(refusal(""), "not a ULID: expected 26 characters, found 0");
  EXPECT_EQ(refusal("01ARYZ6S4104HMASW9NF6YY41"), "not a ULID: expected 26 characters, found 25");
  EXPECT_EQ(refusal(std::string(100'000, '0')), "not a ULID: expected 26 characters, found 100000");
  EXPECT_EQ(refusal("01ARYZ6S4104HMASW9NF6YY41j"), "not a ULID: character 26 is 'j'; letters are upper case");
  EXPECT_EQ(refusal("01IRYZ6S4104HMASW9NF6YY41J"), "not a ULID: character 3 is 'I'; I, L, O and U are not used");
  EXPECT_EQ(refusal("01ARYZ6S-104HMASW9NF6YY41J"), "not a ULID: character 9 is '-'; expected 0-9 or A-Z");
  EXPECT_EQ(refusal(std::string(26, '\0')), "not a ULID: character 1 is byte 0x00; expected 0-9 or A-Z");
  EXPECT_EQ(refusal("0\xff" + std::string(24, '0')), "not a ULID: character 2 is byte 0xff; expected 0-9 or A-Z");
  EXPECT_EQ(refusal("80000000000000000000000000"),
            "not a ULID: character 1 is '8'; more than 7 does not fit into 128 bits");
}

TEST(UlidSource, Greentic17MakesTenThousandInOrderWhileTheClockStandsStill) {
  ManualClock clock(1'700'000'000'000);
  SeededRandom random(3);
  UlidSource source(clock, random);
  Ulid last = source.next();
  for (int i = 0; i < 10'000; ++i) {
    Ulid next = source.next();
    ASSERT_LT(last, next);
    ASSERT_EQ(next.wall_ms(), 1'700'000'000'000);
    last = next;
  }
}

TEST(UlidSource, KeepsOrderWhenTheClockGoesBack) {
  ManualClock clock(1'700'000'000'000);
  SeededRandom random(4);
  UlidSource source(clock, random);
  Ulid before = source.next();
  clock.set_wall_ms(1'600'000'000'000);
  Ulid during = source.next();
  clock.set_wall_ms(1'700'000'000'001);
  Ulid after = source.next();
  EXPECT_LT(before, during);
  EXPECT_LT(during, after);
  EXPECT_EQ(during.wall_ms(), 1'700'000'000'000);
  EXPECT_EQ(after.wall_ms(), 1'700'000'000'001);
}

TEST(UlidSource, DrawsAfreshInEveryMillisecond) {
  ManualClock clock(1'000);
  SeededRandom random(5);
  UlidSource source(clock, random);
  Ulid first = source.next();
  clock.advance_ms(1);
  Ulid second = source.next();
  EXPECT_NE(first.low() + 1, second.low());
  EXPECT_EQ(second.wall_ms(), 1'001);
}

TEST(UlidSource, MovesTheTimeOnWhenTheRandomPartOverflows) {
  ManualClock clock(1'000);
  ConstantRandom random(0xff);
  UlidSource source(clock, random);
  Ulid first = source.next();
  random.byte = 0x11;
  Ulid second = source.next();
  EXPECT_EQ(to_string(first), "00000000Z8ZZZZZZZZZZZZZZZZ");
  EXPECT_EQ(second.wall_ms(), 1'001);
  EXPECT_EQ(second.low(), 0x1111111111111111u);
  EXPECT_LT(first, second);
  EXPECT_EQ(source.next().low(), 0x1111111111111112u);
}

TEST(UlidSource, CarriesFromTheLowIntoTheHighWord) {
  ManualClock clock(1'000);
  struct : Random {
    void fill(std::span<uint8_t> bytes) override {
      std::fill(bytes.begin(), bytes.end(), 0xff);
      bytes[0] = 0;
    }
  } random;
  UlidSource source(clock, random);
  Ulid first = source.next();
  Ulid second = source.next();
  EXPECT_EQ(first.high() + 1, second.high());
  EXPECT_EQ(second.low(), 0u);
  EXPECT_EQ(second.wall_ms(), 1'000);
}

// Ids sort by creation across threads as well: one that was had before another was asked for is the smaller.
TEST(UlidSource, Greentic17SortsByCreationAcrossThreadsAndNeverCollides) {
  RealClock clock;
  RealRandom random;
  UlidSource source(clock, random);
  struct Made {
    uint64_t asked;  // tickets drawn before the id was asked for, and after it was had
    uint64_t had;
    Ulid id;
  };
  std::atomic<uint64_t> tickets = 0;
  std::vector<std::vector<Made>> made(8);
  std::vector<std::thread> threads;
  for (auto& mine : made) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) {
        const uint64_t asked = tickets++;
        const Ulid id = source.next();
        mine.push_back({asked, tickets++, id});
      }
    });
  }
  for (auto& thread : threads) thread.join();

  std::vector<Made> all;
  for (const auto& mine : made) all.insert(all.end(), mine.begin(), mine.end());
  std::sort(all.begin(), all.end(), [](const Made& a, const Made& b) { return a.id < b.id; });
  ASSERT_EQ(all.size(), 80'000u);
  // Going up by id, no id was had before the latest asking of the smaller ones.
  uint64_t latest_asked = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    ASSERT_TRUE(i == 0 || all[i - 1].id < all[i].id) << to_string(all[i].id);
    ASSERT_GE(all[i].had, latest_asked) << to_string(all[i].id);
    latest_asked = std::max(latest_asked, all[i].asked);
  }
}

}  // namespace ulid_test
}  // namespace sluice
