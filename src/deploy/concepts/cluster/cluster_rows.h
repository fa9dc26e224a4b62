// What Cluster's sources share: rows as the executor's words, refusals as variants.
#pragma once

#include <stdexcept>
#include <string>

#include "deploy/concepts/cluster/cluster_work.h"
#include "deploy/executor/cluster_means.h"
#include "deploy/executor/refusal.h"
#include "deploy/executor/waves.h"

namespace sluice::deploy::cluster {

inline constexpr size_t kKeptSnapshots = 10;
inline constexpr size_t kKeptOperations = 50;
inline constexpr int64_t kMostSeconds = 36'000;

// The refusal as a variant of an action or, where it has none of that name, as `kubernetesFailed` or `invalid`.
template <class Action, class To>
To variant_of(const executor::Refusal& refusal) {
  const std::string &why = refusal.why, &message = refusal.message;
  if (why == "policyDenied") return typename Action::PolicyDenied{.message = message};
  if (why == "wrongCluster") return typename Action::WrongCluster{.message = message};
  if constexpr (requires { typename Action::RenderFailed; }) {
    if (why == "renderFailed") return typename Action::RenderFailed{.message = message};
    if (why == "templateFetchFailed") return typename Action::TemplateFetchFailed{.message = message};
  }
  if constexpr (requires { typename Action::FieldConflict; }) {
    if (why == "fieldConflict") return typename Action::FieldConflict{.message = message};
  }
  if constexpr (requires { typename Action::KubernetesFailed; }) {
    if (why != "invalid") return typename Action::KubernetesFailed{.message = message};
  }
  return typename Action::Invalid{.message = message};
}

// The operation that the running request belongs to.
std::optional<ClusterFound> operation_of(const State& state, const lang::Request& ask);
executor::Request request_of(const ClusterId& id, const ClusterRecord& record);

ClusterIId instance_of(const std::string& host, const std::string& name_space, const std::string& instance);
// Why a request in this environment may not name the instance; empty: it may.
std::string denial_of_environment(const State& state, const ClusterIId& instance, const std::string& environment);
// The requests that were accepted and then stopped, since the last one that went well: what the instance has is of all
// of them. Only those before `end`, if it is one.
std::vector<ClusterId> left_half_done(const State& state, const ClusterIId& instance, const ClusterId& end = {});
std::vector<executor::Piece> pieces_of(const State& state, const ClusterId& id);
void tell(State& state, const ClusterId& id, const std::string& status, const std::string& message,
          const executor::Piece& about = {});

// The texts that came sealed with a call; an empty one was left out. Throws if they are gone.
executor::Sent sent_with(const RenderWork& work, Effect& effect);

// Adds what must not be shown of a request's objects, if they are still kept.
void hide(executor::ClusterMeans& means, const std::string& environment, const std::string& request,
          rendering::Taint& taint);

std::string request_name(const std::string& id);
std::string snapshot_name(const std::string& id);

}  // namespace sluice::deploy::cluster
