// Pipeline through the harness: one test a variant.
#include <gtest/gtest.h>

#include "lang/run/harness.h"
#include "pipeline.gen.h"

namespace sluice::deploy::pipeline {
namespace pipeline_test {

constexpr const char* kMain = R"({"apiVersion": "openchoreo.dev/v1alpha1", "kind": "DeploymentPipeline",
    "metadata": {"name": "main"}, "spec": {"promotionPaths": [
      {"sourceEnvironmentRef": {"name": "dev"}, "targetEnvironmentRefs": [{"name": "staging", "soakSeconds": 60}]},
      {"sourceEnvironmentRef": {"name": "staging"}, "targetEnvironmentRefs": [{"name": "prod"}]}]}})";

class PipelineTest : public testing::Test {
 protected:
  auto put(const std::string& document) {
    return harness.invoke(Put{.pipelines = {{.name = "main", .document = document}}});
  }
  lang::Harness harness{pipeline_binding()};
  const PipelineId main{"main"};
};

TEST_F(PipelineTest, PathsAndStagesAreKeptTakenApart) {
  EXPECT_EQ(put(kMain).as<Put::Ok>().changed, std::vector<std::string>{"main"});
  State state(harness.rows());
  const auto paths = state.paths(main).values();
  ASSERT_EQ(paths.size(), 2U);
  EXPECT_EQ(paths[0], (PipelinePath{.from = "dev", .to = "staging", .soakSeconds = 60, .approvals = 0}));
  const auto stages = state.stages(main).values();
  ASSERT_EQ(stages.size(), 3U);
  EXPECT_EQ(stages[0], (PipelineStage{.environment = "dev", .root = true}));
  EXPECT_FALSE(stages[2].root);
  EXPECT_TRUE(put(kMain).as<Put::Ok>().changed.empty()) << "the same again";
}

TEST_F(PipelineTest, ACircleIsRefused) {
  const std::string circle = R"({"apiVersion": "openchoreo.dev/v1alpha1", "kind": "DeploymentPipeline",
      "metadata": {"name": "main"}, "spec": {"promotionPaths": [
        {"sourceEnvironmentRef": {"name": "a"}, "targetEnvironmentRefs": [{"name": "b"}]},
        {"sourceEnvironmentRef": {"name": "b"}, "targetEnvironmentRefs": [{"name": "a"}]}]}})";
  EXPECT_NE(put(circle).as<Put::Invalid>().message.find("the paths lead in a circle through a"), std::string::npos);
  EXPECT_TRUE(put("no JSON").is<Put::Invalid>());
}

TEST_F(PipelineTest, OneSwitchStopsIt) {
  EXPECT_TRUE(harness.invoke(Stop{.pipeline = main, .reason = "fire"}).is<Stop::NotFound>());
  EXPECT_TRUE(harness.invoke(Resume{.pipeline = main}).is<Resume::NotFound>());
  put(kMain);
  EXPECT_TRUE(harness.invoke(Stop{.pipeline = main, .reason = "fire", .caller = "user:ann"}).is<Stop::Ok>());
  EXPECT_EQ(State(harness.rows()).get(main)->stoppedBy, "user:ann");
  EXPECT_TRUE(State(harness.rows()).get(main)->stopped);
  EXPECT_TRUE(harness.invoke(Resume{.pipeline = main}).is<Resume::Ok>());
  EXPECT_FALSE(State(harness.rows()).get(main)->stopped);
}

TEST_F(PipelineTest, ItIsForgotten) {
  EXPECT_EQ(harness.invoke(Remove{.pipeline = main}).as<Remove::NotFound>().message, "there is no pipeline main");
  put(kMain);
  EXPECT_TRUE(harness.invoke(Remove{.pipeline = main}).is<Remove::Ok>());
  EXPECT_FALSE(State(harness.rows()).has(main));
}

}  // namespace pipeline_test
}  // namespace sluice::deploy::pipeline
