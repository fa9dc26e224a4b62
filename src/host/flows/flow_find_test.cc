// Ids as people type them.
#include <gtest/gtest.h>

#include "engine/journal/retention.h"
#include "engine/testing_journal.h"
#include "host/flows/testing_flow_views.h"
#include "store/memory_store.h"

namespace sluice::host {
namespace flow_find_test {

struct FlowFind : testing::Test {
  FlowFind() {
    engine::TestingJournal journal(store);
    for (const engine::Step& step : order_steps()) journal.add(step);
    journal.add({.flow = id(5), .invocation = id(5), .action = "Shop/open"});
    snapshot = *store.read();
  }
  std::string flow(const std::string& text) {
    auto found = find_flow(*snapshot, text);
    return found ? to_string(found->id) : to_string(found.error());
  }
  std::string invocation(const std::string& text) {
    auto found = find_invocation(*snapshot, text);
    if (!found) return to_string(found.error());
    return to_string(found->invocation) + " in " + to_string(found->flow.id);
  }

  store::MemoryStore store;
  std::unique_ptr<store::Snapshot> snapshot;
  std::string one = to_string(id(1)), five = to_string(id(5));
};

TEST_F(FlowFind, TakesAWholeIdABeginningOrAnEndInAnyCase) {
  EXPECT_EQ(flow(one), one);
  EXPECT_EQ(flow(one.substr(0, 12)), one);
  EXPECT_EQ(flow(five.substr(20)), five);
  EXPECT_EQ(flow(short_id(id(5))), five);
  std::string lower = short_id(id(5));
  for (char& c : lower) c = static_cast<char>(std::tolower(c));
  EXPECT_EQ(flow(lower), five);
  EXPECT_EQ(flow("latest"), five);
}

TEST_F(FlowFind, RefusesWhatIsShortMissingOrNotUnique) {
  EXPECT_EQ(flow("0101"), "'0101' is too short for an id; give at least 6 characters of its beginning or its end");
  EXPECT_EQ(flow("ZZZZZZ"), "there is no flow 'ZZZZZZ'");
  EXPECT_EQ(find_flow(*snapshot, "ZZZZZZ").error().code, Code::not_found);
  EXPECT_EQ(flow(to_string(id(8))), "there is no flow '" + to_string(id(8)) + "'");
  EXPECT_EQ(flow(one.substr(0, 7)),
            "more than one flow has '" + one.substr(0, 7) + "' in its id: " + five + " and " + one + " among them");
  EXPECT_EQ(find_flow(*snapshot, one.substr(0, 7)).error().code, Code::conflict);
}

TEST_F(FlowFind, FindsInvocationsThatRanAndThoseThatAreAskedFor) {
  EXPECT_EQ(invocation(short_id(id(3))), to_string(id(3)) + " in " + one);
  EXPECT_EQ(invocation(to_string(id(2))), to_string(id(2)) + " in " + one);
  EXPECT_EQ(invocation("ZZZZZZ"), "there is no flow, invocation or object 'ZZZZZZ'");
  EXPECT_EQ(invocation(to_string(id(9))), "there is no flow, invocation or object '" + to_string(id(9)) + "'");
}

TEST_F(FlowFind, FindsInvocationsOfPackedFlows) {
  engine::TestingJournal journal(store, *snapshot);
  journal.add({.flow = id(1), .invocation = id(1), .kind = engine::Step::Kind::late}, store::FlowStatus::settled_ok);
  ASSERT_EQ(*engine::pack_settled(store, kNoon_ms, {.keep_flows = 0}), 1U);
  snapshot = *store.read();
  EXPECT_EQ(invocation(short_id(id(3))), to_string(id(3)) + " in " + one);
}

TEST_F(FlowFind, HasNoLatestOfNothing) {
  store::MemoryStore empty;
  auto none = *empty.read();
  EXPECT_EQ(to_string(find_flow(*none, "latest").error()), "there is no flow 'latest'");
}

}  // namespace flow_find_test
}  // namespace sluice::host
