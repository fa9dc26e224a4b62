// Waiting, without anything to wait for. That it ends with an answer, with people and with Ctrl-C is tested where
// commands wait: cli/nouns/kit/kit_run_test.cc and tests/engine/test_kit_run.py.
#include "cli/patience.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sstream>

#include "base/real_disk.h"
#include "cli/testing_commands.h"

namespace sluice::cli {
namespace patience_test {

TEST(Patience, EndsWithTheStopSignalAndStaysEnded) {
  Commands commands = testing_commands();
  Given given;
  std::istringstream in;
  std::ostringstream out, err;
  Output output{{.quiet = true}, out, err};
  Variables variables = [](const std::string&) -> std::optional<std::string> { return std::nullopt; };
  RealDisk disk;
  Context context{commands, given, output, variables, in, disk};
  ManualClock clock;
  host::StopSignal stop;
  Patience patience(context, clock, stop);
  int looked = 0;
  patience.meanwhile([&] { ++looked; });
  patience.waits_for("tea");
  EXPECT_FALSE(patience.ends());
  EXPECT_EQ(looked, 1);
  EXPECT_FALSE(patience.stopped());
  ASSERT_EQ(::raise(SIGINT), 0);
  EXPECT_TRUE(patience.ends());
  EXPECT_TRUE(patience.stopped());
  EXPECT_TRUE(patience.ends());
  EXPECT_EQ(err.str(), "");
}

}  // namespace patience_test
}  // namespace sluice::cli
