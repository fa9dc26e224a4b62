// The log's files: what is in them, how they turn over, and what happens when the disk is full.
#include "process/replica_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::process {
namespace replica_log_test {

using testing::ElementsAre;

struct ReplicaLogTest : testing::Test {
  std::string text(const std::string& name = "replica.log") {
    return read_file(disk, folder.path(name), 1 << 22).value();
  }

  TestingFolder folder;
  RealDisk disk;
  ManualClock clock{1772357400125};
};

TEST_F(ReplicaLogTest, HasALineForALine) {
  ReplicaLog log(folder.path(), {}, clock);
  log.add(Stream::out, "hel");
  log.add(Stream::err, "oops\n");
  log.add(Stream::out, "lo\n\nwor");
  log.note("stopped");
  log.end_line(Stream::out);
  log.end_line(Stream::out);
  EXPECT_EQ(text(),
            "2026-03-01T09:30:00.125Z err oops\n"
            "2026-03-01T09:30:00.125Z out hello\n"
            "2026-03-01T09:30:00.125Z out \n"
            "2026-03-01T09:30:00.125Z sluice stopped\n"
            "2026-03-01T09:30:00.125Z out wor\n");
}

TEST_F(ReplicaLogTest, FirstWeek20MarksWhatTellsOfAHealthCheck) {
  ReplicaLog log(folder.path(), {}, clock);
  auto marked = [&](const std::string& line) {
    log.add(Stream::err, line + "\n");
    auto lines = last_log_lines(disk, folder.path(), 1).value();
    EXPECT_EQ(lines.at(0).text, line);
    EXPECT_EQ(lines.at(0).stream, "err");
    return lines.at(0).of_check;
  };
  EXPECT_FALSE(marked("GET /health before any check"));
  log.expect_check("/health");
  EXPECT_TRUE(marked(R"("GET /health HTTP/1.1" 200 -)"));
  EXPECT_TRUE(marked(R"({"method":"GET","path":"/health"})"));
  EXPECT_FALSE(marked("GET /healthy"));
  EXPECT_FALSE(marked("GET /v1/health"));
  EXPECT_FALSE(marked("error in /health: no database"));
  log.expect_check("/");
  EXPECT_TRUE(marked("GET / 200"));
  EXPECT_FALSE(marked("GET / 200")) << "the next one is a visitor's";
  log.expect_check("/");
  EXPECT_FALSE(marked("GET /page 200"));
  EXPECT_TRUE(marked("GET / 200"));
}

TEST_F(ReplicaLogTest, CutsLinesThatDoNotEnd) {
  ReplicaLog log(folder.path(), {}, clock);
  log.add(Stream::out, std::string(40'000, 'x') + "\n");
  auto lines = last_log_lines(disk, folder.path(), 10).value();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[0].goes_on && lines[1].goes_on && !lines[2].goes_on);
  EXPECT_EQ(lines[0].text.size() + lines[1].text.size() + lines[2].text.size(), 40'000U);
}

TEST_F(ReplicaLogTest, TurnsOverAndKeepsTheNewest) {
  ReplicaLog log(folder.path(), {.file_bytes = 1024, .files = 2}, clock);
  for (int i = 0; i < 200; ++i) log.add(Stream::out, "line " + std::to_string(i) + "\n");
  EXPECT_EQ(disk.list(folder.path())->size(), 2U);
  auto lines = last_log_lines(disk, folder.path(), 1000).value();
  EXPECT_EQ(lines.back().text, "line 199");
  for (size_t i = 1; i < lines.size(); ++i) {
    EXPECT_EQ(std::stoi(lines[i].text.substr(5)), std::stoi(lines[i - 1].text.substr(5)) + 1) << "without a hole";
  }
  EXPECT_GT(lines.size(), 30U);
}

TEST_F(ReplicaLogTest, GoesOnInTheFileThatIsThere) {
  ReplicaLog(folder.path(), {}, clock).note("one");
  ReplicaLog(folder.path(), {}, clock).note("two");
  auto lines = last_log_lines(disk, folder.path(), 1).value();
  EXPECT_THAT(lines, ElementsAre(LogLine{.time = "2026-03-01T09:30:00.125Z", .stream = "sluice", .text = "two"}));
  EXPECT_EQ(last_log_lines(disk, folder.path(), 5)->size(), 2U);
}

TEST_F(ReplicaLogTest, SaysHowMuchWasLostWhileTheDiskTookNothing) {
  ReplicaLog log(folder.path("later"), {}, clock);
  log.add(Stream::out, "lost\n");
  ASSERT_TRUE(disk.make_folder(folder.path("later"), 0700));
  log.add(Stream::out, "kept\n");
  EXPECT_EQ(text("later/replica.log"),
            "2026-03-01T09:30:00.125Z sluice 34 bytes of the log were lost: the disk took no more\n"
            "2026-03-01T09:30:00.125Z out kept\n");
}

TEST_F(ReplicaLogTest, ReadsNoMoreThanItIsAskedFor) {
  ReplicaLog log(folder.path(), {}, clock);
  for (int i = 0; i < 100; ++i) log.add(Stream::out, "line\n");
  EXPECT_EQ(last_log_lines(disk, folder.path(), 10)->size(), 10U);
  EXPECT_EQ(last_log_lines(disk, folder.path(), 100, 100)->size(), 2U) << "the third is cut and left out";
  EXPECT_TRUE(last_log_lines(disk, folder.path("none"), 10)->empty());
}

TEST_F(ReplicaLogTest, RefusesWhatIsNoLine) {
  for (const char* line : {"", "x", "2026-03-01T09:30:00.125Z", "2026-03-01T09:30:00.125Z out",
                           "2026-03-01T09:30:00.125Z nobody said this"}) {
    EXPECT_FALSE(parse_log_line(line)) << line;
  }
}

}  // namespace replica_log_test
}  // namespace sluice::process
