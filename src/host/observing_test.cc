// Observers beside an engine on a home of its own.
#include "host/observing.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/atomic_file.h"
#include "base/testing_source.h"
#include "base/testing_wait.h"
#include "engine/transaction.h"
#include "host/home_engine.h"
#include "host/testing_opening.h"
#include "orders/orders_kit.h"

namespace sluice::host {
namespace observing_test {

// Sees that there is no tea, each time that it looks.
class NoTea final : public lang::Observer {
 public:
  explicit NoTea(std::string concept_name) : concept_name_(std::move(concept_name)) {}
  std::string_view concept_name() const override { return concept_name_; }
  void look(const Tell& tell) override {
    looks++;
    tell("Stock/add", {{"item", "tea"}, {"count", 1}});
  }

  std::atomic<int> looks = 0;

 private:
  std::string concept_name_;
};

struct ObservingTest : testing::Test, TestingOpening {
  ObservingTest() : TestingOpening(orders::concepts()) {}
  std::unique_ptr<HomeEngine> start() {
    lang::Checked checked = lang::check(
        lang::load_kit(kKit, [this](const std::string& path) { return read_file(disk, path, size_t{1} << 20U); }));
    auto home = HomeEngine::start(opening, std::make_shared<const lang::CheckedKit>(*std::move(checked.kit)), kKit);
    EXPECT_TRUE(home) << to_string(home.error());
    return *std::move(home);
  }

  const std::string kKit = std::string(kSourceDir) + "/examples/kits/orders";
};

TEST_F(ObservingTest, LooksOnceBeforeAnythingElseAndThenAgain) {
  NoTea observer("Stock");
  loaded.observers = {&observer};
  auto home = start();
  EXPECT_EQ(observer.looks, 1);
  auto snapshot = home->store().read();
  auto row = (*snapshot)->journal(1);
  ASSERT_TRUE(row && *row) << "what it told was committed before anything was called";
  auto step = engine::read_step((*row)->record);
  EXPECT_EQ(step->action, "Stock/add");
  EXPECT_EQ(step->caller.name, "sluice:observer");
  EXPECT_TRUE(eventually([&] { return observer.looks > 1; }));
}

// Reads what is committed, each time that something is.
class Counts final : public lang::Observer {
 public:
  std::string_view concept_name() const override { return "Stock"; }
  void look(const Tell&) override { looks++; }
  void compare(const lang::Snapshot& committed, const Tell&) override {
    items = committed.rows_of("Stock").scan("Stock", "", "", 10).size();
    compares++;
  }

  std::atomic<int> looks = 0, compares = 0;
  std::atomic<size_t> items = 0;
};

TEST_F(ObservingTest, ComparesWhenSomethingWasCommitted) {
  Counts observer;
  loaded.observers = {&observer};
  auto home = start();
  ASSERT_TRUE(home->engine().start(
      {.action = "Stock/add", .input = {{"item", "tea"}, {"count", 1}}, .caller = home->caller()}));
  EXPECT_TRUE(eventually([&] { return observer.items == 1; }));
  const int looks = observer.looks, compares = observer.compares;
  EXPECT_TRUE(eventually([&] { return observer.looks > looks + 1; }));
  EXPECT_EQ(observer.compares, compares) << "nothing has changed";
}

// The store fails while it reads for the first time.
class Unlucky final : public lang::Observer {
 public:
  std::string_view concept_name() const override { return "Stock"; }
  void look(const Tell&) override {}
  void compare(const lang::Snapshot&, const Tell&) override {
    if (compares++ == 0) throw engine::UnreadableStore(Error{.message = "the wire is cut"});
  }

  std::atomic<int> compares = 0;
};

TEST_F(ObservingTest, ComparesAgainWhereTheStoreFailedInBetween) {
  Unlucky observer;
  loaded.observers = {&observer};
  auto home = start();
  ASSERT_TRUE(home->engine().start(
      {.action = "Stock/add", .input = {{"item", "tea"}, {"count", 1}}, .caller = home->caller()}));
  EXPECT_TRUE(eventually([&] { return observer.compares > 1; }));
}

TEST_F(ObservingTest, DoesNotLookForAConceptThatTheKitHasNot) {
  NoTea observer("LocalRuntime");
  loaded.observers = {&observer};
  auto home = start();
  EXPECT_EQ(observer.looks, 0);
}

}  // namespace observing_test
}  // namespace sluice::host
