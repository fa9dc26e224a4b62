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
  std::string hash;  // of what was deployed from there, if that is to run again; "" for what is there now
  std::string service;
  std::string name;  // of this deployment's replicas, before their number
  int64_t replicas = 1;
  std::optional<int64_t> port;
  int64_t kept = 0;  // the first so many replicas ran before
  std::string config;
  std::string storage;
  std::optional<std::string> variables;  // a JSON object of texts
  std::optional<std::string> health;     // a JSON object
  std::optional<lang::Sealed> secrets;
  int64_t first = 0;               // the number of the first replica
  std::vector<std::string> names;  // of the first replicas, if those are of several deployments
  static constexpr std::string_view kDefaulted[] = {"first", "names"};
};
BOOST_DESCRIBE_STRUCT(DeployWork, (),
                      (artifact, hash, service, name, replicas, port, kept, config, storage, variables, health, secrets,
                       first, names))

struct RollbackWork {
  DeployWork deploy;
};
BOOST_DESCRIBE_STRUCT(RollbackWork, (), (deploy))

struct ScaleWork {
  DeployWork deploy;                // of the version that runs
  std::vector<std::string> excess;  // what is stopped
};
BOOST_DESCRIBE_STRUCT(ScaleWork, (), (deploy, excess))

struct RepairWork {
  DeployWork deploy;      // of what should run
  bool any_port = false;  // whether one whose port is taken may have another
};
BOOST_DESCRIBE_STRUCT(RepairWork, (), (deploy, any_port))

struct RenewWork {
  DeployWork deploy;    // of the one replica
  std::string replica;  // that it is started for
};
BOOST_DESCRIBE_STRUCT(RenewWork, (), (deploy, replica))

struct ReloadWork {
  DeployWork deploy;  // what runs
};
BOOST_DESCRIBE_STRUCT(ReloadWork, (), (deploy))

struct ReleaseWork {
  std::string service;
  std::string replica;
};
BOOST_DESCRIBE_STRUCT(ReleaseWork, (), (service, replica))

struct DestroyWork {
  std::string service;   // "" if there is none
  bool storage = false;  // whether what it has stored goes with it
};
BOOST_DESCRIBE_STRUCT(DestroyWork, (), (service, storage))

struct CheckWork {
  std::vector<std::string> names;
};
BOOST_DESCRIBE_STRUCT(CheckWork, (), (names))

struct ForgetImagesWork {
  bool now = true;
};
BOOST_DESCRIBE_STRUCT(ForgetImagesWork, (), (now))

struct MakeStorageWork {
  std::string storage;
  std::vector<std::string> names;
};
BOOST_DESCRIBE_STRUCT(MakeStorageWork, (), (storage, names))

struct UnmakeStorageWork {
  std::string storage;
};
BOOST_DESCRIBE_STRUCT(UnmakeStorageWork, (), (storage))

struct ForgetStorageWork {
  std::string storage;
};
BOOST_DESCRIBE_STRUCT(ForgetStorageWork, (), (storage))

}  // namespace sluice::deploy::local_runtime
