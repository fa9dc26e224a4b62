// One pin, from what it says to what is to be done, and what is written down of how that ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deploy/concepts/pin/testing_pin.h"

namespace sluice::deploy::pin {
namespace pin_reconcile_test {

using testing::HasSubstr;
using PinReconcile = PinFixture;

TEST_F(PinReconcile, ReconcilingEndsAsItIsAnswered) {
  const PinId id = PinId("shop/dev");
  EXPECT_TRUE(harness.invoke(Reconcile{.pin = id}).is<Reconcile::NotFound>());
  pinned("dev", "shop-2");
  state().edit(id, [](PinRecord& record) { record.rendering = {.release = "shop-2", .target = "[]", .hash = "h"}; });
  harness.answer_with({"ok", {{"pin", "shop/dev"}, {"deployment", "d2"}, {"revision", "r2"}}});
  EXPECT_TRUE(harness.invoke(Reconcile{.pin = id}).is<Reconcile::Ok>());
  EXPECT_EQ(state().get(id)->revision, "r2");
  EXPECT_EQ(state().locks(id).values().size(), 1U);
  harness.answer_with({"waiting", {{"pin", "shop/dev"}, {"message", "for its provider"}}});
  EXPECT_TRUE(harness.invoke(Reconcile{.pin = id}).is<Reconcile::Waiting>());
  EXPECT_EQ(state().get(id)->reason, kWaiting);
  EXPECT_TRUE(harness.invoke(Reconcile{.pin = id}).is<Reconcile::Failed>()) << "what nobody answers";
  harness.answer_with({"gone", {{"pin", "shop/dev"}}});
  EXPECT_TRUE(harness.invoke(Reconcile{.pin = id}).is<Reconcile::Gone>());
  EXPECT_EQ(state().get(id)->deployment, "");
  state().edit(id, [](PinRecord& record) { record.reconciling = 1; });
  EXPECT_TRUE(harness.invoke(Reconcile{.pin = id}).is<Reconcile::Joined>());
  EXPECT_TRUE(state().get(id)->again);
}

TEST_F(PinReconcile, TheHistoryKeepsTen) {
  const PinId id = pinned("dev", "shop-2");
  for (int i = 1; i <= 12; ++i) {
    state().edit(id, [&](PinRecord& record) { record.rendering.hash = std::to_string(i); });
    harness.answer_with({"ok", {{"pin", "shop/dev"}, {"deployment", "d"}, {"revision", "r"}}});
    harness.invoke(Reconcile{.pin = id});
  }
  const auto locks = state().locks(id).values();
  ASSERT_EQ(locks.size(), 10U);
  EXPECT_EQ(locks.front().number, 3);
}

TEST_F(PinReconcile, RenderingSaysWhatIsToBeDone) {
  const PinId id = PinId("shop/dev");
  EXPECT_TRUE(harness.invoke(Render{.pin = id}).is<Render::Failed>());
  pinned("dev", "shop-2");
  EXPECT_EQ(harness.invoke(Render{.pin = id}).as<Render::Waiting>().message, "there is no release shop-2");
  const auto held = [&](const std::string& target) {
    state().locks(id).clear();
    state().locks(id).push({.number = 1, .release = "shop-1", .target = target});
    state().edit(id, [](PinRecord& record) { record.held = 1; });
    return harness.invoke(Render{.pin = id});
  };
  const auto bundle = held(R"([{"apiVersion": "sluice.dev/v1", "kind": "BundleDeployment", "metadata": {}, "spec": {
      "bundle": "sha256:1", "config": {"color": "red"}, "replicas": 2, "routes": {"hosts": ["shop.example"]}}}])")
                          .as<Render::Bundle>();
  EXPECT_EQ(bundle.archive, "sha256:1");
  EXPECT_EQ(bundle.settings, R"({"color":"red"})");
  EXPECT_EQ(bundle.running, R"({"replicas":2})");
  EXPECT_EQ(bundle.hosts, std::vector<std::string>{"shop.example"});
  const auto objects =
      held(R"([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "shop"}}])").as<Render::Objects>();
  EXPECT_THAT(harness.opened(objects.files), HasSubstr("ConfigMap"));
  EXPECT_TRUE(held("no JSON").is<Render::Failed>());
  state().edit(id, [](PinRecord& record) { record.wanted = PinWanted::Undeploy_; });
  EXPECT_EQ(harness.invoke(Render{.pin = id}).as<Render::Undeploy>().deployment, "d1");
  state().edit(id, [](PinRecord& record) { record.deployment = "cluster"; });
  EXPECT_EQ(harness.invoke(Render{.pin = id}).as<Render::Unapply>().instance, "shop");
  state().edit(id, [](PinRecord& record) { record.deployment.clear(); });
  EXPECT_TRUE(harness.invoke(Render{.pin = id}).is<Render::Gone>());
}

}  // namespace pin_reconcile_test
}  // namespace sluice::deploy::pin
