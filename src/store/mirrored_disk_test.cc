// What a home loses it gets back, another home gets it too, and who holds the rows alone reads nothing secret.
#include "store/mirrored_disk.h"

#include <gtest/gtest.h>

#include <map>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "crypto/ed25519.h"
#include "crypto/key_file.h"

namespace sluice::store {
namespace mirrored_disk_test {

class Rows final : public KeptFiles {
 public:
  Result<void> keep(const KeptFile& file, const std::function<Result<std::string>(size_t part)>& bytes_of) override {
    if (broken) return Error{.code = Code::unavailable, .message = "the wire is cut"};
    KeptFile kept = file;
    kept.version = ++version;
    for (size_t part = 0; part < file.parts.size(); ++part) {
      auto& row = parts[{file.name, part, file.parts[part]}];
      if (!row.empty()) continue;
      auto bytes = bytes_of(part);
      if (!bytes) return bytes.error();
      row = *bytes;
      ++sent;
    }
    files[file.name] = kept;
    return {};
  }
  Result<void> drop(const std::string& name) override {
    files[name].gone = true;
    return {};
  }
  Result<std::vector<KeptFile>> changed_after(uint64_t after) override {
    std::vector<KeptFile> all;
    for (auto& [name, file] : files) {
      file.name = name;
      if (file.version > after) all.push_back(file);
    }
    return all;
  }
  Result<std::string> part(const std::string& name, size_t part, const std::string& digest) override {
    return parts.at({name, part, digest});
  }

  std::string all_bytes() const {
    std::string all;
    for (const auto& [unused, bytes] : parts) all += bytes;
    return all;
  }

  std::map<std::string, KeptFile> files;
  std::map<std::tuple<std::string, size_t, std::string>, std::string> parts;
  uint64_t version = 0;
  int sent = 0;
  bool broken = false;
};

struct Mirrored : testing::Test {
  static crypto::SecretBuffer key(char of = 'k') { return crypto::SecretBuffer::copy_of(std::string(32, of)); }
  std::string read(const std::string& path) {
    auto bytes = read_file(real, path, size_t{64} << 20U);
    return bytes ? *bytes : to_string(bytes.error());
  }
  void make(const std::string& name) { ASSERT_TRUE(real.make_folder(folder.path(name), 0700)); }
  void SetUp() override {
    for (const char* each : {"a", "b", "a/keys", "a/run", "a/store", "a/blobs"}) make(each);
    auto attached = disk.attach(rows, folder.path("a"), key());
    ASSERT_TRUE(attached) << to_string(attached.error());
  }

  RealDisk real;
  TestingFolder folder;
  Rows rows;
  MirroredDisk disk{real};
};

TEST_F(Mirrored, AnotherHomeGetsWhatWasSyncedOrRenamedHere) {
  ASSERT_TRUE(write_atomically(disk, folder.path("a/keys/cookies.json"), "cookies", 0600));
  ASSERT_TRUE(write_atomically(disk, folder.path("a/run/x"), "of this machine", 0600));
  ASSERT_TRUE(write_atomically(disk, folder.path("a/keys/contexts.json"), "of this person", 0600));
  const std::string large(3'000'000, 'x');
  ASSERT_TRUE(write_atomically(disk, folder.path("a/blobs/b"), large, 0400));
  auto signing = crypto::PrivateKey::generate();
  ASSERT_TRUE(crypto::store_private_key(disk, folder.path("a/keys/operator.pem"), signing));
  auto heads = disk.open(folder.path("a/store/audit.heads"), {.write = true, .create = true});
  ASSERT_TRUE((*heads)->write_at(0, "head 1\n"));
  ASSERT_TRUE((*heads)->sync(SyncWhat::contents));

  MirroredDisk other(real);
  ASSERT_TRUE(other.attach(rows, folder.path("b"), key()));
  EXPECT_EQ(read(folder.path("b/keys/cookies.json")), "cookies");
  EXPECT_EQ(read(folder.path("b/blobs/b")), large);
  EXPECT_EQ(real.stat(folder.path("b/blobs/b"), FollowLinks::no)->mode, 0400U);
  EXPECT_EQ(read(folder.path("b/store/audit.heads")), "head 1\n");
  auto loaded = crypto::load_private_key(real, folder.path("b/keys/operator.pem"));
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->public_key().key_id(), signing.public_key().key_id());
  EXPECT_FALSE(*real.exists(folder.path("b/run/x")));
  EXPECT_FALSE(*real.exists(folder.path("b/keys/contexts.json")));
}

TEST_F(Mirrored, ASecretIsSealedAndContentIsNot) {
  ASSERT_TRUE(write_atomically(disk, folder.path("a/keys/k"), "a-secret-in-a-key", 0600));
  ASSERT_TRUE(write_atomically(disk, folder.path("a/blobs/k"), "content-of-a-bundle", 0600));
  EXPECT_EQ(rows.all_bytes().find("a-secret-in-a-key"), std::string::npos);
  EXPECT_NE(rows.all_bytes().find("content-of-a-bundle"), std::string::npos);
}

TEST_F(Mirrored, WhatBelongsToOneMachineIsNotMirrored) {
  for (const char* own : {"keys/cluster.key", "keys/contexts.json", "keys/contexts.lock", "run/store.lock",
                          "store/store.db", "blobs/.incoming.1.1.unfinished", "blobs/uploads/partial/x", "keys", ""}) {
    EXPECT_FALSE(MirroredDisk::is_mirrored(own)) << own;
  }
  for (const char* kept : {"keys/operator.pem", "secrets/local/a", "store/audit.heads", "blobs/ab/cd",
                           "blobs/bundles/01J/pack-list.lock", "artifacts/blobs/ab/cd"}) {
    EXPECT_TRUE(MirroredDisk::is_mirrored(kept)) << kept;
  }
}

// A certificate is a link to a folder of its own, and is replaced by renaming another link over it.
TEST_F(Mirrored, ALinkIsMirroredAndSoIsItsReplacement) {
  for (const char* each : {"a/tls", "a/tls/.kept", "a/tls/.kept/one", "a/tls/.kept/two"}) make(each);
  for (const char* each : {"one", "two"}) {
    ASSERT_TRUE(write_atomically(disk, folder.path("a/tls/.kept/" + std::string(each) + "/key.pem"),
                                 std::string("the key of ") + each, 0600));
  }
  ASSERT_TRUE(disk.symlink(".kept/one", folder.path("a/tls/shop")));
  auto brought = disk.bring(rows, folder.path("b"), key());
  ASSERT_TRUE(brought) << to_string(brought.error());
  EXPECT_EQ(read(folder.path("b/tls/shop/key.pem")), "the key of one");
  ASSERT_TRUE(disk.symlink(".kept/two", folder.path("a/tls/.kept/link-shop")));
  ASSERT_TRUE(disk.rename(folder.path("a/tls/.kept/link-shop"), folder.path("a/tls/shop")));
  ASSERT_TRUE(disk.bring(rows, folder.path("b"), key()));
  EXPECT_EQ(*real.read_link(folder.path("b/tls/shop")), ".kept/two");
  EXPECT_EQ(read(folder.path("b/tls/shop/key.pem")), "the key of two");
  EXPECT_FALSE(*real.exists(folder.path("b/tls/.kept/link-shop")));
  EXPECT_EQ(rows.all_bytes().find("the key of"), std::string::npos);
  ASSERT_TRUE(disk.remove(folder.path("a/tls/shop")));
  ASSERT_TRUE(disk.bring(rows, folder.path("b"), key()));
  EXPECT_EQ(real.stat(folder.path("b/tls/shop"), FollowLinks::no).error().code, Code::not_found);
  // Whoever can write rows cannot have a link lead out of the home.
  ASSERT_TRUE(disk.symlink("../../elsewhere", folder.path("a/tls/out")));
  EXPECT_EQ(disk.bring(rows, folder.path("b"), key()).error().code, Code::verification_failed);
}

TEST_F(Mirrored, AHomeWithAnotherKeyGetsNothing) {
  ASSERT_TRUE(write_atomically(disk, folder.path("a/keys/k"), "secret", 0600));
  MirroredDisk other(real);
  auto refused = other.attach(rows, folder.path("b"), key('o'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::verification_failed);
  EXPECT_FALSE(other.attached());
  EXPECT_FALSE(*real.exists(folder.path("b/keys/k")));
}

TEST_F(Mirrored, RowsThatWereChangedAreRefused) {
  ASSERT_TRUE(write_atomically(disk, folder.path("a/blobs/k"), "content", 0600));
  rows.parts.begin()->second = "changed";
  MirroredDisk other(real);
  auto refused = other.attach(rows, folder.path("b"), key());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the file blobs/k is not as this cluster kept it");
  ASSERT_TRUE(write_atomically(disk, folder.path("a/blobs/k"), "content", 0600));
  ASSERT_TRUE(write_atomically(disk, folder.path("a/blobs/l"), "other content", 0600));
  rows.files["blobs/k"].parts = rows.files["blobs/l"].parts;  // exchanged, with its bytes
  rows.files["blobs/k"].size = rows.files["blobs/l"].size;
  const auto parts = rows.parts;
  for (const auto& [place, bytes] : parts) rows.parts[{"blobs/k", std::get<1>(place), std::get<2>(place)}] = bytes;
  EXPECT_EQ(other.attach(rows, folder.path("b"), key()).error().message,
            "the file blobs/k is not as this cluster kept it");
  rows.files = {{"keys/../../x", {.name = "keys/../../x", .version = 1}}};
  EXPECT_EQ(other.attach(rows, folder.path("b"), key()).error().code, Code::verification_failed);
}

TEST_F(Mirrored, WhatWasRemovedThereIsRemovedHere) {
  ASSERT_TRUE(write_atomically(disk, folder.path("a/keys/k"), "old", 0600));
  ASSERT_TRUE(write_atomically(disk, folder.path("a/keys/l"), "stays", 0600));
  MirroredDisk other(real);
  ASSERT_TRUE(other.attach(rows, folder.path("b"), key()));
  ASSERT_TRUE(disk.remove(folder.path("a/keys/k")));
  ASSERT_TRUE(write_atomically(disk, folder.path("a/keys/l"), "newer", 0600));
  other.detach();
  ASSERT_TRUE(other.attach(rows, folder.path("b"), key()));
  EXPECT_FALSE(*real.exists(folder.path("b/keys/k")));
  EXPECT_EQ(read(folder.path("b/keys/l")), "newer");
}

TEST_F(Mirrored, AFileOfTheSameLengthIsBroughtAgain) {
  for (const char* name : {"keys/k", "blobs/bundle.sig"}) {
    ASSERT_TRUE(write_atomically(disk, folder.path(std::string("a/") + name), "signature 1", 0600));
  }
  MirroredDisk other(real);
  ASSERT_TRUE(other.bring(rows, folder.path("b"), key()));
  for (const char* name : {"keys/k", "blobs/bundle.sig"}) {
    ASSERT_TRUE(write_atomically(disk, folder.path(std::string("a/") + name), "signature 2", 0600));
  }
  ASSERT_TRUE(other.bring(rows, folder.path("b"), key()));
  EXPECT_EQ(read(folder.path("b/keys/k")), "signature 2");
  EXPECT_EQ(read(folder.path("b/blobs/bundle.sig")), "signature 2");
}

TEST_F(Mirrored, WhatOnlyTheHomeHasIsKeptFromThenOn) {
  make("c");
  make("c/keys");
  ASSERT_TRUE(write_atomically(real, folder.path("c/keys/before"), "made before", 0600));
  Rows fresh;
  MirroredDisk first(real);
  ASSERT_TRUE(first.attach(fresh, folder.path("c"), key()));
  MirroredDisk other(real);
  ASSERT_TRUE(other.attach(fresh, folder.path("b"), key()));
  EXPECT_EQ(read(folder.path("b/keys/before")), "made before");
}

TEST_F(Mirrored, WhatCannotBeKeptIsAnErrorAndTheOldFileStays) {
  ASSERT_TRUE(write_atomically(disk, folder.path("a/keys/k"), "old", 0600));
  rows.broken = true;
  auto refused = write_atomically(disk, folder.path("a/keys/k"), "new", 0600);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unavailable);
  EXPECT_EQ(read(folder.path("a/keys/k")), "old");
}

TEST_F(Mirrored, OfAFileThatGrowsOnlyTheLastPartIsSentAgain) {
  auto file = disk.open(folder.path("a/store/audit.heads"), {.write = true, .create = true});
  ASSERT_TRUE((*file)->write_at(0, std::string((size_t{2} << 20U) + 5, 'h')));
  ASSERT_TRUE((*file)->sync(SyncWhat::contents));
  EXPECT_EQ(rows.sent, 3);
  ASSERT_TRUE((*file)->write_at((size_t{2} << 20U) + 5, "more"));
  ASSERT_TRUE((*file)->sync(SyncWhat::contents));
  EXPECT_EQ(rows.sent, 4);
}

}  // namespace mirrored_disk_test
}  // namespace sluice::store
