// What a request wants, as far as no cluster is needed.
#include "deploy/executor/rendered.h"

#include <gtest/gtest.h>

#include "deploy/executor/testing_cluster.h"

namespace sluice::deploy::executor {
namespace rendered_test {

struct RenderedTest : testing::Test {
  Tried<Rendered> made(const std::string& text, const std::string& runtime_values = "") {
    auto sent = read_sent(R"({"a":{"b":"1","c":"2"}})", runtime_values, "");
    sent->files = {{"a.yaml", text}};
    return rendered(cluster.means, *cluster.means.policy(), request, *sent);
  }
  TestingCluster cluster;
  Request request{
      .id = "r1", .action = "render", .environment = "local", .host = "h", .instance = "i", .name_space = "shop"};
};

TEST_F(RenderedTest, RuntimeValuesLieOverTheOthers) {
  auto all = made("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {b: \"${a.b}\", c: \"${a.c}\"}\n",
                  R"({"a":{"c":"3"}})");
  ASSERT_TRUE(all);
  EXPECT_EQ(kube::text_at(all->objects.at(0), {"data", "b"}), "1");
  EXPECT_EQ(kube::text_at(all->objects.at(0), {"data", "c"}), "3");
  EXPECT_EQ(kube::text_at(all->objects.at(0), {"metadata", "namespace"}), "shop");
  EXPECT_FALSE(all->runtime_values_hash.empty());
}

TEST_F(RenderedTest, AReferenceToASecretIsNeverShown) {
  const std::string text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {p: \"x-${p}\"}\n";
  auto refused = made(text, R"({"p":["secret://prod/shop/KEY"]})");
  EXPECT_EQ(refused.refusal().why, "invalid");
  EXPECT_TRUE(refused.refusal().message.starts_with("runtimeValues/p/0: secret://prod/shop/KEY is a secret of prod"));
  auto sent = read_sent(R"({"p":"secret://local/shop/KEY"})", "", "");
  sent->files = {{"a.yaml", text}};
  const auto filled = [&] { return *rendered(cluster.means, *cluster.means.policy(), request, *sent); };
  EXPECT_EQ(kube::text_at(filled().objects.at(0), {"data", "p"}), "x-" + std::string(kUnknownSecret));
  const std::string hash = filled().values_hash;
  sent->secrets = {{"secret://local/shop/KEY", "the value"}};
  const Rendered made = filled();
  EXPECT_EQ(kube::text_at(made.objects.at(0), {"data", "p"}), "x-the value");
  EXPECT_EQ(made.taint.redacted(made.objects.at(0)).at_pointer("/data/p"), "x-<REDACTED>");
  EXPECT_EQ(made.secrets, sent->secrets);
  EXPECT_EQ(made.values_hash, hash) << "who sent the reference knows nothing else";
}

TEST_F(RenderedTest, NothingAndTheSameTwiceAreRefused) {
  EXPECT_EQ(made("---\n").refusal().why, "renderFailed");
  const std::string one = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n";
  EXPECT_EQ(made(one + "---\n" + one).refusal().message, "ConfigMap/m in shop stands in the templates twice");
  EXPECT_EQ(made("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: other}\n").refusal().why,
            "policyDenied");
}

TEST_F(RenderedTest, IdsAreLabels) {
  request.instance = std::string(64, 'a');
  EXPECT_EQ(admitted(cluster.means, request).refusal().why, "invalid");
  request.instance = "i";
  EXPECT_TRUE(admitted(cluster.means, request));
}

TEST_F(RenderedTest, KindsWithoutANamespaceAreKnownOrDefinedBesides) {
  EXPECT_TRUE(is_cluster_scoped({.api_version = "v1", .kind = "Namespace", .name_space = "", .name = "x"}, {}));
  const auto crd = [](const std::string& kind, const std::string& scope) {
    return json::value{{"kind", "CustomResourceDefinition"},
                       {"spec", {{"group", "acme.example"}, {"scope", scope}, {"names", {{"kind", kind}}}}}};
  };
  const Kinds defined = cluster_kinds_of({crd("Fleet", "Cluster"), crd("Widget", "Namespaced")});
  EXPECT_EQ(defined, (Kinds{{"acme.example", "Fleet"}}));
  const auto is_scoped = [&](const std::string& version, const std::string& kind) {
    return is_cluster_scoped({.api_version = version, .kind = kind, .name_space = "", .name = "x"}, defined);
  };
  EXPECT_TRUE(is_scoped("acme.example/v1", "Fleet"));
  EXPECT_FALSE(is_scoped("acme.example/v1", "Widget"));
  EXPECT_FALSE(is_scoped("other.example/v1", "Fleet"));
}

}  // namespace rendered_test
}  // namespace sluice::deploy::executor
