// Logs that are read while they are written and turned over.
#include "process/log_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/clock.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::process {
namespace log_reader_test {

using testing::ElementsAre;

struct LogReaderTest : testing::Test {
  std::vector<std::string> rest(LogReader& reader) {
    std::vector<std::string> texts;
    for (;;) {
      auto line = reader.next();
      EXPECT_TRUE(line) << to_string(line.error());
      if (!line || !*line) return texts;
      texts.push_back((*line)->text);
    }
  }

  TestingFolder folder;
  RealDisk disk;
  ManualClock clock{1'000'000};
};

TEST_F(LogReaderTest, GoesOnWhereItWas) {
  ReplicaLog log(folder.path(), {}, clock);
  LogReader reader(disk, folder.path());
  EXPECT_THAT(rest(reader), ElementsAre());
  log.add(Stream::out, "one\ntwo\nthr");
  EXPECT_THAT(rest(reader), ElementsAre("one", "two"));
  log.add(Stream::out, "ee\n");
  EXPECT_THAT(rest(reader), ElementsAre("three"));
}

TEST_F(LogReaderTest, FollowsAFileThatIsTurnedOver) {
  ReplicaLog log(folder.path(), {.file_bytes = 1024, .files = 5}, clock);
  LogReader reader(disk, folder.path());
  std::vector<std::string> written, read;
  for (int i = 0; i < 300; ++i) {
    written.push_back("line " + std::to_string(i) + std::string(40, 'x'));
    log.add(Stream::out, written.back() + "\n");
    if (i % 7 == 0) std::ranges::move(rest(reader), std::back_inserter(read));
  }
  std::ranges::move(rest(reader), std::back_inserter(read));
  EXPECT_EQ(read, written);
}

TEST_F(LogReaderTest, BeginsWithTheOldestFile) {
  ReplicaLog log(folder.path(), {.file_bytes = 1024, .files = 3}, clock);
  for (int i = 0; i < 30; ++i) log.add(Stream::out, std::to_string(i) + " " + std::string(60, 'x') + "\n");
  LogReader reader(disk, folder.path());
  auto texts = rest(reader);
  EXPECT_EQ(texts.size(), 30U);
  EXPECT_TRUE(texts.front().starts_with("0 "));
}

TEST_F(LogReaderTest, SaysWhatWasDroppedBeforeItCouldBeRead) {
  ReplicaLog log(folder.path(), {.file_bytes = 1024, .files = 2}, clock);
  LogReader reader(disk, folder.path());
  log.add(Stream::out, "first\n");
  EXPECT_THAT(rest(reader), ElementsAre("first"));
  for (int i = 0; i < 100; ++i) log.add(Stream::out, std::to_string(i) + " " + std::string(60, 'x') + "\n");
  auto texts = rest(reader);
  EXPECT_THAT(texts, testing::Contains("a part of the log was dropped before it was read").Times(1));
  ASSERT_FALSE(texts.empty());
  EXPECT_TRUE(texts.front().starts_with("0 ")) << "what it had open is still there for it";
  EXPECT_TRUE(texts.back().starts_with("99 "));
}

TEST_F(LogReaderTest, LeavesOutWhatIsNoLine) {
  ASSERT_TRUE(replace_file(folder.path(std::string(kLogName)), std::string(200'000, 'x') + "\n\0\n", 0600));
  LogReader reader(disk, folder.path());
  EXPECT_THAT(rest(reader), ElementsAre());
  EXPECT_FALSE(reader.gone());
  std::filesystem::remove_all(folder.path());
  EXPECT_THAT(rest(reader), ElementsAre());
  EXPECT_TRUE(reader.gone());
}

TEST_F(LogReaderTest, SeveralAreMergedByTime) {
  std::vector<LogMerge::Source> sources;
  std::vector<ReplicaLog> logs;
  for (const char* name : {"a", "b"}) {
    std::filesystem::create_directory(folder.path(name));
    sources.push_back({.replica = name, .folder = folder.path(name)});
    logs.emplace_back(folder.path(name), LogLimits{}, clock);
  }
  for (int i = 0; i < 4; ++i) {
    logs[static_cast<size_t>(i % 2)].add(Stream::out, std::to_string(i) + "\n");
    clock.advance_ms(1000);
  }
  auto all = [&](const std::string& since) {
    LogMerge merge(disk, sources, since);
    std::vector<std::string> lines;
    for (auto line = merge.next(); *line; line = merge.next()) {
      lines.push_back((*line)->replica + " " + (*line)->line.text);
    }
    return lines;
  };
  EXPECT_THAT(all(""), ElementsAre("a 0", "b 1", "a 2", "b 3"));
  EXPECT_THAT(all(utc_text(1'000'000 + 2000)), ElementsAre("a 2", "b 3"));
}

}  // namespace log_reader_test
}  // namespace sluice::process
