// Each kind's own rule, in the states that a cluster really shows.
#include "kube/readiness.h"

#include <gtest/gtest.h>

namespace sluice::kube {
namespace readiness_test {

Readiness of(const std::string& api, const std::string& kind, const std::string& rest) {
  return readiness(json::parse(R"({"apiVersion":")" + api + R"(","kind":")" + kind + "\"," + rest + "}"));
}
const Readiness kYes{};
Readiness waits(const std::string& why) { return {Ready::not_yet, why}; }
Readiness failed(const std::string& why) { return {Ready::failed, why}; }

TEST(Readiness, Deployments) {
  auto deployment = [](const std::string& status, const std::string& spec = R"({"replicas":3})") {
    return of("apps/v1", "Deployment", R"("metadata":{"generation":2},"spec":)" + spec + R"(,"status":)" + status);
  };
  EXPECT_EQ(deployment("{}"), waits("its controller has not seen it yet"));
  EXPECT_EQ(deployment(R"({"observedGeneration":1,"replicas":3,"updatedReplicas":3,"availableReplicas":3})"),
            waits("its controller has not seen it yet"));
  EXPECT_EQ(deployment(R"({"observedGeneration":2,"replicas":3,"updatedReplicas":1})"),
            waits("1 of 3 replicas are updated"));
  EXPECT_EQ(deployment(R"({"observedGeneration":2,"replicas":4,"updatedReplicas":3,"availableReplicas":3})"),
            waits("1 old replicas are still there"));
  EXPECT_EQ(deployment(R"({"observedGeneration":2,"replicas":3,"updatedReplicas":3,"availableReplicas":2})"),
            waits("2 of 3 replicas are available"));
  EXPECT_EQ(deployment(R"({"observedGeneration":2,"replicas":3,"updatedReplicas":3,"availableReplicas":3})"), kYes);
  EXPECT_EQ(deployment(R"({"observedGeneration":2,"replicas":1,"updatedReplicas":1,"availableReplicas":1})", "{}"),
            kYes);
  EXPECT_EQ(deployment(R"({"observedGeneration":2,"conditions":[{"type":"Progressing","status":"False",
      "reason":"ProgressDeadlineExceeded","message":"too slow"}]})"),
            failed("ProgressDeadlineExceeded: too slow"));
  EXPECT_EQ(deployment(R"({"observedGeneration":2,"conditions":[{"type":"ReplicaFailure","status":"True",
      "reason":"FailedCreate","message":"exceeded quota: q"}]})"),
            waits("FailedCreate: exceeded quota: q"));
}

TEST(Readiness, SetsOfOtherKinds) {
  EXPECT_EQ(of("apps/v1", "StatefulSet", R"("metadata":{"generation":1},"spec":{"replicas":2},
      "status":{"observedGeneration":1,"readyReplicas":1})"),
            waits("1 of 2 replicas are ready"));
  EXPECT_EQ(of("apps/v1", "StatefulSet", R"("metadata":{"generation":1},
      "spec":{"replicas":2,"updateStrategy":{"rollingUpdate":{"partition":1}}},
      "status":{"observedGeneration":1,"readyReplicas":2,"updatedReplicas":1})"),
            kYes);
  EXPECT_EQ(of("apps/v1", "DaemonSet", R"("metadata":{"generation":1},"status":{"observedGeneration":1,
      "desiredNumberScheduled":2,"updatedNumberScheduled":2,"numberAvailable":1})"),
            waits("1 of 2 replicas are available"));
  EXPECT_EQ(of("apps/v1", "ReplicaSet", R"("metadata":{"generation":1},"spec":{"replicas":1},
      "status":{"observedGeneration":1,"availableReplicas":1})"),
            kYes);
}

TEST(Readiness, JobsPodsAndTheRest) {
  EXPECT_EQ(of("batch/v1", "Job", R"("status":{})"), waits("it has not completed"));
  EXPECT_EQ(of("batch/v1", "Job", R"("status":{"conditions":[{"type":"Complete","status":"True"}]})"), kYes);
  EXPECT_EQ(of("batch/v1", "Job",
               R"("status":{"conditions":[{"type":"Failed","status":"True","reason":"BackoffLimitExceeded"}]})"),
            failed("BackoffLimitExceeded"));
  EXPECT_EQ(of("v1", "Pod", R"("status":{"phase":"Succeeded"})"), kYes);
  EXPECT_EQ(of("v1", "Pod", R"("status":{"phase":"Pending"})"), waits("it is not ready"));
  EXPECT_EQ(of("v1", "Service", R"("spec":{"type":"LoadBalancer"})"), waits("it has no address yet"));
  EXPECT_EQ(of("v1", "Service", R"("spec":{})"), kYes);
  EXPECT_EQ(of("v1", "PersistentVolumeClaim", R"("status":{"phase":"Lost"})"), failed("its volume is lost"));
  EXPECT_EQ(of("v1", "Namespace", R"("status":{"phase":"Terminating"},"metadata":{"deletionTimestamp":"x"})"),
            failed("it is being deleted"));
  EXPECT_EQ(of("v1", "ConfigMap", R"("data":{})"), kYes);
  EXPECT_EQ(of("v1", "ConfigMap", R"("metadata":{"deletionTimestamp":"x"})"), waits("it is being deleted"));
  EXPECT_EQ(of("policy/v1", "PodDisruptionBudget", R"("metadata":{"generation":1},"status":{})"),
            waits("its controller has not seen it yet"));
  EXPECT_EQ(of("apiextensions.k8s.io/v1", "CustomResourceDefinition", R"("status":{})"),
            waits("it is not established"));
}

TEST(Readiness, AnyOtherKindByWhatItsControllerSays) {
  EXPECT_EQ(of("acme.example/v1", "Widget", R"("spec":{})"), kYes);
  EXPECT_EQ(of("acme.example/v1", "Widget", R"("metadata":{"generation":2},"status":{"observedGeneration":1})"),
            waits("its controller has not seen it yet"));
  EXPECT_EQ(
      of("acme.example/v1", "Widget", R"("status":{"conditions":[{"type":"Ready","status":"False","reason":"Busy"}]})"),
      waits("Busy"));
  EXPECT_EQ(
      of("acme.example/v1", "Widget", R"("status":{"conditions":[{"type":"Stalled","status":"True","message":"no"}]})"),
      failed("no"));
}

TEST(Readiness, WhatIsWrongWithAPod) {
  auto pod = [](const std::string& state) {
    return pod_trouble(json::parse(R"({"status":{"containerStatuses":[{"name":"web","state":)" + state + "}]}}"));
  };
  EXPECT_EQ(pod(R"({"waiting":{"reason":"CrashLoopBackOff"}})"), failed("container web crashes again and again"));
  EXPECT_EQ(pod(R"({"waiting":{"reason":"ErrImagePull","message":"gone"}})"),
            failed("container web: its image cannot be pulled: gone"));
  EXPECT_EQ(pod(R"({"terminated":{"exitCode":3}})"), waits("container web ended with exit code 3"));
  EXPECT_EQ(pod(R"({"running":{}})"), kYes);
  EXPECT_EQ(pod_trouble(json::parse(R"({"status":{"conditions":[{"type":"PodScheduled","status":"False",
      "reason":"Unschedulable","message":"0/1 nodes"}]}})")),
            waits("no node takes it: Unschedulable: 0/1 nodes"));
}

}  // namespace readiness_test
}  // namespace sluice::kube
