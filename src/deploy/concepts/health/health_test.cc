// Health through the harness: what is kept of a check, and what a kit's parts add up to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/testing_folder.h"
#include "bundle/archive/pack.h"
#include "deploy/bundle_shelf.h"
#include "deploy/live_probe.h"
#include "deploy/testing_markers.h"
#include "deploy/testing_router.h"
#include "health.gen.h"
#include "lang/run/harness.h"

namespace sluice::deploy::health {

void prepare(lang::Harness&) {}

namespace health_test {

class HealthTest : public testing::Test {
 protected:
  HealthRecord kept(const std::string& target) { return State(harness.rows()).find_by_target(target).front().record; }

  lang::Harness harness{health_binding()};
};

TEST_F(HealthTest, CheckConceptOkKeepsHowLongItTook) {
  harness.answer_with(lang::Completion{"ok", {{"latencyMs", 7}}});
  EXPECT_EQ(harness.invoke(CheckConcept{.concept_ = "r1"}).as<CheckConcept::Ok>().latencyMs, 7);
  EXPECT_EQ(kept("r1").status, HealthStatus::ok);
  EXPECT_EQ(kept("r1").latencyMs, 7);
}

TEST_F(HealthTest, CheckConceptDegradedNamesTheThreshold) {
  harness.answer_with(CheckConcept::Degraded{.concept_ = "r1", .latencyMs = 700});
  EXPECT_EQ(harness.invoke(CheckConcept{.concept_ = "r1"}).as<CheckConcept::Degraded>().threshold, 500);
  EXPECT_EQ(kept("r1").status, HealthStatus::degraded);
}

TEST_F(HealthTest, CheckConceptUnreachableAlsoWhenNobodyAnswers) {
  harness.answer_with(CheckConcept::Unreachable{.concept_ = "r1", .transport = "gone"});
  EXPECT_EQ(harness.invoke(CheckConcept{.concept_ = "r1"}).as<CheckConcept::Unreachable>().transport, "gone");
  harness.end_with({.outcome = lang::EngineOutcome::unanswered, .message = "nobody"});
  EXPECT_EQ(harness.invoke(CheckConcept{.concept_ = "r1"}).as<CheckConcept::Unreachable>().transport, "nobody");
  EXPECT_EQ(kept("r1").status, HealthStatus::failed);
  EXPECT_EQ(State(harness.rows()).find_by_target("r1").size(), 1U) << "the newest result alone is kept";
}

TEST_F(HealthTest, CheckSyncAddsUpWhatGotThrough) {
  harness.answer_with(lang::Completion{"ok", {}});
  EXPECT_EQ(harness.invoke(CheckSync{.sync = "d1"}).as<CheckSync::Ok>().roundTripMs, 0);
  EXPECT_EQ(kept("d1").kind, HealthKind::sync);
  harness.answer_with(CheckSync::PartialFailure{.sync = "d1", .reason = "there is no deployment d1"});
  EXPECT_EQ(harness.invoke(CheckSync{.sync = "d1"}).as<CheckSync::PartialFailure>().reason,
            "there is no deployment d1");
  harness.end_with({.outcome = lang::EngineOutcome::unanswered, .message = "nobody"});
  EXPECT_EQ(harness.invoke(CheckSync{.sync = "d1"}).as<CheckSync::PartialFailure>().reason, "nobody");
}

TEST_F(HealthTest, CheckInvariantKeepsWhatWasFound) {
  const CheckInvariant ask{.concept_ = "r1", .invariant = "counts"};
  harness.answer_with(lang::Completion{"ok", {}});
  EXPECT_TRUE(harness.invoke(ask).is<CheckInvariant::Ok>());
  EXPECT_EQ(kept("r1").status, HealthStatus::ok);
  harness.answer_with(
      CheckInvariant::Violated{.concept_ = "r1", .invariant = "counts", .expected = "1", .actual = "2"});
  EXPECT_EQ(harness.invoke(ask).as<CheckInvariant::Violated>().actual, "2");
  EXPECT_EQ(kept("r1").details, "counts: expected 1, got 2");
  harness.answer_with(CheckInvariant::Undeclared{.concept_ = "r1", .reason = "no concept"});
  EXPECT_EQ(harness.invoke(ask).as<CheckInvariant::Undeclared>().reason, "no concept");
  harness.end_with({.outcome = lang::EngineOutcome::unanswered, .message = "nobody"});
  EXPECT_EQ(harness.invoke(ask).as<CheckInvariant::Unreachable>().reason, "nobody");
  EXPECT_EQ(kept("r1").status, HealthStatus::failed);
}

// The world of these is LiveProbe's, which live_probe_test.cc tries.
class HealthEffects : public HealthTest {
 protected:
  HealthEffects() {
    harness.tools().add(shelf);
    harness.tools().add(probe);
  }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  BundleShelf shelf{disk, folder.path("shelf")};
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  std::function<Result<crypto::PrivateKey>()> read_key = [this] {
    return crypto::PrivateKey::from_pem(key.to_pem().reveal());
  };
  RouterFleet fleet{disk, folder.path("routers"), read_key};
  LiveProbe probe{fleet, clock, read_key};
  MarkerServer server;
  int number = 1;
};

TEST_F(HealthEffects, WithoutARouterAMessageIsLost) {
  EXPECT_THAT(harness.invoke(SendThrough{.environment = "local", .artifact = folder.path("none")})
                  .as<SendThrough::Lost>()
                  .reason,
              testing::HasSubstr("none"));
}

TEST_F(HealthEffects, AMessageGoesThroughTheRouterToItsRevision) {
  ASSERT_TRUE(disk.make_folder(folder.path("in"), 0700));
  ASSERT_TRUE(write_atomically(disk, folder.path("in/bundle.yaml"),
                               "name: shop\nversion: \"1\"\nrun: [./app]\nhealth: {path: /well}\n", 0644));
  ASSERT_TRUE(write_atomically(disk, folder.path("in/app"), "", 0755));
  ASSERT_TRUE(bundle::pack(disk, folder.path("in"), {"app", "bundle.yaml"}, folder.path("shop.bundle")));
  TestingRouter router(folder.path("routers"), "main", key.public_key(), server.address());
  router.set_environment("local");
  const SendThrough ask{
      .environment = "local", .deployment = "d1", .revision = "r1", .artifact = folder.path("shop.bundle")};
  EXPECT_EQ(harness.invoke(ask).as<SendThrough::Lost>().reason,
            "the router main answered 200, and does not say of whom");
  ASSERT_EQ(server.requests.size(), 1U);
  EXPECT_EQ(server.requests[0].path, (std::vector<std::string>{"well"}));
  server.headers = {{"X-Sluice-Revision", "r1"}};
  EXPECT_EQ(harness.invoke(ask).as<SendThrough::Ok>().revision, "r1");
  server.status = 502;
  EXPECT_EQ(harness.invoke(ask).as<SendThrough::Lost>().reason, "the router main answered 502");
  server.status = 504;
  EXPECT_EQ(harness.invoke(ask).as<SendThrough::Late>().revision, "r1");
}

TEST_F(HealthEffects, InvariantsAreTriedInTheProgramThatRuns) {
  server.says = [&](const http::Request& request) {
    const json::value message = parse_json(request.body)->root;
    json::object complete{{"concept",
                           "concept A [X] { purpose { a } actions { action go() { -> ok(n: Int) } } "
                           "invariant { example one { after go() -> ok(n: 1) then go() -> ok(n: 1) } } }"}};
    if (message.as_object().contains("invoke")) {
      complete = {{"variant", number == 0 ? "no" : "ok"}, {"fields", json::object{{"n", number}}}};
    }
    return write(json::object{{"id", message.at("id")}, {"complete", complete}});
  };
  TryInvariant ask{.endpoint = server.url()};
  EXPECT_EQ(harness.invoke(ask).as<TryInvariant::Ok>().invariants, 1);
  number = 0;
  EXPECT_EQ(harness.invoke(ask).as<TryInvariant::Violated>().invariant, "one");
  ask.invariant = "two";
  EXPECT_EQ(harness.invoke(ask).as<TryInvariant::Undeclared>().reason, "A has no invariant two; there is one");
  ask.endpoint = "http://127.0.0.1:1";
  EXPECT_TRUE(harness.invoke(ask).is<TryInvariant::Unreachable>());
}

TEST_F(HealthTest, ASuspectIsDegradedUntilItAnswersOrIsReplaced) {
  harness.answer_with(Suspect::Degraded{.instance = "i1", .reason = "nothing else is warm"});
  EXPECT_EQ(harness.invoke(Suspect{.instance = "i1"}).as<Suspect::Degraded>().reason, "nothing else is warm");
  EXPECT_EQ(kept("i1").status, HealthStatus::degraded);
  EXPECT_EQ(kept("i1").details, "nothing else is warm");
  harness.answer_with(Suspect::Ok{.instance = "i1"});
  EXPECT_TRUE(harness.invoke(Suspect{.instance = "i1"}).is<Suspect::Ok>());
  EXPECT_TRUE(State(harness.rows()).find_by_target("i1").empty());
  harness.answer_with(Suspect::Replaced{.instance = "i1", .revision = "r1", .other = "r2"});
  EXPECT_EQ(harness.invoke(Suspect{.instance = "i1"}).as<Suspect::Replaced>().other, "r2");
  harness.end_with({.outcome = lang::EngineOutcome::unanswered, .message = "no rule says so"});
  EXPECT_TRUE(harness.invoke(Suspect{.instance = "i1"}).is<Suspect::Ignored>()) << "it gets no traffic";
  EXPECT_TRUE(State(harness.rows()).find_by_target("i1").empty());
}

TEST_F(HealthTest, PartsAreAskedOneByOne) {
  const HealthId id = State(harness.rows()).add(HealthRecord{.target = "d1", .kind = HealthKind::kit});
  EXPECT_EQ(harness.invoke(Expect{.check = id, .revisions = {"r1", "r2"}}).as<Expect::Next>().concept_, "r1");
  EXPECT_EQ(harness.invoke(Found{.check = id, .concept_ = "r1", .status = HealthFoundStatus::ok, .latencyMs = 9})
                .as<Found::Next>()
                .concept_,
            "r2");
  EXPECT_TRUE(
      harness.invoke(Found{.check = id, .concept_ = "r2", .status = HealthFoundStatus::failed}).is<Found::Ok>());
  EXPECT_EQ(kept("d1").latencyMs, 9);
  EXPECT_TRUE(harness.invoke(Expect{.check = id}).is<Expect::Ok>());
  EXPECT_TRUE(harness.invoke(Forget{.target = "d1"}).is<Forget::Ok>());
  EXPECT_TRUE(State(harness.rows()).find_by_target("d1").empty());
}

}  // namespace health_test
}  // namespace sluice::deploy::health
