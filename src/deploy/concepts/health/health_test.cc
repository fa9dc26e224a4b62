// Health through the harness: what is kept of a check, and what a kit's parts add up to.
#include <gtest/gtest.h>

#include "health.gen.h"
#include "lang/run/harness.h"

namespace sluice::deploy::health {
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
