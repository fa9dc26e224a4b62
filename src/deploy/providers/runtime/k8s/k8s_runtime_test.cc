// K8sRuntime through the harness, with a cluster that brings up what it is told to: one test a variant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deploy/providers/runtime/k8s/k8s_runtime_work.h"
#include "deploy/providers/runtime/k8s/pod_host.h"
#include "lang/run/harness.h"

namespace sluice::deploy::k8s_runtime {
namespace {

// Remembers which serials are there.
class PretendedCluster final : public PodHost {
 public:
  void hold(const views::PodPlace&, const PodCredential& credential) override { token = credential.token; }
  Result<PodBundle> open(const std::string& artifact) override {
    if (artifact == "none")
      return Error{.code = Code::invalid, .message = "a cluster runs images, and the bundle has none"};
    PodBundle bundle{.image = "registry.example/shop@sha256:aa", .hash = "sha256:" + artifact};
    auto manifest = bundle::parse_manifest("name: shop\nversion: \"1\"\nimage: registry.example/shop:1\n" + more);
    if (!manifest) return manifest.error();
    bundle.manifest = *std::move(manifest);
    return bundle;
  }
  std::variant<std::vector<Pod>, Misfortune> bring_up(const views::PodPlace& place, const PodPlan& plan,
                                                      const std::function<bool()>& cancelled) override {
    there.insert(plan.serial);
    plans.push_back(plan);
    return await(place, plan.service, plan.serial, plan.replicas, 0, cancelled);
  }
  std::variant<std::vector<Pod>, Misfortune> await(const views::PodPlace&, const std::string&, int64_t serial,
                                                   int64_t replicas, int64_t, const std::function<bool()>&) override {
    if (misfortune) return *misfortune;
    std::vector<Pod> pods;
    for (int64_t i = 0; i < replicas; ++i) {
      const std::string name = std::to_string(serial) + "-" + std::to_string(i);
      pods.push_back({.name = name, .endpoint = "http://10.0.0." + std::to_string(10 * serial + i) + ":8080"});
    }
    return pods;
  }
  Result<void> take_down(const views::PodPlace&, const std::string&, int64_t kept) override {
    if (is_stuck) return Error{.code = Code::unavailable, .message = "the cluster is away"};
    std::erase_if(there, [&](int64_t each) { return each != kept; });
    return {};
  }
  Result<void> take_down_one(const views::PodPlace&, const std::string&, int64_t serial) override {
    there.erase(serial);
    return {};
  }
  Result<void> resize(const views::PodPlace&, const std::string&, int64_t, int64_t) override { return {}; }
  Result<int64_t> reach(const views::PodPlace&, const std::string&, int64_t, int64_t) override {
    if (latency_us < 0) return Error{.code = Code::unavailable, .message = "nobody"};
    return latency_us;
  }

  std::string token;
  std::string more;
  std::optional<Misfortune> misfortune;
  bool is_stuck = false;
  int64_t latency_us = 1000;
  std::set<int64_t> there;
  std::vector<PodPlan> plans;
};

PretendedCluster& shared() {
  static PretendedCluster cluster;
  return cluster;
}

}  // namespace

void prepare(lang::Harness& harness) { harness.tools().add<PodHost>(shared()); }

namespace k8s_runtime_test {

using testing::ElementsAre;
using testing::HasSubstr;

class K8sRuntimeTest : public testing::Test {
 protected:
  K8sRuntimeTest() { harness.tools().add<PodHost>(cluster); }

  void provision(const std::string& config = "{}") {
    harness.invoke(Provision{.instance = "i", .config = config}).as<Provision::Ok>();
  }
  auto deploy(const std::string& artifact = "a", const std::string& version = "1") {
    return harness.invoke(Deploy{.instance = "i", .artifact = artifact, .version = version});
  }
  // What a deployment ends in when the cluster says this; nothing new is left.
  auto deploy_with(Misfortune::Kind kind) {
    provision();
    deploy().as<Deploy::Ok>();
    cluster.misfortune = Misfortune{.kind = kind, .pod = "p", .reason = "because", .last_lines = {"last"}};
    auto done = deploy("b", "2");
    EXPECT_THAT(cluster.there, ElementsAre(1));
    EXPECT_EQ(State(harness.rows()).get(K8sRuntimeId(service()))->version, "1");
    return done;
  }
  std::string service() { return State(harness.rows()).find_by_instance("i").front().id.text(); }
  void occupy() {
    State(harness.rows()).edit(K8sRuntimeId(service()), [&](K8sRuntimeRecord& record) {
      record.busy = lang::Request("other");
    });
  }

  PretendedCluster cluster;
  lang::Harness harness{k8s_runtime_binding()};
};

TEST_F(K8sRuntimeTest, ProvisionMakesAPlace) {
  auto ok = harness.invoke(Provision{.instance = "i", .config = R"({"replicas":2})"}).as<Provision::Ok>();
  EXPECT_EQ(ok.endpoint, "k8s:" + ok.service.text());
  EXPECT_EQ(State(harness.rows()).get(ok.service)->replicas, 2);
}

TEST_F(K8sRuntimeTest, ProvisionSaysWhatIsWrongWithTheConfig) {
  auto said = [&](const std::string& config) {
    return harness.invoke(Provision{.instance = "i", .config = config}).as<Provision::InvalidConfig>().message;
  };
  EXPECT_EQ(said(R"({"replicas":0})"), "/replicas: expected 1 to 1000 replicas");
  EXPECT_THAT(said(R"({"replica":1})"), HasSubstr("did you mean \"replicas\"?"));
}

TEST_F(K8sRuntimeTest, DeployRunsTheNewAndRemovesTheOld) {
  provision(R"({"replicas":2,"variables":{"SLUICE_REVISION":"r1"}})");
  auto ok = deploy().as<Deploy::Ok>();
  EXPECT_EQ(ok.endpoint, "http://10.0.0.10:8080");
  ASSERT_EQ(ok.replicas.size(), 2U);
  EXPECT_EQ(ok.replicas[1].endpoint, "http://10.0.0.11:8080");
  EXPECT_EQ(ok.artifactHash, "sha256:a");
  EXPECT_EQ(cluster.plans.back().variables.at("SLUICE_REVISION"), "r1");
  EXPECT_EQ(deploy("b", "2").as<Deploy::Ok>().endpoint, "http://10.0.0.20:8080");
  EXPECT_THAT(cluster.there, ElementsAre(2));
}

TEST_F(K8sRuntimeTest, DeployNeedsAPlace) { deploy().as<Deploy::Notfound>(); }

TEST_F(K8sRuntimeTest, OneThingAtATime) {
  provision();
  deploy().as<Deploy::Ok>();
  deploy("b", "2").as<Deploy::Ok>();
  occupy();
  deploy().as<Deploy::Busy>();
  harness.invoke(Rollback{.instance = "i"}).as<Rollback::Busy>();
  harness.invoke(Scale{.instance = "i", .replicas = 2}).as<Scale::Busy>();
  harness.invoke(Destroy{.instance = "i"}).as<Destroy::Busy>();
  harness.invoke(Renew{.instance = "i"}).as<Renew::Failed>();
}

TEST_F(K8sRuntimeTest, ABundleWithoutAnImageIsRefused) {
  provision();
  EXPECT_THAT(deploy("none").as<Deploy::BadBundle>().reason, HasSubstr("the bundle has none"));
}

TEST_F(K8sRuntimeTest, ABundleGetsTheSecretsThatItNames) {
  provision();
  cluster.more = "secrets: [API_KEY]\n";
  EXPECT_THAT(deploy().as<Deploy::SecretsMissing>().names, ElementsAre("API_KEY"));
  auto sealed = harness.seal(R"({"API_KEY":"sesame","OTHER":"x"})");
  harness.invoke(Deploy{.instance = "i", .artifact = "a", .version = "1", .secrets = sealed}).as<Deploy::Ok>();
  EXPECT_THAT(cluster.plans.back().secrets, ElementsAre(testing::Pair("API_KEY", "sesame")));
}

TEST_F(K8sRuntimeTest, WhatAClusterAndAProgramSayShowsNoSecret) {
  provision();
  cluster.more = "secrets: [API_KEY]\n";
  cluster.misfortune = Misfortune{.kind = Misfortune::Kind::crash_loop,
                                  .reason = "invalid: sesame-open is no key",
                                  .last_lines = {"cannot log in with sesame-open", "bye"}};
  auto ended = harness
                   .invoke(Deploy{.instance = "i",
                                  .artifact = "a",
                                  .version = "1",
                                  .secrets = harness.seal(R"({"API_KEY":"sesame-open"})")})
                   .as<Deploy::PodCrashLoop>();
  EXPECT_EQ(ended.reason, "invalid: <REDACTED> is no key");
  EXPECT_THAT(ended.lastLines, ElementsAre("cannot log in with <REDACTED>", "bye"));
}

TEST_F(K8sRuntimeTest, AConfigThatDoesNotFitIsNamed) {
  provision(R"({"config":{"color":"runtime://gone/x"}})");
  cluster.more = "config: [{name: color, type: string, question: Which?}]\n";
  EXPECT_THAT(deploy().as<Deploy::InvalidConfig>().message, HasSubstr("runtime://gone/x"));
}

TEST_F(K8sRuntimeTest, ACrashLoopEndsWithItsLastLines) {
  auto ended = deploy_with(Misfortune::Kind::crash_loop).as<Deploy::PodCrashLoop>();
  EXPECT_EQ(ended.replica, "p");
  EXPECT_THAT(ended.lastLines, ElementsAre("last"));
}
TEST_F(K8sRuntimeTest, AnImageThatCannotBePulled) {
  deploy_with(Misfortune::Kind::image).as<Deploy::ImagePullFailed>();
}
TEST_F(K8sRuntimeTest, AQuota) { deploy_with(Misfortune::Kind::quota).as<Deploy::ResourceQuotaExceeded>(); }
TEST_F(K8sRuntimeTest, NoRoom) { deploy_with(Misfortune::Kind::unschedulable).as<Deploy::Unschedulable>(); }
TEST_F(K8sRuntimeTest, NeverReady) { deploy_with(Misfortune::Kind::not_ready).as<Deploy::NotReady>(); }
TEST_F(K8sRuntimeTest, PodsThatCannotBeReached) {
  deploy_with(Misfortune::Kind::unreachable).as<Deploy::PodUnreachable>();
}
TEST_F(K8sRuntimeTest, ObjectsThatAreNotTaken) { deploy_with(Misfortune::Kind::refused).as<Deploy::Refused>(); }
TEST_F(K8sRuntimeTest, AClusterThatIsAway) {
  deploy_with(Misfortune::Kind::unavailable).as<Deploy::ClusterUnavailable>();
}

TEST_F(K8sRuntimeTest, WhatTheEngineGivesUpIsAbandoned) {
  provision();
  harness.end_with({.outcome = lang::EngineOutcome::timeout, .message = "too long", .maybe_done = true});
  EXPECT_EQ(deploy().as<Deploy::Abandoned>().reason, "too long");
  deploy().as<Deploy::Ok>();
}

TEST_F(K8sRuntimeTest, RollbackRunsTheVersionBefore) {
  provision();
  harness.invoke(Rollback{.instance = "i"}).as<Rollback::NoPrevious>();
  deploy("a", "1").as<Deploy::Ok>();
  deploy("b", "2").as<Deploy::Ok>();
  cluster.misfortune = Misfortune{.kind = Misfortune::Kind::quota, .reason = "full"};
  EXPECT_EQ(harness.invoke(Rollback{.instance = "i"}).as<Rollback::Failed>().reason, "full");
  cluster.misfortune.reset();
  EXPECT_EQ(harness.invoke(Rollback{.instance = "i"}).as<Rollback::Ok>().restoredVersion, "1");
  harness.invoke(Rollback{.instance = "i"}).as<Rollback::NoPrevious>();
}

TEST_F(K8sRuntimeTest, ScaleWaitsForAsManyPods) {
  provision();
  harness.invoke(Scale{.instance = "i", .replicas = 2}).as<Scale::Notfound>();
  deploy().as<Deploy::Ok>();
  harness.invoke(Scale{.instance = "i", .replicas = 0}).as<Scale::Invalid>();
  EXPECT_EQ(harness.invoke(Scale{.instance = "i", .replicas = 3}).as<Scale::Ok>().replicas.size(), 3U);
  cluster.misfortune = Misfortune{.kind = Misfortune::Kind::unschedulable, .reason = "no room"};
  EXPECT_EQ(harness.invoke(Scale{.instance = "i", .replicas = 9}).as<Scale::Failed>().reason, "no room");
  EXPECT_EQ(State(harness.rows()).get(K8sRuntimeId(service()))->replicas, 3);
}

TEST_F(K8sRuntimeTest, RenewRunsTheSameWithOtherSecrets) {
  provision();
  cluster.more = "secrets: [KEY]\n";
  auto deployed = harness.invoke(
      Deploy{.instance = "i", .artifact = "a", .version = "1", .secrets = harness.seal(R"({"KEY":"old"})")});
  deployed.as<Deploy::Ok>();
  auto ok = harness.invoke(Renew{.instance = "i", .secrets = harness.seal(R"({"KEY":"new"})")}).as<Renew::Ok>();
  EXPECT_EQ(ok.endpoint, "http://10.0.0.20:8080");
  EXPECT_EQ(cluster.plans.back().secrets.at("KEY"), "new");
  EXPECT_THAT(cluster.there, ElementsAre(1, 2)) << "routers do not know of the new pods yet";
  occupy();
  harness.invoke(Tidy{.instance = "i"}).as<Tidy::Ok>();
  EXPECT_THAT(cluster.there, ElementsAre(1, 2)) << "whoever is at work on it is left alone";
  State(harness.rows()).edit(K8sRuntimeId(service()), [](K8sRuntimeRecord& record) { record.busy.reset(); });
  cluster.is_stuck = true;
  EXPECT_THAT(harness.invoke(Tidy{.instance = "i"}).as<Tidy::Stuck>().reason, HasSubstr("the cluster is away"));
  cluster.is_stuck = false;
  EXPECT_EQ(harness.invoke(Tidy{.instance = "i"}).as<Tidy::Ok>().instance, "i");
  EXPECT_THAT(cluster.there, ElementsAre(2));
}

TEST_F(K8sRuntimeTest, DestroyRemovesEverything) {
  provision();
  deploy().as<Deploy::Ok>();
  cluster.is_stuck = true;
  EXPECT_THAT(harness.invoke(Destroy{.instance = "i"}).as<Destroy::Stuck>().reason, HasSubstr("the cluster is away"));
  cluster.is_stuck = false;
  harness.invoke(Destroy{.instance = "i"}).as<Destroy::Ok>();
  EXPECT_THAT(cluster.there, ElementsAre());
  harness.invoke(Destroy{.instance = "i"}).as<Destroy::Ok>();
}

TEST_F(K8sRuntimeTest, CheckSaysHowLongPodsTake) {
  provision();
  harness.invoke(Check{.instance = "i"}).as<Check::Unreachable>();
  deploy().as<Deploy::Ok>();
  EXPECT_EQ(harness.invoke(Check{.instance = "i"}).as<Check::Ok>().latencyMs, 1);
  cluster.latency_us = 700'000;
  EXPECT_EQ(harness.invoke(Check{.instance = "i"}).as<Check::Degraded>().latencyMs, 700);
}

TEST_F(K8sRuntimeTest, WhatIsDoneIsDoneWithTheCredentialOfTheEnvironment) {
  provision(R"({"variables":{"SLUICE_ENVIRONMENT":"prod"}})");
  const K8sRuntimeAId prod("prod");
  harness.invoke(Hold{.environment = prod}).as<Hold::Ok>();
  harness.invoke(Entrust{.environment = prod, .credential = harness.seal("low")}).as<Entrust::Ok>();
  deploy().as<Deploy::Ok>();
  EXPECT_EQ(cluster.token, "low");
  harness.invoke(Entrust{.environment = prod, .credential = harness.seal("lower")}).as<Entrust::Ok>();
  harness.invoke(Hold{.environment = prod}).as<Hold::Ok>();
  EXPECT_EQ(cluster.token, "lower");
  harness.invoke(Entrust{.environment = prod}).as<Entrust::Ok>();
  harness.invoke(Entrust{.environment = prod}).as<Entrust::Ok>();
  harness.invoke(Check{.instance = "i"}).as<Check::Ok>();
  EXPECT_EQ(cluster.token, "");
  harness.invoke(Entrust{.environment = prod, .credential = lang::Sealed::of_handle("gone")}).as<Entrust::Ok>();
  EXPECT_THAT(harness.invoke(Hold{.environment = prod}).as<Hold::Lost>().message,
              HasSubstr("the credential that prod is deployed with cannot be read"));
  EXPECT_THAT(deploy("b", "2").as<Deploy::ClusterUnavailable>().reason, HasSubstr("cannot be read"));
  harness.invoke(Check{.instance = "i"}).as<Check::Unreachable>();
}

TEST_F(K8sRuntimeTest, ObservePassesOnWherePodsAre) {
  provision();
  deploy().as<Deploy::Ok>();
  const K8sRuntimeId id(service());
  const std::vector<K8sRuntimeReplica> moved = {{.name = "1-9", .endpoint = "http://10.0.0.99:8080"}};
  auto ok = harness.invoke(Observe{.service = id, .replicas = moved}).as<Observe::Ok>();
  EXPECT_EQ(ok.instance, "i");
  EXPECT_EQ(ok.endpoint, "http://10.0.0.99:8080");
  harness.invoke(Observe{.service = id, .replicas = moved}).as<Observe::Unchanged>();
  occupy();
  harness.invoke(Observe{.service = id, .replicas = {{.name = "x", .endpoint = "y"}}}).as<Observe::Unchanged>();
}

}  // namespace k8s_runtime_test
}  // namespace sluice::deploy::k8s_runtime
