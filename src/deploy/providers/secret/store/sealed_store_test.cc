// What is kept can be had again with the right key, and with nothing else; a store that is cut off, damaged or closed
// says so; and a rekey that is stopped anywhere loses nothing.
#include "deploy/providers/secret/store/sealed_store.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_faulty_disk.h"
#include "base/testing_folder.h"
#include "base/testing_volatile_disk.h"

namespace sluice::deploy::secret_store {
namespace sealed_store_test {

class FixedRunner final : public process::Runner {
 public:
  Result<process::Ran> run(const process::RunRequest& request, const std::function<bool()>&) override {
    asked = request.argv.back();
    return ran;
  }
  std::string asked;
  process::Ran ran;
};

class SealedStoreTest : public testing::Test {
 protected:
  SealedStoreTest() {
    EXPECT_TRUE(disk.make_folder("/home", 0700));
    EXPECT_TRUE(disk.sync_folder("/"));
  }
  SealedStore::Place place() const { return {.folder = "/home/secrets", .keys = "/home/keys"}; }
  std::string got(SealedStore& from, int64_t version, const std::string& name = "hello/KEY") {
    auto value = from.get("local", name, version);
    return value ? std::string(value->reveal()) : to_string(value.error());
  }
  std::string all_files() {
    std::string all;
    for (const std::string& folder : {std::string("/home/secrets/local/1"), std::string("/home/secrets/local/2")}) {
      auto entries = disk.list(folder);
      if (!entries) continue;
      for (const auto& each : *entries) all += read_file(disk, folder + "/" + each.name, 1 << 20).value();
    }
    return all;
  }

  VolatileDisk disk;
  SeededRandom random{1};
  FixedRunner runner;
  SealedStore store{disk, random, runner, place()};
};

TEST_F(SealedStoreTest, EveryVersionCanBeHadAgain) {
  EXPECT_EQ(store.get("local", "hello/KEY", 1).error().code, Code::not_found);
  ASSERT_TRUE(store.put("local", "hello/KEY", 1, "hunter2", "a", {}));
  ASSERT_TRUE(store.put("local", "hello/KEY", 2, std::string_view("with\0NUL\n", 9), "b", {}));
  ASSERT_TRUE(store.put("prod", "hello/KEY", 1, "other", "c", {}));
  EXPECT_EQ(got(store, 1), "hunter2");
  EXPECT_EQ(got(store, 2), std::string("with\0NUL\n", 9));
  EXPECT_EQ(all_files().find("hunter2"), std::string::npos);
  EXPECT_TRUE(store.has("local", "hello/KEY", 2, "b").value());
  EXPECT_FALSE(store.has("local", "hello/KEY", 2, "a").value());
  EXPECT_FALSE(store.has("staging", "hello/KEY", 1, "a").value());
  EXPECT_EQ(disk.stat("/home/keys/secrets-local.1.key", FollowLinks::no)->mode, 0600U);
  ASSERT_TRUE(store.remove("local", "hello/KEY", 2));
  EXPECT_EQ(store.get("local", "hello/KEY", 1).error().code, Code::not_found);
}

TEST_F(SealedStoreTest, AMegabyteIsKept) {
  const std::string large(kMaxSecretBytes, 'x');
  ASSERT_TRUE(store.put("local", "hello/KEY", 1, large, "a", {}));
  EXPECT_EQ(got(store, 1), large);
}

TEST_F(SealedStoreTest, AnotherMasterKeyOpensNothing) {
  ASSERT_TRUE(store.put("local", "hello/KEY", 1, "hunter2", "a", {}));
  ASSERT_TRUE(write_atomically(disk, "/home/keys/secrets-local.1.key", std::string(64, 'a') + "\n", 0600));
  EXPECT_EQ(got(store, 1), "the master key from /home/keys/secrets-local.1.key does not open the secrets of local");
  EXPECT_FALSE(store.put("local", "hello/KEY", 2, "more", "b", {}));
  ASSERT_TRUE(disk.remove("/home/keys/secrets-local.1.key"));
  EXPECT_EQ(store.get("local", "hello/KEY", 1).error().code, Code::failed);
}

TEST_F(SealedStoreTest, AKeyThatOthersCanReadIsRefused) {
  ASSERT_TRUE(store.put("local", "hello/KEY", 1, "hunter2", "a", {}));
  ASSERT_TRUE(disk.chmod("/home/keys/secrets-local.1.key", 0644));
  auto refused = store.get("local", "hello/KEY", 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().next, "chmod 600 /home/keys/secrets-local.1.key");
}

TEST_F(SealedStoreTest, WhatWasCutOffOrExchangedIsDamaged) {
  ASSERT_TRUE(store.put("local", "hello/KEY", 1, "hunter2", "a", {}));
  ASSERT_TRUE(store.put("local", "hello/KEY", 2, "hunter3", "b", {}));
  std::vector<std::string> files;
  const auto entries = disk.list("/home/secrets/local/1").value();
  for (const FolderEntry& each : entries) {
    if (each.name != "keys.json") files.push_back("/home/secrets/local/1/" + each.name);
  }
  ASSERT_EQ(files.size(), 2U);
  const std::string first = read_file(disk, files[0], 1 << 20).value();
  ASSERT_TRUE(write_atomically(disk, files[1], first, 0600));
  EXPECT_EQ(store.get("local", "hello/KEY", 2).error().code, Code::verification_failed) << "it is that of version 1";
  ASSERT_TRUE(write_atomically(disk, files[0], first.substr(0, first.size() / 2), 0600));
  EXPECT_EQ(got(store, 1), files[0] + " is damaged: it was cut off or changed");
}

TEST_F(SealedStoreTest, TheOperatorsKeyIsReadFromAFileOrACommand) {
  ASSERT_TRUE(write_atomically(disk, "/home/my.key", std::string(32, 'k'), 0600));
  ASSERT_TRUE(store.put("local", "hello/KEY", 1, "hunter2", "a", {.file = "/home/my.key"}));
  EXPECT_FALSE(disk.exists("/home/keys/secrets-local.1.key").value());
  EXPECT_EQ(got(store, 1), "hunter2");
  runner.ran.tail = std::string(64, 'b') + "\n";
  ASSERT_TRUE(store.put("prod", "hello/KEY", 1, "hunter3", "a", {.command = "fetch-key prod"}));
  EXPECT_EQ(runner.asked, "fetch-key prod");
  EXPECT_EQ(store.get("prod", "hello/KEY", 1)->reveal(), "hunter3");
  runner.ran.tail = "what";
  EXPECT_EQ(store.get("prod", "hello/KEY", 1).error().code, Code::invalid);
  runner.ran = {.code = 3};
  EXPECT_EQ(
      store.get("prod", "hello/KEY", 1).error().message,
      "the master key of the secrets of prod cannot be had: the command `fetch-key prod`, which prints the master "
      "key, ended with exit code 3");
}

TEST_F(SealedStoreTest, NothingIsLeftThatTheOldKeysOpen) {
  ASSERT_TRUE(store.put("local", "hello/KEY", 1, "hunter2", "a", {}));
  ASSERT_TRUE(store.put("local", "hello/KEY", 2, "hunter3", "b", {}));
  EXPECT_EQ(store.rekey("local", "r", {}).value(), 2);
  EXPECT_EQ(got(store, 1), "hunter2");
  EXPECT_EQ(got(store, 2), "hunter3");
  EXPECT_FALSE(disk.exists("/home/secrets/local/1").value());
  EXPECT_FALSE(disk.exists("/home/keys/secrets-local.1.key").value());
  EXPECT_TRUE(store.has("local", "hello/KEY", 2, "b").value());
  EXPECT_EQ(store.rekey("local", "r", {}).value(), 2) << "it was done already";
  EXPECT_TRUE(disk.exists("/home/secrets/local/2").value());
  EXPECT_EQ(store.rekey("prod", "r", {}).error().code, Code::not_found);
}

// The machine stops at each operation of the disk in turn; what was not synced is gone.
TEST_F(SealedStoreTest, ARekeyThatIsStoppedAnywhereLosesNothing) {
  for (uint64_t stop = 1;; ++stop) {
    VolatileDisk below;
    ASSERT_TRUE(below.make_folder("/home", 0700));
    ASSERT_TRUE(below.sync_folder("/"));
    ASSERT_TRUE(SealedStore(below, random, runner, place()).put("local", "hello/KEY", 1, "hunter2", "a", {}));
    FaultyDisk faulty(below, {.kind = FaultKind::stop, .at = stop});
    SealedStore first(faulty, random, runner, place());
    const bool done = static_cast<bool>(first.rekey("local", "r", {}));
    below.crash();
    SealedStore again(below, random, runner, place());
    auto value = again.get("local", "hello/KEY", 1);
    ASSERT_TRUE(value) << "stopped at " << stop << ": " << to_string(value.error());
    ASSERT_EQ(value->reveal(), "hunter2") << stop;
    ASSERT_TRUE(again.rekey("local", "r", {})) << stop;
    ASSERT_EQ(again.get("local", "hello/KEY", 1)->reveal(), "hunter2") << stop;
    ASSERT_FALSE(below.exists("/home/keys/secrets-local.1.key").value()) << stop;
    ASSERT_FALSE(below.exists("/home/secrets/local/1").value()) << stop;
    if (done) break;
  }
}

// Of a put that was stopped either all is there or nothing is, and it can be repeated.
TEST_F(SealedStoreTest, APutThatIsStoppedAnywhereCanBeRepeated) {
  for (uint64_t stop = 1;; ++stop) {
    VolatileDisk below;
    ASSERT_TRUE(below.make_folder("/home", 0700));
    ASSERT_TRUE(below.sync_folder("/"));
    FaultyDisk faulty(below, {.kind = FaultKind::stop, .at = stop});
    SealedStore first(faulty, random, runner, place());
    const bool done = static_cast<bool>(first.put("local", "hello/KEY", 1, "hunter2", "a", {}));
    below.crash();
    SealedStore again(below, random, runner, place());
    if (done) {
      ASSERT_EQ(again.get("local", "hello/KEY", 1)->reveal(), "hunter2");
      break;
    }
    ASSERT_TRUE(again.put("local", "hello/KEY", 1, "hunter2", "a", {})) << stop;
    ASSERT_EQ(again.get("local", "hello/KEY", 1)->reveal(), "hunter2") << stop;
  }
}

}  // namespace sealed_store_test
}  // namespace sluice::deploy::secret_store
