// LocalRuntime through the harness, with real programs: one test a variant, each made by the world.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

#include "base/testing_wait.h"
#include "bundle/archive/pack.h"
#include "bundle/manifest/image_lock.h"
#include "container/testing_engine.h"
#include "deploy/providers/runtime/local/local_host.h"
#include "deploy/providers/runtime/local/local_runtime_work.h"
#include "lang/run/harness.h"
#include "process/port.h"
#include "process/testing_port.h"
#include "process/testing_replicas.h"

namespace sluice::deploy::local_runtime {

void prepare(lang::Harness&) {}

namespace local_runtime_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

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
  // The archive of such a bundle, always at the same path: its hash.
  std::string archive(const std::string& name, const std::string& script) {
    const std::string root = bundle(name, script);
    auto packed = bundle::pack(world.disk, root, {"app", "bundle.yaml"}, archived);
    EXPECT_TRUE(packed) << to_string(packed.error());
    return "sha256:" + packed->archive_sha256;
  }
  std::string saying(const std::string& text) {
    return "print('" + text + "', flush=True)\n" + process::server_script();
  }
  // The hashes of what is unpacked.
  std::vector<std::string> unpacked() {
    std::vector<std::string> names;
    auto found = world.disk.list(world.folder.path("unpacked"));
    if (found) {
      for (const FolderEntry& each : *found) names.push_back("sha256:" + each.name);
    }
    return names;
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
  const std::string archived = world.folder.path("app.bundle");
  // As if an effect before had not ended yet.
  void occupy(bool busy = true) {
    State(harness.rows()).edit(LocalRuntimeId(service()), [&](LocalRuntimeRecord& record) {
      record.busy.reset();
      if (busy) record.busy = lang::Request("other");
    });
  }
  void lose(const std::string& name) {
    auto state = world.replicas.look(name);
    ASSERT_EQ(::kill(state->supervisor.pid, SIGKILL), 0);
    ASSERT_TRUE(world.gone({state->supervisor.pid, state->program->pid}));
  }
  // Waits for the first line of the replica's program.
  std::string first_line(const std::string& name) {
    EXPECT_TRUE(eventually([&] { return !world.said(name).empty(); }));
    auto said = world.said(name);
    return said.empty() ? "" : said.front();
  }

  LocalHost host{
      world.disk,
      world.replicas,
      {.home = world.folder.path(), .bundles = world.folder.path("unpacked"), .storage = world.folder.path("storage")}};
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
  auto done = deploy(
      bundle("large", "blocks = []\nwhile True: blocks.append(b'x' * (1 << 20))", "resources: { memory: 64MB }\n"));
  EXPECT_EQ(done.as<Deploy::OutOfMemory>().reason,
            "it used up its 64 MB of memory, 5 times without ever being healthy");
}

TEST_F(LocalRuntimeTest, AProgramGetsItsConfigItsSecretsAndItsStorage) {
  provision(R"({"config":{"color":"blue"},"storage":"shop"})");
  const std::string script =
      "import json, os\n"
      "place = os.environ['SLUICE_STORAGE_DATA'] + '/visits'\n"
      "visits = int(open(place).read()) + 1 if os.path.exists(place) else 1\n"
      "open(place, 'w').write(str(visits))\n"
      "print(json.load(open(os.environ['SLUICE_CONFIG'])), len(os.environ['TOKEN']), 'OTHER' in os.environ, visits,"
      " flush=True)\n" +
      process::server_script();
  const std::string artifact = bundle("all", script,
                                      "secrets: [TOKEN]\nstorage: [{ name: data }]\n"
                                      "config: [{ name: workers, question: How many?, type: integer, default: 4 }]\n");
  auto secrets = harness.seal(R"({"TOKEN":"t0p","OTHER":"o"})");
  harness.invoke(Deploy{.instance = "i", .artifact = artifact, .version = "1", .secrets = secrets}).as<Deploy::Ok>();
  EXPECT_EQ(first_line(service() + ".1.0"), "out {'color': 'blue', 'workers': 4} 3 False 1");
  deploy(artifact, "2").as<Deploy::Ok>();
  EXPECT_EQ(first_line(service() + ".2.0"), "out {'color': 'blue', 'workers': 4} 3 False 2")
      << "what is stored outlives a version, and its secrets are those before";
  harness.invoke(Destroy{.instance = "i"}).as<Destroy::Ok>();
  EXPECT_EQ(world.file(world.folder.path("storage/shop/data/visits")), "2") << "it has a name of its own";
  EXPECT_TRUE(harness.invoke(ForgetStorage{.storage = "../storage"}).is<ForgetStorage::Ok>())
      << "nothing has that name";
  EXPECT_TRUE(harness.invoke(ForgetStorage{.storage = "SHOP"}).is<ForgetStorage::Ok>());
  EXPECT_FALSE(*world.disk.exists(world.folder.path("storage/shop")));
}

TEST_F(LocalRuntimeTest, StorageThatIsUsedOrCannotBeRemovedIsStuck) {
  provision(R"({"storage":"shop"})");
  EXPECT_EQ(harness.invoke(ForgetStorage{.storage = "shop"}).as<ForgetStorage::Stuck>().reason,
            "something that uses it is there");
  harness.invoke(Destroy{.instance = "i"}).as<Destroy::Ok>();
  const std::string folder = world.folder.path("storage");
  ASSERT_TRUE(process::replace_file(folder, "in the way", 0600));
  EXPECT_NE(harness.invoke(ForgetStorage{.storage = "shop"}).as<ForgetStorage::Stuck>().reason, "");
  ASSERT_TRUE(world.disk.remove(folder));
  EXPECT_TRUE(harness.invoke(ForgetStorage{.storage = "shop"}).is<ForgetStorage::Ok>());
}

TEST_F(LocalRuntimeTest, StorageIsMadeBeforeAnythingRunsAndGoesWhileItIsEmpty) {
  EXPECT_EQ(harness.invoke(MakeStorage{.storage = "../shop", .names = {"data"}}).as<MakeStorage::Failed>().reason,
            "a storage has a plain name");
  EXPECT_EQ(harness.invoke(MakeStorage{.storage = "shop", .names = {"../x"}}).as<MakeStorage::Failed>().storage,
            "shop");
  const std::string place = world.folder.path("storage");
  ASSERT_TRUE(process::replace_file(place, "in the way", 0600));
  EXPECT_NE(harness.invoke(MakeStorage{.storage = "shop", .names = {"data"}}).as<MakeStorage::Failed>().reason, "");
  EXPECT_TRUE(harness.invoke(UnmakeStorage{.storage = "shop"}).as<UnmakeStorage::Ok>().empty) << "there is none";
  ASSERT_TRUE(world.disk.remove(place));

  harness.invoke(MakeStorage{.storage = "SHOP", .names = {"data", "cache"}}).as<MakeStorage::Ok>();
  EXPECT_TRUE(*world.disk.exists(place + "/shop/data"));
  ASSERT_TRUE(process::replace_file(place + "/shop/data/visits", "2", 0600));
  EXPECT_FALSE(harness.invoke(UnmakeStorage{.storage = "shop"}).as<UnmakeStorage::Ok>().empty);
  EXPECT_EQ(world.file(place + "/shop/data/visits"), "2");
  EXPECT_FALSE(*world.disk.exists(place + "/shop/cache"));
  ASSERT_TRUE(world.disk.remove(place + "/shop/data/visits"));
  EXPECT_TRUE(harness.invoke(UnmakeStorage{.storage = "shop"}).as<UnmakeStorage::Ok>().empty);
  EXPECT_FALSE(*world.disk.exists(place + "/shop"));

  harness.invoke(MakeStorage{.storage = "shop", .names = {"data"}}).as<MakeStorage::Ok>();
  provision(R"({"storage":"shop"})");
  EXPECT_FALSE(harness.invoke(UnmakeStorage{.storage = "shop"}).as<UnmakeStorage::Ok>().empty) << "something uses it";
  harness.invoke(Destroy{.instance = "i"}).as<Destroy::Ok>();
  std::filesystem::remove_all(place + "/shop");
  ASSERT_TRUE(process::replace_file(place + "/shop", "in the way", 0600));
  EXPECT_NE(harness.invoke(UnmakeStorage{.storage = "shop"}).as<UnmakeStorage::Failed>().reason, "");
}

TEST_F(LocalRuntimeTest, StorageWithoutANameGoesWithItsInstance) {
  provision();
  deploy(server("one", "storage: [{ name: data }]\n")).as<Deploy::Ok>();
  const std::string folder = world.folder.path("storage/" + service());
  EXPECT_TRUE(*world.disk.exists(folder + "/data"));
  harness.invoke(Destroy{.instance = "i"}).as<Destroy::Ok>();
  EXPECT_FALSE(*world.disk.exists(folder));
}

TEST_F(LocalRuntimeTest, DeploySaysWhatTheBundleAsksForInVain) {
  provision();
  EXPECT_EQ(
      deploy(server("asks", "config: [{ name: region, question: Where? }]\n")).as<Deploy::InvalidConfig>().message,
      "/region: region has no answer: Where?");
  auto missing = deploy(server("secretive", "secrets: [TOKEN]\n")).as<Deploy::SecretsMissing>();
  EXPECT_THAT(missing.names, ElementsAre("TOKEN"));
  EXPECT_EQ(missing.reason,
            "it has no TOKEN among its secrets: none were given; give them with the deployment, as a JSON object of "
            "texts");
  EXPECT_THAT(*world.replicas.list(), ElementsAre());
}

TEST_F(LocalRuntimeTest, OneThingAtATimeIsDoneToAService) {
  provision();
  const std::string artifact = server("one");
  deploy(artifact, "1").as<Deploy::Ok>();
  deploy(artifact, "2").as<Deploy::Ok>();
  occupy();
  EXPECT_EQ(deploy(artifact).as<Deploy::Busy>().instance, "i");
  EXPECT_TRUE(harness.invoke(Rollback{.instance = "i"}).is<Rollback::Busy>());
  EXPECT_TRUE(harness.invoke(Scale{.instance = "i", .replicas = 2}).is<Scale::Busy>());
  EXPECT_TRUE(harness.invoke(Repair{.service = LocalRuntimeId(service())}).is<Repair::Busy>());
  EXPECT_TRUE(harness.invoke(Destroy{.instance = "i"}).is<Destroy::Busy>());
  occupy(false);
  harness.end_with({.outcome = lang::EngineOutcome::refused});
  deploy(artifact).engine();
  EXPECT_TRUE(harness.invoke(Scale{.instance = "i", .replicas = 1}).is<Scale::Ok>()) << "finish gives it back";
}

TEST_F(LocalRuntimeTest, ARepairMakesWay) {
  provision();
  auto before = deploy(server("one")).as<Deploy::Ok>();
  State state(harness.rows());
  state.edit(before.service, [](LocalRuntimeRecord& record) {
    record.busy = lang::Request("a repair");
    record.repairing = true;
  });
  EXPECT_TRUE(harness.invoke(Repair{.service = before.service}).is<Repair::Busy>()) << "one is enough";
  EXPECT_TRUE(deploy(server("two"), "2").is<Deploy::Ok>());
  EXPECT_THAT(running(), ElementsAre(service() + ".2.0"));
  EXPECT_FALSE(state.get(before.service)->busy);
}

TEST_F(LocalRuntimeTest, WhatTheEngineGaveUpIsAbandoned) {
  provision();
  const std::string artifact = server("one");
  auto before = deploy(artifact, "1").as<Deploy::Ok>();
  deploy(artifact, "2").as<Deploy::Ok>();
  const lang::EngineEnd end{.outcome = lang::EngineOutcome::unknown, .message = "three crashes", .maybe_done = true};
  harness.end_with(end);
  EXPECT_EQ(deploy(artifact).as<Deploy::Abandoned>(),
            (Deploy::Abandoned{.service = before.service, .reason = "three crashes"}));
  harness.end_with(end);
  EXPECT_EQ(harness.invoke(Rollback{.instance = "i"}).as<Rollback::Abandoned>().reason, "three crashes");
  harness.end_with(end);
  EXPECT_EQ(harness.invoke(Scale{.instance = "i", .replicas = 2}).as<Scale::Abandoned>().service, before.service);
  EXPECT_FALSE(State(harness.rows()).get(before.service)->busy);
}

TEST_F(LocalRuntimeTest, RenewReplacesOneReplicaAfterTheOther) {
  provision(R"({"replicas":2})");
  const std::string artifact = server("one", "secrets: [TOKEN]\n");
  Renew ask{.instance = "i", .secrets = harness.seal(R"({"TOKEN":"two"})")};
  EXPECT_EQ(harness.invoke(ask).as<Renew::Failed>().reason, "nothing runs of it on this machine");
  harness
      .invoke(
          Deploy{.instance = "i", .artifact = artifact, .version = "1", .secrets = harness.seal(R"({"TOKEN":"one"})")})
      .as<Deploy::Ok>();
  const std::string name = service();
  auto first = harness.invoke(ask).as<Renew::Replaced>();
  EXPECT_EQ(first.replica, name + ".1.0");
  ASSERT_EQ(first.replicas.size(), 2U);
  EXPECT_EQ(first.replicas[0].name, name + ".2.0");
  EXPECT_EQ(first.replicas[1].name, name + ".1.1");
  EXPECT_THAT(running(), UnorderedElementsAre(name + ".1.0", name + ".1.1", name + ".2.0")) << "the old one goes on";
  EXPECT_EQ(*world.replicas.secrets(name + ".2.0"), (process::Secrets{{"TOKEN", "two"}}));
  EXPECT_EQ(harness.invoke(Release{.instance = "i", .replica = name + ".2.0"}).as<Release::Ok>().instance, "i");
  EXPECT_THAT(running(), testing::SizeIs(3)) << "what is listed is not stopped";
  EXPECT_TRUE(harness.invoke(Release{.instance = "i", .replica = name + ".1.0"}).is<Release::Ok>());
  EXPECT_THAT(running(), UnorderedElementsAre(name + ".1.1", name + ".2.0"));
  // What is half done can be repaired as it is.
  lose(name + ".1.1");
  EXPECT_TRUE(harness.invoke(Repair{.service = LocalRuntimeId(name)}).is<Repair::Ok>());
  EXPECT_THAT(running(), UnorderedElementsAre(name + ".1.1", name + ".2.0"));
  EXPECT_EQ(harness.invoke(ask).as<Renew::Replaced>().replica, name + ".1.1");
  harness.invoke(Release{.instance = "i", .replica = name + ".1.1"}).as<Release::Ok>();
  EXPECT_TRUE(harness.invoke(ask).is<Renew::Done>());
  EXPECT_THAT(running(), UnorderedElementsAre(name + ".2.0", name + ".2.1"));
  EXPECT_TRUE(harness.invoke(Release{.instance = "none", .replica = name + ".2.1"}).is<Release::Ok>());
}

TEST_F(LocalRuntimeTest, ARenewalThatFailsLeavesWhatRuns) {
  provision();
  const std::string artifact = bundle(
      "picky", "import os, sys\nif os.environ['TOKEN'] == 'bad': sys.exit('no luck')\n" + process::server_script(),
      "secrets: [TOKEN]\n");
  harness
      .invoke(
          Deploy{.instance = "i", .artifact = artifact, .version = "1", .secrets = harness.seal(R"({"TOKEN":"one"})")})
      .as<Deploy::Ok>();
  const Renew bad{.instance = "i", .secrets = harness.seal(R"({"TOKEN":"bad"})")};
  auto failed = harness.invoke(bad).as<Renew::Failed>();
  EXPECT_THAT(failed.lastLines, Contains(HasSubstr("no luck")));
  EXPECT_THAT(running(), ElementsAre(service() + ".1.0"));
  occupy();
  EXPECT_EQ(harness.invoke(bad).as<Renew::Failed>().reason, "something else is being done to it");
  occupy(false);
  harness.end_with({.outcome = lang::EngineOutcome::unavailable, .message = "no more"});
  EXPECT_EQ(harness.invoke(bad).as<Renew::Abandoned>().reason, "no more");
  EXPECT_FALSE(State(harness.rows()).get(LocalRuntimeId(service()))->busy);
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

TEST_F(LocalRuntimeTest, RollbackGoesBackStepByStep) {
  provision();
  for (const char* version : {"1", "2", "3"}) deploy(server(std::string("v") + version), version).as<Deploy::Ok>();
  EXPECT_EQ(harness.invoke(Rollback{.instance = "i"}).as<Rollback::Ok>().restoredVersion, "2");
  EXPECT_EQ(harness.invoke(Rollback{.instance = "i"}).as<Rollback::Ok>().restoredVersion, "1");
  EXPECT_TRUE(harness.invoke(Rollback{.instance = "i"}).is<Rollback::NoPrevious>());
  EXPECT_EQ(harness.invoke(Show{.instance = "i"}).as<Show::Ok>().version, "1");
}

TEST_F(LocalRuntimeTest, AnArchiveIsKnownByItsHashWhateverIsAtItsPathLater) {
  provision();
  const std::string first = archive("one", saying("first"));
  EXPECT_EQ(deploy(archived, "1").as<Deploy::Ok>().artifactHash, first);
  const std::string second = archive("two", saying("second"));
  EXPECT_EQ(deploy(archived, "2").as<Deploy::Ok>().artifactHash, second);
  archive("three", saying("third"));
  harness.invoke(Scale{.instance = "i", .replicas = 2}).as<Scale::Ok>();
  EXPECT_EQ(first_line(service() + ".2.1"), "out second");
  harness.invoke(Rollback{.instance = "i"}).as<Rollback::Ok>();
  EXPECT_EQ(first_line(service() + ".3.0"), "out first");
}

TEST_F(LocalRuntimeTest, RollbackSaysThatTheArchiveIsGone) {
  provision();
  const std::string first = archive("one", saying("first"));
  deploy(archived, "1").as<Deploy::Ok>();
  deploy(server("two"), "2").as<Deploy::Ok>();
  std::filesystem::remove_all(world.folder.path("unpacked"));
  EXPECT_EQ(archive("again", saying("first")), first);
  EXPECT_EQ(harness.invoke(Rollback{.instance = "i"}).as<Rollback::Ok>().restoredVersion, "1") << "it is unpacked anew";
  deploy(server("three"), "3").as<Deploy::Ok>();
  std::filesystem::remove_all(world.folder.path("unpacked"));
  archive("other", saying("other"));
  EXPECT_EQ(harness.invoke(Rollback{.instance = "i"}).as<Rollback::Failed>().reason,
            archived + " is another archive now, and the one that was deployed is gone");
}

TEST_F(LocalRuntimeTest, OnlyWhatCanRunAgainStaysUnpacked) {
  provision();
  archive("bad", "raise SystemExit(1)");
  EXPECT_TRUE(deploy(archived).is<Deploy::CrashLoop>());
  EXPECT_THAT(unpacked(), ElementsAre()) << "it failed";
  const std::string first = archive("one", saying("first"));
  deploy(archived, "1").as<Deploy::Ok>();
  const std::string second = archive("two", saying("second"));
  deploy(archived, "2").as<Deploy::Ok>();
  EXPECT_THAT(unpacked(), UnorderedElementsAre(first, second)) << "the one before may be wanted again";
  harness.invoke(Destroy{.instance = "i"}).as<Destroy::Ok>();
  EXPECT_THAT(unpacked(), ElementsAre());
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

TEST_F(LocalRuntimeTest, ScalingOutlivesAVersionAndKeepsThePorts) {
  provision(R"({"replicas":2})");
  // It listens on a socket, so nobody has to have them.
  State(harness.rows()).edit(LocalRuntimeId(service()), [](LocalRuntimeRecord& record) { record.port = 40'000; });
  const std::string artifact = server("one");
  deploy(artifact).as<Deploy::Ok>();
  harness.invoke(Scale{.instance = "i", .replicas = 1}).as<Scale::Ok>();
  deploy(artifact, "2").as<Deploy::Ok>();
  EXPECT_THAT(running(), ElementsAre(service() + ".2.0"));
  EXPECT_EQ(harness.invoke(Scale{.instance = "i", .replicas = 3}).as<Scale::Invalid>().message,
            "its ports are for 2 replicas; provision it anew with more");
  harness.invoke(Scale{.instance = "i", .replicas = 2}).as<Scale::Ok>();
  EXPECT_THAT(running(), ElementsAre(service() + ".2.0", service() + ".2.1"));
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

TEST_F(LocalRuntimeTest, ScalingLeavesAReplicaWhoseBundleHasChangedAsItIs) {
  provision();
  const std::string artifact = server("one");
  auto first = deploy(artifact).as<Deploy::Ok>();
  const std::string manifest = world.file(artifact + "/bundle.yaml") + "env: { COLOR: blue }\n";
  ASSERT_TRUE(process::replace_file(artifact + "/bundle.yaml", manifest, 0644));
  auto more = harness.invoke(Scale{.instance = "i", .replicas = 2}).as<Scale::Ok>();
  EXPECT_EQ(more.programs[0], first.programs[0]);
  EXPECT_EQ(world.replicas.workload(more.programs[1].name)->environment.count("COLOR"), 1U);
}

TEST_F(LocalRuntimeTest, RepairStartsAgainWhatIsLostAndNothingElse) {
  provision(R"({"replicas":2})");
  const std::string artifact = server("one", "secrets: [TOKEN]\n");
  auto before =
      harness
          .invoke(Deploy{
              .instance = "i", .artifact = artifact, .version = "1", .secrets = harness.seal(R"({"TOKEN":"t"})")})
          .as<Deploy::Ok>();
  lose(service() + ".1.0");
  auto after = harness.invoke(Repair{.service = before.service}).as<Repair::Ok>();
  EXPECT_EQ(after.instance, "i");
  EXPECT_EQ(after.endpoint, before.endpoint);
  EXPECT_NE(after.programs[0].pid, before.programs[0].pid);
  EXPECT_EQ(after.programs[1], before.programs[1]);
  EXPECT_THAT(running(), ElementsAre(service() + ".1.0", service() + ".1.1"));
  EXPECT_EQ(*world.replicas.secrets(service() + ".1.0"), (process::Secrets{{"TOKEN", "t"}}));
  EXPECT_EQ(State(harness.rows()).programs(before.service).values(), after.programs);
}

TEST_F(LocalRuntimeTest, RepairGivesOneWhosePortIsTakenAnother) {
  provision();
  const std::string artifact = world.bundle("ports", "/usr/bin/python3", process::server_script());
  ASSERT_TRUE(process::replace_file(artifact + "/bundle.yaml", "name: hello\nversion: \"1\"\nrun: [./app]\n", 0644));
  auto before = deploy(artifact).as<Deploy::Ok>();
  lose(service() + ".1.0");
  const uint16_t port = *world.replicas.workload(service() + ".1.0")->port;
  process::TakenPort taken(port);
  auto after = harness.invoke(Repair{.service = before.service}).as<Repair::Ok>();
  EXPECT_NE(after.endpoint, before.endpoint);
  EXPECT_THAT(running(), ElementsAre(service() + ".1.0"));
}

TEST_F(LocalRuntimeTest, RepairRemovesWhatAnEffectThatWasGivenUpLeft) {
  provision();
  auto before = deploy(server("one")).as<Deploy::Ok>();
  world.settled(service() + ".7.0", world.server());
  harness.invoke(Repair{.service = before.service}).as<Repair::Ok>();
  EXPECT_THAT(*world.replicas.list(), ElementsAre(service() + ".1.0"));
}

TEST_F(LocalRuntimeTest, RepairStartsAnewWhatAnEffectThatWasGivenUpHasRemoved) {
  provision(R"({"replicas":2})");
  auto before = deploy(server("one")).as<Deploy::Ok>();
  ASSERT_TRUE(world.replicas.remove(service() + ".1.0"));
  auto after = harness.invoke(Repair{.service = before.service}).as<Repair::Ok>();
  EXPECT_THAT(running(), ElementsAre(service() + ".1.0", service() + ".1.1"));
  EXPECT_EQ(after.programs[1], before.programs[1]);
}

TEST_F(LocalRuntimeTest, RepairSaysWhatItCannotRepair) {
  EXPECT_TRUE(harness.invoke(Repair{.service = LocalRuntimeId("none")}).is<Repair::Notfound>());
  provision();
  EXPECT_TRUE(harness.invoke(Repair{.service = LocalRuntimeId(service())}).is<Repair::Ok>()) << "nothing is deployed";
  const std::string artifact = server("one");
  auto before = deploy(artifact).as<Deploy::Ok>();
  lose(service() + ".1.0");
  ASSERT_TRUE(world.disk.chmod(artifact + "/app", 0644));
  EXPECT_THAT(harness.invoke(Repair{.service = before.service}).as<Repair::Failed>().reason,
              HasSubstr("./app is not an executable file"));
  EXPECT_THAT(*world.replicas.list(), ElementsAre(service() + ".1.0")) << "it is tried again";
  ASSERT_TRUE(world.disk.remove(artifact + "/bundle.yaml"));
  EXPECT_THAT(harness.invoke(Repair{.service = before.service}).as<Repair::Failed>().reason, HasSubstr("bundle.yaml"));
}

TEST_F(LocalRuntimeTest, ShowSaysWhichReplicasThereAre) {
  EXPECT_EQ(harness.invoke(Show{.instance = "i"}).as<Show::Notfound>().instance, "i");
  provision();
  auto deployed = deploy(server("one"), "1.2").as<Deploy::Ok>();
  auto shown = harness.invoke(Show{.instance = "i"}).as<Show::Ok>();
  EXPECT_EQ(shown.version, "1.2");
  EXPECT_EQ(shown.replicas, 1);
  EXPECT_EQ(shown.programs, deployed.programs);
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
  EXPECT_TRUE(eventually([&] { return harness.invoke(Check{.instance = "i"}).is<Check::Ok>(); }));
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

TEST_F(LocalRuntimeTest, CheckAsksNow) {
  provision();
  // So that the supervisor does not ask meanwhile.
  deploy(server("one", "health: { interval: 10m, timeout: 1s }\n")).as<Deploy::Ok>();
  auto state = world.replicas.look(service() + ".1.0");
  ASSERT_EQ(::kill(state->program->pid, SIGSTOP), 0);
  EXPECT_TRUE(harness.invoke(Check{.instance = "i"}).is<Check::Unreachable>());
  ASSERT_EQ(::kill(state->program->pid, SIGCONT), 0);
  EXPECT_TRUE(eventually([&] { return !harness.invoke(Check{.instance = "i"}).is<Check::Unreachable>(); }));
}

TEST_F(LocalRuntimeTest, CheckBelievesACommand) {
  provision();
  deploy(server("one",
                "health: { by: command, command: [sh, -c, 'test ! -e $HOME/sick'], interval: 1s, "
                "unhealthy_after: 1 }\n"))
      .as<Deploy::Ok>();
  EXPECT_TRUE(eventually([&] { return !harness.invoke(Check{.instance = "i"}).is<Check::Unreachable>(); }));
  const std::string name = service() + ".1.0";
  ASSERT_TRUE(process::replace_file(world.folder.path("replicas/" + name + "/run/sick"), "", 0644));
  ASSERT_TRUE(eventually([&] { return !world.replicas.look(name)->healthy; }));
  EXPECT_TRUE(harness.invoke(Check{.instance = "i"}).is<Check::Unreachable>());
}

TEST_F(LocalRuntimeTest, RenewWithoutSecretsIsByItsRound) {
  provision();
  deploy(server("one")).as<Deploy::Ok>();
  const Renew ask{.instance = "i", .round = lang::Request("r1")};
  EXPECT_EQ(harness.invoke(ask).as<Renew::Replaced>().replica, service() + ".1.0");
  harness.invoke(Release{.instance = "i", .replica = service() + ".1.0"}).as<Release::Ok>();
  EXPECT_TRUE(harness.invoke(ask).is<Renew::Done>());
  EXPECT_THAT(running(), ElementsAre(service() + ".2.0"));
}

TEST_F(LocalRuntimeTest, ReloadSendsASignalIfTheConfigIsAnother) {
  EXPECT_TRUE(harness.invoke(Reload{.instance = "i"}).is<Reload::Notfound>());
  provision(R"({"config":{"color":"red"}})");
  const std::string artifact =
      bundle("heard", "import signal\nsignal.signal(signal.SIGHUP, lambda *_: print('told', flush=True))\n" +
                          process::server_script());
  deploy(artifact).as<Deploy::Ok>();
  EXPECT_TRUE(harness.invoke(Reload{.instance = "i"}).is<Reload::Ok>()) << "nothing new";
  const std::string replica = service() + ".1.0";
  EXPECT_EQ(world.replicas.workload(replica)->config, R"({"color":"red"})");
  provision(R"({"config":{"color":"blue"}})");
  EXPECT_EQ(harness.invoke(Reload{.instance = "i"}).as<Reload::Ok>().instance, "i");
  EXPECT_EQ(world.replicas.workload(replica)->config, R"({"color":"blue"})");
  EXPECT_TRUE(eventually([&] {
    auto lines = world.replicas.last_lines(replica, 10);
    return lines && std::ranges::any_of(*lines, [](const auto& each) { return each.text == "told"; });
  }));
  std::filesystem::remove_all(artifact);
  EXPECT_THAT(harness.invoke(Reload{.instance = "i"}).as<Reload::Failed>().reason, HasSubstr("No such file"));
}

// ---- images: what engines say of them; real ones are asked in tests/container

class LocalRuntimeImageTest : public LocalRuntimeTest {
 protected:
  LocalRuntimeImageTest() {
    harness.tools().add(with_images);
    engine.greet();
    provision();
  }
  auto deploy_image(const std::string& platform, const std::string& error) {
    const std::string root = bundle("image-" + std::to_string(++images_made), "", "");
    const std::string digest = "sha256:" + std::string(64, 'a');
    const bundle::ImageLock lock{
        .reference = "registry.example/shop:1", .digest = digest, .platforms = {{platform, digest}}};
    EXPECT_TRUE(process::replace_file(root + "/bundle.yaml",
                                      "name: hello\nversion: \"1\"\nimage: registry.example/shop:1\n", 0644));
    EXPECT_TRUE(process::replace_file(root + "/image.lock.json", bundle::print_image_lock(lock), 0644));
    engine.answer("GET /v1.41/images/", "404 Not Found", R"({"message":"no such image"})");
    engine.answer("POST /v1.41/images/create", "200 OK", "{\"error\":\"" + error + "\"}\n");
    return deploy(root);
  }

  container::TestingEngine engine;
  LocalImages images{world.disk,
                     world.clock,
                     world.random,
                     {.folder = world.folder.path("images"), .variables = [this](const std::string& name) {
                        return name == "DOCKER_HOST" ? std::optional("unix://" + socket) : std::nullopt;
                      }}};
  LocalHost with_images{world.disk,
                        world.replicas,
                        {.home = world.folder.path(),
                         .bundles = world.folder.path("unpacked"),
                         .storage = world.folder.path("storage"),
                         .images = &images}};
  std::string socket = engine.socket();
  int images_made = 0;
};

TEST_F(LocalRuntimeImageTest, DeployTellsWhyThereIsNoImage) {
  EXPECT_THAT(deploy_image("linux/amd64", "manifest unknown").as<Deploy::ImageNotFound>().reason,
              HasSubstr("cannot pull registry.example/shop@sha256:aa"));
  EXPECT_THAT(deploy_image("linux/amd64", "unauthorized").as<Deploy::RegistryDenied>().reason,
              AllOf(HasSubstr("unauthorized"), HasSubstr("; next: give the environment a login at registry.example")));
  EXPECT_THAT(deploy_image("linux/amd64", "connection refused").as<Deploy::PullFailed>().reason,
              HasSubstr("connection refused"));
  EXPECT_THAT(deploy_image("linux/s390x", "").as<Deploy::PlatformMissing>().reason, HasSubstr("but for linux/s390x"));
  socket = world.folder.path("none");
  EXPECT_THAT(deploy_image("linux/amd64", "").as<Deploy::EngineUnavailable>().reason,
              HasSubstr("no container engine answers at " + socket));
}

TEST_F(LocalRuntimeImageTest, ForgetsImagesOfThisHome) {
  EXPECT_EQ(harness.invoke(ForgetImages{}).as<ForgetImages::Ok>().images, 0);
  ASSERT_TRUE(images.home_id());
  engine.answer("GET /v1.41/images/json", "200 OK", "[]");
  engine.answer("GET /v1.41/containers/json", "200 OK", "[]");
  EXPECT_EQ(harness.invoke(ForgetImages{}).as<ForgetImages::Ok>().images, 0);
  socket = world.folder.path("none");
  EXPECT_THAT(harness.invoke(ForgetImages{}).as<ForgetImages::EngineUnavailable>().reason,
              HasSubstr("no container engine answers"));
}

// Two replicas of the control plane share a store, and the second one leads.
TEST_F(LocalRuntimeTest, WhatIsOnAnotherMachineIsLeftAlone) {
  host.set_machine("east");
  harness.invoke(MakeStorage{.storage = "files", .names = {"a"}}).as<MakeStorage::Ok>();
  provision(R"({"storage": "files"})");
  const std::string artifact = server("v1");
  deploy(artifact).as<Deploy::Ok>();
  deploy(server("v2"), "2").as<Deploy::Ok>();
  const auto before = running();
  const lang::EngineEnd expected{lang::EngineOutcome::unavailable,
                                 "it is on the machine of the replica east, and west leads: it is left alone until "
                                 "east leads again"};
  host.set_machine("west");
  EXPECT_EQ(deploy(artifact).engine(), expected);
  EXPECT_EQ(harness.invoke(Rollback{.instance = "i"}).engine(), expected);
  EXPECT_EQ(harness.invoke(Scale{.instance = "i", .replicas = 2}).engine(), expected);
  EXPECT_EQ(harness.invoke(Reload{.instance = "i"}).engine(), expected);
  EXPECT_EQ(harness.invoke(Repair{.service = LocalRuntimeId(service())}).engine(), expected);
  EXPECT_EQ(harness.invoke(Check{.instance = "i"}).engine(), expected);
  EXPECT_EQ(harness.invoke(Destroy{.instance = "i"}).engine(), expected);
  EXPECT_EQ(harness.invoke(Renew{.instance = "i"}).as<Renew::Abandoned>().reason, expected.message);
  EXPECT_EQ(harness.invoke(MakeStorage{.storage = "files", .names = {"b"}}).engine(), expected);
  EXPECT_EQ(harness.invoke(Provision{.instance = "j", .config = R"({"storage": "files"})"}).engine(), expected);
  EXPECT_EQ(running(), before);
  // What it makes itself is its own.
  harness.invoke(Provision{.instance = "k", .config = "{}"}).as<Provision::Ok>();
  EXPECT_EQ(harness.invoke(Destroy{.instance = "k"}).as<Destroy::Ok>().instance, "k");

  host.set_machine("east");
  harness.invoke(Rollback{.instance = "i"}).as<Rollback::Ok>();
  harness.invoke(Destroy{.instance = "i"}).as<Destroy::Ok>();
  EXPECT_THAT(running(), ElementsAre());
  host.set_machine("west");
  EXPECT_EQ(harness.invoke(UnmakeStorage{.storage = "files"}).engine(), expected);
  EXPECT_EQ(harness.invoke(ForgetStorage{.storage = "files"}).engine(), expected);
  EXPECT_TRUE(*world.disk.exists(world.folder.path("storage/files")));
  host.set_machine("east");
  harness.invoke(ForgetStorage{.storage = "files"}).as<ForgetStorage::Ok>();
}

}  // namespace local_runtime_test
}  // namespace sluice::deploy::local_runtime
