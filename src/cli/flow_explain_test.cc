// What `flow show` and `why` say, word by word.
#include <gtest/gtest.h>

#include "cli/testing_flows.h"

namespace sluice::cli {
namespace flow_explain_test {

std::string tail(uint8_t n) { return short_id(id(n)); }

TEST(FlowExplain, ShowsAFlowInAFewLines) {
  EXPECT_EQ(show_text(order_view(), {}), "flow        " + to_string(id(1)) +
                                             "\n"
                                             "state       failed: Till/pay => declined, 1 follow-up pending\n"
                                             "action      Order/place => ok\n"
                                             "input       item: \"tea\"\n"
                                             "output      order: \"o1\"\n"
                                             "caller      uid:1000\n"
                                             "reason      tea time\n"
                                             "began       2030-03-17T17:46:40.001Z\n"
                                             "steps       6, 3 invocations, 0 open\n"
                                             "follow-up   " +
                                             to_string(id(9)) + " running\n");
}

TEST(FlowExplain, SaysWhyAFlowFailed) {
  EXPECT_EQ(why_text(order_view(), {}),
            "Flow " + to_string(id(1)) +
                " failed: Till/pay => declined, 1 follow-up pending.\n"
                "Order/place was called by uid:1000: tea time.\n"
                "Till/pay (" +
                tail(2) + ") was asked for by PayOrder, which matched Order/place => ok (" + tail(1) +
                ").\n"
                "Till/pay ended at 2030-03-17T17:46:46.000Z with declined[ code: 51 ], answered by CardDeclined.\n"
                "    No sync matched that.\n"
                "Follow-up flow " +
                to_string(id(9)) + " is running.\n");
}

TEST(FlowExplain, SaysWhatACompensationUndoes) {
  FlowView flow = undo_view();
  std::string own = short_id(flow.history.invocations[2].id);
  std::string text = why_text(flow, 2, {.tty = true, .width = 500});
  for (size_t at = text.find("\n    "); at != std::string::npos; at = text.find("\n    ")) text.replace(at, 5, " ");
  EXPECT_NE(text.find("is Stock/release[ item: \"p\" ] in flow "), std::string::npos) << text;
  EXPECT_NE(text.find("Stock/add was called by uid:1000.\n"
                      "Flow/undo (" +
                      tail(2) + ") was asked for by UndoIt, which matched Stock/add => ok (" + tail(1) +
                      ").\n"
                      "Stock/release (" +
                      own + ") undoes Stock/reserve (" + tail(7) + "), as Flow/undo (" + tail(2) + ") asks for.\n"),
            std::string::npos)
      << text;
}

TEST(FlowExplain, SaysWhatAFlowWaitsForAndWhichSyncsDidNotFire) {
  FlowView flow = order_view(3);
  flow.follow_ups.clear();
  flow.pending = 0;
  flow.misses = std::vector<engine::NearMiss>{{.sync = "Later", .missing = "B/go: [] => ok[]"}};
  EXPECT_EQ(why_text(flow, {}), "Flow " + to_string(id(1)) +
                                    " is running.\n"
                                    "Order/place was called by uid:1000: tea time.\n"
                                    "Order/place ended at 2030-03-17T17:46:41.000Z with ok[ order: \"o1\" ].\n"
                                    "Open: Card/charge runs (" +
                                    tail(3) +
                                    ").\n"
                                    "Later did not fire: it misses B/go: [] => ok[]\n");
}

TEST(FlowExplain, SaysWhichSyncsGoOnFromWhatIsOpen) {
  FlowView flow = order_view(3);
  flow.awaited_by[2] = {{.sync = "Paid", .missing = "Card/charge: [] => ok[]"}};
  EXPECT_NE(
      why_text(flow, {}).find("Open: Card/charge runs (" + tail(3) + ").\nPaid waits for Card/charge: [] => ok[]\n"),
      std::string::npos);
}

// What was superseded, or ends in a variant that is none to worry about, is no failure of a flow that ended well.
TEST(FlowExplain, TellsOfNoFailureWhereThereIsNone) {
  FlowView flow = order_view();
  flow.row.status = store::FlowStatus::settled_ok;
  std::string text = why_text(flow, {});
  EXPECT_EQ(text.find("No sync matched that"), std::string::npos) << text;
  EXPECT_NE(text.find("Order/place ended at "), std::string::npos) << text;
  EXPECT_FALSE(flow_json(flow).as_object().contains("failure"));
}

TEST(FlowExplain, TellsTheFailureThatTheEngineTells) {
  FlowView flow = order_view();
  flow.row.status = store::FlowStatus::settled_failed;
  flow.row.summary = R"({"failure":"Card/charge => declined"})";
  EXPECT_EQ(failure_of(flow), 2U);
  flow.row.summary = R"({"failure":"cancelled by uid:7"})";
  EXPECT_EQ(failure_of(flow), std::nullopt);
  flow.row.summary = "{}";
  EXPECT_EQ(failure_of(flow), 1U);
}

TEST(FlowExplain, TellsAnInvocationsStory) {
  FlowView flow = order_view();
  flow.history.invocations[2].late = {{.end = {.variant = "ok"}, .by = "effect", .seq = 9, .at_ms = kNoon_ms + 9000}};
  EXPECT_EQ(why_text(flow, 2, {}),
            "Invocation " + to_string(id(3)) + " is Card/charge[ amount: 5 ] in flow\n    " + to_string(id(1)) +
                ".\n"
                "Order/place was called by uid:1000: tea time.\n"
                "Till/pay (" +
                tail(2) + ") was asked for by PayOrder, which matched Order/place => ok (" + tail(1) +
                ").\n"
                "Card/charge (" +
                tail(3) + ") was asked for by RouteCard, which matched Till/pay => requested\n    (" + tail(2) +
                ").\n"
                "Card/charge ended at 2030-03-17T17:46:45.000Z with declined[ code: 51 ], by effect.\n"
                "At 2030-03-17T17:46:49.000Z came ok by effect, too late to count.\n"
                "CardDeclined fired on it: answer " +
                tail(2) + " => declined.\n");
}

TEST(FlowExplain, NamesTheGuardsThatRefused) {
  FlowView flow = order_view();
  flow.history.invocations[1].guards = {"NoCredit", "Closed"};
  flow.history.invocations[1].by = "";
  flow.history.invocations[1].end->maybe_done = true;
  std::string text = why_text(flow, 1, {});
  EXPECT_NE(text.find("with declined[ code: 51 ], refused by guard NoCredit,\n    also Closed. Its work may or may not "
                      "have happened.\n"),
            std::string::npos)
      << text;
}

TEST(FlowExplain, LeavesOutTheMiddleOfALongStory) {
  std::vector<engine::Step> steps;
  for (uint8_t n = 1; n <= 50; ++n) {
    steps.push_back(
        {.seq = n,
         .at_ms = kNoon_ms,
         .flow = id(1),
         .invocation = id(n),
         .action = "A/go",
         .end = engine::End{.variant = "ok"},
         .fired = {{.sync = "Loop", .matched = {completion(n)}, .rows = 1, .then = {invoke(n + 1, "A/go")}}}});
  }
  FlowView flow{.row = {.id = id(1)}, .history = engine::history_of(steps)};
  std::string text = why_text(flow, 49, {});
  EXPECT_NE(text.find("… 30 steps between …\n"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 24);
}

}  // namespace flow_explain_test
}  // namespace sluice::cli
