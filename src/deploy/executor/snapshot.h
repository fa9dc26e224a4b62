// What was applied once, whole: manifests with their hashes, under an environment's data key. From it a wave is
// applied, also after a crash, and an instance goes back to it without the repository that it came from.
#pragma once

#include <string>
#include <vector>

#include "deploy/executor/cluster_means.h"
#include "deploy/executor/rendered.h"

namespace sluice::deploy::executor {

using Snapshot = Rendered;

Result<void> write_snapshot(ClusterMeans& means, const lang::Snapshot& committed, const std::string& environment,
                            const std::string& name, const Snapshot& snapshot, const std::string& by);
Result<Snapshot> read_snapshot(ClusterMeans& means, const std::string& environment, const std::string& name);

// Objects that a request applies have its labels.
void label(std::vector<boost::json::value>& objects, const rendering::Labels& labels);

}  // namespace sluice::deploy::executor
