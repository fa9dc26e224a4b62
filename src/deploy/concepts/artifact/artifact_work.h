// What Artifact's effects work on, as it is journaled between begin and perform.
#pragma once

#include "artifact.gen.h"

namespace sluice::deploy::artifact {

struct BuildWork {
  std::string concept_;
  std::string spec;
  std::string implementation;
  std::vector<std::string> deps;
  std::optional<ArtifactCommand> command;
};
BOOST_DESCRIBE_STRUCT(BuildWork, (), (concept_, spec, implementation, deps, command))

// What begin has decided. Which bytes go is seen when it is done: those that no artifact has.
struct GcWork {
  int64_t removed = 0;
  int64_t freedBytes = 0;
};
BOOST_DESCRIBE_STRUCT(GcWork, (), (removed, freedBytes))

}  // namespace sluice::deploy::artifact
