// Globs over paths.
#include "bundle/manifest/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::bundle {
namespace glob_test {

TEST(Glob, MatchesWithinAComponent) {
  EXPECT_TRUE(glob_matches("*.txt", "a.txt"));
  EXPECT_FALSE(glob_matches("*.txt", "a/b.txt"));
  EXPECT_TRUE(glob_matches("a*b*c", "aXXbYYc"));
  EXPECT_FALSE(glob_matches("a*b*c", "aXXcYYb"));
  EXPECT_TRUE(glob_matches("?", "é")) << "one character, not one byte";
  EXPECT_FALSE(glob_matches("?", ""));
  EXPECT_TRUE(glob_matches("a\\*b", "a*b"));
  EXPECT_FALSE(glob_matches("a\\*b", "aXb"));
  EXPECT_TRUE(glob_matches("*", ".hidden"));
}

TEST(Glob, KnowsSets) {
  EXPECT_TRUE(glob_matches("[a-c]x", "bx"));
  EXPECT_FALSE(glob_matches("[a-c]x", "dx"));
  EXPECT_TRUE(glob_matches("[!a-c]x", "dx"));
  EXPECT_FALSE(glob_matches("[^a-c]x", "ax"));
  EXPECT_TRUE(glob_matches("[]]", "]"));
  EXPECT_TRUE(glob_matches("[\\]]", "]"));
  EXPECT_TRUE(glob_matches("[a-]", "-"));
  EXPECT_TRUE(glob_matches("[ä-ü]", "ö"));
  EXPECT_TRUE(glob_matches("[abc", "[abc")) << "a set that does not end is no set";
}

TEST(Glob, StarsOfTwoGoAcrossFolders) {
  EXPECT_TRUE(glob_matches("**", "a/b/c"));
  EXPECT_TRUE(glob_matches("**/c", "a/b/c"));
  EXPECT_TRUE(glob_matches("**/c", "c"));
  EXPECT_TRUE(glob_matches("a/**/c", "a/c"));
  EXPECT_TRUE(glob_matches("a/**/c", "a/x/y/c"));
  EXPECT_FALSE(glob_matches("a/**/c", "b/x/c"));
  EXPECT_TRUE(glob_matches("**/a/**/b", "x/a/a/y/b"));
  EXPECT_FALSE(glob_matches("a/b", "a/b/c"));
}

TEST(Glob, AFolderStandsForWhatIsInIt) {
  EXPECT_TRUE(glob_covers("bin", "bin/app"));
  EXPECT_TRUE(glob_covers("bin/*", "bin/deep/app"));
  EXPECT_FALSE(glob_covers("bin/app", "bin"));
  EXPECT_FALSE(glob_covers("bin", "binary"));
}

TEST(Glob, KnowsWhichFoldersToWalk) {
  EXPECT_TRUE(glob_may_match_below("a/b/c", "a"));
  EXPECT_TRUE(glob_may_match_below("a/*/c", "a/x"));
  EXPECT_TRUE(glob_may_match_below("**/c", "anything/at/all"));
  EXPECT_FALSE(glob_may_match_below("a/b", "c"));
  EXPECT_FALSE(glob_may_match_below("a/b/c", "a/x"));
}

TEST(Glob, ManyStarsTakeNoLonger) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "*a";
  EXPECT_FALSE(glob_matches(pattern + "b", std::string(5000, 'a')));
  std::string folders;
  std::string path;
  for (int i = 0; i < 100; ++i) folders += "**/a/";
  for (int i = 0; i < 1000; ++i) path += "a/";
  EXPECT_FALSE(glob_matches(folders + "b", path + "a"));
}

}  // namespace glob_test
}  // namespace sluice::bundle
