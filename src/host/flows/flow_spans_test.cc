// A flow of orders as a trace.
#include "host/flows/flow_spans.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <set>

#include "host/flows/testing_flow_views.h"

namespace sluice::host {
namespace flow_spans_test {

namespace json = boost::json;

TEST(FlowSpans, EachInvocationAndEachSyncIsASpanOfOneTree) {
  const FlowView flow = order_view();
  const json::object made = spans_of(flow.history);
  EXPECT_EQ(made.at("resource").at("attributes").at(0).at("value").at("stringValue"), json::value("sluice"));
  const json::array& spans = made.at("scopeSpans").at(0).at("spans").as_array();
  ASSERT_EQ(spans.size(), 1 + flow.history.invocations.size() + flow.history.firings.size());
  std::set<std::string> ids;
  for (const json::value& each : spans) {
    EXPECT_EQ(each.at("traceId"), json::value(trace_id_of(flow.history.flow)));
    const std::string id(each.at("spanId").as_string());
    EXPECT_EQ(id.size(), 16U);
    EXPECT_TRUE(ids.insert(id).second) << "two spans have one id";
    EXPECT_LE(each.at("startTimeUnixNano").as_string(), each.at("endTimeUnixNano").as_string());
  }
  for (size_t i = 1; i < spans.size(); ++i) {
    EXPECT_TRUE(ids.contains(std::string(spans[i].at("parentSpanId").as_string()))) << spans[i].at("name");
  }
  EXPECT_FALSE(spans[0].as_object().contains("parentSpanId"));
  EXPECT_EQ(spans[1].at("name"), json::value(flow.history.invocations[0].action));
}

// Each kind is left out on its own, and what remains is still one tree.
TEST(FlowSpans, WithoutSpansOfActionsOrSyncsTheRestIsOneTree) {
  const FlowView flow = order_view();
  const size_t actions = flow.history.invocations.size(), syncs = flow.history.firings.size();
  for (auto [kinds, number] : {std::pair(SpanKinds{.actions = false}, 1 + syncs),
                               {SpanKinds{.syncs = false}, 1 + actions},
                               {SpanKinds{.actions = false, .syncs = false}, size_t{1}}}) {
    const json::object made = spans_of(flow.history, kinds);
    const json::array& spans = made.at("scopeSpans").at(0).at("spans").as_array();
    ASSERT_EQ(spans.size(), number);
    std::set<std::string> ids;
    for (const json::value& each : spans) ids.insert(std::string(each.at("spanId").as_string()));
    for (size_t i = 1; i < spans.size(); ++i) {
      EXPECT_TRUE(ids.contains(std::string(spans[i].at("parentSpanId").as_string()))) << spans[i].at("name");
    }
  }
}

TEST(FlowSpans, IdsOfWhatAnActionIsAboutAreAttributes) {
  engine::History history{.flow = Ulid::parse("01J2000000000000000000000A").value()};
  engine::PastInvocation begin{.id = history.flow, .action = "Rollout/begin", .input = {{"deployment", "d1"}}};
  begin.end = engine::End{.variant = "ok", .fields = {{"rollout", "o1"}}};
  history.invocations.push_back(begin);
  const json::object made = spans_of(history);
  auto value = [&](size_t span, std::string_view key) {
    for (const json::value& each : made.at("scopeSpans").at(0).at("spans").at(span).at("attributes").as_array()) {
      if (each.at("key") == json::value(key)) return std::string(each.at("value").at("stringValue").as_string());
    }
    return std::string();
  };
  EXPECT_EQ(value(0, "sluice.deployment"), "d1") << "also where actions have no spans of their own";
  EXPECT_EQ(value(1, "sluice.deployment"), "d1");
  EXPECT_EQ(value(1, "sluice.rollout"), "o1");
}

TEST(FlowSpans, ATraceIsNamedAfterItsFlow) {
  auto flow = Ulid::parse("01J2000000000000000000000A").value();
  EXPECT_EQ(trace_id_of(flow).size(), 32U);
  EXPECT_NE(trace_id_of(flow), trace_id_of(Ulid::parse("01J2000000000000000000000B").value()));
}

}  // namespace flow_spans_test
}  // namespace sluice::host
