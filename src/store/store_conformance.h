// The tests that every Store must pass. They stand in store_conformance_test.cc; a store's own test runs them with
//
//   INSTANTIATE_TEST_SUITE_P(Memory, StoreConformance, testing::Values(StoreMaker{"memory", [] { … }}));
//
// and this file holds what tests of stores share.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "store/store.h"

namespace sluice::store {

// A store and what it stands on, ended in the right order.
struct StoreUnderTest {
  std::shared_ptr<void> ground;
  std::unique_ptr<Store> store;
};

struct StoreMaker {
  std::string name;
  std::function<StoreUnderTest()> make;
};

inline void PrintTo(const StoreMaker& maker, std::ostream* out) { *out << maker.name; }

class StoreConformance : public testing::TestWithParam<StoreMaker> {
 protected:
  StoreConformance() : under_test_(GetParam().make()) {}

  Store& store() { return *under_test_.store; }

  // Commits what must succeed.
  void commit(const Batch& batch) {
    auto done = store().commit(batch);
    ASSERT_TRUE(done) << done.error().message;
  }

  std::unique_ptr<Snapshot> read() {
    auto snapshot = store().read();
    EXPECT_TRUE(snapshot);
    return std::move(*snapshot);
  }

 private:
  StoreUnderTest under_test_;
};

inline Ulid test_id(int64_t n) { return Ulid::from(n, std::array<uint8_t, Ulid::kRandomBytes>{}); }

// All rows that a reading function visits: all_of<StateRow>([&](auto& visit) { return snapshot.scan("A", "", visit); })
template <typename Row, typename Read>
std::vector<Row> all_of(Read read) {
  std::vector<Row> rows;
  Visit<Row> visit = [&](const Row& row) {
    rows.push_back(row);
    return true;
  };
  Result<void> done = read(visit);
  EXPECT_TRUE(done) << done.error().message;
  return rows;
}

// As all_of, but no more than `count`.
template <typename Row, typename Read>
std::vector<Row> first_of(size_t count, Read read) {
  std::vector<Row> rows;
  Visit<Row> visit = [&](const Row& row) {
    rows.push_back(row);
    return rows.size() < count;
  };
  Result<void> done = read(visit);
  EXPECT_TRUE(done) << done.error().message;
  return rows;
}

}  // namespace sluice::store
