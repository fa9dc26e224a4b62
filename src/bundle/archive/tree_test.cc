// Trees, their digests and how they differ.
#include "bundle/archive/tree.h"

#include <gtest/gtest.h>

#include "crypto/hex.h"
#include "crypto/sha256.h"

namespace sluice::bundle {
namespace tree_test {

TreeEntry file(std::string path, std::string_view content, uint32_t mode = kFileMode) {
  return {.path = std::move(path),
          .kind = EntryKind::file,
          .mode = mode,
          .size = content.size(),
          .sha256 = crypto::to_hex(crypto::sha256(content))};
}

TreeEntry symlink(std::string path, std::string target) {
  return {.path = std::move(path), .kind = EntryKind::symlink, .mode = kSymlinkMode, .target = std::move(target)};
}

TEST(Tree, DigestIsThatOfItsCanonicalJson) {
  Tree tree;
  tree.add(symlink("current", "bin/app"));
  tree.add(file("bin/app", "hello", kExecutableMode));
  EXPECT_EQ(tree.canonical_text(),
            R"({"entries":[{"mode":"0755","path":"bin","type":"dir"},)"
            R"({"mode":"0755","path":"bin/app","sha256":)"
            R"("2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824","size":5,"type":"file"},)"
            R"({"mode":"0777","path":"current","target":"bin/app","type":"symlink"}],"schema":"sluice.tree.v1"})");
  EXPECT_EQ(tree.digest(), crypto::to_hex(crypto::sha256(tree.canonical_text())));
}

TEST(Tree, AnEmptyTreeHasADigest) {
  EXPECT_EQ(Tree().canonical_text(), R"({"entries":[],"schema":"sluice.tree.v1"})");
  EXPECT_EQ(Tree().digest(), crypto::to_hex(crypto::sha256(R"({"entries":[],"schema":"sluice.tree.v1"})")));
}

TEST(Tree, OrderOfAddingDoesNotMatter) {
  Tree one;
  one.add(file("a/b", "1"));
  one.add(file("a-b", "2"));
  one.add(file("é", "3"));
  Tree other;
  other.add(file("é", "3"));
  other.add(file("a-b", "2"));
  other.add({.path = "a", .kind = EntryKind::dir, .mode = kFolderMode});
  other.add(file("a/b", "1"));
  EXPECT_EQ(one.digest(), other.digest());
  EXPECT_EQ(one, other);
}

TEST(Tree, EveryFieldCountsForTheDigest) {
  auto digest_of = [](TreeEntry entry) {
    Tree tree;
    tree.add(std::move(entry));
    return tree.digest();
  };
  const TreeDigest plain = digest_of(file("a", "x"));
  EXPECT_NE(plain, digest_of(file("b", "x")));
  EXPECT_NE(plain, digest_of(file("a", "y")));
  EXPECT_NE(plain, digest_of(file("a", "x", kExecutableMode)));
  EXPECT_NE(digest_of(symlink("a", "x")), digest_of(symlink("a", "y")));
  TreeEntry larger = file("a", "x");
  larger.size = 2;
  EXPECT_NE(plain, digest_of(larger));
}

TEST(Tree, KnowsItsEntriesAndTheirBytes) {
  Tree tree;
  tree.add(file("a/b/c", "123"));
  tree.add(file("d", "45"));
  EXPECT_EQ(tree.total_bytes(), 5u);
  ASSERT_NE(tree.find("a/b"), nullptr);
  EXPECT_EQ(tree.find("a/b")->kind, EntryKind::dir);
  EXPECT_EQ(tree.find("nothing"), nullptr);
  EXPECT_EQ(tree.entries().size(), 4u);
}

TEST(TreeDiff, SaysWhatCameWentAndChanged) {
  Tree before;
  before.add(file("content", "abc"));
  before.add(file("gone", ""));
  before.add(file("kind", ""));
  before.add(file("mode", "m"));
  before.add(file("same", "s"));
  before.add(symlink("target", "same"));
  Tree after;
  after.add(file("content", "abcde", kExecutableMode));
  after.add(symlink("kind", "same"));
  after.add(file("mode", "m", kExecutableMode));
  after.add(file("new", ""));
  after.add(file("same", "s"));
  after.add(symlink("target", "new"));
  using What = TreeChange::What;
  EXPECT_EQ(diff(before, after),
            (std::vector<TreeChange>{{What::changed, "content", "content, 3 to 5 bytes; mode 0644 to 0755"},
                                     {What::removed, "gone", ""},
                                     {What::changed, "kind", "file to symlink"},
                                     {What::changed, "mode", "mode 0644 to 0755"},
                                     {What::added, "new", ""},
                                     {What::changed, "target", "target same to new"}}));
  EXPECT_TRUE(diff(before, before).empty());
}

}  // namespace tree_test
}  // namespace sluice::bundle
