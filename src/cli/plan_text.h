// A plan as people read it: what changes, in which order, how far it is, and how it ended.
#pragma once

#include <cstdint>
#include <string>

#include "base/terminal.h"
#include "deploy/views/plans.h"
#include "plan/graph.h"

namespace sluice::cli {

// Whether nothing more happens to it by itself.
bool is_over(const deploy::views::PlanDocument& plan);

// The tree of what would change, the waves, and the summary line.
std::string plan_tree(const deploy::views::PlanDocument& plan, const Terminal& terminal);
// "2 to create, 1 to change, 0 to remove, 1 unchanged; 9 nodes in 6 waves"
std::string plan_summary(const deploy::views::PlanDocument& plan);
// The same plan while it runs: each component with its state and time, and below it the nodes that run or have failed.
// Lines are cut to the terminal's width; where there are too many, components that are done are only counted.
std::string plan_progress(const deploy::views::PlanDocument& plan, const Terminal& terminal,
                          size_t most_lines = SIZE_MAX);
// How it ended: what was done, how long each node took, and what to try next.
std::string plan_end(const deploy::views::PlanDocument& plan, const Terminal& terminal);
// One line for a node that has begun or ended.
std::string node_line(const deploy::views::PlanNodeDocument& node);

plan::Graph graph_of(const deploy::views::PlanDocument& plan);

}  // namespace sluice::cli
