// SquashFS images, sound ones and hostile ones. Images of other makers are in tests/bundle.
#include "bundle/archive/squash_reader.h"

#include <gtest/gtest.h>

#include "bundle/archive/testing_archives.h"

namespace sluice::bundle {
namespace squash_reader_test {

TEST(SquashReader, GivesTheTreeThatWasWritten) {
  std::map<std::string, std::string> files = {{"bin/app", "hello"},
                                              {"big", std::string(300'000, 'x') + "end"},
                                              {"exact", std::string(kSquashBlockBytes, 'y')},
                                              {"zeros", std::string(500'000, '\0')},
                                              {"empty-file", ""}};
  Tree expected;
  for (const auto& [path, content] : files) expected.add(tree_file(path, content));
  expected.add(tree_symlink("current", "bin/app"));
  expected.add(tree_folder("empty"));
  auto tree = tree_of_bytes(squash_of(files, {tree_symlink("current", "bin/app"), tree_folder("empty")}));
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(*tree, expected);
}

TEST(SquashReader, ReadsFoldersOfAnySize) {
  std::map<std::string, std::string> files;
  for (int i = 0; i < 3000; ++i) files["folder/" + std::string(40, 'n') + std::to_string(i)] = std::to_string(i);
  auto tree = tree_of_bytes(squash_of(files));
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(tree->entries().size(), 3001u);
  EXPECT_EQ(*tree->find("folder/" + std::string(40, 'n') + "2999"),
            tree_file("folder/" + std::string(40, 'n') + "2999", "2999"));
}

TEST(SquashReader, RefusesWhatItMustNotCarry) {
  EXPECT_EQ(refusal_of_bytes(squash_of({{"../x", "1"}})), R"(app: "..": the path has ".." in it)");
  EXPECT_EQ(refusal_of_bytes(squash_of({{"a\xff", "1"}})), "app: \"a\uFFFD\": the name is not UTF-8");
  EXPECT_EQ(refusal_of_bytes(squash_of({{"A", "1"}, {"a", "1"}})),
            R"(app: "a": it differs from "A" only in case or accents)");
  EXPECT_EQ(refusal_of_bytes(squash_of({}, {tree_symlink("l", "/etc")})),
            R"(app: "l": the symlink's target is absolute)");
  EXPECT_EQ(refusal_of_bytes(squash_of({}, {tree_symlink("a/l", "../../x")})),
            R"(app: "a/l": the symlink leads out of the archive: "../../x")");
  EXPECT_EQ(refusal_of_bytes(squash_of({{"a/./b", "1"}})), R"(app: "a": the name occurs twice)");
}

TEST(SquashReader, RefusesWhatLiesBehindItsEnd) {
  const std::string image = squash_of({{"a", "1"}});
  EXPECT_EQ(refusal_of_bytes(image + std::string(9000, '\0')), "accepted");
  EXPECT_EQ(refusal_of_bytes(image + zip_of({{.name = "a"}})), "app: there is something behind its end");
}

TEST(SquashReader, RefusesBombsAndCrowds) {
  std::string zeros = squash_of({{"z", std::string(3'000'000, '\0')}});
  EXPECT_EQ(refusal_of_bytes(zeros, {.limits = {.ratio_free_bytes = 1000}}),
            R"(app: "z": the archive unpacks to more than 200 times its size, as only a bomb does)");
  EXPECT_EQ(refusal_of_bytes(zeros, {.limits = {.max_total_bytes = 1'000'000}}),
            "app: it unpacks to more than 1000000 bytes");
  EXPECT_EQ(refusal_of_bytes(squash_of({{"a", ""}, {"b", ""}, {"c", ""}}), {.limits = {.max_entries = 2}}),
            "app: it has more than 2 entries");
  std::string deep = "x";
  for (int i = 0; i < 200; ++i) deep = "a/" + deep;
  std::string refusal = refusal_of_bytes(squash_of({{deep, ""}}));
  EXPECT_TRUE(refusal.ends_with("it lies deeper than 128 folders")) << refusal;
}

TEST(SquashReader, RefusesWhatIsCutShort) {
  std::string content;
  for (int i = 0; content.size() < 200'000; ++i) content += crypto::to_hex(crypto::sha256(std::to_string(i)));
  std::string image = squash_of({{"a", content}, {"b", "text"}});
  for (size_t size : {size_t{40}, size_t{96}, image.size() / 2, image.size() - 4096}) {
    std::string refusal = refusal_of_bytes(image.substr(0, size));
    EXPECT_EQ(refusal, "app: the archive ends too early") << size;
  }
}

// Every byte of a small image is turned over, one after the other: it is read or refused, and never reaches beyond its
// limits.
TEST(SquashReader, SurvivesDamageAnywhere) {
  const std::string image = squash_of({{"a/b", "hello"}, {"c", std::string(5000, 'c')}}, {tree_symlink("l", "c")});
  size_t accepted = 0;
  for (size_t i = 0; i < image.size(); ++i) {
    std::string damaged = image;
    damaged[i] = static_cast<char>(~damaged[i]);
    auto tree = tree_of_bytes(damaged, {.limits = {.max_total_bytes = 1 << 20, .max_entries = 100}});
    if (tree) {
      ++accepted;
    } else {
      EXPECT_EQ(tree.error().message.substr(0, 5), "app: ");
    }
  }
  EXPECT_LT(accepted, image.size());
}

TEST(SquashReader, RefusesACompressorThatItDoesNotKnow) {
  std::string image = squash_of({{"a", "1"}});
  image[20] = 3;
  EXPECT_EQ(refusal_of_bytes(image), "app: Sluice does not read SquashFS compressed with lzo");
  image[20] = 77;
  EXPECT_EQ(refusal_of_bytes(image).substr(0, 5), "app: ");
}

TEST(SquashReader, RefusesMoreEntriesThanThereMayBe) {
  constexpr int kFolders = 251, kEach = 1000;  // one more than 250,000, folders included
  std::vector<TreeEntry> entries;
  for (int d = 0; d < kFolders; ++d) {
    std::string folder = "d" + std::to_string(d);
    entries.push_back(tree_folder(folder));
    for (int n = 0; n < kEach; ++n) entries.push_back(tree_symlink(folder + "/l" + std::to_string(n), "x"));
  }
  EXPECT_EQ(refusal_of_bytes(squash_of({}, entries)), "app: it has more than 250000 entries");
}

}  // namespace squash_reader_test
}  // namespace sluice::bundle
