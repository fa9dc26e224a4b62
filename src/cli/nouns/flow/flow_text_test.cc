// The trace of flows, line by line.
#include "cli/nouns/flow/flow_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/testing_flows.h"

namespace sluice::cli {
namespace flow_text_test {

using engine::Step;
using host::order_view;
using host::undo_view;

// How a line ends: when it was, and the invocation's id.
std::string tail(uint8_t n, const std::string& when = "+0ms") { return when + " " + short_id(id(n)); }

// A flow in which sync S asks for these actions, one after the other, each on the completion of the one before.
host::FlowView chain_of_actions(const std::vector<std::string>& actions) {
  std::vector<Step> steps;
  for (size_t i = 0; i < actions.size(); ++i) {
    auto n = static_cast<uint8_t>(i + 1);
    Step step{.seq = i + 1,
              .at_ms = kNoon_ms,
              .flow = id(1),
              .invocation = id(n),
              .action = actions[i],
              .end = engine::End{.variant = "ok", .fields = {{"n", i}}}};
    if (i + 1 < actions.size()) {
      step.fired = {{.sync = "S", .matched = {completion(n)}, .rows = 1, .then = {invoke(n + 1, actions[i + 1])}}};
    }
    steps.push_back(step);
  }
  return {.row = {.id = id(1), .status = store::FlowStatus::settled_ok}, .history = engine::history_of(steps)};
}

TEST(FlowText, ShowsAFlowInAFewLines) {
  EXPECT_EQ(show_text(host::flow_document(order_view()), {}),
            "flow        " + to_string(id(1)) +
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

TEST(FlowText, PutsTheWorkForARequestBeneathIt) {
  EXPECT_EQ(trace_text(host::flow_document(order_view()), false, {}),
            "flow " + to_string(id(1)) +
                " failed: Till/pay => declined, 1 follow-up pending\n"
                "├─ Order/place => ok  order: \"o1\"  uid:1000 " +
                tail(1) +
                "\n"
                "├─ no rows  ← AuditOrder\n"
                "├─ follow-up flow  " +
                to_string(id(9)) +
                "  ← MailReceipt\n"
                "└─ Till/pay => declined  answered by CardDeclined, code: 51  ← PayOrder " +
                tail(2, "+5.00s") +
                "\n"
                "   └─ Card/charge => declined  code: 51  ← RouteCard " +
                tail(3, "+4.00s") + "\n");
}

TEST(FlowText, ShowsWhatAFlowWaitsFor) {
  EXPECT_EQ(trace_text(host::flow_document(order_view(4)), true, {}),
            "flow " + to_string(id(1)) +
                " running, 1 follow-up pending\n"
                "├─ Order/place => ok  order: \"o1\"  uid:1000 " +
                tail(1) +
                "\n"
                "├─ no rows  ← AuditOrder\n"
                "├─ follow-up flow  " +
                to_string(id(9)) +
                "  ← MailReceipt\n"
                "└─ Till/pay waits for an answer  ← PayOrder " +
                tail(2) +
                "\n"
                "   └─ Card/charge is tried again at 2030-03-17T17:47:40.000Z  ← RouteCard " +
                tail(3, "+1.00s") +
                "\n"
                "\nWaits\n"
                "  Card/charge is tried again at 2030-03-17T17:47:40.000Z: the bank is busy (" +
                short_id(id(3)) + ")\n");
  EXPECT_TRUE(trace_text(host::flow_document(order_view()), true, {}).ends_with("\nWaits\n  for nothing\n"));
}

TEST(FlowText, SaysWhyASyncCouldAskForNothing) {
  std::vector<Step> steps = {order_steps()[0]};
  steps[0].fired = {{.sync = "All", .matched = {completion(1)}}, {.sync = "None", .matched = {completion(1)}}};
  steps[0].note = "sync `Al`: something else; sync `All`: it reads more than 10000 rows of Order; sync `Other`: no";
  host::FlowView flow{.row = {.id = id(1), .status = store::FlowStatus::settled_failed},
                      .history = engine::history_of(steps)};
  std::string text = trace_text(host::flow_document(flow), false, {});
  EXPECT_NE(text.find("├─ asked for nothing  it reads more than 10000 rows of Order  ← All\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("└─ no rows  ← None\n"), std::string::npos) << text;
  EXPECT_EQ(host::flow_document(flow).firings[0].failure, "it reads more than 10000 rows of Order");
  EXPECT_FALSE(host::flow_document(flow).firings[1].failure);
  EXPECT_THAT(host::why_sentences(flow, 0, true),
              testing::Contains("All fired on it, but could ask for nothing: it reads more than 10000 rows of Order."));
}

TEST(FlowText, NamesTheSyncsThatGoOnFromWhatIsOpen) {
  host::FlowView flow = order_view(4);
  flow.awaited_by[2] = {{.sync = "CardDeclined", .missing = "Card/charge: [] => declined[]"},
                        {.sync = "Paid", .missing = "Card/charge: [] => ok[]"}};
  EXPECT_TRUE(trace_text(host::flow_document(flow), true, {})
                  .ends_with("the bank is busy (" + short_id(id(3)) +
                             ")\n"
                             "  CardDeclined waits for Card/charge: [] => declined[]\n"
                             "  Paid waits for Card/charge: [] => ok[]\n"));
  EXPECT_EQ(trace_text(host::flow_document(flow), false, {}).find("Paid"), std::string::npos);
}

TEST(FlowText, NamesTheSyncsThatDidNotFire) {
  host::FlowView flow = chain_of_actions({"A/go"});
  flow.misses = std::vector<engine::NearMiss>{{.sync = "Later", .missing = "B/go: [] => ok[]"}};
  EXPECT_EQ(trace_text(host::flow_document(flow), false, {}),
            "flow " + to_string(id(1)) + " settled\n└─ A/go => ok  n: 0  " + tail(1) +
                "\n\nDid not fire\n  Later misses B/go: [] => ok[]\n");
}

TEST(FlowText, EndsWithWhatAProgramSaidLast) {
  host::FlowView flow = order_view();
  for (size_t i : {1U, 2U}) flow.history.invocations[i].end->fields["lastLines"] = json::array{"err no settings"};
  std::string text = trace_text(host::flow_document(flow), false, {});
  size_t at = text.find("\nSaid last\n  err no settings\n");
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_EQ(text.find("  err no settings", at + 15), std::string::npos) << "once, though it was passed on";
}

TEST(FlowText, FoldsRepeats) {
  EXPECT_EQ(trace_text(host::flow_document(chain_of_actions({"A/go", "B/go", "B/go", "B/go", "C/go"})), false, {}),
            "flow " + to_string(id(1)) +
                " settled\n"
                "├─ A/go => ok  n: 0  " +
                tail(1) +
                "\n"
                "├─ B/go => ok × 3  ← S\n"
                "└─ C/go => ok  n: 4  ← S " +
                tail(5) + "\n");
}

TEST(FlowText, FoldsALoopOfSeveralLines) {
  std::vector<std::string> actions = {"A/go"};
  for (int i = 0; i < 12; ++i) {
    actions.emplace_back("B/go");
    actions.emplace_back("C/go");
  }
  actions.emplace_back("D/go");
  EXPECT_EQ(trace_text(host::flow_document(chain_of_actions(actions)), false, {}), "flow " + to_string(id(1)) +
                                                                                       " settled\n"
                                                                                       "├─ A/go => ok  n: 0  " +
                                                                                       tail(1) +
                                                                                       "\n"
                                                                                       "├─ × 12, each:\n"
                                                                                       "│  ├─ B/go => ok  n: 1  ← S " +
                                                                                       tail(2) +
                                                                                       "\n"
                                                                                       "│  └─ C/go => ok  n: 2  ← S " +
                                                                                       tail(3) +
                                                                                       "\n"
                                                                                       "└─ D/go => ok  n: 25  ← S " +
                                                                                       tail(26) + "\n");
}

TEST(FlowText, ColoursByVariant) {
  Terminal terminal{.color = true};
  std::vector<Step> steps = order_steps();
  steps[4].end->variant = "engine.unknown";
  steps[4].end->maybe_done = true;
  host::FlowView flow = order_view();
  flow.history = engine::history_of(steps);
  std::string text = trace_text(host::flow_document(flow), false, terminal);
  auto painted = [&](Style style, const std::string& line) {
    return text.find("─ " + terminal.paint(style, line) + "\n") != std::string::npos;
  };
  EXPECT_TRUE(painted(Style::good, "Order/place => ok  order: \"o1\"  uid:1000 " + tail(1))) << text;
  EXPECT_TRUE(painted(Style::warning,
                      "Till/pay => declined  answered by CardDeclined, code: 51  ← PayOrder " + tail(2, "+5.00s")))
      << text;
  EXPECT_TRUE(
      painted(Style::bad, "Card/charge => engine.unknown  maybe done, code: 51  ← RouteCard " + tail(3, "+4.00s")))
      << text;
}

TEST(FlowText, PutsCompensationsBeneathTheirUndo) {
  host::FlowView flow = undo_view();
  EXPECT_EQ(trace_text(host::flow_document(flow), false, {}),
            "flow " + to_string(id(1)) +
                " settled\n"
                "├─ Stock/add => ok  uid:1000 " +
                tail(1) +
                "\n"
                "└─ Flow/undo => ok  answered by the engine  ← UndoIt " +
                tail(2) +
                "\n"
                "   └─ Stock/release => ok  undoes Stock/reserve (" +
                short_id(id(7)) + ") +0ms " + short_id(flow.history.invocations[2].id) + "\n");
}

TEST(FlowText, ALongNameLeavesTheIdThatCommandsTake) {
  host::FlowView flow = chain_of_actions({"A/go", "B/" + std::string(70, 'b')});
  flow.history.firings[0].sync = std::string(90, 's');
  std::istringstream lines(trace_text(host::flow_document(flow), false, {}));
  std::string line;
  for (int i = 0; i < 3; ++i) std::getline(lines, line);
  EXPECT_TRUE(line.ends_with("… " + tail(2))) << line;
  EXPECT_LE(display_width(line), kTraceWidth);
}

TEST(FlowText, FitsAHundredColumnsHoweverDeepAndLong) {
  std::vector<Step> steps;
  for (uint8_t n = 1; n <= 100; ++n) {
    Step step{.seq = n,
              .at_ms = kNoon_ms,
              .flow = id(1),
              .invocation = id(n),
              .kind = Step::Kind::begin,
              .action = "Concept/" + std::string(80, 'x'),
              .fired = {{.sync = std::string(60, 's'),
                         .matched = {request(n)},
                         .rows = 1,
                         .then = {invoke(n + 1, "Concept/do", R"({"text":")" + std::string(300, 'y') + "\"}")}}}};
    steps.push_back(step);
  }
  host::FlowView flow{.row = {.id = id(1)}, .history = engine::history_of(steps)};
  flow.misses =
      std::vector<engine::NearMiss>{{.sync = "Sync", .missing = std::string(50, 'a') + " " + std::string(50, 'b')}};
  std::istringstream lines(trace_text(host::flow_document(flow), true, {}));
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(display_width(line), kTraceWidth) << line;
  EXPECT_GT(count, 60U);
}

}  // namespace flow_text_test
}  // namespace sluice::cli
