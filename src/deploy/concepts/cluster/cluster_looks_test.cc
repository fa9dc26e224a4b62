// What render, dryRun, diff and status answer.
#include "deploy/concepts/cluster/testing_cluster_requests.h"

namespace sluice::deploy::cluster {

namespace cluster_test {

template <class Ask>
class ClusterLooks : public ClusterTest {};
using Looks = testing::Types<Render, DryRun, Diff>;
TYPED_TEST_SUITE(ClusterLooks, Looks);

TYPED_TEST(ClusterLooks, SaysWhatTheTemplatesMakeOrWhyNot) {
  const auto ask = [&] { return this->template asked<TypeParam>(); };
  auto ok = this->harness.invoke(ask()).template as<typename TypeParam::Ok>();
  ASSERT_EQ(ok.resources.size(), 1U);
  EXPECT_EQ(ok.resources[0].name, "a");
  EXPECT_EQ(ok.resources[0].namespace_, "shop");
  EXPECT_EQ(ok.deployerId, "local-light-deployer");
  auto other = ask();
  other.instanceId = "not/a label";
  EXPECT_TRUE(this->harness.invoke(other).template is<typename TypeParam::Invalid>());
  other = ask();
  other.valuesHash = "sha256:0";
  EXPECT_TRUE(this->harness.invoke(other).template is<typename TypeParam::Invalid>());
  other = ask();
  other.clusterId = "prod";
  EXPECT_TRUE(this->harness.invoke(other).template is<typename TypeParam::WrongCluster>());
  other = ask();
  other.namespace_ = "kube-system";
  EXPECT_TRUE(this->harness.invoke(other).template is<typename TypeParam::PolicyDenied>());
  other = this->template asked<TypeParam>(files_of({"kind: x"}));
  EXPECT_TRUE(this->harness.invoke(other).template is<typename TypeParam::RenderFailed>());
  other = this->template asked<TypeParam>("");
  EXPECT_TRUE(this->harness.invoke(other).template is<typename TypeParam::TemplateFetchFailed>());
}

TEST_F(ClusterTest, AClusterThatRefusesIsNamed) {
  server.instead = [](const http::Request& request) -> std::optional<http::Response> {
    if (request.method == "PATCH") return TestingApiServer::refusal(403, "Forbidden", "you may not");
    return std::nullopt;
  };
  EXPECT_TRUE(harness.invoke(asked<DryRun>()).as<DryRun::KubernetesFailed>().message.find("you may not") !=
              std::string::npos);
  EXPECT_TRUE(harness.invoke(asked<Diff>()).is<Diff::KubernetesFailed>());
  server.instead = [](const http::Request& request) -> std::optional<http::Response> {
    if (request.method == "PATCH") return TestingApiServer::conflict();
    return std::nullopt;
  };
  EXPECT_EQ(harness.invoke(asked<DryRun>()).as<DryRun::FieldConflict>().message,
            "ConfigMap/a in shop: others own .spec.replicas (conflict with \"scaler\"); nothing was changed");
}

TEST_F(ClusterTest, StatusLooksAtWhatTheInventoryLists) {
  EXPECT_TRUE(harness.invoke(asked<Status>()).is<Status::NotFound>());
  deployed("r1", files_of({map_named("a"), map_named("b")}));
  auto ok = harness.invoke(asked<Status>()).as<Status::Ok>();
  EXPECT_TRUE(ok.ready);
  EXPECT_EQ(ok.resources.size(), 2U);
  EXPECT_EQ(ok.snapshotId, "r1");
  auto other = asked<Status>();
  other.clusterId = "prod";
  EXPECT_TRUE(harness.invoke(other).is<Status::WrongCluster>());
  other = asked<Status>();
  other.hostId = "other";
  EXPECT_TRUE(harness.invoke(other).is<Status::PolicyDenied>());
  other.hostId = "a b";
  EXPECT_TRUE(harness.invoke(other).is<Status::Invalid>());
  server.instead = [](const http::Request& request) -> std::optional<http::Response> {
    if (request.target.find("inventory") == std::string::npos) return std::nullopt;
    return TestingApiServer::refusal(403, "Forbidden", "you may not");
  };
  EXPECT_TRUE(harness.invoke(asked<Status>()).is<Status::KubernetesFailed>());
}

}  // namespace cluster_test
}  // namespace sluice::deploy::cluster
