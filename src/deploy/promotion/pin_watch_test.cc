// What others have changed in the cluster is told once, and so is that it is as it was.
#include "deploy/promotion/pin_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/testing_wait.h"
#include "deploy/testing_views.h"
#include "deployment.gen.h"
#include "pin.gen.h"
#include "revision.gen.h"
#include "traffic.gen.h"

namespace sluice::deploy {
namespace pin_watch_test {

class PinWatchTest : public testing::Test {
 protected:
  void pinned(const std::vector<std::string>& drift = {}, bool ready = true, const std::string& name = "shop") {
    const pin::PinId id(name + "/prod");
    pin::State state(rows.rows);
    state.put(id, {.component = name,
                   .environment = "prod",
                   .generation = 1,
                   .ready = ready,
                   .deployment = "cluster",
                   .running = R"([{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":")" + name +
                              R"("},"spec":{"replicas":2}}])"});
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

// A pin whose bundle has a deployment.
class PinWatchBundles : public PinWatchTest {
 protected:
  PinWatchBundles() {
    pin::State(rows.rows).put(
        pin::PinId("shop/prod"),
        {.component = "shop",
         .environment = "prod",
         .generation = 1,
         .ready = true,
         .deployment = "d1",
         .revision = "r1",
         .running = R"([{"apiVersion":"sluice.dev/v1","kind":"BundleDeployment","metadata":{"name":"shop"},"spec":)"
                    R"({"bundle":"sha256:1","replicas":2,"routes":{"hosts":[],"pathPrefixes":["/shop"]}}}])"});
    revision::State(rows.rows).put(revision::RevisionId("r0"), {.bundle = "shop", .sequence = 1});
    deployed(2, "/shop");
    split({{"r1", 10'000}});
  }
  void deployed(int64_t replicas, const std::string& path, bool scaling = false) {
    deployment::State(rows.rows).put(deployment::DeploymentId("d1"),
                                     {.route = {.pathPrefixes = {path}}, .replicas = replicas, .scaling = scaling});
  }
  void split(const std::vector<traffic::TrafficEntry>& entries) {
    traffic::State state(rows.rows);
    state.put(traffic::TrafficId("d1"), {.updatedBy = "user:ann"});
    state.entries(traffic::TrafficId("d1")).assign(entries);
  }
  // Another pin's object is asked for meanwhile.
  std::string told_next() {
    live(R"({"metadata":{"name":"cart"},"spec":{"replicas":2}})");
    pinned({}, true, "cart");
    return told_after();
  }
};

TEST_F(PinWatchBundles, WhatOthersHaveChangedOfItsDeploymentIsTold) {
  EXPECT_EQ(told_next(), "");
  split({{"r0", 9'000}, {"r1", 1'000}});
  EXPECT_EQ(told_next(), R"x(Pin/drifted{"pin":"shop/prod","drift":["traffic: shop@1 90%, r1 10% (user:ann)"]})x");
  split({{"r1", 10'000}});
  deployed(5, "/other");
  EXPECT_EQ(told_next(), R"(Pin/drifted{"pin":"shop/prod","drift":["replicas: 5","paths: /other"]})");
  deployed(5, "/shop", true);
  EXPECT_EQ(told_next(), "") << "whoever scales it by load may";
  deployment::State(rows.rows).erase(deployment::DeploymentId("d1"));
  EXPECT_EQ(told_next(), R"(Pin/drifted{"pin":"shop/prod","drift":["the deployment is gone"]})");
}

}  // namespace pin_watch_test
}  // namespace sluice::deploy
