// What a replica's folder holds, and what a program in its place is given.
#include "process/replica_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::process {
namespace replica_files_test {

using testing::ElementsAre;
using testing::Pair;

Launch launch() {
  Launch launch{.start = "one/1", .mark = "sluice-1", .groups = {"/groups/one"}};
  launch.workload.argv = {"./app"};
  launch.workload.root = "/bundle";
  launch.workload.environment = {{"COLOR", "blue"}, {"PATH", "/own"}};
  launch.workload.writable = {"/storage"};
  return launch;
}

TEST(ReplicaFiles, ALaunchIsReadBackAsItWasWritten) {
  EXPECT_EQ(*parse_launch(print_launch(launch())), launch());
  EXPECT_EQ(parse_launch("{").error().code, Code::invalid);
}

TEST(ReplicaFiles, WhatRunsInItsPlaceGetsWhatTheProgramGets) {
  auto secrets = HandedSecrets::take(R"({"TOKEN":"t"})", SecretsAs::env);
  const LaunchRequest request = request_in(ReplicaFiles("/r/one"), launch(),
                                           {.folders = {"/groups/one"}, .limits = {"memory"}}, *secrets, {"env"});
  EXPECT_THAT(request.argv, ElementsAre("env"));
  EXPECT_EQ(request.root, "/bundle");
  EXPECT_THAT(request.environment,
              ElementsAre(Pair("COLOR", "blue"), Pair("HOME", "/r/one/run"), Pair("PATH", "/own"),
                          Pair("SLUICE_CONFIG", "/r/one/config/config.json"), Pair("SLUICE_REPLICA", "sluice-1"),
                          Pair("SLUICE_SOCKET", "/r/one/run/socket"), Pair("TOKEN", "t")));
  EXPECT_THAT(request.groups, ElementsAre("/groups/one"));
  EXPECT_THAT(request.grouped, ElementsAre("memory"));
  EXPECT_THAT(request.read_only, ElementsAre("/r/one/config"));
  EXPECT_THAT(request.writable, ElementsAre("/storage", "/r/one/run"));
  EXPECT_EQ(request.user, 65532U);
}

TEST(ReplicaFiles, OneWithAPortGetsNoSocket) {
  Launch with_port = launch();
  with_port.workload.port = 8080;
  const LaunchRequest request =
      request_in(ReplicaFiles("/r/one"), with_port, {}, *HandedSecrets::take("{}", {}), {"env"});
  EXPECT_EQ(request.environment.at("PORT"), "8080");
  EXPECT_FALSE(request.environment.contains("SLUICE_SOCKET"));
}

}  // namespace replica_files_test
}  // namespace sluice::process
