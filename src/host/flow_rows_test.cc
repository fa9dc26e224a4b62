// Rows of flows, and their records.
#include "host/flow_rows.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "engine/testing_journal.h"
#include "host/testing_orders.h"
#include "store/memory_store.h"

namespace sluice::host {
namespace flow_rows_test {

using store::FlowStatus;

TEST(FlowRows, EveryStateHasAName) {
  for (FlowStatus status : {FlowStatus::running, FlowStatus::waiting, FlowStatus::stuck, FlowStatus::settled_ok,
                            FlowStatus::settled_failed}) {
    EXPECT_EQ(state_named(state_name(status)), status);
  }
  EXPECT_EQ(state_name(FlowStatus::settled_ok), "settled");
  EXPECT_EQ(state_named("unknown"), std::nullopt);
}

TEST(FlowRows, ShowWhatTheSummarySays) {
  store::FlowRow row{.id = id(1), .status = FlowStatus::running, .summary = R"({"action":"A/b","caller":"uid:7"})"};
  EXPECT_EQ(flow_row_json(row), (json::object{{"flow", to_string(id(1))},
                                              {"state", "running"},
                                              {"action", "A/b"},
                                              {"caller", "uid:7"},
                                              {"beganAt", "2030-03-17T17:46:40.001Z"}}));
  row.status = FlowStatus::settled_failed;
  row.settled_at_ms = kNoon_ms;
  row.summary = R"({"action":"A/b","caller":"uid:7","failure":"A/b => no"})";
  EXPECT_EQ(flow_row_json(row).at("settledAt"), "2030-03-17T17:46:40.000Z");
  EXPECT_EQ(flow_row_json(row).at("failure"), "A/b => no");
  row.summary = R"({"dead":"tried 20 times"})";
  EXPECT_EQ(failure_of(row), "tried 20 times");
}

TEST(FlowRows, RecordsComeInTheirOrder) {
  store::MemoryStore store;
  engine::TestingJournal journal(store);
  for (const engine::Step& step : order_steps()) journal.add(step, FlowStatus::running);
  auto snapshot = store.read();
  auto row = (*snapshot)->flow(id(1));
  auto records = flow_records(**snapshot, **row);
  ASSERT_TRUE(records) << to_string(records.error());
  ASSERT_EQ(records->size(), 6U);
  EXPECT_EQ(records->at(0).at("action"), "Order/place");
  EXPECT_EQ(records->at(5).at("action"), "Till/pay");
  store::FlowRow broken{.id = id(1), .head = 99};
  EXPECT_EQ(flow_records(**snapshot, broken).error().message, "the journal lacks record 99");
}

}  // namespace flow_rows_test
}  // namespace sluice::host
