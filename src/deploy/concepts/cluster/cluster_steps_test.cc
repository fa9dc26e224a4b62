// Each step of a request by itself.
#include "deploy/concepts/cluster/testing_cluster_requests.h"

namespace sluice::deploy::cluster {

namespace cluster_test {

TEST_F(ClusterTest, WhatCameAlongIsKeptOnce) {
  const ClusterId operation = begun("r1", asked<Deploy>());
  EXPECT_EQ(harness.invoke(Keep{.operation = operation, .values = harness.seal("[]")}).as<Keep::Stopped>().why,
            "invalid");
  harness.invoke(Keep{.operation = operation, .values = harness.seal(R"({"a":"x"})")}).as<Keep::Ok>();
  EXPECT_EQ(kept.size(), 1U);
}

TEST_F(ClusterTest, SecretsAreWantedAndUsed) {
  const std::string values = R"({"a":"secret://local/shop/KEY"})";
  const auto keeps = [&](const std::string& id, const std::string& text) {
    return harness.invoke(Keep{.operation = begun(id, asked<Deploy>()),
                               .values = harness.seal(text),
                               .files = harness.seal(files_of({map_named("a")}))});
  };
  const auto wants = keeps("r1", values).as<Keep::Wants>();
  ASSERT_EQ(wants.wanted.size(), 1U);
  EXPECT_EQ(wants.wanted[0].variable, "secret://local/shop/KEY");
  EXPECT_EQ(wants.wanted[0].name, "shop/KEY");
  EXPECT_EQ(wants.environment, "local");
  EXPECT_EQ(keeps("r2", R"({"a":"secret://prod/shop/KEY"})").as<Keep::Stopped>().why, "invalid");
  keeps("r3", values).as<Keep::Wants>();
  EXPECT_EQ(why(harness.invoke(Prepare{.operation = ClusterId("r3"), .missing = "there is none"}).ending()),
            "renderFailed: there is none");
  EXPECT_EQ(why(harness.invoke(Prepare{.operation = ClusterId("r3"), .secrets = harness.seal("nonsense")}).ending())
                .find("renderFailed: the secrets that it refers to cannot be read"),
            0U);
  const auto given = harness.seal(R"({"secret://local/shop/KEY":"the value"})");
  harness.invoke(Prepare{.operation = ClusterId("r1"), .secrets = given}).as<Prepare::Wave>();
  harness.invoke(Apply{.operation = ClusterId("r1"), .wave = 1}).as<Apply::Ok>();
  EXPECT_EQ(kube::text_at(server.object(std::string(kMaps) + "/a"), {"data", "a"}), "the value");
  // Who only looks compares with what the last deployment was given.
  harness.invoke(Settle{.operation = ClusterId("r1")}).as<Settle::Ok>();
  State state(harness.rows());
  state.edit(state.get(ClusterId("r1"))->instance, [](ClusterIRecord& each) { each.current = ClusterId("r1"); });
  auto look = asked<Diff>();
  look.values = harness.seal(values);
  EXPECT_EQ(harness.invoke(look).as<Diff::Ok>().unchanged, 1);
  // A request that the policy refuses reads no secret.
  policy("allowedActions: [diff]\n");
  EXPECT_EQ(keeps("r4", values).as<Keep::Stopped>().why, "policyDenied");
}

TEST_F(ClusterTest, PrepareTakesTheLockOnlyIfNothingObjects) {
  EXPECT_EQ(why(prepared("r1", files_of({map_named("a"), map_named("b")}), [](Deploy& ask) { ask.dryRun = true; })),
            "validated");
  EXPECT_TRUE(server.paths().empty());
  EXPECT_TRUE(why(prepared("r2", files_of({map_named("a")}), [](Deploy& ask) {
                ask.force = true;
              })).starts_with("policyDenied: taking over"));
  EXPECT_TRUE(server.paths().empty());
  EXPECT_EQ(why(prepared("r3", files_of({map_named("a"), map_named("b")}))), "wave");
  ASSERT_EQ(server.paths().size(), 1U);
  EXPECT_TRUE(
      why(prepared("r4", files_of({map_named("a")}))).starts_with("busy: the request r3 of local-light-deployer"));
}

TEST_F(ClusterTest, MoreThanTheCeilingIsNotPruned) {
  deployed("r1", files_of({map_named("a"), map_named("b"), map_named("c")}));
  EXPECT_TRUE(
      why(prepared("r2", files_of({map_named("a")}))).starts_with("requiresOverride: prune would delete 2 of 3"));
  EXPECT_EQ(why(prepared("r3", files_of({map_named("a")}), [](Deploy& ask) { ask.pruneOverride = true; })), "wave");
  const ClusterId operation("r3");
  EXPECT_TRUE(harness.invoke(Ready{.operation = operation, .wave = 1}).is<Ready::Last>());
  harness.invoke(Prune{.operation = operation}).as<Prune::Ok>();
  EXPECT_EQ(server.object(std::string(kMaps) + "/b"), json::value());
  harness.invoke(Settle{.operation = operation}).as<Settle::Ok>();
}

TEST_F(ClusterTest, AnInstanceGoesByItsInventory) {
  EXPECT_EQ(why(harness.invoke(Prepare{.operation = begun("r0", asked<Undeploy>())}).ending()),
            "notFound: there is no instance i of the host h in shop");
  deployed("r1", files_of({map_named("a"), map_named("b")}));
  const ClusterId operation = begun("r2", asked<Undeploy>());
  harness.invoke(Prepare{.operation = operation}).as<Prepare::Prune>();
  server.instead = [](const http::Request& request) -> std::optional<http::Response> {
    if (request.method != "DELETE") return std::nullopt;
    return TestingApiServer::refusal(403, "Forbidden", "you may not");
  };
  EXPECT_EQ(harness.invoke(Prune{.operation = operation}).as<Prune::Stopped>().why, "kubernetesFailed");
  EXPECT_EQ(harness.invoke(Settle{.operation = operation}).as<Settle::Refused>().why, "kubernetesFailed");
  EXPECT_EQ(server.paths().size(), 3U);
  server.instead = {};
  const ClusterId again = begun("r3", asked<Undeploy>());
  harness.invoke(Prepare{.operation = again}).as<Prepare::Prune>();
  harness.invoke(Prune{.operation = again}).as<Prune::Ok>();
  harness.invoke(Settle{.operation = again}).as<Settle::Ok>();
  EXPECT_TRUE(server.paths().empty());
}

TEST_F(ClusterTest, ARemovalShowsNoSecretOfWhatItRemoves) {
  deployed("r1", files_of({"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {key: canary-4711}\n"}));
  const ClusterId operation = begun("r2", asked<Undeploy>());
  harness.invoke(Prepare{.operation = operation}).as<Prepare::Prune>();
  server.instead = [](const http::Request& request) -> std::optional<http::Response> {
    if (request.method != "DELETE") return std::nullopt;
    return TestingApiServer::refusal(403, "Forbidden", "a webhook keeps canary-4711 as it is");
  };
  const auto stopped = harness.invoke(Prune{.operation = operation}).as<Prune::Stopped>();
  EXPECT_EQ(stopped.message, "Secret/s in shop: a webhook keeps <REDACTED> as it is");
  EXPECT_EQ(stopped.done.at(0).message, "a webhook keeps <REDACTED> as it is");
}

TEST_F(ClusterTest, NobodyWaitsForAClusterThatIsAway) {
  int asked_for = 0;
  server.instead = [&](const http::Request&) -> std::optional<http::Response> {
    ++asked_for;
    return TestingApiServer::refusal(403, "Forbidden", "you may not");
  };
  EXPECT_TRUE(why(prepared("r1", files_of({map_named("a")}))).starts_with("kubernetesFailed: "));
  EXPECT_EQ(harness.invoke(Settle{.operation = ClusterId("r1")}).as<Settle::Refused>().why, "kubernetesFailed");
  // What was refused before the cluster was asked has nothing to give back.
  asked_for = 0;
  EXPECT_TRUE(why(prepared("r2", files_of({"kind: x"}))).starts_with("renderFailed: "));
  EXPECT_EQ(harness.invoke(Settle{.operation = ClusterId("r2")}).as<Settle::Refused>().why, "renderFailed");
  EXPECT_EQ(asked_for, 0);
}

TEST_F(ClusterTest, WavesComeOneAfterTheOther) {
  const std::string first = ", annotations: {sluice.dev/wave: \"0\"}", last = ", annotations: {sluice.dev/wave: \"7\"}";
  const auto ending = prepared("r1", files_of({map_named("b", last), map_named("a", first)}));
  EXPECT_EQ(std::get<lang::Completion>(ending).fields.at("wave"), 0);
  const ClusterId operation("r1");
  harness.invoke(Apply{.operation = operation, .wave = 0}).as<Apply::Ok>();
  EXPECT_EQ(harness.invoke(Ready{.operation = operation, .wave = 0}).as<Ready::Next>().wave, 7);
  EXPECT_EQ(server.object(std::string(kMaps) + "/b"), json::value());
  server.instead = [](const http::Request& request) -> std::optional<http::Response> {
    if (request.method != "PATCH") return std::nullopt;
    return TestingApiServer::conflict();
  };
  EXPECT_EQ(harness.invoke(Apply{.operation = operation, .wave = 7}).as<Apply::Stopped>().why, "fieldConflict");
}

TEST_F(ClusterTest, WhatDoesNotBecomeReadyEndsTheWait) {
  const std::string deployment =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {template: {spec: {containers: [{name: c, "
      "image: "
      "r.example/x}]}}}\n";
  ASSERT_EQ(why(prepared("r1", files_of({deployment}), [](Deploy& ask) { ask.timeoutSeconds = 1; })), "wave");
  const ClusterId operation("r1");
  server.instead = [](const http::Request& request) -> std::optional<http::Response> {
    if (request.method != "PATCH") return std::nullopt;
    return http::Response{.body =
                              R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"generation":1,"uid":"u"}})"};
  };
  harness.invoke(Apply{.operation = operation, .wave = 2}).as<Apply::Ok>();
  server.instead = {};
  server.put("/apis/apps/v1/namespaces/shop/deployments/d",
             {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"metadata", {{"generation", 1}, {"uid", "u"}}}});
  EXPECT_TRUE(harness.invoke(Ready{.operation = operation, .wave = 2})
                  .as<Ready::Stopped>()
                  .message.find("its controller has not seen it yet") != std::string::npos);
}

TEST_F(ClusterTest, ASnapshotIsGoneBackTo) {
  EXPECT_EQ(harness.invoke(Prepare{.operation = begun("r0", asked<Rollback>())}).as<Prepare::Stopped>().why,
            "noSnapshot");
  deployed("r1", files_of({map_named("a")}));
  deployed("r2", files_of({map_named("a").replace(map_named("a").find("${a:1}"), 6, "2")}));
  EXPECT_EQ(kube::text_at(server.object(std::string(kMaps) + "/a"), {"data", "a"}), "2");
  const ClusterId operation = begun("r3", asked<Rollback>());
  harness.invoke(Prepare{.operation = operation}).as<Prepare::Wave>();
  harness.invoke(Apply{.operation = operation, .wave = 1}).as<Apply::Ok>();
  EXPECT_EQ(kube::text_at(server.object(std::string(kMaps) + "/a"), {"data", "a"}), "1");
}

TEST_F(ClusterTest, AfterAFailedRequestTheLastGoodSnapshotIsGoneBackTo) {
  deployed("r1", files_of({map_named("a"), map_named("b")}));
  deployed("r2", files_of({map_named("a"), map_named("b")}));
  const std::string other = map_named("a").replace(map_named("a").find("${a:1}"), 6, "2");
  ASSERT_EQ(why(prepared("r3", files_of({other, map_named("b")}))), "wave");
  server.instead = [](const http::Request& request) -> std::optional<http::Response> {
    if (request.method != "PATCH") return std::nullopt;
    return TestingApiServer::conflict();
  };
  harness.invoke(Apply{.operation = ClusterId("r3"), .wave = 1}).as<Apply::Stopped>();
  harness.invoke(Settle{.operation = ClusterId("r3")}).as<Settle::Refused>();
  EXPECT_TRUE(kept.contains("cluster/snapshot/r3")) << "a diff must know what not to show of it";
  server.instead = {};
  const auto restored = [&](const std::string& id) {
    return harness.invoke(Prepare{.operation = begun(id, asked<Rollback>())}).as<Prepare::Wave>().facts.snapshot;
  };
  EXPECT_EQ(restored("r4"), "r2");
  harness.invoke(Settle{.operation = ClusterId("r4")}).as<Settle::Ok>();
  EXPECT_FALSE(kept.contains("cluster/snapshot/r3"));
  EXPECT_EQ(restored("r5"), "r1") << "r4 has put back what r2 had";
}

}  // namespace cluster_test
}  // namespace sluice::deploy::cluster
