// What the handlers of Rollout share: which rollouts are under way, and who comes next.
#pragma once

#include <string>
#include <vector>

#include "rollout.gen.h"

namespace sluice::deploy::rollout {

// Whether it holds its deployment's traffic, or waits to: the next one waits for its end.
bool is_under_way(RolloutStatus status);
std::string_view name_of(RolloutStatus status);

// Those of its deployment, in the order in which they were asked for.
std::vector<RolloutFound> of_deployment(const State& state, const std::string& deployment);

// Lets the next one of the deployment begin, if nothing is under way.
void release(State& state, const std::string& deployment);

// Ends it in this state, for this reason.
void end(State& state, const RolloutId& id, RolloutStatus status, const std::string& reason);

// What the two get when the new one gets so much.
std::vector<RolloutEntry> entries_at(const RolloutRecord& record, int64_t weight_bps);
// What had traffic before.
std::vector<RolloutEntry> entries_before(const State& state, const RolloutId& id);
// What the routers' acknowledgement of the present step leads to: judge, hold, finish.
std::string move_of(const State& state, const RolloutId& id, const RolloutRecord& record);

}  // namespace sluice::deploy::rollout
