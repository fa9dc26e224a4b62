// What a supervisor does when the engine refuses; what real containers do is tested in tests/container.
#include "process/container_program.h"

#include <gtest/gtest.h>

#include "container/testing_engine.h"
#include "process/testing_replicas.h"

namespace sluice::process {
namespace container_program_test {

class ContainerProgramTest : public testing::Test {
 protected:
  Workload contained() {
    Workload workload = world_.shell("exit 0");
    workload.argv = {};
    workload.container = ContainerWork{.engine = engine_.socket(),
                                       .image = "sha256:aa",
                                       .user = "65532:65532",
                                       .network = "net",
                                       .labels = {{std::string(kHomeLabel), "h1"}}};
    workload.health.start_within_ms = 300;
    return workload;
  }
  Launch launch() { return {.start = "one/1", .mark = "sluice-4f", .groups = {}, .workload = contained()}; }

  TestingReplicas world_;
  container::TestingEngine engine_;
};

TEST_F(ContainerProgramTest, WhatIsNotThisHomesIsLeftAlone) {
  engine_.answer("GET /v1.41/containers/sluice-4f/json", "200 OK",
                 R"({"Id":"fa","Config":{"Labels":{"dev.sluice.home":"other"}}})");
  RealClock clock;
  auto ended = end_container(launch(), clock);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "the container engine has a container sluice-4f that is not this home's");
  EXPECT_EQ(engine_.asked().size(), 1u);
}

TEST_F(ContainerProgramTest, WhatIsGoneHasEnded) {
  engine_.answer("GET /v1.41/containers/sluice-4f/json", "404 Not Found", R"({"message":"no such container"})");
  engine_.answer("GET /v1.41/networks/net", "200 OK", R"({"Labels":{"dev.sluice.home":"h1"}})");
  engine_.answer("DELETE /v1.41/networks/net", "500 Internal Server Error", R"({"message":"network is being used"})");
  RealClock clock;
  EXPECT_TRUE(end_container(launch(), clock, true));
  EXPECT_TRUE(engine_.asked().back().starts_with("DELETE /v1.41/networks/net"));
}

TEST_F(ContainerProgramTest, AReplicaSaysWhyItsContainerCannotStart) {
  engine_.answer("GET /v1.41/containers/", "404 Not Found", R"({"message":"no such container"})");
  engine_.answer("POST /v1.41/containers/create", "404 Not Found", R"({"message":"no such image"})");
  auto state = world_.settled("one", contained());
  EXPECT_EQ(state.phase, Phase::failed);
  EXPECT_EQ(state.reason, Reason::cannot_start);
  EXPECT_NE(state.message.find("no such image"), std::string::npos) << state.message;
}

TEST_F(ContainerProgramTest, AReplicaWaitsForAnEngineAndThenGivesUp) {
  Workload workload = contained();
  workload.container->engine = world_.folder.path("none");
  auto state = world_.settled("one", workload);
  EXPECT_EQ(state.phase, Phase::failed);
  EXPECT_EQ(state.reason, Reason::no_engine);
  // It can be removed only with an engine that says that its container is gone.
  EXPECT_EQ(world_.replicas.remove("one").error().code, Code::unavailable);
  Launch gone = launch();
  EXPECT_FALSE(gone.workload.container->engine.empty());
}

}  // namespace container_program_test
}  // namespace sluice::process
