// Whatever goes wrong, and whenever: old contents or new ones.
#include "base/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <set>

#include "base/real_disk.h"
#include "base/testing_faulty_disk.h"
#include "base/testing_folder.h"
#include "base/testing_volatile_disk.h"

namespace sluice {
namespace atomic_file_test {

const std::string kOld = "the old contents";
const std::string kNew = "the new contents, which are longer";

// /d/f holds kOld, durably.
void prepare(VolatileDisk& disk) {
  ASSERT_TRUE(disk.make_folder("/d", 0700));
  ASSERT_TRUE(disk.sync_folder("/"));
  ASSERT_TRUE(write_atomically(disk, "/d/f", kOld, 0600));
}

uint64_t operations_of_one_write() {
  VolatileDisk under;
  prepare(under);
  FaultyDisk disk(under);
  EXPECT_TRUE(write_atomically(disk, "/d/f", kNew, 0600));
  return disk.operations();
}

std::string contents(Disk& disk) {
  auto bytes = read_file(disk, "/d/f", 1'000);
  return bytes ? *bytes : bytes.error().message;
}

TEST(AtomicWrite, StopAtEveryOperationLeavesOldOrNewContent) {
  const uint64_t total = operations_of_one_write();
  std::set<std::string_view> struck;
  std::set<std::string> found;
  // Past the last operation nothing strikes, and the write is acknowledged.
  for (uint64_t n = 1; n <= total + 1; ++n) {
    for (uint64_t seed = 0; seed < 50; ++seed) {
      VolatileDisk under;
      prepare(under);
      FaultyDisk disk(under, {.kind = FaultKind::stop, .at = n});
      bool acknowledged = write_atomically(disk, "/d/f", kNew, 0600).has_value();
      EXPECT_EQ(acknowledged, n == total + 1);
      if (disk.struck()) struck.insert(operation_name(*disk.struck()));
      SeededRandom random(seed);
      seed == 0 ? under.crash() : under.crash_keeping_some(random);
      std::string left = contents(under);
      EXPECT_TRUE(left == kOld || left == kNew) << "stopped at " << n << ", seed " << seed << ": " << left;
      EXPECT_TRUE(!acknowledged || left == kNew) << "seed " << seed << " lost an acknowledged write";
      found.insert(left);
    }
  }
  EXPECT_EQ(struck, (std::set<std::string_view>{"open", "write", "chmod", "sync", "rename", "sync_folder"}));
  EXPECT_EQ(found, (std::set<std::string>{kOld, kNew}));
}

void fail_at_every_operation(FaultKind kind) {
  const uint64_t total = operations_of_one_write();
  for (uint64_t n = 1; n <= total; ++n) {
    VolatileDisk under;
    prepare(under);
    FaultyDisk disk(under, {.kind = kind, .at = n, .code = Code::limit});
    auto written = write_atomically(disk, "/d/f", kNew, 0600);
    ASSERT_FALSE(written) << n;
    EXPECT_EQ(written.error().code, Code::limit);
    EXPECT_EQ(*under.list("/d"), (std::vector<FolderEntry>{{"f", FileKind::file}})) << "a stray file after fault " << n;
    EXPECT_EQ(contents(under), disk.struck() == DiskOperation::sync_folder ? kNew : kOld) << n;
    under.crash();
    EXPECT_EQ(contents(under), kOld) << n;
  }
}

TEST(AtomicWrite, FailAtEveryOperationLeavesOldContentAndNoStrayFile) { fail_at_every_operation(FaultKind::fail); }

TEST(AtomicWrite, TearAtEveryOperationLeavesOldContentAndNoStrayFile) { fail_at_every_operation(FaultKind::tear); }

TEST(AtomicWrite, ErrorsNameTheFileAndWhatHappened) {
  VolatileDisk disk;
  auto written = write_atomically(disk, "/no/f", "x", 0600);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::not_found);
  EXPECT_TRUE(written.error().message.starts_with("cannot write /no/f: cannot create /no/.f."));
  EXPECT_TRUE(written.error().message.ends_with(": No such file or directory"));
  EXPECT_EQ(write_atomically(disk, "/d/", "x", 0600).error().message, "cannot write '/d/': it does not name a file");
  EXPECT_EQ(write_atomically(disk, "..", "x", 0600).error().code, Code::invalid);

  prepare(disk);
  FaultyDisk unsynced(disk, {.kind = FaultKind::fail, .at = 1, .only = DiskOperation::sync_folder});
  EXPECT_EQ(write_atomically(unsynced, "/d/f", kNew, 0600).error().message,
            "wrote /d/f, but a power cut may bring back its old contents: cannot sync_folder /d: fault at operation 6");
}

TEST(AtomicWrite, StepsOverWhatACrashedWriterLeftAndItsOwnerCanRemoveIt) {
  VolatileDisk disk;
  prepare(disk);
  {
    FaultyDisk stopped(disk, {.kind = FaultKind::stop, .at = 2});
    EXPECT_FALSE(write_atomically(stopped, "/d/f", kNew, 0600));
  }
  ASSERT_EQ(disk.list("/d")->size(), 2u);
  EXPECT_TRUE(write_atomically(disk, "/d/f", kNew, 0600));
  EXPECT_EQ(contents(disk), kNew);
  EXPECT_TRUE(write_atomically(disk, "/d/.hidden", "stays", 0600));
  EXPECT_EQ(*remove_unfinished_writes(disk, "/d"), 1u);
  EXPECT_EQ(*disk.list("/d"), (std::vector<FolderEntry>{{".hidden", FileKind::file}, {"f", FileKind::file}}));
}

TEST(AtomicWrite, GivesTheModeAskedForWhateverTheUmask) {
  TestingFolder folder;
  RealDisk disk;
  mode_t before = ::umask(077);
  EXPECT_TRUE(write_atomically(disk, folder.path("f"), "bytes", 0644));
  ::umask(before);
  EXPECT_EQ(disk.stat(folder.path("f"), FollowLinks::no)->mode, 0644u);
  EXPECT_EQ(*read_file(disk, folder.path("f"), 5), "bytes");
}

TEST(AtomicWrite, ReplacesASymlinkInsteadOfFollowingIt) {
  VolatileDisk disk;
  prepare(disk);
  ASSERT_TRUE(disk.symlink("f", "/d/l"));
  EXPECT_TRUE(write_atomically(disk, "/d/l", kNew, 0600));
  EXPECT_EQ(contents(disk), kOld);
  EXPECT_EQ(disk.stat("/d/l", FollowLinks::no)->kind, FileKind::file);
}

TEST(AtomicWrite, WritesNamesAsLongAsTheSystemAllows) {
  VolatileDisk disk;
  EXPECT_TRUE(write_atomically(disk, "/" + std::string(255, 'n'), "bytes", 0600));
  EXPECT_EQ(*read_file(disk, "/" + std::string(255, 'n'), 100), "bytes");
}

TEST(ReadFile, ReadsUpToItsLimitAndNoFurther) {
  VolatileDisk disk;
  ASSERT_TRUE(write_atomically(disk, "/f", std::string(200'000, 'x'), 0600));
  EXPECT_EQ(read_file(disk, "/f", 200'000)->size(), 200'000u);
  auto refused = read_file(disk, "/f", 199'999);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::limit);
  EXPECT_EQ(refused.error().message, "cannot read /f: it is larger than 199999 bytes");
  EXPECT_EQ(read_file(disk, "/g", 1).error().message, "cannot open /g: No such file or directory");
}

TEST(ReadFile, SaysThatAPipeIsNoFile) {
  TestingFolder folder;
  RealDisk disk;
  const std::string path = folder.path("fifo");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(read_file(disk, path, 10).error().message,
            "cannot read " + path + ": it is a pipe or a FIFO, expected a file");
}

TEST(ReadFile, BoundsFilesThatDoNotKnowTheirSize) {
  RealDisk disk;
  std::ifstream numbers("/proc/sys/kernel/pid_max");
  std::string whole;
  std::getline(numbers, whole);
  EXPECT_EQ(*read_file(disk, "/proc/sys/kernel/pid_max", 10'000), whole + "\n")
      << "such a file is read at once or not at all";
  EXPECT_GT(read_file(disk, "/proc/self/stat", 10'000)->size(), 20u);
  EXPECT_EQ(read_file(disk, "/proc/self/stat", 10).error().code, Code::limit);
  EXPECT_EQ(read_file(disk, "/dev/zero", 1'000'000).error().code, Code::limit);
}

}  // namespace atomic_file_test
}  // namespace sluice
