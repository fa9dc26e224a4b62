// GitSource through the harness: one test a variant, with a Git that is a function.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deploy/promotion/release_sources.h"
#include "git_source.gen.h"
#include "lang/run/harness.h"

namespace sluice::deploy::git_source {

// Without a Git there is nothing to fetch, which is an answer too.
void prepare(lang::Harness&) {}

namespace git_source_test {

using testing::HasSubstr;

class GitSourceTest : public testing::Test {
 protected:
  GitSourceTest() {
    sources.read_folder = [this](const std::string&, const std::string&, const std::string&) -> Result<GitFolder> {
      if (commit.empty()) return Error{.code = Code::unavailable, .message = "git.example does not answer"};
      return GitFolder{.commit = commit, .files = {{"pins/shop.yaml", text}}};
    };
    harness.tools().add(sources);
  }
  GitSourceId watched(bool prune = false) {
    const Watch ask{.name = "infra", .url = "https://git.example/infra.git", .branch = "main", .prune = prune};
    return harness.invoke(ask).as<Watch::Ok>().source;
  }
  GitSourceRecord record() { return *State(harness.rows()).get(GitSourceId("infra")); }
  Look::Ok looked() {
    harness.answer_with({"ok",
                         {{"source", "infra"},
                          {"commit", ""},
                          {"definitions", json::array()},
                          {"releases", json::array()},
                          {"pipelines", json::array()},
                          {"settings", json::array()},
                          {"pins", json::array()}}});
    return harness.invoke(Look{.source = GitSourceId("infra")}).as<Look::Ok>();
  }
  static std::string pin(const std::string& release) {
    return "apiVersion: openchoreo.dev/v1alpha1\nkind: ReleasePin\nmetadata: {name: shop-dev}\n"
           "spec: {component: shop, environment: dev, releaseName: " +
           release + "}\n";
  }

  lang::Harness harness{git_source_binding()};
  ReleaseSources sources;
  std::string commit = "c1";
  std::string text = pin("shop-1");
};

TEST_F(GitSourceTest, WatchOkExistsAndInvalid) {
  EXPECT_EQ(watched().text(), "infra");
  EXPECT_EQ(record().status, GitSourceStatus::waiting);
  const auto told = [&](const std::string& name, const std::string& url, const std::string& branch) {
    return harness.invoke(Watch{.name = name, .url = url, .branch = branch});
  };
  EXPECT_TRUE(told("infra", "https://git.example/x", "main").is<Watch::Exists>());
  EXPECT_THAT(told("x", "http://git.example/x", "main").as<Watch::Invalid>().message, HasSubstr("https://"));
  EXPECT_TRUE(told("x", "https://git.example/x", "").is<Watch::Invalid>());
}

TEST_F(GitSourceTest, UnwatchOkAndNotFound) {
  watched();
  EXPECT_TRUE(harness.invoke(Unwatch{.source = GitSourceId("infra")}).is<Unwatch::Ok>());
  EXPECT_TRUE(harness.invoke(Unwatch{.source = GitSourceId("infra")}).is<Unwatch::NotFound>());
}

TEST_F(GitSourceTest, ACommitIsFetchedOnce) {
  const GitSourceId id = watched();
  const auto changed = harness.invoke(Fetch{.source = id}).as<Fetch::Changed>();
  EXPECT_EQ(changed.commit, "c1");
  EXPECT_EQ(changed.documents[0].file, "pins/shop.yaml");
  ASSERT_EQ(changed.objects.size(), 1U);
  EXPECT_EQ(changed.objects[0].name, "shop/dev");
  EXPECT_EQ(harness.invoke(Fetch{.source = id}).as<Fetch::Same>().commit, "c1");
  EXPECT_EQ(record().whole, R"({"source":"infra","commit":"c1"})");
  EXPECT_EQ(harness.invoke(Fetch{.source = id, .commit = "c1"}).as<Fetch::Changed>().commit, "c1") << "once more";
  EXPECT_TRUE(harness.invoke(Fetch{.source = id, .commit = "c0"}).is<Fetch::Same>()) << "it is not the newest";
  commit.clear();
  EXPECT_THAT(harness.invoke(Fetch{.source = id}).as<Fetch::Failed>().message, HasSubstr("does not answer"));
  EXPECT_TRUE(harness.invoke(Fetch{.source = GitSourceId("none")}).is<Fetch::Failed>());
}

TEST_F(GitSourceTest, LookSaysHowItWent) {
  EXPECT_TRUE(harness.invoke(Look{.source = GitSourceId("infra")}).is<Look::NotFound>());
  const GitSourceId id = watched();
  harness.invoke(Fetch{.source = id});
  EXPECT_EQ(looked().commit, "c1");
  EXPECT_EQ(record().status, GitSourceStatus::synced);
  harness.answer_with({"failed", {{"source", "infra"}, {"message", "away"}}});
  EXPECT_TRUE(harness.invoke(Look{.source = id}).is<Look::Failed>());
  EXPECT_EQ(record().status, GitSourceStatus::failed);
  harness.answer_with({"same", {{"source", "infra"}, {"commit", "c1"}}});
  EXPECT_TRUE(harness.invoke(Look{.source = id}).is<Look::Same>());
  EXPECT_EQ(record().status, GitSourceStatus::synced) << "it answers again";
  harness.answer_with({"refused", {{"source", "infra"}, {"message", "pins/shop.yaml:4:3: no"}}});
  EXPECT_TRUE(harness.invoke(Look{.source = id}).is<Look::Refused>());
  EXPECT_EQ(record().message, "pins/shop.yaml:4:3: no");
  EXPECT_EQ(record().applied, "c1");
  harness.answer_with({"approvalNeeded", {{"source", "infra"}, {"message", "2 other people must agree"}}});
  EXPECT_TRUE(harness.invoke(Look{.source = id}).is<Look::ApprovalNeeded>());
  EXPECT_EQ(record().status, GitSourceStatus::waiting);
  EXPECT_EQ(record().message, "2 other people must agree");
  State(harness.rows()).edit(id, [](GitSourceRecord& row) { row.looking = lang::Request("r"); });
  EXPECT_TRUE(harness.invoke(Look{.source = id}).is<Look::Busy>());
}

TEST_F(GitSourceTest, WhatIsGoneIsNamedIfItIsToGo) {
  const GitSourceId id = watched(true);
  harness.invoke(Fetch{.source = id});
  EXPECT_TRUE(looked().pins.empty());
  commit = "c2";
  text.clear();
  harness.invoke(Fetch{.source = id});
  const auto ok = looked();
  ASSERT_EQ(ok.pins.size(), 1U);
  EXPECT_EQ(ok.pins[0].environment, "dev");
  EXPECT_EQ(ok.pins[0].release, "shop-1");
  EXPECT_EQ(ok.pins[0].state, "Undeploy");
  EXPECT_TRUE(looked().pins.empty()) << "once";
}

TEST_F(GitSourceTest, WhatStaysIsSaid) {
  const GitSourceId id = watched();
  EXPECT_TRUE(harness.invoke(Leave{.source = id, .message = "shop-1 is pinned"}).is<Leave::Ok>());
  EXPECT_EQ(record().message, "shop-1 is pinned");
}

}  // namespace git_source_test
}  // namespace sluice::deploy::git_source
