// A signal that has come ends the reading of a line, and a line that is there is read.
#include "cli/prompt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <sstream>

#include "host/kit_watch.h"

namespace sluice::cli {
namespace prompt_test {

TEST(Prompt, ReadsLinesUntilThereAreNoMore) {
  std::istringstream in("yes\n\nno");
  std::string line;
  for (const char* wanted : {"yes", "", "no"}) {
    EXPECT_TRUE(*read_line(in, -1, line));
    EXPECT_EQ(line, wanted);
  }
  EXPECT_FALSE(*read_line(in, -1, line));
}

TEST(Prompt, AStopEndsTheWaitForALine) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  std::istringstream in;
  std::string line;
  const host::StopSignal outer;
  ::raise(SIGINT);
  auto read = read_line(in, pipe_ends[0], line);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "stopped; nothing was changed");
  EXPECT_EQ(read.error().code, Code::failed);
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

}  // namespace prompt_test
}  // namespace sluice::cli
