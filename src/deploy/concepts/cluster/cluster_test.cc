// Cluster's requests through the harness: one test a variant. Whole flows are in tests/kube.
#include "deploy/concepts/cluster/testing_cluster_requests.h"

namespace sluice::deploy::cluster {

void prepare(lang::Harness&) {}

namespace cluster_test {

template <class Ask>
class ClusterRequests : public ClusterTest {};
using Requests = testing::Types<Deploy, Undeploy, Rollback>;
TYPED_TEST_SUITE(ClusterRequests, Requests);

TYPED_TEST(ClusterRequests, EndAsTheirStepsSay) {
  const auto ended = [&](auto variant) {
    using Variant = decltype(variant);
    if constexpr (requires { variant.message; }) variant.message = "because";
    this->harness.answer_with(variant);
    return this->harness.invoke(this->template asked<TypeParam>()).template is<Variant>();
  };
  EXPECT_TRUE(ended(typename TypeParam::Invalid{}));
  EXPECT_TRUE(ended(typename TypeParam::PolicyDenied{}));
  EXPECT_TRUE(ended(typename TypeParam::RequiresOverride{}));
  EXPECT_TRUE(ended(typename TypeParam::WrongCluster{}));
  EXPECT_TRUE(ended(typename TypeParam::Busy{}));
  EXPECT_TRUE(ended(typename TypeParam::NotReady{}));
  if constexpr (requires { typename TypeParam::RenderFailed; }) {
    EXPECT_TRUE(ended(typename TypeParam::RenderFailed{}));
  }
  if constexpr (requires { typename TypeParam::TemplateFetchFailed; }) {
    EXPECT_TRUE(ended(typename TypeParam::TemplateFetchFailed{}));
  }
  if constexpr (requires { typename TypeParam::FieldConflict; }) {
    EXPECT_TRUE(ended(typename TypeParam::FieldConflict{}));
  }
  if constexpr (requires { typename TypeParam::NoSnapshot; }) {
    EXPECT_TRUE(ended(typename TypeParam::NoSnapshot{}));
  }
  if constexpr (requires { typename TypeParam::NotFound; }) {
    EXPECT_TRUE(ended(typename TypeParam::NotFound{}));
  }
  this->harness.end_with({.outcome = lang::EngineOutcome::cancelled, .message = "enough"});
  EXPECT_TRUE(this->harness.invoke(this->template asked<TypeParam>()).template is<typename TypeParam::Cancelled>());
  this->harness.end_with({.outcome = lang::EngineOutcome::unknown, .message = "who knows"});
  EXPECT_TRUE(
      this->harness.invoke(this->template asked<TypeParam>()).template is<typename TypeParam::KubernetesFailed>());
}

TYPED_TEST(ClusterRequests, AreRefusedBeforeTheyAreNoted) {
  auto ask = this->template asked<TypeParam>();
  ask.timeoutSeconds = 0;
  EXPECT_TRUE(this->harness.invoke(ask).template is<typename TypeParam::Invalid>());
  this->deployed("r1", files_of({map_named("a")}));
  ask = this->template asked<TypeParam>();
  ask.requestId = "r1";
  EXPECT_EQ(this->harness.invoke(ask).template as<typename TypeParam::Invalid>().message,
            "the requestId r1 was used before");
  ask = this->template asked<TypeParam>();
  ask.environment = "prod";
  EXPECT_TRUE(this->harness.invoke(ask).template is<typename TypeParam::PolicyDenied>());
  State state(this->harness.rows());
  state.edit(ClusterId("r1"), [](ClusterRecord& record) { record.endedAt.reset(); });
  EXPECT_EQ(this->harness.invoke(this->template asked<TypeParam>()).template as<typename TypeParam::Busy>().message,
            "the request r1 is at work on i; nothing was changed");
}

TYPED_TEST(ClusterRequests, EndWell) {
  this->deployed("r1", files_of({map_named("a")}));
  typename TypeParam::Ok answer;
  this->harness.answer_with(lang::Completion{"ok", {}});
  auto ok = this->harness.invoke(this->template asked<TypeParam>()).template as<typename TypeParam::Ok>();
  EXPECT_FALSE(ok.status.empty());
}

TEST_F(ClusterTest, ARequestIsCancelledUntilItHasEnded) {
  const ClusterId operation = begun("r1", asked<Deploy>());
  EXPECT_TRUE(harness.invoke(Cancel{.operation = operation}).is<Cancel::Over>());
  EXPECT_TRUE(harness.invoke(Cancel{.operation = ClusterId("r2")}).is<Cancel::NotFound>());
  State state(harness.rows());
  state.edit(operation, [](ClusterRecord& record) { record.endedAt.reset(); });
  policy("callers: [{caller: ann, hostIds: [h]}]\n");
  EXPECT_EQ(harness.invoke(Cancel{.operation = operation, .caller = "bob"}).as<Cancel::PolicyDenied>().message,
            "host is not allowed: h; nothing was changed");
  EXPECT_FALSE(state.get(operation)->cancelled);
  EXPECT_TRUE(harness.invoke(Cancel{.operation = operation, .caller = "ann"}).is<Cancel::Ok>());
  policy("");
  harness.invoke(Keep{.operation = operation, .files = harness.seal(files_of({map_named("a")}))}).as<Keep::Ok>();
  EXPECT_EQ(why(harness.invoke(Prepare{.operation = operation}).ending()),
            "cancelled: it was cancelled; what was applied stays");
}

}  // namespace cluster_test
}  // namespace sluice::deploy::cluster
