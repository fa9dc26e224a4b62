// Views of flows on a journal that was written by hand.
#include "host/flows/flow_views.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "engine/testing_journal.h"
#include "host/flows/testing_flow_views.h"
#include "store/memory_store.h"

namespace sluice::host {
namespace flow_views_test {

struct FlowViews : testing::Test {
  FlowViews() {
    engine::TestingJournal journal(store);
    auto steps = order_steps();
    for (size_t i = 0; i < steps.size(); ++i) {
      journal.add(steps[i], i + 1 < steps.size() ? store::FlowStatus::running : store::FlowStatus::settled_failed);
    }
    journal.add({.at_ms = kNoon_ms,
                 .flow = id(5),
                 .invocation = id(5),
                 .action = "Shop/open",
                 .root = engine::Root{},
                 .end = engine::End{.variant = "ok"}},
                store::FlowStatus::settled_ok);
  }
  Result<json::value> read(const std::string& name, const json::object& query = {}) {
    auto moment = Moment::of(store, nullptr, tools, kNoon_ms);
    return (*find_view(name))->read((*moment)->reading(), query);
  }

  store::MemoryStore store;
  lang::Tools tools;
};

TEST_F(FlowViews, AreListedTheNewestFirstAndInPages) {
  EXPECT_EQ(read("flows")->as_array().size(), 2U);
  EXPECT_EQ(read("flows", {{"limit", 1}})->at(0).at("flow"), json::value(to_string(id(5))));
  EXPECT_EQ(read("flows", {{"before", to_string(id(5))}})->at(0).at("flow"), json::value(to_string(id(1))));
  EXPECT_EQ(read("flows", {{"failed", true}})->at(0).at("state"), "failed");
  EXPECT_EQ(read("flows", {{"limit", 0}}).error().code, Code::invalid);
}

TEST_F(FlowViews, OneIsToldWhole) {
  auto flow = read("flow", {{"flow", short_id(id(1))}});
  ASSERT_TRUE(flow) << to_string(flow.error());
  EXPECT_EQ(flow->at("action"), "Order/place");
  EXPECT_EQ(flow->at("invocations").as_array().size(), 3U);
  EXPECT_EQ(read("flow", {{"flow", "ZZZZZZ"}}).error().code, Code::not_found);
}

TEST_F(FlowViews, WhyTellsOfFlowsAndInvocations) {
  EXPECT_EQ(read("why", {{"about", short_id(id(1))}})->at("kind"), "flow");
  auto one = read("why", {{"about", short_id(id(3))}, {"rules", true}});
  ASSERT_TRUE(one) << to_string(one.error());
  EXPECT_EQ(one->at("kind"), "invocation");
  EXPECT_EQ(one->at("flow"), json::value(to_string(id(1))));
  EXPECT_EQ(read("why", {{"about", "ZZZZZZ"}}).error().message, "there is no flow, invocation or object 'ZZZZZZ'");
  EXPECT_EQ(write(*read("dead-letters")), "[]");
}

TEST_F(FlowViews, OfAnEmptyHomeThereIsNothing) {
  store::MemoryStore empty;
  auto moment = Moment::of(empty, nullptr, tools, kNoon_ms);
  EXPECT_EQ((*find_view("why"))->read((*moment)->reading(), {{"about", "latest"}}).error().message,
            "nothing has run here yet");
  EXPECT_EQ(write(*(*find_view("flows"))->read((*moment)->reading(), {})), "[]");
}

TEST(FlowsUnderWay, AreThoseThatRunOrWaitForTime) {
  store::MemoryStore memory;
  using store::FlowStatus;
  std::vector<Ulid> ids;
  for (uint8_t n = 1; n <= 4; ++n) {
    std::array<uint8_t, Ulid::kRandomBytes> bytes{};
    ids.push_back(Ulid::from(n, bytes));
  }
  ASSERT_TRUE(memory.commit({.flows = {{.id = ids[0], .status = FlowStatus::running},
                                       {.id = ids[1], .status = FlowStatus::waiting},
                                       {.id = ids[2], .status = FlowStatus::waiting},
                                       {.id = ids[3], .status = FlowStatus::settled_ok}},
                             .timers = {{.invocation = ids[1], .flow = ids[1], .due_ms = 5}}}));
  auto snapshot = memory.read();
  ASSERT_TRUE(snapshot);
  auto found = flows_under_way(**snapshot);
  ASSERT_TRUE(found);
  std::ranges::sort(*found);
  EXPECT_EQ(*found, (std::vector{ids[0], ids[1]}));
}

}  // namespace flow_views_test
}  // namespace sluice::host
