// Names and what they mean.
#include "deploy/views/instances.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deploy/testing_views.h"
#include "runtime.gen.h"

namespace sluice::deploy::views {
namespace instances_test {

using testing::ElementsAre;

constexpr const char* kShop = "01J0000000000000000000000A";
constexpr const char* kFirst = "01J1000000000000000000000A";
constexpr const char* kTenth = "01J1000000000000000000000B";

class Instances : public testing::Test {
 protected:
  Instances() {
    rows.environment("local", {.name = "Local"});
    rows.deployment(kShop);
    rows.revision(kFirst, kShop, 1);
    rows.revision(kTenth, kShop, 10);
    instance("01J3AAAA1", "mail", 2);
    instance("01J3CCCC3", kTenth, 1);
    instance("01J3BBBB2", kFirst, 1);
  }
  void instance(const std::string& id, const std::string& component, int replicas) {
    runtime::State runtime(rows.rows);
    const runtime::RuntimeId instance(id);
    runtime.put(instance, {.concept_ = component});
    for (int i = 0; i < replicas; ++i) {
      runtime.replicas(instance).push({.name = "s" + id + ".1." + std::to_string(i)});
    }
  }
  std::string one(const std::string& name) {
    auto found = Running(states).find_instance(name);
    return found ? found->instance : to_string(found.error());
  }
  std::vector<std::string> labels(const std::string& name) {
    auto found = Running(states).find_replicas(name);
    if (!found) return {to_string(found.error()) + "; next: " + found.error().next};
    std::vector<std::string> labels;
    for (const ReplicaView& each : *found) labels.push_back(each.label);
    return labels;
  }

  RowsInMemory rows;
  const views::States states{rows};
};

TEST_F(Instances, AreNamedAsRevisionsAreAndSortedByNumber) {
  const Running running(states);
  std::vector<std::string> names;
  for (const InstanceView& each : running.all()) names.push_back(each.name);
  EXPECT_THAT(names, ElementsAre("mail", "shop@1", "shop@10"));
  EXPECT_EQ(running.all()[0].environment, std::nullopt) << "no revision";
  EXPECT_EQ(running.all()[1].environment, "local");
}

TEST_F(Instances, AreFoundByComponentIdOrPartOfIt) {
  EXPECT_EQ(one("mail"), "01J3AAAA1");
  EXPECT_EQ(one("01J3BBBB2"), "01J3BBBB2");
  EXPECT_EQ(one("CCC3"), "01J3CCCC3");
  EXPECT_EQ(one("C3"), "nothing that runs is called C3");
  EXPECT_EQ(Running(states).find_instance("none").error().code, Code::not_found);
}

TEST_F(Instances, OfARevisionAreFoundByItsNameItsIdOrAPartOfIt) {
  EXPECT_EQ(one("shop@1"), "01J3BBBB2");
  EXPECT_EQ(one(kTenth), "01J3CCCC3");
  EXPECT_EQ(one("01j1000000000000000000000b"), "01J3CCCC3");
  EXPECT_EQ(one("0000B"), "01J3CCCC3");
  EXPECT_EQ(one("shop@2"), "nothing that runs is called shop@2");
}

TEST_F(Instances, OfADeploymentAreSeveral) {
  EXPECT_EQ(one("shop"), "several are called shop: shop@1, shop@10");
  EXPECT_THAT(labels("shop"), ElementsAre("shop@1.0", "shop@10.0"));
  EXPECT_THAT(labels(kShop), ElementsAre("shop@1.0", "shop@10.0"));
  EXPECT_THAT(labels("01j00"), ElementsAre("shop@1.0", "shop@10.0"));
}

TEST_F(Instances, ReplicasAreFoundByTheirNamesOrByTheirInstance) {
  EXPECT_THAT(labels("s01J3AAAA1.1.1"), ElementsAre("mail.1"));
  EXPECT_THAT(labels("shop@10.0"), ElementsAre("shop@10.0"));
  EXPECT_THAT(labels("mail"), ElementsAre("mail.0", "mail.1"));
  EXPECT_THAT(labels("mail.2"), ElementsAre("nothing that runs is called mail.2; next: view instances"));
}

TEST_F(Instances, WhatIsKnownAndDoesNotRunIsSaidToBeSo) {
  rows.revision("01J1000000000000000000000C", kShop, 11);
  EXPECT_THAT(labels("shop@11"), ElementsAre("nothing of shop@11 runs on this machine; next: view instances"));
  EXPECT_EQ(one("shop@11"), "nothing of shop@11 runs");
  rows.revision("01J1000000000000000000000E", "01J0000000000000000000000E", 12);
  instance("01J3EEEE5", "shop@12", 1);
  EXPECT_EQ(one("shop@12"), "01J3EEEE5") << "what runs is meant first";
}

TEST_F(Instances, ANameOfSeveralThingsListsThem) {
  rows.deployment("01J0000000000000000000000B", "other");
  rows.revision("01J1000000000000000000000D", "01J0000000000000000000000B", 1);
  instance("01J3DDDD4", "01J1000000000000000000000D", 1);
  EXPECT_THAT(labels("shop"),
              ElementsAre("several are called shop: 01J0000000000000000000000A (shop for acme) in local, "
                          "01J0000000000000000000000B (shop for other) in local; next: name the customer with "
                          "--customer-id, or one by its id"));
  EXPECT_THAT(labels("shop@1.0"), ElementsAre("several are called shop@1.0: s01J3BBBB2.1.0, s01J3DDDD4.1.0; next: name "
                                              "the customer with --customer-id, or one of them"));
}

// Which revision a command enters if only the deployment is named.
TEST_F(Instances, FirstWeek12TheRevisionWithMostTrafficLeads) {
  auto entered = [&](const std::string& name) {
    const Running running(states);
    std::vector<std::string> labels;
    for (const ReplicaView& each : running.of_leading(*running.find_replicas(name))) labels.push_back(each.label);
    return labels;
  };
  EXPECT_THAT(entered("shop"), ElementsAre("shop@1.0", "shop@10.0")) << "nobody leads";
  rows.split(kShop, {{kFirst, 1'000}, {kTenth, 9'000}});
  EXPECT_THAT(entered("shop"), ElementsAre("shop@10.0"));
  EXPECT_THAT(entered("shop@1"), ElementsAre("shop@1.0")) << "it is named";
}

}  // namespace instances_test
}  // namespace sluice::deploy::views
