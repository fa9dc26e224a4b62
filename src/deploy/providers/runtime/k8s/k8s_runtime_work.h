// What K8sRuntime's effects work on, as it is journaled between begin and perform.
#pragma once

#include "k8s_runtime.gen.h"

namespace sluice::deploy::k8s_runtime {

// The serial is chosen in begin, so that a repeat finds the objects that an attempt before has made.
struct DeployWork {
  std::string service;
  std::string environment;
  std::string artifact;
  int64_t serial = 0;
  int64_t replicas = 1;
  std::string config;
  std::optional<std::string> variables;  // a JSON object of texts
  std::optional<std::string> health;     // a JSON object
  std::optional<lang::Sealed> secrets;
  std::optional<lang::Sealed> credential;  // that the cluster is asked with; none: as the kubeconfig says
};
BOOST_DESCRIBE_STRUCT(DeployWork, (),
                      (service, environment, artifact, serial, replicas, config, variables, health, secrets,
                       credential))

struct RollbackWork {
  DeployWork deploy;
};
BOOST_DESCRIBE_STRUCT(RollbackWork, (), (deploy))

struct ScaleWork {
  DeployWork deploy;  // of the version that runs
};
BOOST_DESCRIBE_STRUCT(ScaleWork, (), (deploy))

struct RenewWork {
  DeployWork deploy;
};
BOOST_DESCRIBE_STRUCT(RenewWork, (), (deploy))

struct TidyWork {
  std::string service;  // "" if there is nothing to do
  std::string environment;
  int64_t kept = 0;
  std::optional<lang::Sealed> credential;
};
BOOST_DESCRIBE_STRUCT(TidyWork, (), (service, environment, kept, credential))

struct DestroyWork {
  std::string service;  // "" if there is none
  std::string environment;
  std::optional<lang::Sealed> credential;
};
BOOST_DESCRIBE_STRUCT(DestroyWork, (), (service, environment, credential))

struct CheckWork {
  std::string service;
  std::string environment;
  int64_t serial = 0;
  int64_t replicas = 0;
  std::optional<lang::Sealed> credential;
};
BOOST_DESCRIBE_STRUCT(CheckWork, (), (service, environment, serial, replicas, credential))

struct HoldWork {
  std::string environment;
  std::optional<lang::Sealed> credential;
};
BOOST_DESCRIBE_STRUCT(HoldWork, (), (environment, credential))

}  // namespace sluice::deploy::k8s_runtime
