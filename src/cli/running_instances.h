// What runs, found by the names that people use for it: the name of a component, an instance's id or a part of it, a
// replica's name, or a component's name with a replica's number ("hello.0").
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/context.h"
#include "cli/deploy_home.h"
#include "process/replicas.h"

namespace sluice::cli {

struct RunningReplica {
  std::string name;   // "01J….2.0"
  std::string label;  // "hello.0"
  std::string endpoint;
  std::string log;  // a folder
  std::string instance;
};

struct RunningInstance {
  std::string id;
  std::string component;
  std::string type;
  std::string version;
  std::string status;
  std::string endpoint;
  std::vector<RunningReplica> replicas;  // of the local runtime; in their order
};

// All, by component.
Result<std::vector<RunningInstance>> running_instances(DeployHome& home);

// The one that is meant; `not_found` if there is none, `conflict` if there are several.
Result<RunningInstance> find_instance(const std::vector<RunningInstance>& all, const std::string& name);

// The replicas that are meant: one, or all of an instance.
Result<std::vector<RunningReplica>> find_replicas(const std::vector<RunningInstance>& all, const std::string& name);

// The same from the home, which is open only meanwhile: whoever follows a log or runs a command keeps nobody waiting.
Result<std::vector<RunningInstance>> read_running_instances(Context& context);

// The replicas of this machine; `unavailable` in a program that has no local runtime.
Result<process::Replicas*> local_replicas(const Context& context);

}  // namespace sluice::cli
