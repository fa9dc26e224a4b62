// Names and what they mean.
#include "cli/running_instances.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deploy/testing_views.h"
#include "local_runtime.gen.h"
#include "runtime.gen.h"

namespace sluice::cli {
namespace running_instances_test {

using testing::ElementsAre;

constexpr const char* kShop = "01J0000000000000000000000A";
constexpr const char* kFirst = "01J1000000000000000000000A";
constexpr const char* kTenth = "01J1000000000000000000000B";

class RunningInstancesTest : public testing::Test {
 protected:
  RunningInstancesTest() {
    rows.environment("local", {.name = "Local"});
    rows.deployment(kShop);
    rows.revision(kFirst, kShop, 1);
    rows.revision(kTenth, kShop, 10);
    instance("01J3AAAA1", "mail", 2);
    instance("01J3CCCC3", kTenth, 1);
    instance("01J3BBBB2", kFirst, 1);
  }
  void instance(const std::string& id, const std::string& component, int replicas) {
    deploy::runtime::State(rows.rows).put(deploy::runtime::RuntimeId(id), {.concept_ = component});
    deploy::local_runtime::State local(rows.rows);
    const deploy::local_runtime::LocalRuntimeId service("s" + id);
    local.put(service, {.instance = id});
    for (int i = 0; i < replicas; ++i) {
      local.programs(service).push({.name = service.text() + ".1." + std::to_string(i)});
    }
  }
  std::string one(const std::string& name) {
    auto found = Running(&states).find_instance(name);
    return found ? found->id : to_string(found.error());
  }
  std::vector<std::string> labels(const std::string& name) {
    auto found = Running(&states).find_replicas(name);
    if (!found) return {to_string(found.error()) + "; next: " + found.error().next};
    std::vector<std::string> labels;
    for (const RunningReplica& each : *found) labels.push_back(each.label);
    return labels;
  }

  deploy::RowsInMemory rows;
  const deploy::views::States states{rows};
};

TEST_F(RunningInstancesTest, AreNamedAsRevisionsAreAndSortedByNumber) {
  const Running running(&states);
  std::vector<std::string> names;
  for (const RunningInstance& each : running.all()) names.push_back(each.name);
  EXPECT_THAT(names, ElementsAre("mail", "shop@1", "shop@10"));
  EXPECT_TRUE(Running(nullptr).all().empty());
}

TEST_F(RunningInstancesTest, AreFoundByComponentIdOrPartOfIt) {
  EXPECT_EQ(one("mail"), "01J3AAAA1");
  EXPECT_EQ(one("01J3BBBB2"), "01J3BBBB2");
  EXPECT_EQ(one("CCC3"), "01J3CCCC3");
  EXPECT_EQ(one("C3"), "nothing that runs is called C3");
  EXPECT_EQ(Running(&states).find_instance("none").error().code, Code::not_found);
  EXPECT_EQ(Running(nullptr).find_instance("mail").error().code, Code::not_found);
}

TEST_F(RunningInstancesTest, OfARevisionAreFoundByItsNameItsIdOrAPartOfIt) {
  EXPECT_EQ(one("shop@1"), "01J3BBBB2");
  EXPECT_EQ(one(kTenth), "01J3CCCC3");
  EXPECT_EQ(one("01j1000000000000000000000b"), "01J3CCCC3");
  EXPECT_EQ(one("0000B"), "01J3CCCC3");
  EXPECT_EQ(one("shop@2"), "nothing that runs is called shop@2");
}

TEST_F(RunningInstancesTest, OfADeploymentAreSeveral) {
  EXPECT_EQ(one("shop"), "several are called shop: shop@1, shop@10");
  EXPECT_THAT(labels("shop"), ElementsAre("shop@1.0", "shop@10.0"));
  EXPECT_THAT(labels(kShop), ElementsAre("shop@1.0", "shop@10.0"));
  EXPECT_THAT(labels("01j00"), ElementsAre("shop@1.0", "shop@10.0"));
}

TEST_F(RunningInstancesTest, ReplicasAreFoundByTheirNamesOrByTheirInstance) {
  EXPECT_THAT(labels("s01J3AAAA1.1.1"), ElementsAre("mail.1"));
  EXPECT_THAT(labels("shop@10.0"), ElementsAre("shop@10.0"));
  EXPECT_THAT(labels("mail"), ElementsAre("mail.0", "mail.1"));
  EXPECT_THAT(labels("mail.2"), ElementsAre("nothing that runs is called mail.2; next: sluice runtime list"));
}

TEST_F(RunningInstancesTest, WhatIsKnownAndDoesNotRunIsSaidToBeSo) {
  rows.revision("01J1000000000000000000000C", kShop, 11);
  EXPECT_THAT(labels("shop@11"), ElementsAre("nothing of shop@11 runs on this machine; next: sluice runtime list"));
  EXPECT_EQ(one("shop@11"), "nothing of shop@11 runs");
  rows.revision("01J1000000000000000000000E", "01J0000000000000000000000E", 12);
  instance("01J3EEEE5", "shop@12", 1);
  EXPECT_EQ(one("shop@12"), "01J3EEEE5") << "what runs is meant first";
}

TEST_F(RunningInstancesTest, ANameOfSeveralThingsListsThem) {
  rows.deployment("01J0000000000000000000000B", "other");
  rows.revision("01J1000000000000000000000D", "01J0000000000000000000000B", 1);
  instance("01J3DDDD4", "01J1000000000000000000000D", 1);
  EXPECT_THAT(labels("shop"),
              ElementsAre("several are called shop: 01J0000000000000000000000A (shop for acme) in local, "
                          "01J0000000000000000000000B (shop for other) in local; next: name one by its id"));
  EXPECT_THAT(labels("shop@1.0"),
              ElementsAre("several are called shop@1.0: s01J3BBBB2.1.0, s01J3DDDD4.1.0; next: name one of them"));
}

}  // namespace running_instances_test
}  // namespace sluice::cli
