// On the real file system, as what is tested are its modes and links.
#include "host/home.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "base/real_disk.h"
#include "base/testing_faulty_disk.h"
#include "base/testing_folder.h"

namespace sluice::host {
namespace home_test {

namespace fs = std::filesystem;

struct Homes : testing::Test {
  Result<Home> find(std::map<std::string, std::string> set) {
    return find_home(disk, [set](const std::string& name) -> std::optional<std::string> {
      auto found = set.find(name);
      if (found == set.end()) return std::nullopt;
      return found->second;
    });
  }

  RealDisk disk;
};
using HomesDeathTest = Homes;

unsigned mode(const fs::path& path) { return static_cast<unsigned>(fs::status(path).permissions()) & 0777; }

TEST_F(Homes, IsWhereTheVariablesSay) {
  EXPECT_EQ(find({{"HOME", "/home/a"}})->root(), "/home/a/.sluice");
  EXPECT_EQ(find({{"HOME", "/home/a"}, {"SLUICE_HOME", "/srv/s"}})->root(), "/srv/s");
  EXPECT_EQ(find({{"HOME", "/home/a"}, {"SLUICE_HOME", "/srv/x/../s/"}})->root(), "/srv/s");
  EXPECT_EQ(find({{"HOME", "/home/a"}, {"SLUICE_HOME", ""}})->root(), "/home/a/.sluice");
}

TEST_F(Homes, MustBeAbsoluteAndKnown) {
  auto relative = find({{"SLUICE_HOME", "here"}});
  ASSERT_FALSE(relative);
  EXPECT_EQ(relative.error().message, "the home must be an absolute path, not 'here'");
  EXPECT_EQ(relative.error().next, "export SLUICE_HOME=\"$PWD/here\"");
  auto unknown = find({});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "neither SLUICE_HOME nor HOME is set, so there is no place for Sluice's home");
}

TEST_F(Homes, IsMadePrivateWhenItIsFirstNeeded) {
  TestingFolder folder;
  Home home = *find({{"HOME", folder.path()}});
  EXPECT_FALSE(fs::exists(home.root()));
  auto keys = home.folder("keys");
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_EQ(*keys, folder.path(".sluice/keys"));
  EXPECT_EQ(mode(home.root()), 0700U);
  EXPECT_EQ(mode(*keys), 0700U);
  EXPECT_TRUE(home.folder("keys"));
}

TEST_F(Homes, MayBeReadButNotWrittenByOthers) {
  TestingFolder folder;
  Home home(disk, folder.path("home"));
  fs::create_directory(home.root());
  fs::permissions(home.root(), fs::perms(0755));
  EXPECT_TRUE(home.ensure());
  for (unsigned bad : {0770U, 0707U, 0720U}) {
    fs::permissions(home.root(), fs::perms(bad));
    auto refused = home.folder("keys");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, home.root().string() + " can be written by others; Sluice keeps keys there");
    EXPECT_EQ(refused.error().next, "chmod 700 '" + home.root().string() + "'");
  }
  EXPECT_TRUE(fs::is_empty(home.root()));
}

TEST_F(Homes, IsNeverALink) {
  TestingFolder folder;
  fs::create_directory(folder.path("elsewhere"));
  fs::create_directory_symlink("elsewhere", folder.path("home"));
  auto refused = find({{"SLUICE_HOME", folder.path("home/")}})->ensure();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            folder.path("home") + " is a symbolic link; Sluice keeps keys there and does not follow links");
  EXPECT_EQ(refused.error().next, "export SLUICE_HOME='" + folder.path("elsewhere") + "'");
  EXPECT_TRUE(fs::is_empty(folder.path("elsewhere")));
}

TEST_F(Homes, FoldersAreNoLinksEither) {
  TestingFolder folder;
  Home home(disk, folder.path());
  fs::create_directory_symlink("/tmp", folder.path("keys"));
  auto refused = home.folder("keys");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid);
}

TEST_F(Homes, IsCheckedForReadingWithoutBeingMade) {
  TestingFolder folder;
  Home home(disk, folder.path("home"));
  EXPECT_EQ(home.check("kits").value(), folder.path("home/kits"));
  EXPECT_FALSE(fs::exists(home.root()));
  fs::create_directory(home.root());
  fs::permissions(home.root(), fs::perms(0770));
  auto refused = home.check("kits");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().next, "chmod 700 '" + home.root().string() + "'");
  fs::permissions(home.root(), fs::perms(0700));
  EXPECT_TRUE(home.check("kits"));
  EXPECT_TRUE(fs::is_empty(home.root()));
  fs::create_directory_symlink("/tmp", home.root() / "kits");
  auto link = home.check("kits");
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().message,
            (home.root() / "kits").string() + " is a symbolic link; Sluice keeps keys there and does not follow links");
}

TEST_F(Homes, MustBeAFolderInAFolder) {
  TestingFolder folder;
  std::ofstream(folder.path("file")) << "x";
  auto file = Home(disk, folder.path("file")).ensure();
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message, folder.path("file") + " is not a folder");
  auto parentless = Home(disk, folder.path("a/b")).ensure();
  ASSERT_FALSE(parentless);
  EXPECT_EQ(parentless.error().message, "cannot make folder " + folder.path("a/b") + ": No such file or directory");
  EXPECT_EQ(parentless.error().next, "mkdir -p '" + folder.path("a") + "'");
}

TEST_F(Homes, SaysWhatTheDiskSaysWhenItCannotBeMade) {
  TestingFolder folder;
  FaultyDisk full(disk, {.kind = FaultKind::fail, .at = 1, .code = Code::limit});
  auto keys = Home(full, folder.path("home")).folder("keys");
  ASSERT_FALSE(keys);
  EXPECT_EQ(keys.error().code, Code::limit);
  EXPECT_EQ(full.struck(), DiskOperation::make_folder);
  EXPECT_FALSE(fs::exists(folder.path("home")));
}

TEST_F(Homes, BelongsToTheCaller) {
  Home home(disk, "/proc/1");  // a folder of root's
  if (geteuid() == 0) {
    TestingFolder folder;
    home = Home(disk, folder.path("home"));
    fs::create_directory(home.root());
    ASSERT_EQ(chown(home.root().c_str(), 12345, 12345), 0);
    auto refused = home.ensure();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, home.root().string() + " belongs to user 12345, not to you (0)");
    EXPECT_EQ(refused.error().code, Code::denied);
  } else {
    auto refused = home.ensure();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "/proc/1 belongs to user 0, not to you (" + std::to_string(geteuid()) + ")");
  }
}

TEST_F(HomesDeathTest, HasNoFoldersBesideItsLayout) {
  TestingFolder folder;
  Home home(disk, folder.path());
  EXPECT_DEATH((void)home.folder("stuff"), "layout");
}

}  // namespace home_test
}  // namespace sluice::host
