// Waiting, without anything to wait for. That it ends with an answer, with people and with Ctrl-C is tested where
// commands wait: cli/kit_run_test.cc and tests/engine/test_kit_run.py.
#include "cli/patience.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sstream>

#include "base/real_disk.h"
#include "cli/testing_commands.h"
#include "store/memory_store.h"

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

TEST(FlowsUnderWay, AreThoseThatRunOrWaitForTime) {
  store::MemoryStore memory;
  using store::FlowStatus;
  std::vector<Ulid> ids;
  for (uint8_t n = 1; n <= 4; ++n) {
    std::array<uint8_t, Ulid::kRandomBytes> bytes{};
    ids.push_back(Ulid::from(n, bytes));
  }
  ASSERT_TRUE(memory.commit({.flows = {{.id = ids[0], .status = FlowStatus::running},
                                       {.id = ids[1], .status = FlowStatus::waiting},
                                       {.id = ids[2], .status = FlowStatus::waiting},
                                       {.id = ids[3], .status = FlowStatus::settled_ok}},
                             .timers = {{.invocation = ids[1], .flow = ids[1], .due_ms = 5}}}));
  auto snapshot = memory.read();
  ASSERT_TRUE(snapshot);
  auto found = host::flows_under_way(**snapshot);
  ASSERT_TRUE(found);
  std::ranges::sort(*found);
  EXPECT_EQ(*found, (std::vector{ids[0], ids[1]}));
}

}  // namespace patience_test
}  // namespace sluice::cli
