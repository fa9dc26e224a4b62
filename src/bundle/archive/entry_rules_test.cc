// What is admitted, and the sentence for each thing that is not.
#include "bundle/archive/entry_rules.h"

#include <gtest/gtest.h>

namespace sluice::bundle {
namespace entry_rules_test {

using Kind = RawEntry::Kind;

RawEntry file(std::string path) { return {.path = std::move(path)}; }
RawEntry folder(std::string path) { return {.path = std::move(path), .kind = Kind::dir}; }
RawEntry link(std::string path, std::string target) {
  return {.path = std::move(path), .kind = Kind::symlink, .target = std::move(target)};
}

// The first refusal of these entries, the end included.
std::string refusal(const std::vector<RawEntry>& entries, const ArchiveLimits& limits = {}) {
  EntryRules rules("app.tar", 0, limits);
  for (const RawEntry& entry : entries) {
    if (auto admitted = rules.admit(entry); !admitted) return admitted.error().message;
  }
  auto finished = rules.finish();
  return finished ? "accepted" : finished.error().message;
}

TEST(EntryRules, GivesPlainPathsAndModes) {
  EntryRules rules("app.tar", 0);
  EXPECT_FALSE(rules.admit(folder("./"))->has_value());
  auto made = rules.admit({.path = "./a//b/", .kind = Kind::dir});
  ASSERT_TRUE(made);
  EXPECT_EQ(**made, (ArchiveEntry{.path = "a/b", .kind = EntryKind::dir, .mode = 0755}));
  EXPECT_EQ((**rules.admit({.path = "a/x", .executable = true})).mode, 0755u);
  EXPECT_EQ((**rules.admit(file("a/y"))).mode, 0644u);
  EXPECT_EQ((**rules.admit(link("a/z", "x"))).mode, 0777u);
}

TEST(EntryRules, RefusesPathsThatLeadOut) {
  EXPECT_EQ(refusal({file("/etc/passwd")}), R"(app.tar: "/etc/passwd": the path is absolute)");
  EXPECT_EQ(refusal({file("../x")}), R"(app.tar: "../x": the path has ".." in it)");
  EXPECT_EQ(refusal({file("a/../b")}), R"(app.tar: "a/../b": the path has ".." in it)");
  EXPECT_EQ(refusal({file("a/..")}), R"(app.tar: "a/..": the path has ".." in it)");
  EXPECT_EQ(refusal({file("..a/b..")}), "accepted");
}

TEST(EntryRules, RefusesNamesThatAreNone) {
  EXPECT_EQ(refusal({file("")}), R"(app.tar: "": an entry has no name)");
  EXPECT_EQ(refusal({file("a\xff")}), "app.tar: \"a\uFFFD\": the name is not UTF-8");
  EXPECT_EQ(refusal({file(std::string("a\0b", 3))}), "app.tar: \"a\\u0000b\": the name has a NUL in it");
  EXPECT_EQ(refusal({file(".")}), R"(app.tar: ".": the root must be a folder)");
  EXPECT_EQ(refusal({file(std::string(256, 'a'))}).substr(0, 9), "app.tar: ");
  EXPECT_TRUE(refusal({file(std::string(256, 'a'))}).ends_with("a name in the path is longer than 255 bytes"));
}

TEST(EntryRules, RefusesNamesThatOccurTwice) {
  EXPECT_EQ(refusal({file("a"), file("a")}), R"(app.tar: "a": the name occurs twice)");
  EXPECT_EQ(refusal({file("a"), file("./a")}), R"(app.tar: "a": the name occurs twice)");
  EXPECT_EQ(refusal({folder("a"), folder("a/")}), R"(app.tar: "a": the name occurs twice)");
  EXPECT_EQ(refusal({file("a/b"), file("a")}), R"(app.tar: "a": the name occurs twice)");
  EXPECT_EQ(refusal({file("a/b"), folder("a")}), "accepted") << "a folder may be listed after what is in it";
}

TEST(EntryRules, RefusesNamesThatAreTheSameElsewhere) {
  EXPECT_EQ(refusal({file("README"), file("readme")}),
            R"(app.tar: "readme": it differs from "README" only in case or accents)");
  EXPECT_EQ(refusal({file("É"), file("é")}), R"(app.tar: "é": it differs from "É" only in case or accents)");
  EXPECT_EQ(refusal({file("\u00e9"), file("e\u0301")}),
            "app.tar: \"e\u0301\": it differs from \"\u00e9\" only in case or accents");
  EXPECT_EQ(refusal({file("A/x"), file("a/y")}),
            R"(app.tar: "a/y": it differs from what is in "A" only in case or accents)");
}

// An alpha with an iota below it and an accent: the accent stands apart in the first name and not in the second one.
TEST(FirstWeek26, NamesThatDifferInHowAnIotaAndAnAccentAreComposedAreOneName) {
  EXPECT_EQ(refusal({file("\u1fb3\u0301"), file("\u1fb4")}),
            "app.tar: \"\u1fb4\": it differs from \"\u1fb3\u0301\" only in case or accents");
  EXPECT_EQ(refusal({file("\u1fb3"), file("\u1fb4")}), "accepted") << "with and without an accent";
}

TEST(EntryRules, RefusesWhatIsNeitherFileNorFolderNorSymlink) {
  EXPECT_EQ(refusal({{.path = "x", .kind = Kind::hard_link, .target = "y"}}), R"(app.tar: "x": it is a hard link)");
  EXPECT_EQ(refusal({{.path = "x", .kind = Kind::device}}), R"(app.tar: "x": it is a device)");
  EXPECT_EQ(refusal({{.path = "x", .kind = Kind::fifo}}), R"(app.tar: "x": it is a FIFO)");
  EXPECT_EQ(refusal({{.path = "x", .kind = Kind::socket}}), R"(app.tar: "x": it is a socket)");
}

TEST(EntryRules, RefusesToWriteThroughSymlinksAndFiles) {
  EXPECT_EQ(refusal({link("l", "elsewhere"), file("l/x")}), R"(app.tar: "l/x": "l" above it is a symlink)");
  EXPECT_EQ(refusal({file("l/x"), link("l", "elsewhere")}), R"(app.tar: "l": the name occurs twice)");
  EXPECT_EQ(refusal({file("f"), file("f/x")}), R"(app.tar: "f/x": "f" above it is a file)");
}

TEST(EntryRules, RefusesSymlinksThatLeadOut) {
  EXPECT_EQ(refusal({link("l", "/etc")}), R"(app.tar: "l": the symlink's target is absolute)");
  EXPECT_EQ(refusal({link("l", "..")}), R"(app.tar: "l": the symlink leads out of the archive: "..")");
  EXPECT_EQ(refusal({link("a/l", "../../x")}), R"(app.tar: "a/l": the symlink leads out of the archive: "../../x")");
  EXPECT_EQ(refusal({link("l", "")}), R"(app.tar: "l": the symlink leads nowhere)");
  EXPECT_EQ(refusal({link("l", "\xff")}), R"(app.tar: "l": the symlink's target is not UTF-8)");
  EXPECT_EQ(refusal({link("a/l", "../b/./c")}), "accepted");
  EXPECT_EQ(refusal({link("l", "not-there")}), "accepted");
}

TEST(EntryRules, FollowsOtherSymlinksBeforeItBelievesATarget) {
  // By its letters alone "a/b/c/up/../.." stays inside; but up leads to the root.
  EXPECT_EQ(refusal({link("a/b/c/up", "../../.."), link("out", "a/b/c/up/../../x")}),
            R"(app.tar: "out": the symlink leads out of the archive: "a/b/c/up/../../x")");
  EXPECT_EQ(refusal({link("x", "y"), link("y", "x")}),
            R"(app.tar: "x": the symlink leads through more than 40 others, or in a circle)");
}

TEST(EntryRules, HoldsItsLimits) {
  EXPECT_EQ(refusal({file("a"), file("b"), file("c")}, {.max_entries = 2}), "app.tar: it has more than 2 entries");
  EXPECT_EQ(refusal({file("a/b/c")}, {.max_entries = 2}), "app.tar: it has more than 2 entries")
      << "implied folders count";
  EXPECT_EQ(refusal({file("a/b/c")}, {.max_depth = 2}), R"(app.tar: "a/b/c": it lies deeper than 2 folders)");
  EXPECT_EQ(refusal({file("abcd")}, {.max_path_bytes = 3}), R"(app.tar: "abcd": the path is longer than 3 bytes)");
  EXPECT_EQ(refusal({link("a", "bcde")}, {.max_path_bytes = 3}),
            R"(app.tar: "a": the symlink's target is longer than 3 bytes)");
  EXPECT_EQ(refusal({file("abc"), file("def")}, {.max_name_bytes = 5}), "app.tar: its names take more than 5 bytes");
  EXPECT_EQ(refusal({{.path = "a", .size = 11}}, {.max_total_bytes = 10}), "app.tar: it unpacks to more than 10 bytes");
}

TEST(EntryRules, CountsBytesAgainstTheTotalAndTheRatio) {
  EntryRules total("app.tar", 0, {.max_total_bytes = 10});
  ASSERT_TRUE(total.count_bytes("a", 10));
  auto more = total.count_bytes("a", 1);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, Code::limit);
  EXPECT_EQ(more.error().message, "app.tar: it unpacks to more than 10 bytes");
  EntryRules ratio("app.tar", 10, {.max_ratio = 5, .ratio_free_bytes = 20});
  ASSERT_TRUE(ratio.count_bytes("a", 50));
  auto bomb = ratio.count_bytes("a", 1);
  ASSERT_FALSE(bomb);
  EXPECT_EQ(bomb.error().message,
            R"(app.tar: "a": the archive unpacks to more than 5 times its size, as only a bomb does)");
}

TEST(EntryRules, FollowingManySymlinksIsBounded) {
  EntryRules rules("app.tar", 0);
  std::string target;
  for (int i = 0; i < 250; ++i) target += "./x/";
  for (int i = 0; i < 50'000; ++i) ASSERT_TRUE(rules.admit(link("l" + std::to_string(i), target)));
  auto finished = rules.finish();
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().message, "app.tar: its symlinks are too many to follow");
}

}  // namespace entry_rules_test
}  // namespace sluice::bundle
