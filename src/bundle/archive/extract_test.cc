// Unpacking: the folder appears whole or not at all.
#include "bundle/archive/extract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_faulty_disk.h"
#include "base/testing_folder.h"
#include "bundle/archive/testing_archives.h"

namespace sluice::bundle {
namespace extract_test {

using ::testing::IsEmpty;

std::string good_tar() {
  return tar_of({{.name = "bin/app", .content = "hello", .mode = 0755},
                 {.name = "a/b/c/deep", .content = std::string(300'000, 'd')},
                 {.name = "current", .type = '2', .link = "bin/app"},
                 {.name = "empty/", .type = '5'}});
}

Result<Tree> extract_bytes(Disk& disk, std::string bytes, const std::string& into,
                           const std::optional<TreeDigest>& expected = std::nullopt) {
  auto reader = open_archive(source_of_bytes(std::move(bytes)), "app");
  if (!reader) return reader.error();
  return extract(disk, **reader, into, expected);
}

TEST(Extract, MakesTheFolder) {
  VolatileDisk disk;
  auto tree = extract_bytes(disk, good_tar(), "/new");
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(tree->digest(), tree_of_bytes(good_tar())->digest());
  EXPECT_EQ(*read_file(disk, "/new/bin/app", 100), "hello");
  EXPECT_EQ(disk.stat("/new/bin/app", FollowLinks::no)->mode, 0755u);
  EXPECT_EQ(read_file(disk, "/new/a/b/c/deep", 1 << 20)->size(), 300'000u);
  EXPECT_EQ(disk.stat("/new/a/b/c/deep", FollowLinks::no)->mode, 0644u);
  EXPECT_EQ(*disk.read_link("/new/current"), "bin/app");
  EXPECT_EQ(disk.stat("/new/empty", FollowLinks::no)->kind, FileKind::folder);
  EXPECT_EQ(disk.stat("/new", FollowLinks::no)->mode, 0755u);
  EXPECT_EQ(disk.list("/")->size(), 1u) << "nothing beside it";
}

TEST(Extract, DoesNotHeedTheUmask) {
  TestingFolder folder;
  RealDisk disk;
  mode_t before = ::umask(0077);
  auto tree = extract_bytes(disk, good_tar(), folder.path("new"));
  ::umask(before);
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(disk.stat(folder.path("new/bin/app"), FollowLinks::no)->mode, 0755u);
  EXPECT_EQ(disk.stat(folder.path("new/a/b/c"), FollowLinks::no)->mode, 0755u);
  EXPECT_EQ(disk.stat(folder.path("new/a/b/c/deep"), FollowLinks::no)->mode, 0644u);
}

TEST(Extract, RefusesToReplaceAnything) {
  VolatileDisk disk;
  ASSERT_TRUE(disk.make_folder("/new", 0755));
  auto refused = extract_bytes(disk, good_tar(), "/new");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_EQ(refused.error().message, "cannot unpack into /new: it is there already");
}

TEST(Extract, SaysWhatIsThereOrNotInPlainWords) {
  RealDisk disk;
  TestingFolder folder;
  const std::string into = folder.path("out"), nowhere = folder.path("no/such/out");
  auto missing = extract_bytes(disk, good_tar(), nowhere);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::not_found);
  EXPECT_EQ(missing.error().message,
            "cannot unpack into " + nowhere + ": there is no folder " + folder.path("no/such"));
  // Another one puts its folder there meanwhile.
  bool made = false;
  auto another = [&] {
    if (!std::exchange(made, true)) {
      EXPECT_TRUE(disk.make_folder(into, 0755));
      EXPECT_TRUE(write_atomically(disk, into + "/theirs", "x", 0644));
    }
    return false;
  };
  auto reader = open_archive(source_of_bytes(good_tar()), "app", {.stopped = another});
  ASSERT_TRUE(reader);
  auto late = extract(disk, **reader, into);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::conflict);
  EXPECT_EQ(late.error().message, "cannot unpack into " + into + ": it is there already");
  EXPECT_EQ(disk.list(folder.path())->size(), 1u) << "nothing else is left";
}

TEST(Extract, HoldsTheArchiveToItsDigest) {
  VolatileDisk disk;
  TreeDigest digest = tree_of_bytes(good_tar())->digest();
  ASSERT_TRUE(extract_bytes(disk, good_tar(), "/good", digest));
  auto refused = extract_bytes(disk, tar_of({{.name = "other"}}), "/bad", digest);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::verification_failed);
  EXPECT_EQ(refused.error().message,
            "the archive's tree digest is " + tree_of_bytes(tar_of({{.name = "other"}}))->digest() + ", not " + digest);
  EXPECT_EQ(disk.list("/")->size(), 1u);
}

TEST(Extract, LeavesNothingOfAHostileArchive) {
  const std::vector<std::vector<TarMember>> hostile = {
      {{.name = "fine", .content = "1"}, {.name = "../out", .content = "1"}},
      {{.name = "fine", .content = "1"}, {.name = "/out", .content = "1"}},
      {{.name = "l", .type = '2', .link = ".."}, {.name = "l/out", .content = "1"}},
      {{.name = "fine", .content = "1"}, {.name = "l", .type = '2', .link = "../../out"}},
      {{.name = "a/b", .content = "1"}, {.name = "a", .type = '2', .link = "/"}},
      {{.name = "fine", .content = "1"}, {.name = "h", .type = '1', .link = "fine"}},
      {{.name = "fine", .content = "1"}, {.name = "FINE", .content = "1"}},
      {{.name = "fine", .content = "1"}, {.name = "dev", .type = '3'}},
  };
  TestingFolder folder;
  RealDisk disk;
  for (const auto& members : hostile) {
    auto refused = extract_bytes(disk, tar_of(members), folder.path("new"));
    EXPECT_FALSE(refused) << members.back().name;
    EXPECT_THAT(*disk.list(folder.path()), IsEmpty()) << members.back().name;
  }
}

// Each operation of the disk fails once: either all is there, or nothing.
TEST(Extract, IsWholeOrLeavesNothingWhenTheDiskFails) {
  for (uint64_t at = 1;; ++at) {
    VolatileDisk under;
    FaultyDisk disk(under, {.kind = FaultKind::fail, .at = at, .code = Code::limit});
    auto tree = extract_bytes(disk, good_tar(), "/new");
    if (tree) {
      EXPECT_GT(at, 15u);
      break;
    }
    EXPECT_THAT(*under.list("/"), IsEmpty()) << "operation " << at << ": " << tree.error().message;
  }
}

TEST(Extract, LeavesNothingWhenItIsStopped) {
  VolatileDisk disk;
  int asked = 0;
  auto archive = open_archive(source_of_bytes(tar_of({{.name = "a", .content = "1"}, {.name = "b", .content = "2"}})),
                              "app", {.stopped = [&] { return ++asked > 3; }});
  ASSERT_TRUE(archive) << archive.error().message;
  auto tree = extract(disk, **archive, "/out");
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().message, "stopped; nothing was left behind");
  EXPECT_TRUE(disk.list("/")->empty());
}

}  // namespace extract_test
}  // namespace sluice::bundle
