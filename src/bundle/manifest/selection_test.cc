// Which files of a folder are chosen, and why the others are not.
#include "bundle/manifest/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/testing_volatile_disk.h"

namespace sluice::bundle {
namespace selection_test {

using ::testing::ElementsAre;

class SelectionTest : public ::testing::Test {
 protected:
  void add(const std::string& path, std::string_view content = "") {
    for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      (void)disk.make_folder(path.substr(0, slash), 0755);
    }
    ASSERT_TRUE(write_atomically(disk, path, content, 0644));
  }

  VolatileDisk disk;
};

TEST_F(SelectionTest, TakesAllButWhatIsDeniedOrIgnored) {
  add("/src/bundle.yaml");
  add("/src/main.py");
  add("/src/.env");
  add("/src/.git/config");
  add("/src/logs/a.log");
  add("/src/logs/keep.log");
  add("/src/cache/x/y");
  add("/src/.sluiceignore", "*.log\n!keep.log\ncache/\n");
  ASSERT_TRUE(disk.make_folder("/src/empty", 0755));
  ASSERT_TRUE(disk.symlink("main.py", "/src/link"));
  auto selection = select(disk, "/src");
  ASSERT_TRUE(selection) << selection.error().message;
  EXPECT_THAT(selection->chosen, ElementsAre("bundle.yaml", "empty", "link", "logs/keep.log", "main.py"));
  EXPECT_THAT(selection->skipped, ElementsAre(Skipped{.path = ".env", .reason = "an environment file", .secret = true},
                                              Skipped{.path = ".git/", .reason = "of version control"},
                                              Skipped{.path = ".sluiceignore", .reason = "of no use in a bundle"},
                                              Skipped{.path = "cache/", .reason = ".sluiceignore:3"},
                                              Skipped{.path = "logs/a.log", .reason = ".sluiceignore:1"}));
}

TEST_F(SelectionTest, TakesOnlyWhatIsIncluded) {
  add("/src/bundle.yaml");
  add("/src/bin/app");
  add("/src/bin/.env");
  add("/src/lib/a.so");
  add("/src/lib/a.txt");
  add("/src/docs/x");
  auto selection = select(disk, "/src", {"bin", "lib/*.so"});
  ASSERT_TRUE(selection);
  EXPECT_THAT(selection->chosen, ElementsAre("bin/app", "bundle.yaml", "lib/a.so"));
  EXPECT_THAT(selection->skipped,
              ElementsAre(Skipped{.path = "bin/.env", .reason = "an environment file", .secret = true},
                          Skipped{.path = "docs/", .reason = "not included"},
                          Skipped{.path = "lib/a.txt", .reason = "not included"}));
}

TEST_F(SelectionTest, SaysWhereAnIgnoreFileIsWrong) {
  add("/src/.sluiceignore", "fine\n\xff\n");
  auto refused = select(disk, "/src");
  ASSERT_FALSE(refused);
  EXPECT_EQ(to_string(refused.error()), "/src/.sluiceignore:2:1: the line is not UTF-8");
}

TEST_F(SelectionTest, HoldsItsLimits) {
  add("/src/a/b/c/d");
  EXPECT_EQ(select(disk, "/src", {"**"}, {.max_depth = 3}).error().message, "/src: it is deeper than 3 folders");
  EXPECT_EQ(select(disk, "/src", {"**"}, {.max_entries = 2}).error().message, "/src: it has more than 2 entries");
  EXPECT_EQ(select(disk, "/missing").error().code, Code::not_found);
}

TEST(Selection, LeavesOutBundlesThatWereBuiltThereBefore) {
  VolatileDisk disk;
  ASSERT_TRUE(disk.make_folder("/src", 0755));
  for (const char* name : {"a-1.bundle", "a-1.bundle.sig.json", "notes.sig.json", "b-1.bundle"}) {
    ASSERT_TRUE(write_atomically(disk, std::string("/src/") + name, "x", 0644));
  }
  auto selection = select(disk, "/src");
  ASSERT_TRUE(selection) << selection.error().message;
  EXPECT_EQ(selection->chosen, (std::vector<std::string>{"b-1.bundle", "notes.sig.json"}));
  EXPECT_EQ(selection->skipped,
            (std::vector<Skipped>{{.path = "a-1.bundle", .reason = "a bundle that was built before"},
                                  {.path = "a-1.bundle.sig.json", .reason = "a bundle that was built before"}}));
}

}  // namespace selection_test
}  // namespace sluice::bundle
