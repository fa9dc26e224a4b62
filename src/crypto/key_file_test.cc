// Key files on the real disk, each refusal with its repair, and power cuts at every operation of a store.
#include "crypto/key_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/real_disk.h"
#include "base/testing_faulty_disk.h"
#include "base/testing_folder.h"
#include "base/testing_volatile_disk.h"

namespace sluice::crypto {
namespace key_file_test {

class KeyFile : public testing::Test {
 protected:
  // What load says of the key at the path: its error, then its next step.
  std::string refusal(const std::string& at) {
    auto key = load_private_key(disk, at);
    return key ? "accepted" : to_string(key.error()) + " | " + key.error().next;
  }

  void write(const std::string& at, std::string_view bytes) {
    auto file = disk.open(at, {.write = true, .create = true, .truncate = true}).value();
    ASSERT_TRUE(file->write_at(0, bytes));
  }

  RealDisk disk;
  TestingFolder folder;
  std::string root = std::filesystem::canonical(folder.path()).string();
  std::string path = root + "/key";
  PrivateKey key = PrivateKey::generate();
  const std::string make_one = "make a key with: openssl genpkey -algorithm ed25519 -out KEY";
};

TEST_F(KeyFile, WhatIsStoredIsLoaded) {
  ASSERT_TRUE(store_private_key(disk, path, key));
  EXPECT_EQ(load_private_key(disk, path).value().public_key(), key.public_key());
  EXPECT_EQ(disk.stat(path, FollowLinks::no).value().mode, 0600U);
  EXPECT_EQ(disk.list(root).value(), (std::vector<FolderEntry>{{.name = "key"}}));
}

TEST_F(KeyFile, AStoredKeyIsClosedToOthersWhateverTheUmask) {
  mode_t before = ::umask(0);
  auto stored = store_private_key(disk, path, key);
  ::umask(before);
  ASSERT_TRUE(stored);
  EXPECT_EQ(disk.stat(path, FollowLinks::no).value().mode, 0600U);
}

TEST_F(KeyFile, IsNeverStoredOverAnother) {
  ASSERT_TRUE(store_private_key(disk, path, key));
  auto stored = store_private_key(disk, path, PrivateKey::generate());
  EXPECT_EQ(stored.error().code, Code::conflict);
  EXPECT_EQ(stored.error().message, "there is a file at " + path + " already, and a key is never stored over another");
  EXPECT_EQ(stored.error().next, "use that key, or move it away: mv " + path + " " + path + ".old");
  EXPECT_EQ(load_private_key(disk, path).value().public_key(), key.public_key());
  EXPECT_EQ(disk.list(root).value().size(), 1U);
}

TEST_F(KeyFile, RefusesFilesOpenToGroupOrOthers) {
  ASSERT_TRUE(store_private_key(disk, path, key));
  for (auto [mode, text] : {std::pair(0640U, "0640"), {0604U, "0604"}, {0620U, "0620"}, {0777U, "0777"}}) {
    ASSERT_TRUE(disk.chmod(path, mode));
    EXPECT_EQ(refusal(path),
              "the key " + path + " is open to others (mode " + text + "), expected mode 0600 | chmod 600 " + path);
    EXPECT_EQ(load_private_key(disk, path).error().code, Code::denied);
  }
  for (uint32_t mode : {0400U, 0600U, 0700U}) {
    ASSERT_TRUE(disk.chmod(path, mode));
    EXPECT_EQ(refusal(path), "accepted");
  }
}

TEST_F(KeyFile, QuotesThePathInTheRepair) {
  const std::string odd = root + "/it's a key";
  ASSERT_TRUE(store_private_key(disk, odd, key));
  ASSERT_TRUE(disk.chmod(odd, 0644));
  EXPECT_EQ(load_private_key(disk, odd).error().next, "chmod 600 '" + root + "/it'\\''s a key'");
}

TEST_F(KeyFile, RefusesFilesOfOtherUsers) {
  ASSERT_TRUE(store_private_key(disk, path, key));
  const uint32_t owner = disk.stat(path, FollowLinks::no).value().owner;
  EXPECT_EQ(owner, current_user());
  if (owner != 0) {
    EXPECT_EQ(load_private_key(disk, path, owner + 1).error().message, "the key " + path + " belongs to user " +
                                                                           std::to_string(owner) + ", expected user " +
                                                                           std::to_string(owner + 1) + " or root");
    return;
  }
  EXPECT_TRUE(load_private_key(disk, path, 1000)) << "root's files are trusted";
  ASSERT_EQ(::chown(path.c_str(), 1001, static_cast<gid_t>(-1)), 0);
  EXPECT_EQ(refusal(path), "the key " + path + " belongs to user 1001, expected user 0 or root | chown 0 " + path);
  EXPECT_TRUE(load_private_key(disk, path, 1001));
}

TEST_F(KeyFile, RefusesASymlinkToAKey) {
  ASSERT_TRUE(store_private_key(disk, path, key));
  const std::string link = root + "/link";
  ASSERT_TRUE(disk.symlink(path, link));
  EXPECT_EQ(refusal(link),
            "the key " + link + " is a symlink, expected a file | give the path that this prints: readlink -f " + link);
  EXPECT_EQ(store_private_key(disk, link, key).error().code, Code::conflict);
}

TEST_F(KeyFile, RefusesASymlinkAnywhereInThePath) {
  ASSERT_TRUE(disk.make_folder(root + "/a", 0700));
  ASSERT_TRUE(disk.make_folder(root + "/a/b", 0700));
  ASSERT_TRUE(store_private_key(disk, root + "/a/b/key", key));
  ASSERT_TRUE(disk.symlink("a", root + "/link"));
  ASSERT_EQ(refusal(root + "/a/b/key"), "accepted");
  const std::string through = root + "/link/b/key";
  EXPECT_EQ(refusal(through), "the path of the key " + through + " goes through a symlink, " + root +
                                  "/link | give the path that this prints: readlink -f " + through);
  EXPECT_EQ(store_private_key(disk, root + "/link/b/other", key).error().code, Code::denied);
  EXPECT_EQ(disk.list(root + "/a/b").value().size(), 1U);
}

TEST_F(KeyFile, RefusesWhatIsNotAFile) {
  ASSERT_TRUE(disk.make_folder(path, 0700));
  EXPECT_EQ(refusal(path),
            "the key " + path + " is a folder, expected a file | give the path of the file that holds the key");
  const std::string pipe = root + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(refusal(pipe),
            "the key " + pipe +
                " is a device, a pipe or a socket, expected a file | give the path of the file that holds the key");
}

TEST_F(KeyFile, SaysWhenThereIsNone) {
  EXPECT_EQ(load_private_key(disk, path).error().code, Code::not_found);
  EXPECT_EQ(load_private_key(disk, root + "/none/key").error().code, Code::not_found);
  EXPECT_EQ(store_private_key(disk, root + "/none/key", key).error().code, Code::not_found);
}

TEST_F(KeyFile, RefusesOtherContentsByName) {
  write(path, "garbage");
  EXPECT_EQ(refusal(path), path +
                               ":1:1: this is not an Ed25519 private key: expected PEM, which begins with a line like "
                               "\"-----BEGIN PRIVATE KEY-----\" | " +
                               make_one);
  write(path, "");
  EXPECT_EQ(refusal(path), path +
                               ": this is not an Ed25519 private key: there is nothing here; expected PEM, which "
                               "begins with \"-----BEGIN \" | " +
                               make_one);
  write(path, key.public_key().to_pem());
  EXPECT_EQ(load_private_key(disk, path).error().next, make_one);
}

class FirstWeek13Key : public KeyFile {};

// Its mode is right as it is.
TEST_F(FirstWeek13Key, AFileThatIsNoKeyIsNotToBeClosed) {
  write(path, "root:x:0:0:root:/root:/bin/sh\n");
  ASSERT_TRUE(disk.chmod(path, 0644));
  EXPECT_EQ(refusal(path), path +
                               ":1:1: this is not an Ed25519 private key: expected PEM, which begins with a line like "
                               "\"-----BEGIN PRIVATE KEY-----\" | " +
                               make_one);
}

TEST_F(KeyFile, RefusesAHugeFileWithoutReadingIt) {
  write(path, "");
  ASSERT_TRUE(disk.open(path, {.write = true}).value()->truncate(uint64_t{1} << 30));
  EXPECT_EQ(refusal(path),
            "the key " + path + " is 1073741824 bytes long; a PEM key has at most 32768 | give the file of one key");
}

TEST(KeyFileCrash, LeavesTheWholeKeyOrNoneWhereverItHappens) {
  const PrivateKey key = PrivateKey::generate();
  VolatileDisk counted_under;
  FaultyDisk counted(counted_under);
  ASSERT_TRUE(counted_under.make_folder("/keys", 0700));
  ASSERT_TRUE(store_private_key(counted, "/keys/key", key));
  const uint64_t total = counted.operations();
  ASSERT_GE(total, 6U);
  for (FaultKind kind : {FaultKind::fail, FaultKind::tear, FaultKind::stop}) {
    for (uint64_t at = 1; at <= total; ++at) {
      VolatileDisk under;
      ASSERT_TRUE(under.make_folder("/keys", 0700));
      ASSERT_TRUE(under.sync_folder("/"));
      FaultyDisk disk(under, {.kind = kind, .at = at});
      EXPECT_FALSE(store_private_key(disk, "/keys/key", key)) << at;
      SeededRandom random(at);
      under.crash_keeping_some(random);
      auto loaded = load_private_key(under, "/keys/key");
      if (loaded) {
        EXPECT_EQ(loaded->public_key(), key.public_key());
      } else {
        EXPECT_EQ(loaded.error().code, Code::not_found) << at << ": " << to_string(loaded.error());
        EXPECT_TRUE(store_private_key(under, "/keys/key", key)) << at;
      }
    }
  }
}

// Power fails between the link and the removal of the staged file: both names lead to the one key.
TEST(KeyFileCrash, StoringAgainDoesNotTouchAKeyWhoseStagedFileIsStillThere) {
  const PrivateKey key = PrivateKey::generate();
  VolatileDisk under;
  ASSERT_TRUE(under.make_folder("/keys", 0700));
  ASSERT_TRUE(store_private_key(under, "/keys/key", key));
  ASSERT_TRUE(under.link("/keys/key", "/keys/key." + key.public_key().key_id()));
  FaultyDisk disk(under, {.kind = FaultKind::stop, .at = 1, .only = DiskOperation::write});
  EXPECT_FALSE(store_private_key(disk, "/keys/key", key));
  EXPECT_EQ(load_private_key(under, "/keys/key").value().public_key(), key.public_key());
}

TEST(KeyFileCrash, AStoredKeyIsDurable) {
  const PrivateKey key = PrivateKey::generate();
  VolatileDisk disk;
  ASSERT_TRUE(disk.make_folder("/keys", 0700));
  ASSERT_TRUE(disk.sync_folder("/"));
  ASSERT_TRUE(store_private_key(disk, "/keys/key", key));
  disk.crash();
  EXPECT_EQ(load_private_key(disk, "/keys/key").value().public_key(), key.public_key());
  EXPECT_EQ(disk.list("/keys").value().size(), 1U);
}

}  // namespace key_file_test
}  // namespace sluice::crypto
