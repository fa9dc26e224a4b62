// The inventory of an instance in the cluster, which is its lock as well (kube/inventory.h): read, taken, held, given
// back. Every change is a compare-and-set, so of two deployers one wins, and the other hears who.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "deploy/executor/refusal.h"
#include "deploy/executor/request.h"
#include "kube/client.h"
#include "kube/inventory.h"
#include "kube/policy.h"

namespace sluice::deploy::executor {

inline constexpr int64_t kLease_ms = 60'000;

// As it is. Where there is none yet, that of an instance that Light-Deployer has installed, by its labels.
// `kubernetesFailed`, or `busy` if somebody else has written something there.
Tried<kube::Inventory> inventory_of(kube::Client& client, const kube::Policy& policy, const Request& request);

// Changes the inventory that was read, and takes the lock with it. `busy` names who has it, or says that it has changed
// since it was read.
Tried<kube::Inventory> lock_taken(kube::Client& client, const Clock& clock, const kube::Policy& policy,
                                  const Request& request, kube::Inventory inventory);
// Why the lock cannot be taken now; empty if it can.
std::string holder_of(const kube::Inventory& inventory, const Clock& clock, const Request& request);

// Holds the lock for as long as a step takes: it renews the lease when that has come to its half.
class Held {
 public:
  // `may_go`: the step removes what the inventory is in, so it is not lost when it is no longer there.
  Held(kube::Client& client, const Clock& clock, Request request, bool may_go = false)
      : client_(client), clock_(clock), request_(std::move(request)), may_go_(may_go) {}

  // `busy`: it is somebody else's now. To be called often.
  std::optional<Refusal> renew();

 private:
  kube::Client& client_;
  const Clock& clock_;
  const Request request_;
  const bool may_go_;
  int64_t until_ms_ = 0;
};

// Writes what the instance consists of now and gives the lock back; without objects the inventory is removed. Somebody
// else's lock is left alone.
std::optional<Refusal> settled(kube::Client& client, const Request& request,
                               const std::function<void(kube::Inventory&)>& change);

}  // namespace sluice::deploy::executor
