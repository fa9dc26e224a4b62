// One path for every build: compilers write the path of what they compile into what they make, so that the same sources
// would give other bytes in another folder. In a mount namespace of its own, a command sees its folder at kBuildPlace,
// wherever it lies.
//
//   bool placed = has_build_place(runner, work);
//   runner.run(placed ? in_build_place(request, work) : request, cancelled);
//
// Needs root, or user namespaces; where the system has neither, a command sees its folder where it is.
#pragma once

#include <string>

#include "process/run.h"

namespace sluice::process {

constexpr const char* kBuildPlace = "/tmp/sluice-build";

// Whether a command can see this folder there.
bool has_build_place(Runner& runner, const std::string& work);

// The same command with `work` at kBuildPlace; its folder, and values of its environment that begin with `work`, are
// told as they are seen there. Paths are absolute.
RunRequest in_build_place(RunRequest request, const std::string& work);

}  // namespace sluice::process
