// The sealed store as the executor's safe: what came with a request and what it applied, under the environment's data
// key, each text under its own name.
#pragma once

#include "deploy/executor/cluster_means.h"
#include "deploy/providers/secret/store/sealed_store.h"

namespace sluice::deploy::secret_store {

// Both must outlive it.
executor::Safe safe_of(SealedStore& store, Disk& disk);

}  // namespace sluice::deploy::secret_store
