// Order keeps what was ordered and how it went. Placing one is answered by syncs, so that ok means delivered.
#include "order.gen.h"

namespace sluice::orders::order {

Place::Begun Order::begin_place(const Place& ask, State& state) {
  if (ask.count < 1) return Place::NothingOrdered{.count = ask.count};
  state.add({.item = ask.item,
             .count = ask.count,
             .address = ask.address,
             .status = OrderStatus::open,
             .request = state.request()});
  return lang::Opened{};
}

// Runs however the placing ended, so that no order stays open for ever. A sync's answer lacks the fields that only
// this concept knows.
Place::Outcome Order::finish_place(const Place& ask, const Place::Outcome& outcome, State& state) {
  const OrderId order = state.find_by_request(state.request()).at(0).id;
  auto set = [&](OrderStatus status) { state.edit(order, [&](OrderRecord& record) { record.status = status; }); };
  switch (ended_of(outcome)) {
    case Place::Ended::ok:
      set(OrderStatus::delivered);
      return Place::Ok{.order = order};
    case Place::Ended::soldOut:
      set(OrderStatus::sold_out);
      return Place::SoldOut{.item = ask.item};
    case Place::Ended::undelivered:
      set(OrderStatus::undelivered);
      return Place::Undelivered{.order = order, .reason = get<Place::Undelivered>(outcome).reason};
    case Place::Ended::engine:
      set(OrderStatus::undelivered);
      return Place::Undelivered{.order = order, .reason = get<lang::EngineEnd>(outcome).message};
    case Place::Ended::unknownItem:
      state.erase(order);
      return Place::UnknownItem{.item = ask.item};
    case Place::Ended::nothingOrdered:
      break;
  }
  return outcome;
}

Status::Result Order::status(const Status& ask, const State& state) {
  auto found = state.get(ask.order);
  if (!found) return Status::Unknown{.order = ask.order};
  return Status::Ok{.order = ask.order, .item = found->item, .count = found->count, .status = found->status};
}

}  // namespace sluice::orders::order
