// Two pipes into one log.
#include "process/program_output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::process {
namespace program_output_test {

struct ProgramOutputTest : testing::Test {
  ProgramOutputTest() {
    Descriptor out = pipe(out_end), err = pipe(err_end);
    output.open(std::move(out), std::move(err));
  }
  static Descriptor pipe(Descriptor& write_end) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    write_end = Descriptor(ends[1]);
    return Descriptor(ends[0]);
  }
  static void say(const Descriptor& end, std::string_view text) {
    ASSERT_EQ(::write(end.fd(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::vector<std::string> said() {
    std::vector<std::string> lines;
    auto all = last_log_lines(disk, folder.path(), 100);
    for (const LogLine& line : *all) lines.push_back(line.stream + " " + line.text);
    return lines;
  }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  ReplicaLog log{folder.path(), {}, clock};
  ProgramOutput output{log};
  Descriptor out_end, err_end;
};

TEST_F(ProgramOutputTest, TakesEachStreamByItself) {
  say(out_end, "hello\nhal");
  say(err_end, "oops\n");
  EXPECT_TRUE(output.pump(Stream::out));
  EXPECT_TRUE(output.pump(Stream::err));
  EXPECT_FALSE(output.pump(Stream::err)) << "nothing is there, and reading does not wait";
  EXPECT_THAT(said(), testing::ElementsAre("out hello", "err oops"));
}

TEST_F(ProgramOutputTest, AnEndMakesALineOfWhatWasBegun) {
  say(out_end, "last words");
  out_end.reset();
  EXPECT_TRUE(output.pump(Stream::out));
  EXPECT_FALSE(output.pump(Stream::out));
  EXPECT_THAT(said(), testing::ElementsAre("out last words"));
  EXPECT_EQ(output.fd(Stream::out), -1);
}

TEST_F(ProgramOutputTest, ClosingTakesAllThatIsLeft) {
  const std::string line(1000, 'x');
  for (int i = 0; i < 60; ++i) say(err_end, line + "\n");
  output.close();
  EXPECT_EQ(said().size(), 60U);
  EXPECT_EQ(output.fd(Stream::err), -1);
}

}  // namespace program_output_test
}  // namespace sluice::process
