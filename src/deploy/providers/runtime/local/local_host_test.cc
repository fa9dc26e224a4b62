// How a bundle becomes a workload; how it is brought to run is tested in local_runtime_test.cc, where it is asked for.
#include "deploy/providers/runtime/local/local_host.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

#include "base/atomic_file.h"
#include "base/testing_wait.h"
#include "bundle/archive/pack.h"
#include "process/testing_replicas.h"

namespace sluice::deploy::local_runtime {
namespace local_host_test {

struct LocalHostTest : testing::Test {
  std::string bundle(const std::string& manifest) {
    std::string root = world.bundle("one", "/bin/sh", "exit 0");
    EXPECT_TRUE(process::replace_file(root + "/bundle.yaml", manifest, 0644));
    return root;
  }

  process::TestingReplicas world;
  LocalHost host{
      world.disk,
      world.replicas,
      {.home = world.folder.path(), .bundles = world.folder.path("unpacked"), .storage = world.folder.path("storage")}};
};

TEST_F(LocalHostTest, AManifestSaysHowItsProgramRuns) {
  auto opened =
      host.open(bundle("name: a\nversion: \"1\"\nrun: [./app, x]\nenv: { COLOR: blue }\nuser: 700\ndrain: 7s\n"
                       "secrets_as: file\nstorage: [{ name: data-base }]\nresources: { cpu: 0.5, memory: 64MB, "
                       "processes: 9, files: 99 }\n"
                       "health: { by: tcp, interval: 3s, timeout: 1s, start_within: 9s }\n"));
  ASSERT_TRUE(opened) << to_string(opened.error());
  process::Workload workload = host.workload_of(*opened, {.config = "{\"a\":1}", .storage = "shop"}, 8080);
  process::Workload expected{
      .argv = {"./app", "x"},
      .root = world.folder.path("bundles/one"),
      .environment = {{"COLOR", "blue"}, {"SLUICE_STORAGE_DATA_BASE", world.folder.path("storage/shop/data-base")}},
      .port = 8080,
      .config = "{\"a\":1}",
      .secrets_as = process::SecretsAs::file};
  expected.health = {.by = process::HealthBy::tcp,
                     .path = "/health",
                     .interval_ms = 3000,
                     .timeout_ms = 1000,
                     .start_within_ms = 9000};
  expected.limits = {.cpu = 0.5, .memory_bytes = 64 << 20, .processes = 9, .files = 99};
  expected.user = 700;
  expected.grace_ms = 7000;
  expected.hidden = world.folder.path();
  expected.writable = {world.folder.path("storage/shop/data-base")};
  EXPECT_EQ(workload, expected);
}

TEST_F(LocalHostTest, AnArchiveIsUnpackedOnce) {
  const std::string root = bundle("name: a\nversion: \"1\"\nrun: [./app]\n"), archive = world.folder.path("a.bundle");
  ASSERT_TRUE(bundle::pack(world.disk, root, {"app", "bundle.yaml"}, archive));
  auto first = host.open(archive), second = host.open(archive);
  ASSERT_TRUE(first && second) << to_string(first.error());
  EXPECT_EQ(first->root, second->root);
  EXPECT_TRUE(first->root.starts_with(world.folder.path("unpacked/")));
  EXPECT_EQ(first->manifest.name.text, "a");
}

TEST_F(LocalHostTest, WhatIsStoredBeyondItsSizeKeepsTheNextProgramFromStarting) {
  auto opened = host.open(bundle("name: a\nversion: \"1\"\nrun: [./app]\nstorage: [{ name: data, size: 1KB }]\n"));
  ASSERT_TRUE(opened) << to_string(opened.error());
  const std::string folder = world.folder.path("storage/shop/data");
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(write_atomically(world.disk, folder + "/file", std::string(2'000, 'x'), 0644));
  auto brought =
      host.bring_up(*opened, {.name = "s.1", .given = {.config = "{}", .storage = "shop"}}, [] { return false; });
  ASSERT_TRUE(std::holds_alternative<Misfortune>(brought));
  EXPECT_EQ(std::get<Misfortune>(brought).reason, "the storage data holds 2000 bytes, more than its size of 1024");
}

TEST_F(LocalHostTest, WhatSomebodyIsAboutToStartStaysUnpacked) {
  const std::string root = bundle("name: a\nversion: \"1\"\nrun: [./app]\n"), archive = world.folder.path("a.bundle");
  ASSERT_TRUE(bundle::pack(world.disk, root, {"app", "bundle.yaml"}, archive));
  auto there = [&](const Bundle& one) { return *world.disk.exists(one.root + "/bundle.yaml"); };
  std::optional<Bundle> first = host.open(archive).value(), second = host.open(archive, first->hash).value();
  ASSERT_TRUE(host.forget_unpacked({}));
  EXPECT_TRUE(there(*first));
  second.reset();
  ASSERT_TRUE(host.forget_unpacked({}));
  EXPECT_TRUE(there(*first)) << "one holds it still";
  const std::string unpacked = first->root, hash = first->hash;
  first.reset();
  ASSERT_TRUE(host.forget_unpacked({hash}));
  EXPECT_TRUE(*world.disk.exists(unpacked)) << "it may be wanted again";
  ASSERT_TRUE(host.forget_unpacked({}));
  EXPECT_FALSE(*world.disk.exists(unpacked));
}

TEST_F(LocalHostTest, WhatAKilledOneLeftHalfUnpackedOrHalfRemovedIsRemoved) {
  ASSERT_TRUE(host.check_home());
  for (const char* name : {".abc.1", "abc.going"}) {
    ASSERT_TRUE(world.disk.make_folder(world.folder.path("unpacked/") + name, 0755));
  }
  ASSERT_TRUE(host.forget_unpacked({}));
  EXPECT_TRUE(world.disk.list(world.folder.path("unpacked"))->empty());
}

TEST_F(LocalHostTest, SeveralMayLookAtTheHomeAtOnce) {
  std::atomic<int> failed = 0;
  std::vector<std::jthread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) failed += host.check_home() ? 0 : 1;
    });
  }
  threads.clear();
  EXPECT_EQ(failed, 0);
}

TEST_F(LocalHostTest, OneAtATimeWorksOnAService) {
  std::optional<LocalHost::Turn> first(std::in_place, host, "s");
  const LocalHost::Turn other(host, "t");
  EXPECT_FALSE(first->is_waited_for());
  std::atomic<bool> has = false;
  std::thread second([&] {
    const LocalHost::Turn turn(host, "s");
    has = true;
  });
  EXPECT_TRUE(eventually([&] { return first->is_waited_for(); }));
  EXPECT_FALSE(has);
  first.reset();
  second.join();
  EXPECT_TRUE(has);
}

}  // namespace local_host_test
}  // namespace sluice::deploy::local_runtime
