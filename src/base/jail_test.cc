// Ways out of a jail, each tried on the real file system with both ways of keeping inside, and in memory.
#include "base/jail.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "base/testing_volatile_disk.h"

namespace sluice {
namespace jail_test {

std::string verdict(const Result<std::string>& checked) {
  if (checked) return *checked;
  return std::string(code_name(checked.error().code)) + ": " + checked.error().message;
}

TEST(Jail, CheckGivesThePlainForm) {
  VolatileDisk disk;
  Jail jail(disk, "/jail");
  EXPECT_EQ(verdict(jail.check("a")), "a");
  EXPECT_EQ(verdict(jail.check("./a//b/./c/")), "a/b/c");
  EXPECT_EQ(verdict(jail.check("...")), "...");
  EXPECT_EQ(verdict(jail.check("a/..b/c..")), "a/..b/c..");
}

TEST(Jail, CheckRefusesWhatCouldLeadOut) {
  VolatileDisk disk;
  Jail jail(disk, "/jail");
  const std::string dots = "' has the component '..'; paths may not leave /jail";
  EXPECT_EQ(verdict(jail.check("..")), "denied: path '.." + dots);
  EXPECT_EQ(verdict(jail.check("a/../b")), "denied: path 'a/../b" + dots);
  EXPECT_EQ(verdict(jail.check("a/..")), "denied: path 'a/.." + dots);
  EXPECT_EQ(verdict(jail.check("/etc/passwd")),
            "denied: path '/etc/passwd' is absolute; expected one relative to /jail");
  EXPECT_EQ(verdict(jail.check("//a")), "denied: path '//a' is absolute; expected one relative to /jail");
}

TEST(Jail, CheckRefusesWhatNamesNothing) {
  VolatileDisk disk;
  Jail jail(disk, "/jail");
  EXPECT_EQ(verdict(jail.check("")), "invalid: path '' names nothing below /jail");
  EXPECT_EQ(verdict(jail.check("./.")), "invalid: path './.' names nothing below /jail");
  EXPECT_EQ(verdict(jail.check(std::string_view("a\0/../b", 7))), "invalid: path 'a\\x00/../b' holds a NUL");
  EXPECT_EQ(verdict(jail.check("\x1b[2J/..")),
            "denied: path '\\x1b[2J/..' has the component '..'; paths may not leave /jail");
  const std::string x100(100, 'x');
  EXPECT_EQ(verdict(jail.check(std::string(256, 'x'))),
            "invalid: path '" + x100 + "…' has a component of 256 bytes; at most 255 are allowed");
  EXPECT_EQ(verdict(jail.check(std::string(100'000, 'x'))),
            "invalid: path '" + x100 + "…' has 100000 bytes; at most 4095 are allowed");
}

struct JailOnDisk : testing::TestWithParam<std::string> {
  TestingFolder folder;
  RealDisk by_kernel;
  RealDisk by_component{RealDisk::Beneath::by_component};
  VolatileDisk in_memory;

  Disk& disk() {
    if (GetParam() == "ByKernel") return by_kernel;
    if (GetParam() == "ByComponent") return by_component;
    return in_memory;
  }
  std::string at(const std::string& name) { return GetParam() == "InMemory" ? "/" + name : folder.path(name); }
  std::string root() { return at("jail"); }

  void SetUp() override {
    ASSERT_TRUE(disk().make_folder(root(), 0700));
    ASSERT_TRUE(disk().make_folder(at("outside"), 0700));
    ASSERT_TRUE(write_atomically(disk(), at("outside/secret"), "secret", 0600));
  }
  template <typename T>
  std::string why(const Result<T>& result) {
    if (result) return "done";
    return std::string(code_name(result.error().code)) + ": " + result.error().message;
  }
};

INSTANTIATE_TEST_SUITE_P(Jail, JailOnDisk, testing::Values("ByKernel", "ByComponent", "InMemory"),
                         [](const auto& info) { return info.param; });

TEST_P(JailOnDisk, OpensWhatIsInside) {
  Jail jail(disk(), root());
  ASSERT_TRUE(jail.make_folder("a", 0700));
  ASSERT_TRUE(jail.make_folder("./a//b/", 0700));
  auto file = jail.open("a/b/f", {.write = true, .create = true, .exclusive = true});
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE((*file)->write_at(0, "inside"));
  EXPECT_EQ(*read_file(disk(), root() + "/a/b/f", 100), "inside");
  EXPECT_EQ(why(jail.open("a/x", {})), "not_found: cannot open " + root() + "/a/x: No such file or directory");
  EXPECT_EQ(why(jail.make_folder("a", 0700)), "conflict: cannot make folder " + root() + "/a: File exists");
}

TEST_P(JailOnDisk, RefusesEverySymlinkAndNamesIt) {
  Jail jail(disk(), root());
  ASSERT_TRUE(jail.make_folder("a", 0700));
  ASSERT_TRUE(disk().symlink("../../outside", root() + "/a/up"));
  ASSERT_TRUE(disk().symlink(at("outside/secret"), root() + "/absolute"));
  ASSERT_TRUE(disk().symlink("a", root() + "/within"));
  ASSERT_TRUE(disk().symlink("../outside/made", root() + "/dangling"));
  const std::string any = "; paths below " + root() + " may not pass any";
  EXPECT_EQ(why(jail.open("a/up/secret", {})), "denied: path 'a/up/secret' passes the symlink 'a/up'" + any);
  EXPECT_EQ(why(jail.open("absolute", {})), "denied: path 'absolute' passes the symlink 'absolute'" + any);
  EXPECT_EQ(why(jail.open("within/x", {.write = true, .create = true})),
            "denied: path 'within/x' passes the symlink 'within'" + any);
  EXPECT_EQ(why(jail.open("dangling", {.write = true, .create = true})),
            "denied: path 'dangling' passes the symlink 'dangling'" + any);
  EXPECT_EQ(why(jail.make_folder("a/up/made", 0700)), "denied: path 'a/up/made' passes the symlink 'a/up'" + any);
  EXPECT_EQ(disk().list(at("outside"))->size(), 1u);
  EXPECT_EQ(*read_file(disk(), at("outside/secret"), 100), "secret");
}

TEST_P(JailOnDisk, RefusesTheTextBeforeItAsksTheDisk) {
  Jail jail(disk(), root());
  EXPECT_EQ(jail.open("../outside/secret", {}).error().code, Code::denied);
  EXPECT_EQ(jail.open(at("outside/secret"), {}).error().code, Code::denied);
  EXPECT_EQ(jail.make_folder("../outside/made", 0700).error().code, Code::denied);
  EXPECT_EQ(jail.open("", {}).error().code, Code::invalid);
}

TEST_P(JailOnDisk, TrustsItsRoot) {
  ASSERT_TRUE(disk().symlink("jail", at("door")));
  Jail jail(disk(), at("door"));
  EXPECT_TRUE(jail.open("f", {.write = true, .create = true}));
  EXPECT_TRUE(*disk().exists(root() + "/f"));
}

}  // namespace jail_test
}  // namespace sluice
