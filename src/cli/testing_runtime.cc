// Deploys through the same actions as everybody.
#include "cli/testing_runtime.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sluice::cli {

TestingRuntime::TestingRuntime()
    : host_(world.disk, world.replicas,
            {.home = world.folder.path(),
             .bundles = world.folder.path("unpacked"),
             .storage = world.folder.path("storage")}) {
  loaded.tools.add(host_);
  loaded.tools.add(world.replicas);
}

Ran TestingRuntime::run(const std::vector<std::string>& words, const Terminal& terminal) {
  return run_line(commands, words, terminal, {{{"SLUICE_HOME", world.folder.path("home")}}, "", &loaded});
}

std::string TestingRuntime::deploy(const std::string& component, const std::string& script, int replicas) {
  Ran made = run({"kit", "run", "deploy", "Runtime/provision", "concept=" + component, "runtimeType=local",
                  "config={\"replicas\":" + std::to_string(replicas) + "}", "-o", "json"});
  EXPECT_EQ(made.exit, 0) << made.err;
  const std::string instance(json::parse(made.out).at("fields").at("instance").as_string());
  const std::string root = world.bundle(component, "/usr/bin/python3", script);
  const std::string manifest = "name: app\nversion: \"1\"\nrun: [./app]\ndrain: 10s\nlisten: unix\n";
  EXPECT_TRUE(process::replace_file(root + "/bundle.yaml", manifest, 0644));
  Ran deployed =
      run({"kit", "run", "deploy", "Runtime/deploy", "instance=" + instance, "artifact=" + root, "version=1.0"});
  EXPECT_EQ(deployed.exit, 0) << deployed.out << deployed.err;
  return instance;
}

}  // namespace sluice::cli
