// Frames come back as they were put, and a file that was changed or cut is refused.
#include "store/backup/frame_file.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::store {
namespace frame_file_test {

class FrameFile : public testing::Test {
 protected:
  FrameFacts written(const std::vector<std::string>& frames) {
    auto writer = FrameWriter::create(disk, path);
    EXPECT_TRUE(writer);
    for (const auto& each : frames) EXPECT_TRUE((*writer)->put(each));
    auto facts = (*writer)->finish();
    EXPECT_TRUE(facts);
    return *facts;
  }
  std::vector<std::string> read() {
    std::vector<std::string> all;
    auto reader = FrameReader::open(disk, path);
    EXPECT_TRUE(reader);
    while (true) {
      auto frame = (*reader)->next();
      EXPECT_TRUE(frame);
      if (!frame || !*frame) return all;
      all.push_back(**frame);
    }
  }

  TestingFolder folder;
  RealDisk disk;
  const std::string path = folder.path("frames");
};

TEST_F(FrameFile, FramesComeBackAsTheyWerePut) {
  const std::vector<std::string> frames = {"one", "", std::string("a\0b", 3), std::string(3'000'000, 'x')};
  const FrameFacts facts = written(frames);
  EXPECT_EQ(facts.frames, 4U);
  EXPECT_EQ(facts.digest.substr(0, 7), "sha256:");
  EXPECT_EQ(read(), frames);
  EXPECT_TRUE(check_frames(disk, path, facts));
}

TEST_F(FrameFile, NoFileIsReplaced) {
  written({"one"});
  EXPECT_EQ(FrameWriter::create(disk, path).error().code, Code::conflict);
  EXPECT_EQ(read(), std::vector<std::string>{"one"});
}

TEST_F(FrameFile, WhatWasCutIsRefused) {
  const FrameFacts facts = written({std::string(1'000, 'a'), "two"});
  auto text = read_file(disk, path, 1 << 20);
  ASSERT_TRUE(text);
  ASSERT_TRUE(write_atomically(disk, path, text->substr(0, text->size() / 2), 0600));
  EXPECT_EQ(check_frames(disk, path, facts).error().code, Code::verification_failed);
  auto reader = FrameReader::open(disk, path);
  ASSERT_TRUE(reader);
  Result<std::optional<std::string>> frame = (*reader)->next();
  while (frame && *frame) frame = (*reader)->next();
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().code, Code::verification_failed);
}

}  // namespace frame_file_test
}  // namespace sluice::store
