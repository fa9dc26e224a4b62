// Flows as data.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "cli/testing_flows.h"

namespace sluice::cli {
namespace flow_json_test {

TEST(FlowJson, HasAllOfAnInvocation) {
  FlowView flow = order_view();
  EXPECT_EQ(write(invocation_json(flow.history, 1)),
            R"({"id":")" + to_string(id(2)) +
                R"(","action":"Till/pay","input":{"order":"o1"},"kind":"request","askedBy":{"sync":"PayOrder",)"
                R"("matched":[")" +
                to_string(id(1)) +
                R"("],"rows":1},"askedAt":"2030-03-17T17:46:41.000Z","beganAt":"2030-03-17T17:46:42.000Z",)"
                R"("endedAt":"2030-03-17T17:46:46.000Z","end":{"variant":"declined","fields":{"code":51}},)"
                R"("by":"answer"})");
  json::object open = invocation_json(order_view(4).history, 2).as_object();
  EXPECT_EQ(open.at("beneath"), json::value(to_string(id(2))));
  EXPECT_EQ(open.at("state"), json::value("is tried again at 2030-03-17T17:47:40.000Z"));
  EXPECT_EQ(open.at("dueAt"), json::value("2030-03-17T17:47:40.000Z"));
  EXPECT_EQ(open.at("attempts"), json::value(1));
  EXPECT_EQ(open.at("note"), json::value("the bank is busy"));
  EXPECT_FALSE(open.contains("end"));
}

TEST(FlowJson, SaysWhatACompensationUndoes) {
  json::object object = invocation_json(undo_view().history, 2).as_object();
  EXPECT_EQ(object.at("undoes"), json::value("Stock/reserve " + to_string(id(7))));
  EXPECT_EQ(object.at("beneath"), json::value(to_string(id(2))));
  EXPECT_EQ(write(object.at("input")), R"({"item":"p"})");
}

TEST(FlowJson, HasAllOfAFlow) {
  FlowView flow = order_view();
  flow.misses = std::vector<engine::NearMiss>{{.sync = "Later", .missing = "B/go: [] => ok[]"}};
  json::object object = flow_json(flow).as_object();
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
  EXPECT_EQ(write(flow_json(order_view(3)).at("waits")),
            R"([{"id":")" + to_string(id(3)) + R"(","text":"Card/charge runs"}])");
  FlowView open = order_view(3);
  open.awaited_by[2] = {{.sync = "Paid", .missing = "Card/charge: [] => ok[]"}};
  EXPECT_EQ(write(flow_json(open).at("waits").at(0).at("awaitedBy")),
            R"([{"sync":"Paid","pattern":"Card/charge: [] => ok[]"}])");
}

}  // namespace flow_json_test
}  // namespace sluice::cli
