// Batches on their way: the next one gathers meanwhile, sees what they wrote, and fails with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "base/json.h"
#include "engine/testing_machine.h"

namespace sluice::engine {
namespace machine_batch_test {

using testing::ElementsAre;
using testing::IsEmpty;

// A store whose commits wait until they are let through, or refused.
class GatedStore final : public store::Store {
 public:
  Result<void> commit(const store::Batch& batch) override {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_ || passes_ > 0; });
    if (!open_) --passes_;
    if (std::exchange(refuse_, false)) return Error{.code = Code::limit, .message = "the disk is full"};
    return inner_.commit(batch);
  }
  Result<std::unique_ptr<store::Snapshot>> read() override { return inner_.read(); }
  Result<void> pack(const std::vector<store::PackedFlow>& flows) override { return inner_.pack(flows); }
  Result<void> forget(int64_t keys_before_ms, const std::vector<std::string>& sync_sets) override {
    return inner_.forget(keys_before_ms, sync_sets);
  }
  Result<void> back_up(const std::string& path) override { return inner_.back_up(path); }
  std::optional<Error> broken() const override { return std::nullopt; }

  void set_open(bool open) {
    std::lock_guard lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }
  void pass(bool refuse = false) {
    std::lock_guard lock(mutex_);
    ++passes_;
    refuse_ = refuse;
    changed_.notify_all();
  }
  int arrived() {
    std::lock_guard lock(mutex_);
    return arrived_;
  }

 private:
  store::MemoryStore inner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  bool refuse_ = false;
  int passes_ = 0;
  int arrived_ = 0;
};

const std::string kTally = R"(concept Tally [T] {
  state {
    tallies: set T
    count: T -> Int
  }
  actions {
    action add(tally: T) {
      -> ok(tally: T, count: Int)
    }
    action work(tally: T) {
      runs: effect
      retry: safe
      -> ok(tally: T)
    }
  }
}
)";
const std::string kRules = "sync Work when { Tally/add: [ tally: ?t ] => ok[] } then { Tally/work: [ tally: ?t ] }\n";

struct Flights : testing::Test {
  Flights() {
    world.store = store;
    world.committer = &committer;
    world.on("Tally/add").act = [](const json::object& ask, lang::Rows& rows) -> lang::Completion {
      std::string key(ask.at("tally").as_string());
      auto row = rows.get("Tally", key);
      int64_t count = 1 + (row ? row->as_object().at("count").as_int64() : 0);
      int64_t others = static_cast<int64_t>(rows.scan("Tally", "", "", 100).size());
      rows.put("Tally", key, json::object{{"count", count}, {"others", others}});
      return {"ok", json::object{{"tally", key}, {"count", count}}};
    };
    world.machine();
    // An attempt that is under way, so that a batch does not wait for its own commit.
    call("Tally/work", "busy");
    land();
    EXPECT_EQ(world.queue.size(), 1U);
    store->set_open(false);
  }
  ~Flights() override { store->set_open(true); }

  void call(const std::string& action, const std::string& tally, std::string key = "") {
    Call made{.action = action, .input = json::object{{"tally", tally}}, .caller = world.caller, .key = std::move(key)};
    made.on_end = [this](const Result<Outcome>& outcome) {
      heard.push_back(outcome ? write(outcome->end.fields) : outcome.error().message);
    };
    world.machine().call(std::move(made));
  }
  Result<bool> turn() { return world.machine().turn(); }
  // Goes on until no batch is on its way.
  void land() {
    do {
      auto turned = turn();
      if (!turned) failures.push_back(turned.error().message);
    } while (world.machine().is_committing());
  }

  World world{{kTally}, kRules};
  std::shared_ptr<GatedStore> store = std::make_shared<GatedStore>();
  Committer committer{*store, [] {}};
  std::vector<std::string> heard, failures;
};

TEST_F(Flights, NobodyHearsOfABatchBeforeItIsCommittedAndTheNextGathersMeanwhile) {
  uint64_t before = world.machine().position();
  call("Tally/add", "a");
  ASSERT_TRUE(turn());
  EXPECT_TRUE(world.machine().is_committing());
  call("Tally/add", "a");
  call("Tally/add", "b");
  int arrived = store->arrived();
  ASSERT_TRUE(turn());
  EXPECT_LE(store->arrived(), arrived + 1);
  EXPECT_THAT(heard, IsEmpty());
  EXPECT_EQ(world.queue.size(), 1U);
  EXPECT_EQ(world.machine().position(), before);

  store->set_open(true);
  land();
  EXPECT_THAT(heard,
              ElementsAre(R"({"tally":"a","count":1})", R"({"tally":"a","count":2})", R"({"tally":"b","count":1})"));
  EXPECT_EQ(world.queue.size(), 4U);
  EXPECT_EQ(world.row("Tally", "a"), R"({"count":2,"others":1})");
  EXPECT_EQ(world.row("Tally", "b"), R"({"count":1,"others":1})");
  world.settle();
  EXPECT_EQ(world.machine().open_flows(), 0U);
}

TEST_F(Flights, WhatGatheredFailsWithTheBatchBeforeIt) {
  call("Tally/add", "a");
  ASSERT_TRUE(turn());
  call("Tally/add", "a");
  ASSERT_TRUE(turn());
  store->pass(true);
  land();
  EXPECT_THAT(failures, ElementsAre("the disk is full"));
  EXPECT_THAT(heard, ElementsAre("the disk is full", "the disk is full"));
  EXPECT_EQ(world.row("Tally", "a"), std::nullopt);

  store->set_open(true);
  call("Tally/add", "a");
  land();
  EXPECT_EQ(heard.back(), R"({"tally":"a","count":1})");
  world.settle();
  EXPECT_EQ(world.machine().open_flows(), 0U);
  EXPECT_THAT(world.ends(), ElementsAre("begin Tally/work", "act Tally/add => ok", "begin Tally/work",
                                        "finish Tally/work => ok", "finish Tally/work => ok"));
}

TEST_F(Flights, AResultThatABatchTookInIsTakenInAgainAfterItFailed) {
  call("Tally/add", "a");
  ASSERT_TRUE(turn());
  ASSERT_TRUE(world.queue.run());
  ASSERT_TRUE(turn());  // gathers
  store->pass(true);
  land();
  store->set_open(true);
  world.settle();
  EXPECT_THAT(world.ends(), ElementsAre("begin Tally/work", "finish Tally/work => ok"));
  EXPECT_EQ(world.machine().open_flows(), 0U);
}

TEST_F(Flights, AKeyOfABatchOnItsWayIsJoined) {
  call("Tally/add", "a", "once");
  ASSERT_TRUE(turn());
  store->set_open(true);
  call("Tally/add", "a", "once");
  land();
  EXPECT_THAT(heard, ElementsAre(R"({"tally":"a","count":1})", R"({"tally":"a","count":1})"));
  world.settle();
}

TEST_F(Flights, AFullBatchWaitsForTheOneBeforeIt) {
  call("Tally/add", "a");
  ASSERT_TRUE(turn());
  for (size_t i = 0; i < world.limits.batch_steps; ++i) call("Tally/add", "b");
  store->set_open(true);
  ASSERT_TRUE(turn());
  EXPECT_FALSE(heard.empty());
  land();
  EXPECT_EQ(heard.size(), world.limits.batch_steps + 1);
  world.settle();
  EXPECT_EQ(world.machine().open_flows(), 0U);
}

}  // namespace machine_batch_test
}  // namespace sluice::engine
