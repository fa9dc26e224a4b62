// Images are the same whatever the order of time and the number of threads.
#include "bundle/archive/squash_writer.h"

#include <gtest/gtest.h>

#include "base/testing_faulty_disk.h"
#include "bundle/archive/testing_archives.h"

namespace sluice::bundle {
namespace squash_writer_test {

std::map<std::string, std::string> many_files() {
  std::map<std::string, std::string> files;
  uint64_t state = 1;
  for (int i = 0; i < 60; ++i) {
    std::string content;
    size_t size = static_cast<size_t>(i) * 9'973;
    while (content.size() < size) {
      state = state * 6364136223846793005 + 1442695040888963407;
      content += std::to_string(state >> 40);
    }
    files["folder" + std::to_string(i % 7) + "/file" + std::to_string(i)] = content;
  }
  files["folder0/twin"] = files["folder0/file49"];
  return files;
}

TEST(SquashWriter, GivesTheSameBytesWithAnyNumberOfThreads) {
  auto files = many_files();
  std::string one = squash_of(files, {}, 1);
  for (unsigned workers : {1u, 2u, 4u}) EXPECT_TRUE(squash_of(files, {}, workers) == one) << workers;
}

TEST(SquashWriter, StoresTheSameContentOnce) {
  std::string once = squash_of({{"a", std::string(many_files().at("folder0/file49"))}});
  std::string twice = squash_of(
      {{"a", std::string(many_files().at("folder0/file49"))}, {"b", std::string(many_files().at("folder0/file49"))}});
  EXPECT_LT(twice.size(), once.size() + 8192);
}

TEST(SquashWriter, SaysTheLevelAndZerosTimesAndOwners) {
  std::string image = squash_of({{"a", "1"}});
  EXPECT_EQ(image.substr(0, 4), "hsqs");
  EXPECT_EQ(image.substr(8, 4), std::string(4, '\0')) << "the time";
  EXPECT_EQ(image[20], 6) << "zstd";
  // The options follow the super block: two bytes of length, then the level.
  EXPECT_EQ(image.substr(96, 6), std::string("\x04\x80\x03\0\0\0", 6));
  EXPECT_EQ(image.size() % 4096, 0u);
}

TEST(SquashWriter, TellsWhatTheDiskSays) {
  VolatileDisk under;
  uint64_t total = 0;
  for (uint64_t at = 1;; ++at) {
    FaultyDisk disk(under, {.kind = FaultKind::fail, .at = at});
    auto file = disk.open("/image" + std::to_string(at), {.write = true, .create = true});
    if (!file) continue;
    auto run = [&]() -> Result<void> {
      auto writer = SquashWriter::begin(**file, 1);
      if (!writer) return writer.error();
      Tree tree;
      tree.add(tree_file("a", "hello"));
      if (auto done = (*writer)->begin_file("a"); !done) return done;
      if (auto done = (*writer)->append("hello"); !done) return done;
      if (auto done = (*writer)->end_file(); !done) return done;
      return (*writer)->finish(tree);
    };
    auto done = run();
    if (done) break;
    ++total;
    EXPECT_EQ(done.error().message.substr(0, 7), "cannot ") << done.error().message;
  }
  EXPECT_GT(total, 3u);
}

}  // namespace squash_writer_test
}  // namespace sluice::bundle
