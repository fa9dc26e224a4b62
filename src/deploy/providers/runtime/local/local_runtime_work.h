// What LocalRuntime's effects work on, as it is journaled between begin and perform.
#pragma once

#include "local_runtime.gen.h"

namespace sluice::deploy::local_runtime {

struct ProvisionWork {
  std::string config;
};
BOOST_DESCRIBE_STRUCT(ProvisionWork, (), (config))

// Names are chosen in begin, so that a repeat finds what an attempt before has started.
struct DeployWork {
  std::string artifact;
  std::string name;  // of this deployment's replicas, before their number
  int64_t replicas = 1;
  std::optional<int64_t> port;
  std::vector<std::string> before;  // what is stopped when the new ones are healthy
  int64_t kept = 0;                 // the first so many replicas ran before
};
BOOST_DESCRIBE_STRUCT(DeployWork, (), (artifact, name, replicas, port, before, kept))

struct RollbackWork {
  DeployWork deploy;
};
BOOST_DESCRIBE_STRUCT(RollbackWork, (), (deploy))

struct ScaleWork {
  DeployWork deploy;                // of the version that runs
  std::vector<std::string> excess;  // what is stopped
};
BOOST_DESCRIBE_STRUCT(ScaleWork, (), (deploy, excess))

struct DestroyWork {
  std::vector<std::string> names;
};
BOOST_DESCRIBE_STRUCT(DestroyWork, (), (names))

struct CheckWork {
  std::vector<std::string> names;
};
BOOST_DESCRIBE_STRUCT(CheckWork, (), (names))

}  // namespace sluice::deploy::local_runtime
