// What Health's effects work on, as it is journaled between begin and perform.
#pragma once

#include "health.gen.h"

namespace sluice::deploy::health {

struct SendThroughWork {
  std::string environment;
  std::string deployment;
  std::string revision;
  std::string artifact;
};
BOOST_DESCRIBE_STRUCT(SendThroughWork, (), (environment, deployment, revision, artifact))

struct TryInvariantWork {
  std::string endpoint;
  std::string invariant;
};
BOOST_DESCRIBE_STRUCT(TryInvariantWork, (), (endpoint, invariant))

}  // namespace sluice::deploy::health
