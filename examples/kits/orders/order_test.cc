// Order through the harness: what fixtures cannot say. Its fixtures and invariants run beside this, generated.
#include <gtest/gtest.h>

#include "lang/run/harness.h"
#include "order.gen.h"

namespace sluice::orders::order {
namespace {

class OrderTest : public testing::Test {
 protected:
  OrderStatus status(const OrderId& order) { return harness.invoke(Status{.order = order}).as<Status::Ok>().status; }

  const Place tea{.item = "tea", .count = 2, .address = "1 Lock Lane"};
  lang::Harness harness{order_binding()};
};

TEST_F(OrderTest, AnAnsweredOrderIsDelivered) {
  harness.answer_with(Place::Ok{});
  EXPECT_EQ(status(harness.invoke(tea).as<Place::Ok>().order), OrderStatus::delivered);
}

TEST_F(OrderTest, AnOrderThatNobodyAnswersIsUndelivered) {
  harness.end_with({.outcome = lang::EngineOutcome::unanswered, .message = "the courier is away", .maybe_done = true});
  auto end = harness.invoke(tea).as<Place::Undelivered>();
  EXPECT_EQ(end.reason, "the courier is away");
  EXPECT_EQ(status(end.order), OrderStatus::undelivered);
}

TEST_F(OrderTest, NothingIsKeptOfWhatWasNoOrder) {
  EXPECT_EQ(harness.invoke(Place{.item = "tea", .count = -1}).as<Place::NothingOrdered>().count, -1);
  harness.answer_with(Place::UnknownItem{});
  EXPECT_EQ(harness.invoke(Place{.item = "unicorn", .count = 1}).as<Place::UnknownItem>().item, "unicorn");
  for (const auto& order : State(harness.rows()).all()) ADD_FAILURE() << order.id.text();
}

}  // namespace
}  // namespace sluice::orders::order
