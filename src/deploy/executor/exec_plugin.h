// Runs the exec plugins of kubeconfigs, which log in at clouds.
#pragma once

#include "kube/access.h"
#include "process/run.h"

namespace sluice::deploy::executor {

// As kubectl does, in this program's own environment: there a plugin finds its profile. `runner` must outlive it.
kube::RunPlugin plugin_runner(process::Runner& runner);

}  // namespace sluice::deploy::executor
