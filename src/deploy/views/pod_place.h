// Where the pods of an environment run, as its deployer was set up: `kubeconfig_context` and `namespace` among the
// answers of sluice.deployer.k8s.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "lang/run/handler.h"

namespace sluice::deploy::views {

struct PodPlace {
  std::string context;     // of the kubeconfig; empty: the current one, or the cluster that Sluice runs in
  std::string name_space;  // empty: the one of the context

  auto operator<=>(const PodPlace&) const = default;
};

// Of the answers' text, a JSON object.
PodPlace pod_place_in(std::string_view answers);
PodPlace pod_place(const lang::Snapshot& snapshot, const std::string& environment);

}  // namespace sluice::deploy::views
