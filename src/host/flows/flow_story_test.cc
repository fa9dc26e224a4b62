// What `why` says, word by word.
#include <gtest/gtest.h>

#include "engine/testing_journal.h"
#include "host/flows/flow_document.h"
#include "host/flows/testing_flow_views.h"

namespace sluice::host {
namespace flow_story_test {

std::string tail(uint8_t n) { return short_id(id(n)); }

std::string joined(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& each : sentences) text += each + "\n";
  return text;
}
std::string why_text(const FlowView& flow, bool rules = true) { return joined(why_sentences(flow, rules)); }
std::string why_of(const FlowView& flow, size_t invocation) { return joined(why_sentences(flow, invocation, true)); }

TEST(FlowStory, SaysWhyAFlowFailed) {
  EXPECT_EQ(why_text(order_view()),
            "Flow " + to_string(id(1)) +
                " failed: Till/pay => declined, 1 follow-up pending.\n"
                "Order/place was called by uid:1000: tea time.\n"
                "Till/pay (" +
                tail(2) + ") was asked for by PayOrder, which matched Order/place => ok (" + tail(1) +
                ").\n"
                "Till/pay ended at 2030-03-17T17:46:46.000Z with declined[ code: 51 ], answered by CardDeclined."
                " No sync matched that.\n"
                "Follow-up flow " +
                to_string(id(9)) + " is running.\n");
}

// People ask what happened; the rules behind it are asked for.
TEST(FlowStory, NamesNoRulesUnlessAskedFor) {
  FlowView flow = order_view();
  flow.misses = std::vector<engine::NearMiss>{{.sync = "Later", .missing = "B/go: [] => ok[]"}};
  flow.history.invocations[1].guards = {"NoCredit"};
  EXPECT_EQ(why_text(flow, false), "Flow " + to_string(id(1)) +
                                       " failed: Till/pay => declined, 1 follow-up pending.\n"
                                       "Order/place was called by uid:1000: tea time.\n"
                                       "Till/pay (" +
                                       tail(2) + ") followed from Order/place => ok (" + tail(1) +
                                       ").\n"
                                       "Till/pay ended at 2030-03-17T17:46:46.000Z with declined[ code: 51 ].\n"
                                       "Follow-up flow " +
                                       to_string(id(9)) + " is running.\n");
}

TEST(FlowStory, SaysAMessageInThePlaceOfFields) {
  FlowView flow = order_view();
  flow.history.invocations[1].end->fields = {{"code", 51}, {"message", "the card is blocked"}};
  const std::string text = why_text(flow, false);
  EXPECT_NE(text.find("Till/pay ended at 2030-03-17T17:46:46.000Z with declined: the card is blocked.\n"),
            std::string::npos)
      << text;
}

TEST(FlowStory, SaysWhatACompensationUndoes) {
  FlowView flow = undo_view();
  std::string own = short_id(flow.history.invocations[2].id);
  std::string text = why_of(flow, 2);
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

TEST(FlowStory, SaysWhatAFlowWaitsForAndWhichSyncsDidNotFire) {
  FlowView flow = order_view(3);
  flow.follow_ups.clear();
  flow.pending = 0;
  flow.misses = std::vector<engine::NearMiss>{{.sync = "Later", .missing = "B/go: [] => ok[]"}};
  EXPECT_EQ(why_text(flow), "Flow " + to_string(id(1)) +
                                " is running.\n"
                                "Order/place was called by uid:1000: tea time.\n"
                                "Order/place ended at 2030-03-17T17:46:41.000Z with ok[ order: \"o1\" ].\n"
                                "Open: Card/charge runs (" +
                                tail(3) +
                                ").\n"
                                "Later did not fire: it misses B/go: [] => ok[]\n");
}

TEST(FlowStory, SaysWhichSyncsGoOnFromWhatIsOpen) {
  FlowView flow = order_view(3);
  flow.awaited_by[2] = {{.sync = "Paid", .missing = "Card/charge: [] => ok[]"}};
  EXPECT_NE(why_text(flow).find("Open: Card/charge runs (" + tail(3) + ").\nPaid waits for Card/charge: [] => ok[]\n"),
            std::string::npos);
}

// What was superseded, or ends in a variant that is none to worry about, is no failure of a flow that ended well.
TEST(FlowStory, TellsOfNoFailureWhereThereIsNone) {
  FlowView flow = order_view();
  flow.row.status = store::FlowStatus::settled_ok;
  std::string text = why_text(flow);
  EXPECT_EQ(text.find("No sync matched that"), std::string::npos) << text;
  EXPECT_NE(text.find("Order/place ended at "), std::string::npos) << text;
  EXPECT_FALSE(flow_document(flow).failure);
}

TEST(FlowStory, TellsTheFailureThatTheEngineTells) {
  FlowView flow = order_view();
  flow.row.status = store::FlowStatus::settled_failed;
  flow.row.summary = R"({"failure":"Card/charge => declined"})";
  EXPECT_EQ(failure_of(flow), 2U);
  flow.row.summary = R"({"failure":"cancelled by uid:7"})";
  EXPECT_EQ(failure_of(flow), std::nullopt);
  flow.row.summary = "{}";
  EXPECT_EQ(failure_of(flow), 1U);
}

TEST(FlowStory, TellsAnInvocationsStory) {
  FlowView flow = order_view();
  flow.history.invocations[2].late = {{.end = {.variant = "ok"}, .by = "effect", .seq = 9, .at_ms = kNoon_ms + 9000}};
  EXPECT_EQ(why_of(flow, 2),
            "Invocation " + to_string(id(3)) + " is Card/charge[ amount: 5 ] in flow " + to_string(id(1)) +
                ".\n"
                "Order/place was called by uid:1000: tea time.\n"
                "Till/pay (" +
                tail(2) + ") was asked for by PayOrder, which matched Order/place => ok (" + tail(1) +
                ").\n"
                "Card/charge (" +
                tail(3) + ") was asked for by RouteCard, which matched Till/pay => requested (" + tail(2) +
                ").\n"
                "Card/charge ended at 2030-03-17T17:46:45.000Z with declined[ code: 51 ], by effect.\n"
                "At 2030-03-17T17:46:49.000Z came ok by effect, too late to count.\n"
                "CardDeclined fired on it: answer " +
                tail(2) + " => declined.\n");
}

TEST(FlowStory, NamesTheGuardsThatRefused) {
  FlowView flow = order_view();
  flow.history.invocations[1].guards = {"NoCredit", "Closed"};
  flow.history.invocations[1].by = "";
  flow.history.invocations[1].end->maybe_done = true;
  std::string text = why_of(flow, 1);
  EXPECT_NE(text.find("with declined[ code: 51 ], refused by guard NoCredit, also Closed. Its work may or may not "
                      "have happened.\n"),
            std::string::npos)
      << text;
}

TEST(FlowStory, LeavesOutTheMiddleOfALongStory) {
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
  std::string text = why_of(flow, 49);
  EXPECT_NE(text.find("… 30 steps between …\n"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 24);
}

}  // namespace flow_story_test
}  // namespace sluice::host
