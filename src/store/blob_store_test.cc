// Blobs on disks that work, lie and stop.
#include "store/blob_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/testing_faulty_disk.h"
#include "base/testing_volatile_disk.h"

namespace sluice::store {
namespace blob_store_test {

constexpr size_t kMax = 1 << 20;
// SHA-256 of "hello".
constexpr const char* kHelloPath = "/blobs/2c/f24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
constexpr const char* kHello = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

TEST(BlobStore, KeepsBytesUnderTheirDigest) {
  VolatileDisk disk;
  BlobStore blobs(disk, "/blobs");
  auto digest = blobs.put("hello");
  ASSERT_TRUE(digest) << digest.error().message;
  EXPECT_EQ(crypto::to_string(*digest), kHello);
  EXPECT_EQ(blobs.path_of(*digest), kHelloPath);
  disk.crash();
  EXPECT_EQ(*blobs.get(*digest, kMax), "hello");
  EXPECT_TRUE(*blobs.has(*digest));
  EXPECT_EQ(disk.stat(kHelloPath, FollowLinks::no)->mode, 0400u);
  auto empty = blobs.put("");
  EXPECT_EQ(*blobs.get(*empty, 0), "");
}

TEST(BlobStore, StoresTheSameBytesOnce) {
  VolatileDisk under;
  FaultyDisk disk(under);
  BlobStore blobs(disk, "/blobs");
  ASSERT_TRUE(blobs.put("hello"));
  uint64_t writes = disk.operations_by_kind()[DiskOperation::write];
  ASSERT_TRUE(blobs.put("hello"));
  EXPECT_EQ(disk.operations_by_kind()[DiskOperation::write], writes);
}

TEST(BlobStore, SaysWhatIsNotThere) {
  VolatileDisk disk;
  BlobStore blobs(disk, "/blobs");
  crypto::Sha256 digest = crypto::sha256("hello");
  EXPECT_FALSE(*blobs.has(digest));
  auto absent = blobs.get(digest, kMax);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, Code::not_found);
  EXPECT_EQ(absent.error().message, "no blob sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
  EXPECT_TRUE(blobs.remove(digest));
  EXPECT_TRUE(blobs.for_each([](const crypto::Sha256&) { return ADD_FAILURE(), true; }));
}

TEST(BlobStore, RefusesDamagedBytesAndPutsThemRight) {
  VolatileDisk disk;
  BlobStore blobs(disk, "/blobs");
  auto digest = blobs.put("hello");
  ASSERT_TRUE(write_atomically(disk, kHelloPath, "hellO", 0400));
  auto damaged = blobs.get(*digest, kMax);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, Code::verification_failed);
  EXPECT_EQ(damaged.error().message,
            "blob sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 is damaged: "
            "/blobs/2c/f24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 holds other bytes");
  ASSERT_TRUE(blobs.put("hello"));
  EXPECT_EQ(*blobs.get(*digest, kMax), "hello");
}

TEST(BlobStore, ReadsNoMoreThanAskedFor) {
  VolatileDisk disk;
  BlobStore blobs(disk, "/blobs");
  auto digest = blobs.put("hello");
  EXPECT_EQ(*blobs.get(*digest, 5), "hello");
  EXPECT_EQ(blobs.get(*digest, 4).error().code, Code::limit);
}

TEST(BlobStore, RemovesForGood) {
  VolatileDisk disk;
  BlobStore blobs(disk, "/blobs");
  auto digest = blobs.put("hello");
  ASSERT_TRUE(blobs.remove(*digest));
  disk.crash();
  EXPECT_FALSE(*blobs.has(*digest));
}

TEST(BlobStore, ListsBlobsInOrderAndNothingElse) {
  VolatileDisk disk;
  BlobStore blobs(disk, "/blobs");
  std::vector<crypto::Sha256> put;
  for (int i = 0; i < 40; ++i) put.push_back(*blobs.put(std::to_string(i)));
  std::sort(put.begin(), put.end());
  ASSERT_TRUE(write_atomically(disk, "/blobs/README", "not a blob", 0600));
  ASSERT_TRUE(write_atomically(disk, folder_of(blobs.path_of(put[0])) + "/short", "not a blob", 0600));
  std::vector<crypto::Sha256> listed;
  ASSERT_TRUE(blobs.for_each([&](const crypto::Sha256& digest) {
    listed.push_back(digest);
    return true;
  }));
  EXPECT_EQ(listed, put);
  size_t visits = 0;
  ASSERT_TRUE(blobs.for_each([&](const crypto::Sha256&) { return ++visits < 3; }));
  EXPECT_EQ(visits, 3u);
}

TEST(BlobStore, APowerCutAtAnyOperationLosesNoBlobThatWasPut) {
  uint64_t n = 1;
  for (;; ++n) {
    SCOPED_TRACE("operation " + std::to_string(n));
    VolatileDisk under;
    FaultyDisk disk(under, {.kind = FaultKind::stop, .at = n});
    BlobStore blobs(disk, "/blobs");
    std::vector<crypto::Sha256> acknowledged;
    for (const char* bytes : {"hello", "world", "hello"}) {
      auto digest = blobs.put(bytes);
      if (digest) acknowledged.push_back(*digest);
    }
    if (!disk.struck()) break;
    SeededRandom random(n);
    under.crash_keeping_some(random);
    BlobStore after(under, "/blobs");
    for (const crypto::Sha256& digest : acknowledged) EXPECT_TRUE(after.get(digest, kMax));
    EXPECT_TRUE(after.for_each([&](const crypto::Sha256& digest) {
      EXPECT_TRUE(after.get(digest, kMax)) << "a blob that is not whole";
      return true;
    }));
    EXPECT_EQ(*after.get(*after.put("hello"), kMax), "hello");
  }
  EXPECT_GT(n, 15u);
}

TEST(BlobStore, APutAgainAfterAFailureIsDurable) {
  for (uint64_t n = 1;; ++n) {
    SCOPED_TRACE("operation " + std::to_string(n));
    VolatileDisk under;
    FaultyDisk disk(under, {.kind = FaultKind::fail, .at = n});
    BlobStore blobs(disk, "/blobs");
    auto digest = blobs.put("hello");
    if (!disk.struck()) break;
    if (!digest) digest = blobs.put("hello");
    ASSERT_TRUE(digest) << digest.error().message;
    under.crash();
    EXPECT_EQ(*BlobStore(under, "/blobs").get(*digest, kMax), "hello");
  }
}

TEST(BlobStore, TakesBytesPieceByPiece) {
  VolatileDisk disk;
  BlobStore blobs(disk, "/blobs");
  const crypto::Sha256 digest = crypto::sha256("hello");
  for (int again = 0; again < 2; ++again) {
    auto incoming = blobs.begin();
    ASSERT_TRUE(incoming) << incoming.error().message;
    ASSERT_TRUE((*incoming)->add("hel"));
    ASSERT_TRUE((*incoming)->add("lo"));
    ASSERT_TRUE((*incoming)->finish(digest));
  }
  disk.crash();
  EXPECT_EQ(*blobs.get(digest, kMax), "hello");
  ASSERT_TRUE(remove_unfinished_writes(disk, "/blobs")) << "a power cut may bring names back";
  auto other = blobs.begin();
  ASSERT_TRUE((*other)->add("hullo"));
  auto refused = (*other)->finish(crypto::sha256("hullo!"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::verification_failed);
  EXPECT_EQ(*remove_unfinished_writes(disk, "/blobs"), 1U);
  other->reset();
  ASSERT_TRUE((*blobs.begin())->add("given up"));
  EXPECT_EQ(*remove_unfinished_writes(disk, "/blobs"), 0U) << "one that is given up leaves nothing";
}

}  // namespace blob_store_test
}  // namespace sluice::store
