// A home in which a component runs as replicas of this machine, for tests of the commands that look at them.
#pragma once

#include <string>
#include <vector>

#include "cli/testing_commands.h"
#include "deploy/deploy_kit.h"
#include "deploy/providers/runtime/local/local_host.h"
#include "process/testing_replicas.h"

namespace sluice::cli {

class TestingRuntime {
 public:
  TestingRuntime();

  Ran run(const std::vector<std::string>& words, const Terminal& terminal = {});
  // Provisions a component and deploys a program in Python to it: its instance.
  std::string deploy(const std::string& component, const std::string& script, int replicas = 1);

  process::TestingReplicas world;
  host::LoadedConcepts loaded{.concepts = deploy::concepts()};
  Commands commands = all_commands();

 private:
  deploy::local_runtime::LocalHost host_;
};

}  // namespace sluice::cli
