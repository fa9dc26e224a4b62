// K8sWatch follows the EndpointSlices of every cluster that an instance has pods in, in a thread for each namespace,
// and tells K8sRuntime when other pods are ready than it knows: one was moved to another node, killed, or is new. If
// none of an instance has been ready for ten seconds it asks Health to look at the instance.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "deploy/providers/runtime/k8s/cluster_pods.h"
#include "deploy/silence.h"
#include "lang/run/observer.h"

namespace sluice::deploy::k8s_runtime {

class K8sWatch final : public lang::Observer {
 public:
  // Both must outlive it.
  K8sWatch(ClusterPods& pods, Clock& clock) : pods_(pods), clock_(clock) {}
  ~K8sWatch() override;

  std::string_view concept_name() const override { return "K8sRuntime"; }
  void look(const Tell& tell) override;
  void compare(const lang::Snapshot& committed, const Tell& tell) override;

 private:
  // What one namespace says: the ready pods of each slice, and the slices of each service.
  struct Followed {
    std::atomic<bool> ends = false;
    std::mutex mutex;
    std::map<std::string, std::pair<std::string, std::vector<Pod>>> slices;  // by their names: whose they are, and pods
    std::thread thread;
  };
  struct Known {
    views::PodPlace place;
    std::string name;  // of the Service
    std::string instance;
    std::vector<Pod> pods;
    int64_t not_before_ms = 0;
    int64_t wait_ms = 0;
  };

  // An environment's credential, which is opened anew where it is not the one that is held.
  struct Account {
    views::PodPlace place;
    std::string handle;
    int64_t not_before_ms = 0;
  };

  void follow(const views::PodPlace& place, Followed& followed);
  int64_t now_ms() const { return clock_.monotonic_ns() / 1'000'000; }

  ClusterPods& pods_;
  Clock& clock_;
  std::map<std::string, Known> known_;       // by the id of the service
  std::map<std::string, Account> accounts_;  // by environment
  Silence silence_;
  std::map<views::PodPlace, std::unique_ptr<Followed>> followed_;
};

}  // namespace sluice::deploy::k8s_runtime
