// Parcel follows a box from packing to the door. It owns where a box is; carriers are reached by its effects alone.
#include "carrier.h"
#include "parcel_work.h"

namespace sluice::kit::parcel {
namespace {

constexpr int64_t kLimitGrams = 20'000;

const char* class_of(ParcelSize size) {
  switch (size) {
    case ParcelSize::small:
      return "second";
    case ParcelSize::large:
      return "first";
  }
  return "";
}

}  // namespace

Pack::Result Parcel::pack(const Pack& ask, State& state) {
  if (ask.grams > kLimitGrams) return Pack::TooHeavy{.grams = ask.grams, .limit = kLimitGrams};
  ParcelId parcel = state.add({.address = ask.address,
                               .size = ask.size,
                               .weight = {.grams = ask.grams, .padded = ask.size == ParcelSize::large},
                               .note = ask.note,
                               .digest = {.bytes = ask.address},
                               .status = ParcelStatus::packed,
                               .packedAt = state.now()});
  for (const std::string& label : ask.labels) state.labels(parcel).insert(label);
  ParcelWhole whole = state.whole();
  whole.total++;
  state.put_whole(whole);
  return Pack::Ok{.parcel = parcel, .class_ = class_of(ask.size)};
}

Look::Result Parcel::look(const Look& ask, const State& state) {
  auto found = state.get(ask.parcel);
  if (!found) return Look::Notfound{.parcel = ask.parcel};
  return Look::Ok{.parcel = ask.parcel,
                  .address = found->address,
                  .status = found->status,
                  .stops = state.stops(ask.parcel).values(),
                  .labels = state.labels(ask.parcel).values()};
}

Stop::Result Parcel::stop(const Stop& ask, State& state) {
  if (!state.has(ask.parcel)) return Stop::Notfound{.parcel = ask.parcel};
  auto stops = state.stops(ask.parcel);
  stops.push({.place = ask.place, .at = state.now()});
  return Stop::Ok{.parcel = ask.parcel, .stops = static_cast<int64_t>(stops.size())};
}

Ship::Begun Parcel::begin_ship(const Ship& ask, State& state) {
  if (!state.has(ask.parcel)) return Ship::Notfound{.parcel = ask.parcel};
  return ShipWork{.carrier = ask.carrier, .token = ask.token};
}

Ship::Performed Parcel::perform_ship(const ShipWork& work, Effect& effect) {
  auto& carrier = effect.tool<Carrier>();
  if (!carrier.open()) return lang::Again{.reason = work.carrier + " is closed"};
  std::string tracking = carrier.book(effect.id(), effect.open(work.token));
  if (tracking.empty()) return Ship::Refused{.reason = "the token is not good"};
  return Ship::Ok{.tracking = tracking};
}

lang::Probed<Ship::Result> Parcel::probe_ship(const ShipWork&, Effect& effect) {
  auto& carrier = effect.tool<Carrier>();
  if (!carrier.open()) return lang::Unsure{};
  std::string tracking = carrier.booked(effect.id());
  if (tracking.empty()) return lang::NotDone{};
  return lang::Done<Ship::Result>{Ship::Ok{.tracking = tracking}};
}

Ship::Outcome Parcel::finish_ship(const Ship& ask, const Ship::Outcome& outcome, State& state) {
  switch (ended_of(outcome)) {
    case Ship::Ended::ok: {
      auto ok = get<Ship::Ok>(outcome);
      ok.parcel = ask.parcel;
      state.edit(ask.parcel, [&](ParcelRecord& record) {
        record.status = ParcelStatus::in_transit;
        record.tracking = ok.tracking;
      });
      return ok;
    }
    case Ship::Ended::refused: {
      auto refused = get<Ship::Refused>(outcome);
      refused.parcel = ask.parcel;
      return refused;
    }
    case Ship::Ended::engine:
      if (!get<lang::EngineEnd>(outcome).maybe_done) return outcome;
      state.edit(ask.parcel, [](ParcelRecord& record) { record.status = ParcelStatus::lost; });
      return Ship::Lost{.parcel = ask.parcel};
    case Ship::Ended::lost:
    case Ship::Ended::notfound:
      break;
  }
  return outcome;
}

Recall::Begun Parcel::begin_recall(const Recall& ask, State& state) {
  auto found = state.get(ask.parcel);
  return RecallWork{.tracking = found ? found->tracking : std::nullopt};
}

Recall::Performed Parcel::perform_recall(const RecallWork& work, Effect& effect) {
  if (work.tracking) effect.tool<Carrier>().call_back(*work.tracking);
  return Recall::Ok{};
}

Recall::Outcome Parcel::finish_recall(const Recall& ask, const Recall::Outcome& outcome, State& state) {
  if (ended_of(outcome) == Recall::Ended::engine) return outcome;
  state.edit(ask.parcel, [](ParcelRecord& record) {
    record.status = ParcelStatus::packed;
    record.tracking.reset();
  });
  return Recall::Ok{.parcel = ask.parcel};
}

Deliver::Begun Parcel::begin_deliver(const Deliver& ask, State& state) {
  bool known = state.edit(ask.parcel, [&](ParcelRecord& record) { record.delivering = state.request(); });
  if (!known) return Deliver::Notfound{.parcel = ask.parcel};
  return lang::Opened{};
}

Deliver::Outcome Parcel::finish_deliver(const Deliver& ask, const Deliver::Outcome& outcome, State& state) {
  bool taken = ended_of(outcome) == Deliver::Ended::ok;
  state.edit(ask.parcel, [&](ParcelRecord& record) {
    record.delivering.reset();
    if (taken) record.status = ParcelStatus::delivered;
  });
  if (!taken) return Deliver::NotHome{.parcel = ask.parcel};
  auto ok = get<Deliver::Ok>(outcome);
  ok.parcel = ask.parcel;
  return ok;
}

Sign::Begun Parcel::begin_sign(const Sign&, State&) { return lang::Opened{}; }

Sign::Outcome Parcel::finish_sign(const Sign& ask, const Sign::Outcome& outcome, State&) {
  if (ended_of(outcome) == Sign::Ended::engine) return outcome;
  auto ok = get<Sign::Ok>(outcome);
  ok.parcel = ask.parcel;
  return ok;
}

Price::Result Parcel::price(const Price& ask, State& state) {
  state.put(ask.carrier, {.rates = {.class_ = ask.class_, .cents = ask.cents}});
  return Price::Ok{.carriers = static_cast<int64_t>(state.find_by_rates_class(ask.class_).size())};
}

Discard::Result Parcel::discard(const Discard& ask, State& state) {
  state.erase(ask.parcel);
  return Discard::Ok{};
}

}  // namespace sluice::kit::parcel
