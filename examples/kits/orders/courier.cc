// Courier brings parcels. Only perform touches the world; it may run again after a crash, under the same id.
#include "courier_work.h"
#include "mailbox.h"

namespace sluice::orders::courier {

Deliver::Begun Courier::begin_deliver(const Deliver& ask, State&) {
  return DeliverWork{.parcel = ask.parcel, .address = ask.address};
}

Deliver::Performed Courier::perform_deliver(const DeliverWork& work, Effect& effect) {
  auto put = effect.tool<Mailbox>().put(effect.id(), work.parcel + ", for " + work.address + "\n");
  if (!put) return lang::Again{.reason = put.error().message};
  return Deliver::Ok{};
}

Deliver::Outcome Courier::finish_deliver(const Deliver& ask, const Deliver::Outcome& outcome, State& state) {
  if (ended_of(outcome) == Deliver::Ended::engine) return outcome;
  return Deliver::Ok{.trip = state.add({.parcel = ask.parcel, .address = ask.address, .at = state.now()})};
}

}  // namespace sluice::orders::courier
