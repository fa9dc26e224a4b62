// One function a kind.
#include "kube/readiness.h"

#include <algorithm>
#include <map>

namespace sluice::kube {
namespace {

Readiness not_yet(std::string reason) { return {Ready::not_yet, std::move(reason)}; }
Readiness never(std::string reason) { return {Ready::failed, std::move(reason)}; }

bool is_true(const json::value& condition) { return text_at(condition, {"status"}) == "True"; }
bool is_false(const json::value& condition) { return text_at(condition, {"status"}) == "False"; }

std::string words_of(const json::value& condition) {
  const std::string reason = text_at(condition, {"reason"}), message = text_at(condition, {"message"});
  return reason + (reason.empty() || message.empty() ? "" : ": ") + message;
}

bool is_observed(const json::value& object) {
  const int64_t wanted = number_at(object, {"metadata", "generation"});
  const json::value& seen = at(object, {"status", "observedGeneration"});
  return seen.is_null() ? wanted == 0 : number_at(object, {"status", "observedGeneration"}) >= wanted;
}

int64_t wanted_replicas(const json::value& object) {
  return at(object, {"spec", "replicas"}).is_number() ? number_at(object, {"spec", "replicas"}) : 1;
}

std::string of_them(int64_t some, int64_t all, const std::string& what) {
  return std::to_string(some) + " of " + std::to_string(all) + " replicas are " + what;
}

Readiness of_deployment(const json::value& object) {
  if (!is_observed(object)) return not_yet("its controller has not seen it yet");
  const json::value& progressing = condition(object, "Progressing");
  if (is_false(progressing) && text_at(progressing, {"reason"}) == "ProgressDeadlineExceeded") {
    return never(words_of(progressing));
  }
  const json::value& failure = condition(object, "ReplicaFailure");
  const int64_t wanted = wanted_replicas(object);
  const int64_t updated = number_at(object, {"status", "updatedReplicas"});
  const int64_t all = number_at(object, {"status", "replicas"});
  const int64_t available = number_at(object, {"status", "availableReplicas"});
  if (is_true(failure) && available < wanted) return not_yet(words_of(failure));
  if (updated < wanted) return not_yet(of_them(updated, wanted, "updated"));
  if (all > updated) return not_yet(std::to_string(all - updated) + " old replicas are still there");
  if (available < updated) return not_yet(of_them(available, wanted, "available"));
  return {};
}

Readiness of_stateful_set(const json::value& object) {
  if (!is_observed(object)) return not_yet("its controller has not seen it yet");
  const int64_t wanted = wanted_replicas(object);
  const int64_t ready = number_at(object, {"status", "readyReplicas"});
  if (ready < wanted) return not_yet(of_them(ready, wanted, "ready"));
  if (text_at(object, {"spec", "updateStrategy", "type"}) == "OnDelete") return {};
  const int64_t updated = number_at(object, {"status", "updatedReplicas"});
  const int64_t kept = number_at(object, {"spec", "updateStrategy", "rollingUpdate", "partition"});
  if (updated < wanted - kept) return not_yet(of_them(updated, wanted - kept, "updated"));
  return {};
}

Readiness of_daemon_set(const json::value& object) {
  if (!is_observed(object)) return not_yet("its controller has not seen it yet");
  const int64_t wanted = number_at(object, {"status", "desiredNumberScheduled"});
  const int64_t updated = number_at(object, {"status", "updatedNumberScheduled"});
  const int64_t available = number_at(object, {"status", "numberAvailable"});
  if (updated < wanted) return not_yet(of_them(updated, wanted, "updated"));
  if (available < wanted) return not_yet(of_them(available, wanted, "available"));
  return {};
}

Readiness of_replica_set(const json::value& object) {
  if (!is_observed(object)) return not_yet("its controller has not seen it yet");
  const int64_t wanted = wanted_replicas(object), available = number_at(object, {"status", "availableReplicas"});
  const json::value& failure = condition(object, "ReplicaFailure");
  if (is_true(failure) && available < wanted) return not_yet(words_of(failure));
  if (available < wanted) return not_yet(of_them(available, wanted, "available"));
  return {};
}

Readiness of_job(const json::value& object) {
  const json::value& failed = condition(object, "Failed");
  if (is_true(failed)) return never(words_of(failed));
  if (is_true(condition(object, "Complete")) || flag_at(object, {"spec", "suspend"})) return {};
  return not_yet("it has not completed");
}

Readiness of_pod(const json::value& object) {
  const std::string phase = text_at(object, {"status", "phase"});
  if (phase == "Succeeded") return {};
  if (phase == "Failed") return never("it failed: " + text_at(object, {"status", "message"}));
  if (is_true(condition(object, "Ready"))) return {};
  const Readiness trouble = pod_trouble(object);
  return trouble.ready == Ready::yes ? not_yet("it is not ready") : trouble;
}

Readiness of_service(const json::value& object) {
  if (text_at(object, {"spec", "type"}) != "LoadBalancer") return {};
  if (list_at(object, {"status", "loadBalancer", "ingress"}).empty()) return not_yet("it has no address yet");
  return {};
}

Readiness of_claim(const json::value& object) {
  const std::string phase = text_at(object, {"status", "phase"});
  if (phase == "Bound") return {};
  if (phase == "Lost") return never("its volume is lost");
  // One that waits for its first pod is as ready as it can be.
  return phase == "Pending" ? Readiness{} : not_yet("it is not bound");
}

Readiness of_definition(const json::value& object) {
  const json::value& named = condition(object, "NamesAccepted");
  if (is_false(named)) return never(words_of(named));
  return is_true(condition(object, "Established")) ? Readiness{} : not_yet("it is not established");
}

Readiness of_namespace(const json::value& object) {
  const std::string phase = text_at(object, {"status", "phase"});
  if (phase == "Terminating") return never("it is being deleted");
  return phase.empty() || phase == "Active" ? Readiness{} : not_yet("it is " + phase);
}

Readiness of_budget(const json::value& object) {
  return is_observed(object) ? Readiness{} : not_yet("its controller has not seen it yet");
}

// Conditions as most controllers use them: a generation that was seen, Ready (or Available) true, Failed or Stalled
// not.
Readiness of_other(const json::value& object) {
  const json::value& status = at(object, {"status"});
  if (!status.is_object()) return {};
  if (!at(status, {"observedGeneration"}).is_null() && !is_observed(object)) {
    return not_yet("its controller has not seen it yet");
  }
  for (const char* bad : {"Failed", "Stalled"}) {
    if (is_true(condition(object, bad))) return never(words_of(condition(object, bad)));
  }
  for (const char* good : {"Ready", "Available"}) {
    const json::value& said = condition(object, good);
    if (!said.is_null()) return is_true(said) ? Readiness{} : not_yet(words_of(said));
  }
  return {};
}

}  // namespace

Readiness readiness(const json::value& object) {
  if (!text_at(object, {"metadata", "deletionTimestamp"}).empty() && text_at(object, {"kind"}) != "Namespace") {
    return not_yet("it is being deleted");
  }
  using Rule = Readiness (*)(const json::value&);
  static const std::map<std::string, Rule, std::less<>> kRules = {
      {"apps Deployment", of_deployment},
      {"apps StatefulSet", of_stateful_set},
      {"apps DaemonSet", of_daemon_set},
      {"apps ReplicaSet", of_replica_set},
      {"batch Job", of_job},
      {" Pod", of_pod},
      {" Service", of_service},
      {" PersistentVolumeClaim", of_claim},
      {" Namespace", of_namespace},
      {"policy PodDisruptionBudget", of_budget},
      {"apiextensions.k8s.io CustomResourceDefinition", of_definition}};
  const ObjectRef ref = ref_of(object);
  const auto rule = kRules.find(ref.group() + " " + ref.kind);
  return rule == kRules.end() ? of_other(object) : rule->second(object);
}

Readiness pod_trouble(const json::value& pod) {
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for (const json::value& each : list_at(pod, {"status", list})) {
      const std::string name = text_at(each, {"name"});
      const std::string waits = text_at(each, {"state", "waiting", "reason"});
      const std::string says = text_at(each, {"state", "waiting", "message"});
      if (waits == "CrashLoopBackOff") return {Ready::failed, "container " + name + " crashes again and again"};
      if (waits == "ImagePullBackOff" || waits == "ErrImagePull" || waits == "InvalidImageName") {
        return {Ready::failed,
                "container " + name + ": its image cannot be pulled" + (says.empty() ? "" : ": " + says)};
      }
      if (waits == "CreateContainerConfigError" || waits == "CreateContainerError") {
        return {Ready::failed, "container " + name + " cannot be made" + (says.empty() ? "" : ": " + says)};
      }
      if (at(each, {"state", "terminated"}).is_object() && number_at(each, {"state", "terminated", "exitCode"}) != 0) {
        return {Ready::not_yet, "container " + name + " ended with exit code " +
                                    std::to_string(number_at(each, {"state", "terminated", "exitCode"}))};
      }
    }
  }
  const json::value& scheduled = condition(pod, "PodScheduled");
  if (is_false(scheduled)) return {Ready::not_yet, "no node takes it: " + words_of(scheduled)};
  return {};
}

}  // namespace sluice::kube
