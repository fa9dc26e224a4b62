// A shard agrees with a map, whatever is put in and taken out.
#include "router/shard.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace sluice::router {
namespace shard_test {

struct Item {
  uint64_t key = 0;
  uint64_t value = 0;
};

// Few different hashes, so that many share one.
uint64_t hash_of(uint64_t key) { return (key % 7) << 40 | (key % 11) << 8; }

TEST(Shard, AgreesWithAMap) {
  SeededRandom random{3};
  Shard<Item> shard;
  std::map<uint64_t, uint64_t> expected;
  auto is = [](uint64_t key) { return [key](const Item& item) { return item.key == key; }; };
  for (int i = 0; i < 20'000; ++i) {
    uint64_t key = random.below(200);
    Item* found = shard.find(hash_of(key), is(key));
    ASSERT_EQ(found != nullptr, expected.contains(key));
    uint64_t what = random.below(3);
    if (found == nullptr) {
      shard.insert(hash_of(key), {key, static_cast<uint64_t>(i)});
      expected[key] = static_cast<uint64_t>(i);
    } else if (what == 0) {
      shard.erase(found);
      expected.erase(key);
    } else {
      ASSERT_EQ(found->value, expected[key]);
      found->value = expected[key] = static_cast<uint64_t>(i);
    }
    ASSERT_EQ(shard.values().size(), expected.size());
  }
  for (const auto& [key, value] : expected) {
    const Item* found = shard.find(hash_of(key), is(key));
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->value, value);
  }
}

TEST(Shard, IsCopiedWhole) {
  Shard<Item> shard;
  shard.reserve(3);
  for (uint64_t key : {1, 2, 3}) shard.insert(hash_of(key), {key, key});
  Shard<Item> copy = shard;
  auto two = [](const Item& item) { return item.key == 2; };
  copy.erase(copy.find(hash_of(2), two));
  EXPECT_EQ(copy.find(hash_of(2), two), nullptr);
  EXPECT_EQ(shard.find(hash_of(2), two)->value, 2U);
}

}  // namespace shard_test
}  // namespace sluice::router
