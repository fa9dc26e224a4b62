// What promotion reads of its concepts, on rows in memory.
#include "deploy/promotion/promotion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "approval.gen.h"
#include "base/real_disk.h"
#include "definition.gen.h"
#include "deploy/testing_views.h"
#include "git_source.gen.h"
#include "migration.gen.h"
#include "pin.gen.h"
#include "pipeline.gen.h"
#include "release.gen.h"
#include "revision.gen.h"

namespace sluice::deploy::views {
namespace promotion_test {

class PromotionViews : public testing::Test {
 protected:
  void release(const std::string& name, const std::string& component, int64_t at_ms, const std::string& connects = "") {
    release::State state(rows.rows);
    const release::ReleaseId id(name);
    state.put(id, {.component = component, .image = "sha256:1", .ready = true, .createdAt = {.ms = at_ms}});
    const std::string connections =
        connects.empty() ? "[]" : R"([{"params": {"componentName": ")" + connects + R"(", "endpoint": "api"}}])";
    const std::string workload =
        R"({"apiVersion": "openchoreo.dev/v1alpha1", "kind": "Workload", "metadata": {"name": ")" + component +
        R"("}, "spec": {"image": "x", "connections": )" + connections + "}}";
    state.put(release::ReleaseTId("d-" + name), {.text = workload});
    state.parts(id).push({.role = "workload", .name = component, .digest = "d-" + name});
  }
  void pin(const std::string& component, const std::string& release, bool ready) {
    pin::State(rows.rows).put(pin::PinId(component + "/dev"), {.component = component,
                                                               .environment = "dev",
                                                               .pipeline = "main",
                                                               .release = release,
                                                               .applied = release,
                                                               .ready = ready});
  }
  RowsInMemory rows;
  States states{rows};
};

TEST_F(PromotionViews, AConsumerWaitsUnlessBothWait) {
  release("a1", "a", 1, "b");
  release("b1", "b", 1);
  EXPECT_EQ(waits_for(states, "a", "dev", "a1").value().why, "b is not deployed in dev");
  pin("b", "b1", false);
  EXPECT_EQ(waits_for(states, "a", "dev", "a1").value().why, "b is not ready in dev");
  EXPECT_EQ(waits_for(states, "a", "dev", "a1").value().provider, "b");
  pin("b", "b1", true);
  EXPECT_FALSE(waits_for(states, "a", "dev", "a1"));
  EXPECT_TRUE(starts_together(states, "a", "dev", "a1").empty());
  release("b2", "b", 2, "a");
  pin("b", "b2", false);
  pin("a", "a1", false);
  EXPECT_FALSE(waits_for(states, "a", "dev", "a1")) << "a circle starts together";
  EXPECT_EQ(starts_together(states, "a", "dev", "a1"), std::vector<std::string>{"b"});
}

TEST_F(PromotionViews, ALockKnowsWhatItsRevisionHad) {
  revision::State revisions(rows.rows);
  revisions.put(revision::RevisionId("r1"), {.bundleDigest = "sha256:1", .configDigest = "sha256:2"});
  revisions.secret_versions(revision::RevisionId("r1")).push({"TOKEN", "shop/TOKEN", "3"});
  migration::State migrations(rows.rows);
  migrations.put(migration::MigrationId("r1"),
                 {.toVersion = 1, .phase = "contracted", .database = migration::MigrationBId("db")});
  const auto facts = read_facts(write_facts(facts_of(states, "r1")));
  EXPECT_EQ(facts.artifact, "sha256:1");
  EXPECT_EQ(facts.config_digest, "sha256:2");
  EXPECT_EQ(facts.secrets, (std::vector<LockedSecret>{{"TOKEN", "shop/TOKEN", "3"}}));
  ASSERT_TRUE(facts.schema);
  EXPECT_EQ(facts.schema->version, 1);
  EXPECT_FALSE(contracted_since(states, facts)) << "nothing was removed";
  migrations.put(migration::MigrationBId("db"), {.floor = 2});
  EXPECT_THAT(contracted_since(states, facts).value(), testing::HasSubstr("migration 2 has removed"));
  EXPECT_FALSE(contracted_since(states, facts_of(states, "none")));
}

TEST_F(PromotionViews, TheOnlyPipelineCounts) {
  release("a1", "a", 1);
  const auto content = content_of_release(states, "a1").value();
  EXPECT_EQ(pipeline_of(states, content).error().message, "there is no DeploymentPipeline");
  pipeline::State(rows.rows).put(pipeline::PipelineId("one"), {});
  EXPECT_EQ(pipeline_of(states, content).value(), "one");
  pipeline::State(rows.rows).put(pipeline::PipelineId("two"), {});
  EXPECT_EQ(pipeline_of(states, content).error().message, "the Component names no pipeline, and there are 2");
  EXPECT_EQ(content_of_release(states, "none").error().code, Code::not_found);
}

TEST_F(PromotionViews, WhatAwaitsApprovalIsNeeded) {
  for (int i = 0; i < 7; ++i) release("a" + std::to_string(i), "a", i);
  EXPECT_EQ(needless_releases(states, 100), (std::vector<std::string>{"a0", "a1"}));
  approval::State(rows.rows).put(approval::ApprovalId("x"),
                                 {.action = "Pin/set", .input = R"({"pins":[{"release":"a0"}]})", .status = "waiting"});
  EXPECT_EQ(needless_releases(states, 100), (std::vector<std::string>{"a1"}));
}

std::string pipeline_document(int64_t retention_s) {
  return R"({"apiVersion": "openchoreo.dev/v1alpha1", "kind": "DeploymentPipeline", "metadata": {"name": "main"}, )"
         R"("spec": {"promotionPaths": [], "retentionSeconds": )" +
         std::to_string(retention_s) + "}}";
}

TEST_F(PromotionViews, WhatABranchHasIsRemovedThere) {
  git_source::State sources(rows.rows);
  sources.put(git_source::GitSourceId("infra"), {});
  sources.objects(git_source::GitSourceId("infra")).push({.kind = "Component", .name = "a0"});
  sources.objects(git_source::GitSourceId("infra")).push({.kind = "Release", .name = "a1"});
  EXPECT_EQ(releases_in_git(states), std::set<std::string>{"a1"});
}

// Of each history, what is forgotten is what a plain reading of the rule says.
TEST_F(PromotionViews, WhatIsNeedlessEqualsTheRule) {
  std::mt19937 random(7);
  for (int round = 0; round < 10'000; ++round) {
    RowsInMemory history;
    release::State releases(history.rows);
    pin::State pins(history.rows);
    pipeline::State pipelines(history.rows);
    const size_t environments = random() % 4;
    const int64_t young_s = random() % 2 == 0 ? 0 : static_cast<int64_t>(random() % 30'000);
    pipelines.put(pipeline::PipelineId("main"), {.document = pipeline_document(young_s)});
    const int64_t now_ms = 32'000'000;
    for (size_t i = 0; i < environments; ++i) {
      pipelines.stages(pipeline::PipelineId("main")).push({.environment = "e" + std::to_string(i)});
    }
    std::map<int64_t, std::string> by_age;
    for (size_t i = 0; i < 1 + random() % 20; ++i) {
      const int64_t at = static_cast<int64_t>(random() % 1'000'000) * 32 + static_cast<int64_t>(i);
      const std::string name = "r" + std::to_string(i);
      releases.put(release::ReleaseId(name), {.component = "shop", .createdAt = {.ms = at}});
      by_age[at] = name;
    }
    std::set<std::string> needed;
    const auto any = [&] { return "r" + std::to_string(random() % by_age.size()); };
    for (size_t i = 0; i < random() % 3; ++i) {
      const pin::PinId id("shop/e" + std::to_string(i));
      const std::string wanted = any(), applied = any(), locked = any();
      pins.put(id, {.component = "shop",
                    .environment = "e" + std::to_string(i),
                    .pipeline = "main",
                    .release = wanted,
                    .applied = applied});
      pins.locks(id).push({.number = 1, .release = locked});
      needed.insert({wanted, applied, locked});
    }
    const size_t kept = environments + 5;
    std::vector<std::string> expected;
    size_t newer = by_age.size();
    for (const auto& [at, name] : by_age) {
      --newer;
      const bool young = at > now_ms - young_s * 1000;
      if (newer >= kept && !young && !needed.contains(name)) expected.push_back(name);
    }
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(needless_releases(States(history), now_ms), expected) << "round " << round;
  }
}

}  // namespace promotion_test
}  // namespace sluice::deploy::views
