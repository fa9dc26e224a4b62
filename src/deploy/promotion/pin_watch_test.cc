// What others have changed in the cluster is told once, and so is that it is as it was.
#include "deploy/promotion/pin_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/testing_wait.h"
#include "deploy/testing_views.h"
#include "pin.gen.h"

namespace sluice::deploy {
namespace pin_watch_test {

class PinWatchTest : public testing::Test {
 protected:
  void pinned(const std::vector<std::string>& drift = {}, bool ready = true) {
    const pin::PinId id("shop/prod");
    pin::State state(rows.rows);
    state.put(id, {.component = "shop",
                   .environment = "prod",
                   .generation = 1,
                   .ready = ready,
                   .deployment = "cluster",
                   .running = R"([{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"shop"},)"
                              R"("spec":{"replicas":2}}])"});
    state.drift(id).assign(drift);
    watch.compare(rows, tell);
  }
  void live(const std::string& object) {
    std::lock_guard lock(mutex);
    now = object;
  }
  // What is told once the next answer is in.
  std::string told_after() {
    told.clear();
    const int before = asked;
    clock.advance_ms(PinWatch::kEvery_ns / 1'000'000 + 1);
    EXPECT_TRUE(eventually([&] {
      watch.look(tell);
      return asked > before;
    }));
    clock.advance_ms(PinWatch::kEvery_ns / 1'000'000 + 1);
    const int again = asked;
    EXPECT_TRUE(eventually([&] {
      watch.look(tell);
      return asked > again;
    }));
    return told;
  }

  RowsInMemory rows;
  ManualClock clock;
  std::mutex mutex;
  std::string now;  // empty: nobody answers
  std::atomic<int> asked = 0;
  std::string told;
  lang::Observer::Tell tell = [this](const std::string& action, const json::object& input) {
    told = action + write(input);
  };
  PinWatch watch{clock, [this](const json::value&, const std::string& name_space) -> Result<json::value> {
                   EXPECT_EQ(name_space, "prod");
                   std::lock_guard lock(mutex);
                   ++asked;
                   if (now.empty()) return Error{.code = Code::unavailable, .message = "away"};
                   return parse_json_value(now);
                 }};
};

constexpr const char* kScaled =
    R"({"metadata":{"name":"shop","managedFields":[{"manager":"kubectl","operation":"Update","apiVersion":"apps/v1",)"
    R"("fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}]},"spec":{"replicas":5}})";

TEST_F(PinWatchTest, WhatOthersHaveChangedIsTold) {
  live(kScaled);
  pinned();
  EXPECT_EQ(told_after(), R"x(Pin/drifted{"pin":"shop/prod","drift":["Deployment/shop .spec.replicas (kubectl)"]})x");
  pinned({"Deployment/shop .spec.replicas (kubectl)"});
  EXPECT_EQ(told_after(), "") << "it is noted already";
  live(R"({"metadata":{"name":"shop"},"spec":{"replicas":2}})");
  EXPECT_EQ(told_after(), R"(Pin/drifted{"pin":"shop/prod","drift":[]})");
  live("null");
  pinned();
  EXPECT_EQ(told_after(), R"(Pin/drifted{"pin":"shop/prod","drift":["Deployment/shop is gone"]})");
}

TEST_F(PinWatchTest, AClusterThatIsAwayTellsNothing) {
  pinned();
  EXPECT_EQ(told_after(), "");
}

}  // namespace pin_watch_test
}  // namespace sluice::deploy
