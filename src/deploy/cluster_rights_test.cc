// What is checked and what is installed are one list.
#include "deploy/cluster_rights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/object.h"

namespace sluice::deploy::cluster_rights_test {

using testing::HasSubstr;

TEST(ClusterRights, TheRoleHasEachOfThemAndNoOther) {
  auto rules = deployer_rules("shop");
  ASSERT_EQ(rules.size(), 3U);
  const auto& installed = kube::list_at(rules[1], {"rules"});
  ASSERT_EQ(installed.size(), deployer_rights().size());
  for (size_t i = 0; i < installed.size(); ++i) {
    const ClusterRight& right = deployer_rights()[i];
    EXPECT_EQ(std::string(kube::list_at(installed[i], {"apiGroups"}).front().as_string()), right.group);
    EXPECT_EQ(std::string(kube::list_at(installed[i], {"resources"}).front().as_string()), right.resource);
    EXPECT_EQ(kube::list_at(installed[i], {"verbs"}).size(), right.verbs.size());
    for (const std::string& verb : right.verbs) EXPECT_NE(verb, "*");
  }
  EXPECT_EQ(kube::text_at(rules[2], {"roleRef", "name"}), kDeployerAccount);
  for (const auto& each : rules) EXPECT_EQ(kube::text_at(each, {"metadata", "namespace"}), "shop");
}

TEST(ClusterRights, ArePrintedForKubectlAndForTerraform) {
  EXPECT_THAT(deployer_rules_yaml("shop"), HasSubstr("kind: RoleBinding"));
  const std::string terraform = deployer_rules_terraform("shop");
  EXPECT_THAT(terraform, HasSubstr("resources  = [\"pods/log\"]"));
  EXPECT_THAT(terraform, HasSubstr("resource_names = [\"sluice-deployer\"]"));
}

}  // namespace sluice::deploy::cluster_rights_test
