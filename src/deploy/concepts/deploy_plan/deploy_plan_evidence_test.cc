// What earlier plans tell of an environment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deploy/concepts/deploy_plan/testing_plan_rows.h"

namespace sluice::deploy::deploy_plan {
namespace deploy_plan_evidence_test {

using testing::ElementsAre;

class PlanEvidence : public PlanRows {
 protected:
  // A plan of the kit `front` in this phase, which was executed as the so manieth.
  DeployPlanId executed(const std::string& environment, const std::string& version, DeployPlanCurrentPhase phase,
                        int64_t number) {
    const DeployPlanId id = plan_with(chain(1), plan::OnFailure::rollback,
                                      {{.component = "web", .kit = "front", .revision = "r" + version}});
    State(harness.rows()).edit(id, [&](DeployPlanRecord& record) {
      record.environment = environment;
      record.kitVersion = version;
      record.currentPhase = phase;
      record.number = number;
    });
    return id;
  }
  lang::Invoked<Evidence> evidence(const std::string& suite = "front") {
    return harness.invoke(Evidence{.environment = "staging", .suite = suite});
  }
  lang::Invoked<Promotable> promotable() {
    return harness.invoke(Promotable{.environment = "staging", .suite = "front", .target = "prod"});
  }
};

TEST_F(PlanEvidence, IsWhatTheLastCompletePlanHasBrought) {
  EXPECT_EQ(evidence().as<Evidence::Missing>().message, "no plan of front is complete in staging");
  EXPECT_EQ(promotable().as<Promotable::Missing>().message, "no plan of front is complete in staging");
  executed("staging", "1.0.0", DeployPlanCurrentPhase::complete, 1);
  executed("staging", "2.0.0", DeployPlanCurrentPhase::complete, 2);
  executed("staging", "3.0.0", DeployPlanCurrentPhase::rolledBack, 3);
  executed("staging", "4.0.0", DeployPlanCurrentPhase::planned, 0);
  EXPECT_THAT(evidence().as<Evidence::Ok>().revisions, ElementsAre("r2.0.0"));
  EXPECT_THAT(evidence("shop").as<Evidence::Ok>().revisions, ElementsAre("r2.0.0")) << "by the app's name, too";
  EXPECT_EQ(promotable().as<Promotable::Ok>().version, "2.0.0");
  const DeployPlanId stuck = executed("staging", "5.0.0", DeployPlanCurrentPhase::stuck, 4);
  EXPECT_EQ(evidence().as<Evidence::Missing>().message, stuck.text() + " is stuck");
}

TEST_F(PlanEvidence, ANewerVersionOfTheTargetStaysThere) {
  executed("staging", "2.9.0", DeployPlanCurrentPhase::complete, 1);
  executed("prod", "2.8.7", DeployPlanCurrentPhase::complete, 1);
  promotable().as<Promotable::Ok>();
  executed("prod", "2.10.0", DeployPlanCurrentPhase::complete, 2);
  EXPECT_EQ(promotable().as<Promotable::Mismatch>().details, "prod has 2.10.0, which is newer than 2.9.0");
}

}  // namespace deploy_plan_evidence_test
}  // namespace sluice::deploy::deploy_plan
