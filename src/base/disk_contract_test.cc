// What base/disk.h promises, asked of every disk: the system's, the one in memory, and that one behind a FaultyDisk
// without a fault. A test that runs on VolatileDisk proves something about RealDisk because both pass here.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/disk.h"
#include "base/real_disk.h"
#include "base/testing_faulty_disk.h"
#include "base/testing_folder.h"
#include "base/testing_volatile_disk.h"

namespace sluice {
namespace disk_contract_test {

struct DiskContract : testing::TestWithParam<std::string> {
  TestingFolder folder;
  RealDisk real;
  RealDisk real_by_component{RealDisk::Beneath::by_component};
  VolatileDisk in_memory;
  FaultyDisk faultless{in_memory};

  Disk& disk() {
    if (GetParam() == "Real") return real;
    if (GetParam() == "RealByComponent") return real_by_component;
    if (GetParam() == "Volatile") return in_memory;
    return faultless;
  }
  std::string at(const std::string& name) { return GetParam().starts_with("Real") ? folder.path(name) : "/" + name; }
  std::string root() { return GetParam().starts_with("Real") ? folder.path() : "/"; }

  std::unique_ptr<File> open(const std::string& name, const OpenFlags& flags) {
    auto file = disk().open(at(name), flags);
    EXPECT_TRUE(file) << file.error().message;
    return *std::move(file);
  }
  void put(const std::string& name, std::string_view bytes) {
    auto file = open(name, {.write = true, .create = true, .truncate = true});
    EXPECT_TRUE(file->write_at(0, bytes));
  }
  std::string get(const std::string& name) {
    std::string bytes(1'000, '\0');
    auto file = disk().open(at(name), {});
    if (!file) return file.error().message;
    bytes.resize(*(*file)->read_at(0, bytes));
    return bytes;
  }
  // The error's text with the folder of the test left out, and its code.
  template <typename T>
  std::string why(const Result<T>& result) {
    if (result) return "done";
    std::string text = result.error().message;
    for (size_t found; (found = text.find(folder.path())) != std::string::npos;)
      text.erase(found, folder.path().size());
    return std::string(code_name(result.error().code)) + ": " + text;
  }
};

INSTANTIATE_TEST_SUITE_P(EveryDisk, DiskContract, testing::Values("Real", "RealByComponent", "Volatile", "Faulty"),
                         [](const auto& info) { return info.param; });

TEST_P(DiskContract, ReadsAndWritesAnywhereInAFile) {
  auto file = open("f", {.write = true, .create = true});
  EXPECT_TRUE(file->write_at(0, "hello"));
  EXPECT_TRUE(file->write_at(8, "world"));
  EXPECT_TRUE(file->write_at(1, "E"));
  EXPECT_EQ(*file->size(), 13u);
  char bytes[64];
  EXPECT_EQ(*file->read_at(0, bytes), 13u);
  EXPECT_EQ(std::string(bytes, 13), std::string("hEllo\0\0\0world", 13));
  EXPECT_EQ(*file->read_at(9, bytes), 4u);
  EXPECT_EQ(std::string(bytes, 4), "orld");
  EXPECT_EQ(*file->read_at(13, bytes), 0u);
  EXPECT_EQ(*file->read_at(1'000, bytes), 0u);
}

TEST_P(DiskContract, TruncatesAndExtends) {
  put("f", "hello");
  auto file = open("f", {.write = true});
  EXPECT_TRUE(file->truncate(2));
  EXPECT_EQ(get("f"), "he");
  EXPECT_TRUE(file->truncate(4));
  EXPECT_EQ(get("f"), std::string("he\0\0", 4));
  EXPECT_TRUE(file->sync(SyncWhat::contents));
  EXPECT_TRUE(file->sync(SyncWhat::all));
}

TEST_P(DiskContract, OpensAsTheFlagsSay) {
  EXPECT_EQ(why(disk().open(at("f"), {})), "not_found: cannot open /f: No such file or directory");
  EXPECT_EQ(why(disk().open(at("no/f"), {.write = true, .create = true})),
            "not_found: cannot open /no/f: No such file or directory");
  put("f", "hello");
  EXPECT_EQ(why(disk().open(at("f"), {.write = true, .create = true, .exclusive = true})),
            "conflict: cannot create /f: File exists");
  EXPECT_EQ(why(disk().open(at("f/g"), {})), "not_found: cannot open /f/g: Not a directory");
  EXPECT_EQ(why(disk().open(at("f"), {.truncate = true})), "invalid: cannot open /f: Invalid argument");
  EXPECT_EQ(why(disk().open(at(std::string(256, 'x')), {})),
            "invalid: cannot open /" + std::string(256, 'x') + ": File name too long");
  open("f", {.write = true, .create = true});
  EXPECT_EQ(get("f"), "hello");
  open("f", {.write = true, .truncate = true});
  EXPECT_EQ(get("f"), "");
}

TEST_P(DiskContract, RefusesWhatTheFileWasNotOpenedFor) {
  put("f", "hello");
  auto reader = open("f", {});
  EXPECT_EQ(why(reader->write_at(0, "x")), "invalid: cannot write /f: Bad file descriptor");
  EXPECT_EQ(why(reader->truncate(0)), "invalid: cannot truncate /f: Invalid argument");
  EXPECT_EQ(why(reader->lock(FileLock::exclusive)), "invalid: cannot lock /f: Bad file descriptor");
  auto writer = open("f", {.read = false, .write = true});
  char byte;
  EXPECT_EQ(why(writer->read_at(0, {&byte, 1})), "invalid: cannot read /f: Bad file descriptor");
  EXPECT_TRUE(disk().make_folder(at("d"), 0700));
  EXPECT_EQ(why(disk().open(at("d"), {.write = true})), "invalid: cannot open /d: Is a directory");
  auto folder = open("d", {});
  EXPECT_EQ(why(folder->read_at(0, {&byte, 1})), "invalid: cannot read /d: Is a directory");
}

TEST_P(DiskContract, TellsKindSizeModeAndInode) {
  mode_t before = ::umask(022);
  auto file = open("f", {.write = true, .create = true, .mode = 0640});
  ::umask(before);
  EXPECT_TRUE(file->write_at(0, "hello"));
  auto stat = *disk().stat(at("f"), FollowLinks::yes);
  EXPECT_EQ(stat.kind, FileKind::file);
  EXPECT_EQ(stat.size, 5u);
  EXPECT_EQ(stat.mode, 0640u);
  EXPECT_EQ(stat.links, 1u);
  EXPECT_EQ(stat.inode, file->stat()->inode);
  EXPECT_TRUE(file->chmod(0600));
  EXPECT_EQ(file->stat()->mode, 0600u);
  EXPECT_TRUE(disk().chmod(at("f"), 0444));
  EXPECT_EQ(file->stat()->mode, 0444u);
  put("g", "");
  EXPECT_NE(disk().stat(at("g"), FollowLinks::yes)->inode, stat.inode);
  EXPECT_GT(stat.mtime_ns, 0);
  EXPECT_EQ(why(disk().chmod(at("x"), 0600)), "not_found: cannot change the mode of /x: No such file or directory");
  EXPECT_TRUE(*disk().exists(at("f")));
  EXPECT_FALSE(*disk().exists(at("x")));
}

TEST_P(DiskContract, RenamesOverFilesButNotOverFullFolders) {
  put("a", "new");
  put("b", "old");
  EXPECT_TRUE(disk().rename(at("a"), at("b")));
  EXPECT_EQ(get("b"), "new");
  EXPECT_FALSE(*disk().exists(at("a")));
  EXPECT_EQ(why(disk().rename(at("a"), at("c"))), "not_found: cannot rename /a to /c: No such file or directory");
  EXPECT_TRUE(disk().make_folder(at("d"), 0700));
  EXPECT_TRUE(disk().make_folder(at("e"), 0700));
  put("d/f", "");
  EXPECT_EQ(why(disk().rename(at("e"), at("d"))), "conflict: cannot rename /e to /d: Directory not empty");
  EXPECT_EQ(why(disk().rename(at("b"), at("d"))), "invalid: cannot rename /b to /d: Is a directory");
  EXPECT_EQ(why(disk().rename(at("d"), at("b"))), "not_found: cannot rename /d to /b: Not a directory");
  EXPECT_EQ(why(disk().rename(at("d"), at("d/x"))), "invalid: cannot rename /d to /d/x: Invalid argument");
  EXPECT_TRUE(disk().rename(at("b"), at("e/b")));
  EXPECT_EQ(get("e/b"), "new");
}

TEST_P(DiskContract, KeepsAnOpenFileThatLostItsName) {
  put("f", "hello");
  auto file = open("f", {});
  EXPECT_TRUE(disk().remove(at("f")));
  EXPECT_EQ(file->stat()->links, 0u);
  char bytes[5];
  EXPECT_EQ(*file->read_at(0, bytes), 5u);
  EXPECT_EQ(why(disk().remove(at("f"))), "not_found: cannot remove /f: No such file or directory");
}

TEST_P(DiskContract, MakesListsAndRemovesFolders) {
  EXPECT_TRUE(disk().make_folder(at("d"), 0700));
  EXPECT_EQ(disk().stat(at("d"), FollowLinks::no)->kind, FileKind::folder);
  EXPECT_EQ(why(disk().make_folder(at("d"), 0700)), "conflict: cannot make folder /d: File exists");
  put("d/z", "");
  put("d/a", "");
  EXPECT_TRUE(disk().make_folder(at("d/m"), 0700));
  EXPECT_TRUE(disk().symlink("nowhere", at("d/l")));
  EXPECT_EQ(*disk().list(at("d")),
            (std::vector<FolderEntry>{
                {"a", FileKind::file}, {"l", FileKind::symlink}, {"m", FileKind::folder}, {"z", FileKind::file}}));
  EXPECT_EQ(why(disk().remove_folder(at("d"))), "conflict: cannot remove folder /d: Directory not empty");
  EXPECT_EQ(why(disk().remove_folder(at("d/a"))), "not_found: cannot remove folder /d/a: Not a directory");
  EXPECT_EQ(why(disk().remove(at("d/m"))), "invalid: cannot remove /d/m: Is a directory");
  EXPECT_TRUE(disk().remove_folder(at("d/m")));
  EXPECT_EQ(disk().list(at("d"))->size(), 3u);
  EXPECT_EQ(why(disk().list(at("d/a"))), "not_found: cannot list /d/a: Not a directory");
  EXPECT_TRUE(disk().sync_folder(at("d")));
  EXPECT_EQ(why(disk().sync_folder(at("d/a"))), "not_found: cannot sync folder /d/a: Not a directory");
}

TEST_P(DiskContract, LinksGiveAFileASecondName) {
  put("a", "hello");
  EXPECT_TRUE(disk().link(at("a"), at("b")));
  EXPECT_EQ(disk().stat(at("b"), FollowLinks::no)->links, 2u);
  EXPECT_EQ(why(disk().link(at("a"), at("b"))), "conflict: cannot link /a to /b: File exists");
  EXPECT_TRUE(disk().remove(at("a")));
  EXPECT_EQ(get("b"), "hello");
}

TEST_P(DiskContract, FollowsSymlinksUnlessToldNotTo) {
  EXPECT_TRUE(disk().make_folder(at("d"), 0700));
  put("d/f", "hello");
  EXPECT_TRUE(disk().symlink("d/../d/f", at("l")));
  EXPECT_EQ(get("l"), "hello");
  EXPECT_EQ(*disk().read_link(at("l")), "d/../d/f");
  EXPECT_EQ(disk().stat(at("l"), FollowLinks::no)->kind, FileKind::symlink);
  EXPECT_EQ(disk().stat(at("l"), FollowLinks::yes)->size, 5u);
  EXPECT_EQ(why(disk().open(at("l"), {.follow = false})), "invalid: cannot open /l: Too many levels of symbolic links");
  EXPECT_EQ(why(disk().open(at("l"), {.write = true, .create = true, .exclusive = true})),
            "conflict: cannot create /l: File exists");
  EXPECT_EQ(why(disk().read_link(at("d/f"))), "invalid: cannot read symlink /d/f: Invalid argument");
  EXPECT_TRUE(disk().symlink(at("d"), at("absolute")));
  EXPECT_EQ(get("absolute/f"), "hello");
  EXPECT_TRUE(disk().symlink("made", at("dangling")));
  open("dangling", {.write = true, .create = true});
  EXPECT_TRUE(*disk().exists(at("made")));
  EXPECT_TRUE(disk().symlink("loop", at("loop")));
  EXPECT_EQ(why(disk().open(at("loop"), {})), "invalid: cannot open /loop: Too many levels of symbolic links");
}

TEST_P(DiskContract, LocksExcludeOtherOpensOfTheFile) {
  auto one = open("f", {.write = true, .create = true});
  auto two = open("f", {.write = true});
  EXPECT_TRUE(*one->lock(FileLock::shared));
  EXPECT_TRUE(*two->lock(FileLock::shared));
  EXPECT_FALSE(*one->lock(FileLock::exclusive));
  EXPECT_FALSE(*two->lock(FileLock::exclusive)) << "a refused change must keep the lock held before";
  EXPECT_TRUE(*two->lock(FileLock::none));
  EXPECT_TRUE(*one->lock(FileLock::exclusive));
  EXPECT_FALSE(*two->lock(FileLock::shared));
  open("f", {.write = true}).reset();  // closing another open of the file must not drop the lock
  EXPECT_FALSE(*two->lock(FileLock::shared));
  one.reset();
  EXPECT_TRUE(*two->lock(FileLock::exclusive));
}

TEST_P(DiskContract, OpensBeneathARoot) {
  EXPECT_TRUE(disk().make_folder(at("d"), 0700));
  EXPECT_TRUE(disk().make_folder_beneath(root(), "d/e", 0700));
  EXPECT_EQ(disk().stat(at("d/e"), FollowLinks::no)->kind, FileKind::folder);
  EXPECT_EQ(why(disk().make_folder_beneath(at("d"), "e", 0700)), "conflict: cannot make folder /d/e: File exists");
  auto file = disk().open_beneath(at("d"), "e/f", {.write = true, .create = true, .exclusive = true});
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE((*file)->write_at(0, "inside"));
  EXPECT_EQ(get("d/e/f"), "inside");
  EXPECT_EQ(why(disk().open_beneath(at("d"), "e/f", {.write = true, .create = true, .exclusive = true})),
            "conflict: cannot create /d/e/f: File exists");
  EXPECT_EQ(why(disk().open_beneath(at("d"), "e/x", {})), "not_found: cannot open /d/e/x: No such file or directory");
  EXPECT_EQ(why(disk().open_beneath(at("d"), "e/f/x", {})), "not_found: cannot open /d/e/f/x: Not a directory");
  EXPECT_EQ(why(disk().open_beneath(at("x"), "f", {})), "not_found: cannot open /x/f: No such file or directory");
}

TEST_P(DiskContract, NothingLeadsOutFromBeneathARoot) {
  EXPECT_TRUE(disk().make_folder(at("d"), 0700));
  put("secret", "outside");
  EXPECT_TRUE(disk().symlink("../secret", at("d/file")));
  EXPECT_TRUE(disk().symlink("..", at("d/up")));
  EXPECT_TRUE(disk().symlink(root(), at("d/absolute")));
  EXPECT_TRUE(disk().symlink("real", at("d/within")));
  EXPECT_TRUE(disk().make_folder(at("d/x"), 0700));
  put("d/real", "inside");
  const std::string out = ": it leads out of /d or through a symlink";
  for (std::string path : {"../secret", "x/../../secret", "file", "up/secret", "absolute/secret", "within"}) {
    EXPECT_EQ(why(disk().open_beneath(at("d"), path, {})), "denied: cannot open /d/" + path + out);
  }
  EXPECT_EQ(disk().open_beneath(at("d"), at("secret"), {}).error().code, Code::denied);
  EXPECT_EQ(why(disk().make_folder_beneath(at("d"), "up/made", 0700)), "denied: cannot make folder /d/up/made" + out);
  EXPECT_EQ(why(disk().make_folder_beneath(at("d"), "../made", 0700)), "denied: cannot make folder /d/../made" + out);
  EXPECT_FALSE(*disk().exists(at("made")));
}

}  // namespace disk_contract_test
}  // namespace sluice
