// Whether an object does what it is there for: each built-in kind by a rule of its own, every other by what its
// controller says of it, observedGeneration and conditions.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "kube/object.h"

namespace sluice::kube {

enum class Ready { yes, not_yet, failed };

struct Readiness {
  Ready ready = Ready::yes;
  std::string reason;  // "2 of 3 replicas are available"; empty if it is ready

  bool operator==(const Readiness&) const = default;
};

Readiness readiness(const json::value& object);

// Why a pod does not run, in a few words, and whether it will not without a change; `yes` if there is nothing to say.
Readiness pod_trouble(const json::value& pod);

}  // namespace sluice::kube
