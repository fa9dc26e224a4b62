// LocalRuntime through the harness, with real programs: one test a variant, each made by the world.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deploy/providers/runtime/local/local_host.h"
#include "deploy/providers/runtime/local/local_runtime_work.h"
#include "lang/harness.h"
#include "process/port.h"
#include "process/testing_port.h"
#include "process/testing_replicas.h"

namespace sluice::deploy::local_runtime {

void prepare(lang::Harness&) {}

namespace local_runtime_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class LocalRuntimeTest : public testing::Test {
 protected:
  LocalRuntimeTest() { harness.tools().add(host); }

  // A bundle of one program in Python.
  std::string bundle(const std::string& name, const std::string& script, const std::string& more = "") {
    std::string root = world.bundle(name, "/usr/bin/python3", script);
    const std::string manifest = "name: hello\nversion: \"1\"\nrun: [./app]\ndrain: 10s\nlisten: unix\n" + more;
    EXPECT_TRUE(process::replace_file(root + "/bundle.yaml", manifest, 0644));
    return root;
  }
  std::string server(const std::string& name, const std::string& more = "") {
    return bundle(name, process::server_script(), more);
  }
  void provision(const std::string& config = "{}") {
    harness.invoke(Provision{.instance = "i", .config = config}).as<Provision::Ok>();
  }
  auto deploy(const std::string& artifact, const std::string& version = "1") {
    return harness.invoke(Deploy{.instance = "i", .artifact = artifact, .version = version});
  }
  std::vector<std::string> running() {
    std::vector<std::string> names;
    auto listed = world.replicas.list();
    for (const std::string& name : *listed) {
      if (world.replicas.look(name)->healthy) names.push_back(name);
    }
    return names;
  }
  std::string service() { return State(harness.rows()).find_by_instance("i").front().id.text(); }

  process::TestingReplicas world;
  LocalHost host{world.disk, world.replicas, {.home = world.folder.path(), .bundles = world.folder.path("unpacked")}};
  LocalHost homeless{world.disk, world.replicas, {.home = "/", .bundles = "/proc/none/unpacked"}};
  lang::Harness harness{local_runtime_binding()};
};

TEST_F(LocalRuntimeTest, ProvisionMakesAPlace) {
  auto ok = harness.invoke(Provision{.instance = "i", .config = R"({"replicas":2})"}).as<Provision::Ok>();
  EXPECT_EQ(ok.endpoint, "local:" + ok.service.text());
  EXPECT_EQ(State(harness.rows()).get(ok.service)->replicas, 2);
  EXPECT_EQ(harness.invoke(Provision{.instance = "i", .config = ""}).as<Provision::Ok>().service, ok.service);
}

TEST_F(LocalRuntimeTest, ProvisionSaysWhatIsWrongWithTheConfig) {
  auto said = [&](const std::string& config) {
    return harness.invoke(Provision{.instance = "i", .config = config}).as<Provision::InvalidConfig>().message;
  };
  EXPECT_EQ(said(R"({"replicas":0})"), "/replicas: expected 1 to 1000 replicas");
  EXPECT_EQ(said(R"({"port":65535})"), "/port: there are not twice as many ports as replicas");
  EXPECT_THAT(said(R"({"replica":1})"), HasSubstr("did you mean \"replicas\"?"));
  EXPECT_THAT(said("{"), HasSubstr("config:1:2"));
}

TEST_F(LocalRuntimeTest, ProvisionSaysThatAPortIsInUse) {
  process::TakenPort taken;
  const std::string config = "{\"port\":" + std::to_string(taken.number()) + "}";
  EXPECT_EQ(harness.invoke(Provision{.instance = "i", .config = config}).as<Provision::PortInUse>().port,
            taken.number());
}

TEST_F(LocalRuntimeTest, AHomeThatCannotBeWrittenIsNamed) {
  provision();
  harness.tools().add(homeless);
  EXPECT_THAT(harness.invoke(Provision{.instance = "j", .config = "{}"}).as<Provision::HomeUnusable>().reason,
              HasSubstr("cannot make folder /proc/none"));
  EXPECT_THAT(deploy(server("good")).as<Deploy::HomeUnusable>().reason, HasSubstr("/proc/none"));
  EXPECT_THAT(running(), ElementsAre());
}

TEST_F(LocalRuntimeTest, DeployStartsReplicasAndStopsThoseBefore) {
  provision(R"({"replicas":2})");
  auto first = deploy(server("one")).as<Deploy::Ok>();
  EXPECT_THAT(running(), ElementsAre(service() + ".1.0", service() + ".1.1"));
  ASSERT_EQ(first.programs.size(), 2U);
  EXPECT_EQ(first.endpoint, "unix:" + world.folder.path("replicas/" + service() + ".1.0/run/socket"));
  EXPECT_GT(first.programs[1].pid, 0);
  deploy(server("two"), "2").as<Deploy::Ok>();
  EXPECT_THAT(running(), ElementsAre(service() + ".2.0", service() + ".2.1"));
}

TEST_F(LocalRuntimeTest, DeploymentsTakeTurnsInTheirPorts) {
  provision("{\"port\":" + std::to_string(*process::free_port()) + "}");
  const std::string artifact = world.bundle("ports", "/usr/bin/python3", process::server_script());
  ASSERT_TRUE(process::replace_file(artifact + "/bundle.yaml", "name: hello\nversion: \"1\"\nrun: [./app]\n", 0644));
  auto first = deploy(artifact).as<Deploy::Ok>();
  EXPECT_TRUE(deploy(bundle("bad", "raise SystemExit(1)")).is<Deploy::CrashLoop>());
  auto second = deploy(artifact, "2").as<Deploy::Ok>();
  EXPECT_NE(first.endpoint, second.endpoint);
  EXPECT_EQ(deploy(artifact, "3").as<Deploy::Ok>().endpoint, first.endpoint);
}

TEST_F(LocalRuntimeTest, DeployNeedsAPlace) { EXPECT_EQ(deploy(server("one")).as<Deploy::Notfound>().instance, "i"); }

TEST_F(LocalRuntimeTest, DeployRefusesWhatIsNoBundle) {
  provision();
  EXPECT_EQ(deploy("here").as<Deploy::BadBundle>().reason,
            "expected the absolute path of a bundle's folder or archive");
  EXPECT_THAT(deploy(world.folder.path()).as<Deploy::BadBundle>().reason, HasSubstr("bundle.yaml"));
  EXPECT_THAT(deploy(server("one") + "/app").as<Deploy::BadBundle>().reason, HasSubstr("app"));
}

TEST_F(LocalRuntimeTest, DeploySaysThatAProgramCannotStart) {
  provision();
  const std::string artifact = server("one");
  ASSERT_TRUE(world.disk.chmod(artifact + "/app", 0644));
  EXPECT_EQ(deploy(artifact).as<Deploy::CannotStart>().reason, "./app is not an executable file");
  EXPECT_THAT(*world.replicas.list(), ElementsAre());
}

TEST_F(LocalRuntimeTest, DeploySaysThatAPortIsInUse) {
  uint16_t port = *process::free_port();
  provision("{\"port\":" + std::to_string(port - 1) + "}");
  process::TakenPort taken;
  State state(harness.rows());
  state.edit(LocalRuntimeId(service()), [&](LocalRuntimeRecord& record) { record.port = taken.number() - 1; });
  const std::string artifact = world.bundle("ports", "/usr/bin/python3", process::server_script());
  ASSERT_TRUE(process::replace_file(artifact + "/bundle.yaml", "name: hello\nversion: \"1\"\nrun: [./app]\n", 0644));
  EXPECT_EQ(deploy(artifact).as<Deploy::PortInUse>().port, taken.number());
}

TEST_F(LocalRuntimeTest, DeployThatCrashesLeavesTheOneBeforeRunning) {
  provision();
  deploy(server("good")).as<Deploy::Ok>();
  auto crash = deploy(bundle("bad", "import sys\nsys.exit('no settings')"), "2").as<Deploy::CrashLoop>();
  EXPECT_EQ(crash.reason, "it ended with exit code 1, 5 times without ever being healthy");
  EXPECT_THAT(crash.lastLines, Contains("err no settings"));
  EXPECT_THAT(running(), ElementsAre(service() + ".1.0"));
  EXPECT_EQ(State(harness.rows()).find_by_instance("i").front().record.version, "1");
}

TEST_F(LocalRuntimeTest, DeploySaysThatItIsNeverHealthy) {
  provision();
  auto late = deploy(bundle("late", "import time\nprint('waiting', flush=True)\ntime.sleep(1000)",
                            "health: { start_within: 1s }\n"))
                  .as<Deploy::HealthTimeout>();
  EXPECT_EQ(late.reason, "it was not healthy within 1000 ms: it has no socket yet");
  EXPECT_THAT(late.lastLines, Contains("out waiting"));
  EXPECT_THAT(*world.replicas.list(), ElementsAre());
}

TEST_F(LocalRuntimeTest, DeploySaysThatItUsesUpItsMemory) {
  provision();
  auto done = deploy(bundle("large", "block = b'x' * (256 << 20)", "resources: { memory: 64MB }\n"));
  if (done.is<Deploy::CrashLoop>()) GTEST_SKIP() << "no control group bounds memory here";
  EXPECT_EQ(done.as<Deploy::OutOfMemory>().reason,
            "it used up its 64 MB of memory, 5 times without ever being healthy");
}

TEST_F(LocalRuntimeTest, RollbackRunsTheVersionBeforeAgain) {
  provision();
  EXPECT_EQ(harness.invoke(Rollback{.instance = "i"}).as<Rollback::NoPrevious>().instance, "i");
  deploy(server("one"), "1").as<Deploy::Ok>();
  deploy(server("two"), "2").as<Deploy::Ok>();
  auto back = harness.invoke(Rollback{.instance = "i"}).as<Rollback::Ok>();
  EXPECT_EQ(back.restoredVersion, "1");
  EXPECT_THAT(running(), ElementsAre(service() + ".3.0"));
  EXPECT_EQ(world.replicas.workload(service() + ".3.0")->root, world.folder.path("bundles/one"));
  EXPECT_TRUE(harness.invoke(Rollback{.instance = "i"}).is<Rollback::NoPrevious>());
}

TEST_F(LocalRuntimeTest, RollbackFailedLeavesWhatRuns) {
  provision();
  const std::string one = server("one");
  deploy(one, "1").as<Deploy::Ok>();
  deploy(server("two"), "2").as<Deploy::Ok>();
  ASSERT_TRUE(world.disk.remove(one + "/app"));
  EXPECT_EQ(harness.invoke(Rollback{.instance = "i"}).as<Rollback::Failed>().reason.substr(0, 40),
            "there is no program ./app in the bundle\n");
  ASSERT_TRUE(world.disk.remove(one + "/bundle.yaml"));
  EXPECT_THAT(harness.invoke(Rollback{.instance = "i"}).as<Rollback::Failed>().reason, HasSubstr("bundle.yaml"));
  EXPECT_THAT(running(), ElementsAre(service() + ".2.0"));
}

TEST_F(LocalRuntimeTest, ScalingLeavesTheOthersAlone) {
  EXPECT_TRUE(harness.invoke(Scale{.instance = "i", .replicas = 2}).is<Scale::Notfound>());
  provision();
  const std::string artifact = server("one");
  auto first = deploy(artifact).as<Deploy::Ok>();
  auto more = harness.invoke(Scale{.instance = "i", .replicas = 3}).as<Scale::Ok>();
  EXPECT_THAT(running(), ElementsAre(service() + ".1.0", service() + ".1.1", service() + ".1.2"));
  EXPECT_EQ(more.programs[0], first.programs[0]);
  auto fewer = harness.invoke(Scale{.instance = "i", .replicas = 2}).as<Scale::Ok>();
  EXPECT_THAT(running(), ElementsAre(service() + ".1.0", service() + ".1.1"));
  EXPECT_EQ(fewer.programs[1], more.programs[1]);
  EXPECT_EQ(harness.invoke(Scale{.instance = "i", .replicas = 0}).as<Scale::Invalid>().message,
            "expected 1 to 1000 replicas");
  ASSERT_TRUE(world.disk.chmod(artifact + "/app", 0644));
  EXPECT_THAT(harness.invoke(Scale{.instance = "i", .replicas = 4}).as<Scale::Failed>().reason,
              HasSubstr("is not an executable file"));
  EXPECT_THAT(running(), ElementsAre(service() + ".1.0", service() + ".1.1"));
}

TEST_F(LocalRuntimeTest, ScalingReplacesAReplicaThatWasLost) {
  provision();
  auto before = deploy(server("one")).as<Deploy::Ok>();
  auto state = world.replicas.look(service() + ".1.0");
  ASSERT_EQ(::kill(state->supervisor.pid, SIGKILL), 0);
  ASSERT_TRUE(world.gone({state->supervisor.pid, state->program->pid}));
  auto after = harness.invoke(Scale{.instance = "i", .replicas = 1}).as<Scale::Ok>();
  EXPECT_NE(after.programs[0].pid, before.programs[0].pid);
  EXPECT_THAT(running(), ElementsAre(service() + ".1.0"));
}

TEST_F(LocalRuntimeTest, DestroyLeavesNothing) {
  provision();
  deploy(server("one")).as<Deploy::Ok>();
  EXPECT_EQ(harness.invoke(Destroy{.instance = "i"}).as<Destroy::Ok>().instance, "i");
  EXPECT_THAT(*world.replicas.list(), ElementsAre());
  EXPECT_TRUE(State(harness.rows()).find_by_instance("i").empty());
  EXPECT_TRUE(harness.invoke(Destroy{.instance = "i"}).is<Destroy::Ok>()) << "it is gone already";
}

TEST_F(LocalRuntimeTest, DestroySaysWhatItCannotEnd) {
  provision();
  deploy(server("one")).as<Deploy::Ok>();
  const std::string launch = world.folder.path("replicas/" + service() + ".1.0/launch.json");
  const std::string text = world.file(launch);
  ASSERT_TRUE(process::replace_file(launch, "{", 0600));
  EXPECT_THAT(harness.invoke(Destroy{.instance = "i"}).as<Destroy::Stuck>().reason,
              HasSubstr("the JSON text ends too early"));
  ASSERT_TRUE(process::replace_file(launch, text, 0600));
  EXPECT_TRUE(harness.invoke(Destroy{.instance = "i"}).is<Destroy::Ok>());
}

TEST_F(LocalRuntimeTest, CheckSaysHowLongAnAnswerTakes) {
  provision();
  EXPECT_TRUE(harness.invoke(Check{.instance = "i"}).is<Check::Unreachable>());
  deploy(server("one")).as<Deploy::Ok>();
  EXPECT_TRUE(harness.invoke(Check{.instance = "i"}).is<Check::Ok>());
  deploy(bundle("slow",
                "import time, http.server\nhttp.server.BaseHTTPRequestHandler.end_headers = "
                "lambda self, end=http.server.BaseHTTPRequestHandler.end_headers: (time.sleep(0.7), end(self))\n" +
                    process::server_script(),
                "health: { timeout: 20s }\n"))
      .as<Deploy::Ok>();
  EXPECT_GE(harness.invoke(Check{.instance = "i"}).as<Check::Degraded>().latencyMs, 700);
  auto state = world.replicas.look(service() + ".2.0");
  ASSERT_EQ(::kill(state->supervisor.pid, SIGKILL), 0);
  ASSERT_TRUE(world.gone({state->supervisor.pid}));
  EXPECT_EQ(harness.invoke(Check{.instance = "i"}).as<Check::Unreachable>().instance, "i");
}

}  // namespace local_runtime_test
}  // namespace sluice::deploy::local_runtime
