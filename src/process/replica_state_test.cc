// state.json is read as it is written, and refused as anything else.
#include "process/replica_state.h"

#include <gtest/gtest.h>

namespace sluice::process {
namespace replica_state_test {

TEST(ReplicaState, IsReadAsItWasWritten) {
  ReplicaState state{
      .start = "one/1", .phase = Phase::backing_off, .reason = Reason::crash_loop, .message = "it ended"};
  state.supervisor = {.pid = 7, .start_ticks = 8, .boot = "b"};
  EXPECT_EQ(parse_state(print_state(state)).value(), state);
  state.program = state.supervisor;
  EXPECT_EQ(parse_state(print_state(state)).value(), state);
  EXPECT_EQ(record_of(identity_of(state.supervisor)), state.supervisor);
}

TEST(ReplicaState, RefusesWhatIsCutShort) {
  std::string text = print_state({.start = "one/1"});
  EXPECT_EQ(parse_state(text.substr(0, text.size() / 2)).error().code, Code::invalid);
  EXPECT_EQ(parse_state("").error().code, Code::invalid);
  EXPECT_EQ(parse_state("{}").error().code, Code::invalid);
}

TEST(ReplicaState, KnowsWhatIsOver) {
  for (Phase phase : {Phase::stopped, Phase::failed, Phase::lost}) EXPECT_TRUE(is_over(phase));
  for (Phase phase : {Phase::starting, Phase::running, Phase::backing_off, Phase::stopping}) {
    EXPECT_FALSE(is_over(phase));
  }
}

}  // namespace replica_state_test
}  // namespace sluice::process
