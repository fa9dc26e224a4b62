// Parcel through the harness: what fixtures cannot say. Its fixtures and invariants run beside this, generated.
#include <gtest/gtest.h>

#include "carrier.h"
#include "lang/run/harness.h"
#include "parcel_work.h"

namespace sluice::kit::parcel {

// Takes the token "hunter2". Bookings are kept by the id under which they were made.
class MemoryCarrier final : public Carrier {
 public:
  std::string booked(const std::string& id) const override {
    auto found = bookings.find(id);
    return found == bookings.end() ? "" : found->second;
  }
  std::string book(const std::string& id, const std::string& token) override {
    if (token != "hunter2") return "";
    return bookings.emplace(id, "T" + std::to_string(bookings.size() + 1)).first->second;
  }
  void call_back(const std::string& tracking) override { called_back.push_back(tracking); }
  bool open() const override { return closed_for == 0 || closed_for-- == 0; }

  std::map<std::string, std::string> bookings;
  std::vector<std::string> called_back;
  mutable int closed_for = 0;
};

void prepare(lang::Harness& harness) {
  // Fixtures share it; no fixture depends on what another has booked.
  static MemoryCarrier carrier;
  harness.tools().add<Carrier>(carrier);
}

namespace {

class ParcelTest : public testing::Test {
 protected:
  ParcelTest() { harness.tools().add<Carrier>(carrier); }

  ParcelId packed() {
    return harness.invoke(Pack{.address = "Elm 1", .size = ParcelSize::small, .grams = 200}).as<Pack::Ok>().parcel;
  }
  Ship ship(const ParcelId& parcel) {
    return Ship{.parcel = parcel, .carrier = "post", .token = harness.seal("hunter2")};
  }
  ParcelRecord record(const ParcelId& parcel) { return State(harness.rows()).get(parcel).value(); }

  MemoryCarrier carrier;
  lang::Harness harness{parcel_binding()};
};

TEST_F(ParcelTest, PackKeepsEveryFieldOfTheRow) {
  auto done = harness.invoke(Pack{.address = "Oak 7",
                                  .size = ParcelSize::large,
                                  .grams = 900,
                                  .note = "two of two",
                                  .labels = {"gift", "fragile", "gift"}});
  auto ok = done.as<Pack::Ok>();
  EXPECT_EQ(ok.class_, "first");
  EXPECT_EQ(record(ok.parcel), (ParcelRecord{.address = "Oak 7",
                                             .size = ParcelSize::large,
                                             .weight = {.grams = 900, .padded = true},
                                             .note = "two of two",
                                             .digest = {.bytes = "Oak 7"},
                                             .status = ParcelStatus::packed,
                                             .packedAt = harness.rows().now()}));
  auto row = harness.rows().get("Parcel", ok.parcel.text());
  EXPECT_EQ(row->at("digest"), "T2FrIDc=");
  EXPECT_EQ(row->at("packedAt"), "2030-01-01T00:00:00.000Z");
  EXPECT_EQ(State(harness.rows()).labels(ok.parcel).values(), (std::vector<std::string>{"fragile", "gift"}));
  EXPECT_EQ(State(harness.rows()).whole().total, 1);
}

TEST_F(ParcelTest, PackRefusesWhatNoBoxHolds) {
  auto done = harness.invoke(Pack{.grams = 20'001});
  EXPECT_EQ(done.as<Pack::TooHeavy>(), (Pack::TooHeavy{.grams = 20'001, .limit = 20'000}));
  EXPECT_THROW(done.as<Pack::Ok>(), std::runtime_error);
}

TEST_F(ParcelTest, LiteralsThatAreNoNamesKeepTheirSpelling) {
  ParcelId parcel = packed();
  harness.invoke(ship(parcel)).as<Ship::Ok>();
  EXPECT_EQ(harness.rows().get("Parcel", parcel.text())->at("status"), "in-transit");
  EXPECT_EQ(harness.invoke(Look{.parcel = parcel}).as<Look::Ok>().status, ParcelStatus::in_transit);
}

TEST_F(ParcelTest, LookupsFindRowsByAFieldAndByAPath) {
  ParcelId parcel = packed();
  harness.invoke(Pack{.address = "Oak 7", .grams = 7}).as<Pack::Ok>();
  State state(harness.rows());
  auto found = state.find_by_address("Elm 1");
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].id, parcel);
  EXPECT_EQ(state.find_by_weight_grams(7).size(), 1);
  EXPECT_EQ(state.find_by_status(ParcelStatus::packed).size(), 2);
  EXPECT_TRUE(state.find_by_tracking("T1").empty());
}

TEST_F(ParcelTest, ShipFillsInWhatPerformDidNotKnow) {
  ParcelId parcel = packed();
  EXPECT_EQ(harness.invoke(ship(parcel)).as<Ship::Ok>(), (Ship::Ok{.parcel = parcel, .tracking = "T1"}));
  EXPECT_EQ(record(parcel).tracking, "T1");
}

TEST_F(ParcelTest, ShipIsTriedAgainWhileTheCarrierIsClosed) {
  carrier.closed_for = 4;
  EXPECT_TRUE(harness.invoke(ship(packed())).is<Ship::Ok>());
  carrier.closed_for = 5;
  auto end = harness.invoke(ship(packed())).engine();
  EXPECT_EQ(end, (lang::EngineEnd{.outcome = lang::EngineOutcome::unavailable, .message = "post is closed"}));
}

TEST_F(ParcelTest, ShipIsLostWhenNobodyKnows) {
  ParcelId parcel = packed();
  harness.end_with({.outcome = lang::EngineOutcome::unknown, .message = "crashed", .maybe_done = true});
  EXPECT_EQ(harness.invoke(ship(parcel)).as<Ship::Lost>().parcel, parcel);
  EXPECT_EQ(record(parcel).status, ParcelStatus::lost);
  EXPECT_TRUE(carrier.bookings.empty());
}

TEST_F(ParcelTest, ProbeTellsABookingThatWasMade) {
  Ship ask = ship(packed());
  auto probed = harness.probe(ask);
  EXPECT_NE(get_if<lang::NotDone>(&probed), nullptr);
  carrier.bookings["invocation-3"] = "T9";
  probed = harness.probe(ask);
  auto done = get<lang::Done<lang::Completion>>(probed);
  EXPECT_EQ(done.outcome.variant, "ok");
  EXPECT_EQ(done.outcome.fields.at("tracking"), "T9");
  carrier.closed_for = 1;
  probed = harness.probe(ask);
  EXPECT_NE(get_if<lang::Unsure>(&probed), nullptr);
}

TEST_F(ParcelTest, TheTokenIsNowhereInTheRows) {
  ParcelId parcel = packed();
  harness.invoke(ship(parcel)).as<Ship::Ok>();
  for (const auto& [name, rows] : harness.rows().relations()) {
    for (const auto& [key, row] : rows) EXPECT_EQ(json::serialize(row).find("hunter2"), std::string::npos);
  }
  EXPECT_EQ(parcel_binding().action("ship")->sealed, std::vector<std::string>{"token"});
}

TEST_F(ParcelTest, RecallCallsBackWhatWasShipped) {
  ParcelId parcel = packed();
  harness.invoke(ship(parcel)).as<Ship::Ok>();
  EXPECT_TRUE(harness.invoke(Recall{.parcel = parcel}).is<Recall::Ok>());
  EXPECT_EQ(carrier.called_back, std::vector<std::string>{"T1"});
  EXPECT_EQ(record(parcel).status, ParcelStatus::packed);
}

TEST_F(ParcelTest, AnAnswerMayLeaveFieldsToFinish) {
  ParcelId parcel = packed();
  harness.answer_with({.variant = "ok", .fields = {{"door", "blue"}}});
  EXPECT_EQ(harness.invoke(Deliver{.parcel = parcel}).as<Deliver::Ok>(),
            (Deliver::Ok{.parcel = parcel, .door = "blue"}));
  EXPECT_EQ(record(parcel).delivering, std::nullopt);
}

TEST_F(ParcelTest, FinishTurnsAnUnansweredRequestIntoAVariant) {
  ParcelId parcel = packed();
  EXPECT_EQ(harness.invoke(Deliver{.parcel = parcel}).as<Deliver::NotHome>().parcel, parcel);
}

TEST_F(ParcelTest, AnAnswerWithAVariantThatIsNoneIsRefused) {
  harness.answer_with({.variant = "stolen"});
  auto ending = harness.run("sign", {{"parcel", "x"}});
  ASSERT_FALSE(ending);
  EXPECT_EQ(to_string(ending.error()), "sign has no variant \"stolen\"");
}

TEST_F(ParcelTest, ArgumentsAreReadStrictly) {
  auto error_of = [&](const json::object& ask) { return to_string(harness.run("stop", ask).error()); };
  EXPECT_EQ(error_of({{"parcel", "p"}}), "/place: missing field, expected a string");
  EXPECT_EQ(error_of({{"parcel", "p"}, {"place", 7}}), "/place: expected a string, found an integer");
  EXPECT_EQ(to_string(harness.run("fly", {}).error()), "Parcel has no action fly");
}

TEST_F(ParcelTest, EraseTakesTheChildrenAlong) {
  ParcelId parcel = packed();
  ParcelId other = packed();
  harness.invoke(Stop{.parcel = parcel, .place = "harbour"}).as<Stop::Ok>();
  harness.invoke(Stop{.parcel = other, .place = "harbour"}).as<Stop::Ok>();
  harness.invoke(Discard{.parcel = parcel}).as<Discard::Ok>();
  State state(harness.rows());
  EXPECT_FALSE(state.has(parcel));
  EXPECT_TRUE(state.stops(parcel).empty());
  EXPECT_EQ(state.stops(other).size(), 1);
}

TEST_F(ParcelTest, TheBindingSaysWhatTheConceptSays) {
  const lang::ConceptBinding& binding = parcel_binding();
  EXPECT_EQ(binding.name, "Parcel");
  EXPECT_EQ(binding.version, 2);
  EXPECT_EQ(binding.relations[1].name, "Parcel[String]");
  EXPECT_EQ(binding.relations[1].lookups, std::vector<std::string>{"rates.class"});
  const lang::ActionBinding& ship = *binding.action("ship");
  EXPECT_EQ(ship.runs, lang::Runs::effect);
  EXPECT_EQ(ship.retry, lang::Retry::probe);
  EXPECT_EQ(ship.deadline_s, 90);
  EXPECT_EQ(ship.variants, (std::vector<std::string>{"ok", "refused", "lost", "notfound"}));
  EXPECT_TRUE(ship.begin && ship.perform && ship.finish && ship.probe);
  EXPECT_FALSE(ship.act || ship.query);
  EXPECT_EQ(binding.action("sign")->runs, lang::Runs::answered_outside);
  EXPECT_EQ(binding.action("recall")->retry, lang::Retry::safe);
}

}  // namespace
}  // namespace sluice::kit::parcel
