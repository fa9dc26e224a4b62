// ClusterPods is the PodHost that speaks to Kubernetes: one client for each place, made when it is first needed and
// again when another credential is held for it. Objects are applied as field manager "sluice".
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "base/disk.h"
#include "base/terminal.h"
#include "deploy/cluster_rights.h"
#include "deploy/providers/runtime/k8s/pod_host.h"
#include "kube/client.h"
#include "process/run.h"

namespace sluice::deploy::k8s_runtime {

class ClusterPods final : public PodHost {
 public:
  // All of them must outlive it.
  ClusterPods(Disk& disk, Clock& clock, process::Runner& runner, Variables variables)
      : disk_(disk), clock_(clock), runner_(runner), variables_(std::move(variables)) {}

  Result<PodBundle> open(const std::string& artifact) override;
  std::variant<std::vector<Pod>, Misfortune> bring_up(const views::PodPlace& place, const PodPlan& plan,
                                                      const std::function<bool()>& cancelled) override;
  std::variant<std::vector<Pod>, Misfortune> await(const views::PodPlace& place, const std::string& service,
                                                   int64_t serial, int64_t replicas, int64_t within_ms,
                                                   const std::function<bool()>& cancelled) override;
  Result<void> take_down(const views::PodPlace& place, const std::string& service, int64_t kept) override;
  Result<void> take_down_one(const views::PodPlace& place, const std::string& service, int64_t serial) override;
  Result<void> resize(const views::PodPlace& place, const std::string& service, int64_t serial,
                      int64_t replicas) override;
  Result<int64_t> reach(const views::PodPlace& place, const std::string& service, int64_t serial,
                        int64_t replicas) override;

  void hold(const views::PodPlace& place, const PodCredential& credential) override;
  // The handle of what is held; empty: nothing.
  std::string held(const views::PodPlace& place);

  // Clients of their own, for those who watch or ask what may be done: with what is held for the place, or with a token
  // in place of what the kubeconfig says.
  Result<std::unique_ptr<kube::Client>> client_for(const views::PodPlace& place);
  Result<std::unique_ptr<kube::Client>> client_with(const std::string& context, const std::string& token);
  Result<std::string> name_space(const views::PodPlace& place);
  const Clock& clock() const { return clock_; }

 private:
  Result<std::shared_ptr<kube::Client>> client(const views::PodPlace& place);
  Result<void> remove_selected(const views::PodPlace& place, const std::string& labels);
  Result<std::vector<Pod>> ready_pods(kube::Client& client, const std::string& name_space, const std::string& name);
  std::optional<Misfortune> trouble(kube::Client& client, const std::string& name_space, const std::string& service,
                                    int64_t serial, bool is_late);
  std::vector<std::string> last_lines(kube::Client& client, const std::string& name_space, const std::string& pod);

  Disk& disk_;
  Clock& clock_;
  process::Runner& runner_;
  const Variables variables_;
  std::mutex mutex_;
  std::map<views::PodPlace, PodCredential> held_;
  std::map<views::PodPlace, std::shared_ptr<kube::Client>> clients_;
};

// Asking what may be done, through the same clients. `pods` must outlive it.
ClusterRights rights_of(ClusterPods& pods);

// The addresses of an EndpointSlice that are ready: by the pod's name.
std::vector<Pod> ready_in(const json::value& slice);

}  // namespace sluice::deploy::k8s_runtime
