// How many replicas of each revision a rolling rollout runs at each of its steps, and which of them come or go next.
//
// With n old replicas, m new ones and a batch of k, step i runs min(i·k, m) new ones beside n - (i-1)·k old ones, and
// traffic is divided in that proportion. New ones come before traffic goes to them, old ones go after the routers have
// let go of them and the step before was judged healthy. So never fewer than n run until the last step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "deploy/concepts/rollout/rollout_rows.h"

namespace sluice::deploy::rollout {

inline constexpr std::string_view kScaling = "replicas are being started or stopped; it goes on from there";

// With another revision to take the place of.
bool is_rolling(const RolloutRecord& record);

// Of all steps but the last, which has all traffic and the replicas of the one before.
std::vector<RolloutSize> rolling_sizes(int64_t old_replicas, int64_t new_replicas, int64_t batch);
// What a step's new replicas are of all that run then, in basis points.
int64_t weight_of(const RolloutSize& size);

// What the present step needs.
RolloutSize size_at(const State& state, const RolloutId& id, const RolloutRecord& record);

struct Replicas {
  enum class Move { nothing, scale, shift };
  Move move = Move::nothing;
  std::string revision;  // that is to run
  int64_t count = 0;     // so many
};

// What is to be done next: replicas that are missing come first, then traffic moves, then those that are too many go.
Replicas next_replicas(const State& state, const RolloutId& id, const RolloutRecord& record);

// Traffic goes to the replicas of the present step: routers let go of the others.
void note_shift(const State& state, const RolloutId& id, RolloutRecord& record);

}  // namespace sluice::deploy::rollout
