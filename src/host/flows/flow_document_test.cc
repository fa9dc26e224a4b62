// Flows as data.
#include "host/flows/flow_document.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_writer.h"
#include "engine/testing_journal.h"
#include "host/flows/testing_flow_views.h"

namespace sluice::host {
namespace flow_document_test {

json::value json_of_flow(const FlowView& flow) { return sluice::to_json(flow_document(flow)); }
json::value json_of_invocation(const engine::History& history, size_t at) {
  return sluice::to_json(invocation_document(history, at));
}

TEST(FlowDocuments, HasAllOfAnInvocation) {
  FlowView flow = order_view();
  EXPECT_EQ(write(json_of_invocation(flow.history, 1)),
            R"({"id":")" + to_string(id(2)) +
                R"(","action":"Till/pay","input":{"order":"o1"},"kind":"request","askedBy":{"sync":"PayOrder",)"
                R"("matched":[")" +
                to_string(id(1)) +
                R"("],"rows":1,"firing":2},"askedAt":"2030-03-17T17:46:41.000Z","beganAt":"2030-03-17T17:46:42.000Z",)"
                R"("endedAt":"2030-03-17T17:46:46.000Z","end":{"variant":"declined","fields":{"code":51}},)"
                R"("by":"answer","answeredBy":"CardDeclined"})");
  json::object open = json_of_invocation(order_view(4).history, 2).as_object();
  EXPECT_EQ(open.at("beneath"), json::value(to_string(id(2))));
  EXPECT_EQ(open.at("state"), json::value("is tried again at 2030-03-17T17:47:40.000Z"));
  EXPECT_EQ(open.at("dueAt"), json::value("2030-03-17T17:47:40.000Z"));
  EXPECT_EQ(open.at("attempts"), json::value(1));
  EXPECT_EQ(open.at("note"), json::value("the bank is busy"));
  EXPECT_FALSE(open.contains("end"));
}

TEST(FlowDocuments, SaysWhatACompensationUndoes) {
  json::object object = json_of_invocation(undo_view().history, 2).as_object();
  EXPECT_EQ(object.at("undoes"), json::value("Stock/reserve " + to_string(id(7))));
  EXPECT_EQ(object.at("beneath"), json::value(to_string(id(2))));
  EXPECT_EQ(write(object.at("input")), R"({"item":"p"})");
}

TEST(FlowDocuments, HasAllOfAFlow) {
  FlowView flow = order_view();
  flow.misses = std::vector<engine::NearMiss>{{.sync = "Later", .missing = "B/go: [] => ok[]"}};
  json::object object = json_of_flow(flow).as_object();
  EXPECT_EQ(object.at("flow"), json::value(to_string(id(1))));
  EXPECT_EQ(object.at("state"), json::value("failed"));
  EXPECT_EQ(object.at("action"), json::value("Order/place"));
  EXPECT_EQ(object.at("caller"), json::value("uid:1000"));
  EXPECT_EQ(object.at("syncs"), json::value("set1"));
  EXPECT_EQ(object.at("steps"), json::value(6));
  EXPECT_EQ(object.at("failure").at("id"), json::value(to_string(id(2))));
  EXPECT_EQ(object.at("invocations").as_array().size(), 3U);
  EXPECT_EQ(object.at("firings").as_array().size(), 5U);
  EXPECT_EQ(write(object.at("firings").at(1).at("then")), R"([{"followUp":")" + to_string(id(9)) + "\"}]");
  EXPECT_EQ(write(object.at("firings").at(4).at("then")),
            R"([{"answer":")" + to_string(id(2)) + R"(","variant":"declined","fields":{}}])");
  EXPECT_EQ(write(object.at("followUps")), R"([{"flow":")" + to_string(id(9)) + R"(","state":"running"}])");
  EXPECT_EQ(write(object.at("didNotFire")), R"([{"sync":"Later","missing":"B/go: [] => ok[]"}])");
  EXPECT_EQ(write(json_of_flow(order_view(3)).at("waits")),
            R"([{"id":")" + to_string(id(3)) + R"(","text":"Card/charge runs"}])");
  FlowView open = order_view(3);
  open.awaited_by[2] = {{.sync = "Paid", .missing = "Card/charge: [] => ok[]"}};
  EXPECT_EQ(write(json_of_flow(open).at("waits").at(0).at("awaitedBy")),
            R"([{"sync":"Paid","pattern":"Card/charge: [] => ok[]"}])");
}

}  // namespace flow_document_test
}  // namespace sluice::host
