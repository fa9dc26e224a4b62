// States in words, and what holds a flow up.
#include "host/flows/flow_view.h"

#include <gtest/gtest.h>

#include "engine/testing_journal.h"
#include "host/flows/flow_words.h"
#include "host/flows/testing_flow_views.h"
#include "store/memory_store.h"

namespace sluice::host {
namespace flow_view_test {

using engine::Step;

TEST(FlowView, TellsItsStateInWords) {
  EXPECT_EQ(state_text(order_view()), "failed: Till/pay => declined, 1 follow-up pending");
  FlowView flow = order_view();
  flow.row.status = store::FlowStatus::settled_ok;
  flow.pending = 2;
  EXPECT_EQ(state_text(flow), "settled, 2 follow-ups pending");
  flow.pending = 0;
  EXPECT_EQ(state_text(flow), "settled");
  flow.row.status = store::FlowStatus::waiting;
  EXPECT_EQ(state_text(flow), "waiting");
  flow.row.status = store::FlowStatus::stuck;
  EXPECT_EQ(state_text(flow), "stuck");
}

TEST(FlowView, CountsTheFollowUpsThatHaveNotSettled) {
  store::MemoryStore store;
  engine::TestingJournal journal(store);
  Step first = order_steps()[0];
  first.fired = {{.sync = "MailReceipt", .rows = 3}};
  for (uint8_t n : {7, 8, 9}) first.fired[0].then.push_back({.kind = engine::Planned::Kind::child, .id = id(n)});
  journal.add(first, store::FlowStatus::settled_ok);
  journal.add({.flow = id(7), .kind = Step::Kind::child}, store::FlowStatus::settled_ok);
  journal.add({.flow = id(8), .kind = Step::Kind::child}, store::FlowStatus::running);
  auto snapshot = *store.read();
  auto flow = view_flow(*snapshot, snapshot->flow(id(1)).value().value());
  ASSERT_TRUE(flow) << to_string(flow.error());
  EXPECT_EQ(flow->pending, 2U);
  using Pairs = std::vector<std::pair<Ulid, std::string>>;
  EXPECT_EQ(flow->follow_ups, (Pairs{{id(7), "settled"}, {id(8), "running"}, {id(9), "not begun"}}));
}

TEST(FlowView, AnOpenRequestIsAGateOnlyWithNothingOpenBeneathIt) {
  auto texts = [](const FlowView& flow) {
    std::vector<std::string> found;
    for (const Wait& wait : waits_of(flow.history)) found.push_back(wait.text);
    return found;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(texts(order_view(1)), Texts{"Till/pay is queued"});
  EXPECT_EQ(texts(order_view(2)), Texts{"Card/charge is queued"});
  EXPECT_EQ(texts(order_view(3)), Texts{"Card/charge runs"});
  EXPECT_EQ(texts(order_view(4)), Texts{"Card/charge is tried again at 2030-03-17T17:47:40.000Z: the bank is busy"});
  EXPECT_EQ(texts(order_view(5)), Texts{"Till/pay waits for an answer from outside, since 2030-03-17T17:46:42.000Z"});
  EXPECT_EQ(texts(order_view(6)), Texts{});
}

TEST(FlowView, ATimerIsNamed) {
  std::vector<Step> steps = {order_steps()[0]};
  steps[0].fired = {{.sync = "Soak", .rows = 1, .then = {invoke(2, "Timer/wait", R"({"name":"soak","seconds":60})")}}};
  steps.push_back({.seq = 2,
                   .at_ms = kNoon_ms,
                   .flow = id(1),
                   .invocation = id(2),
                   .kind = Step::Kind::begin,
                   .action = "Timer/wait",
                   .due_ms = kNoon_ms + 60'000});
  auto waits = waits_of(engine::history_of(steps));
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0].text, "Timer/wait \"soak\" waits until 2030-03-17T17:47:40.000Z");
}

TEST(FlowWords, NameRecords) {
  FlowView flow = order_view();
  EXPECT_EQ(record_text(flow.history, request(2)), "Till/pay => requested (" + short_id(id(2)) + ")");
  EXPECT_EQ(record_text(flow.history, completion(3)), "Card/charge => declined (" + short_id(id(3)) + ")");
  EXPECT_EQ(record_text(flow.history, completion(77)), "a record of another flow (" + short_id(id(77)) + ")");
  EXPECT_EQ(fields_text(fields(R"({"a":"x","b":[1],"c":null})")), R"(a: "x", b: [1], c: null)");
}

}  // namespace flow_view_test
}  // namespace sluice::host
