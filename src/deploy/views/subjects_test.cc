// What people have, and how it stands.
#include "deploy/views/subjects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deploy/testing_views.h"
#include "router.gen.h"

namespace sluice::deploy::views {
namespace subjects_test {

using testing::Contains;
using testing::ElementsAre;

constexpr const char* kShop = "01J0000000000000000000000A";
constexpr const char* kFirst = "01J1000000000000000000000A";
constexpr const char* kSecond = "01J1000000000000000000000B";

struct FirstWeek17 : testing::Test {
  FirstWeek17() {
    rows.environment("local", {.name = "Local"});
    rows.deployment(kShop);
    rows.revision(kFirst, kShop, 1);
    rows.revision(kSecond, kShop, 2, revision::RevisionLifecycle::failed);
    rows.split(kShop, {{.revision = kFirst, .weightBps = 10'000}});
    revision::State(rows.rows).edit(revision::RevisionId(kSecond), [](revision::RevisionRecord& record) {
      record.failure = {.check = "provider-health", .message = "it answers 503"};
    });
  }
  Result<Subject> find(const std::string& name) {
    return find_subject({.rows = rows, .tools = tools, .now_ms = 1'000}, name);
  }

  RowsInMemory rows;
  lang::Tools tools;
};

TEST_F(FirstWeek17, ARevisionSaysHowItStands) {
  auto first = find("shop@1");
  ASSERT_TRUE(first) << to_string(first.error());
  EXPECT_EQ(first->kind, "revision");
  EXPECT_EQ(first->key, kFirst);
  EXPECT_THAT(first->said, ElementsAre("shop@1 is ready and gets 100% of the traffic."));
  EXPECT_THAT(
      find("shop@2")->said,
      ElementsAre("shop@2 is failed and gets 0% of the traffic; it failed in provider-health: it answers 503."));
}

TEST_F(FirstWeek17, ADeploymentTellsOfItsRevisions) {
  auto found = find("shop");
  ASSERT_TRUE(found) << to_string(found.error());
  EXPECT_EQ(found->kind, "deployment");
  EXPECT_EQ(found->said.front(), "shop for acme in local is active.");
  EXPECT_EQ(found->said.size(), 3U);
  EXPECT_EQ(find(kShop)->id, kShop);
}

TEST_F(FirstWeek17, AnEnvironmentAndARouterAreFound) {
  router::State state(rows.rows);
  state.put(router::RouterId("local"), {.generation = 5});
  state.members(router::RouterId("local")).push({.router = "r1", .name = "edge", .acknowledged = 4, .trouble = "gone"});
  EXPECT_EQ(find("local")->kind, "environment");
  EXPECT_THAT(find("local")->said, Contains("shop@1 is ready and gets 100% of the traffic."));
  EXPECT_THAT(find("edge")->said,
              ElementsAre("Router edge of local obeys table 4; the newest is 5.", "It was last heard to say: gone."));
}

TEST_F(FirstWeek17, WhatMeansSeveralIsAConflict) {
  EXPECT_EQ(find("nothing").error().code, Code::not_found);
  rows.deployment("01J0000000000000000000000B", "other");
  EXPECT_EQ(find("shop").error().code, Code::conflict);
}

}  // namespace subjects_test
}  // namespace sluice::deploy::views
