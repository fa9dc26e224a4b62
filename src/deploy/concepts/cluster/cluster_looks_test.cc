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

TEST_F(ClusterTest, NothingOfAnotherEnvironmentIsLookedAt) {
  deployed("r1", files_of({map_named("a")}));
  const auto denied = [&](auto ask) {
    ask.environment = "prod";
    return harness.invoke(ask).template as<typename decltype(ask)::PolicyDenied>().message;
  };
  const std::string why = "the instance i is not of prod; nothing was changed";
  EXPECT_EQ(denied(asked<Render>()), why);
  EXPECT_EQ(denied(asked<DryRun>()), why);
  EXPECT_EQ(denied(asked<Diff>()), why);
  EXPECT_EQ(denied(asked<Status>()), why);
}

TEST_F(ClusterTest, ADiffShowsNoSecretOfBefore) {
  const auto differs = [&](const std::string& secret) {
    auto ask = asked<Diff>();
    ask.values = harness.seal(R"({"a":{"$secret":")" + secret + "\"}}");
    return harness.invoke(ask).as<Diff::Ok>().unifiedDiff;
  };
  const auto prepared_with = [&](const std::string& id, const std::string& secret) {
    const ClusterId operation = begun(id, asked<Deploy>());
    harness
        .invoke(Keep{.operation = operation,
                     .values = harness.seal(R"({"a":{"$secret":")" + secret + "\"}}"),
                     .files = harness.seal(files_of({map_named("a")}))})
        .template as<Keep::Ok>();
    harness.invoke(Prepare{.operation = operation}).as<Prepare::Wave>();
    harness.invoke(Apply{.operation = operation, .wave = 1}).as<Apply::Ok>();
    return operation;
  };
  const ClusterId first = prepared_with("r1", "the first secret");
  harness.invoke(Settle{.operation = first}).as<Settle::Ok>();
  EXPECT_EQ(kube::text_at(server.object(std::string(kMaps) + "/a"), {"data", "a"}), "the first secret");
  std::string shown = differs("the second secret");
  EXPECT_EQ(shown.find("secret"), std::string::npos) << shown;
  // One that was applied and then stopped is in the cluster as well.
  const ClusterId second = prepared_with("r2", "the second secret");
  State state(harness.rows());
  state.edit(second, [](ClusterRecord& record) { record.problem = {.why = "notReady", .message = "late"}; });
  harness.invoke(Settle{.operation = second}).as<Settle::Refused>();
  shown = differs("the third secret");
  EXPECT_EQ(shown.find("secret"), std::string::npos) << shown;
}

}  // namespace cluster_test
}  // namespace sluice::deploy::cluster
