// Rows of a rollout at a step whose judge is open: shop@2 beside shop@1, in local, with the router main.
#pragma once

#include <string>

#include "deploy/testing_views.h"
#include "rollout.gen.h"
#include "router.gen.h"
#include "telemetry.gen.h"

namespace sluice::deploy {

struct RolloutRows final : lang::Snapshot {
  explicit RolloutRows(const std::string& control = "nowhere") {
    in.environment("local", {.name = "local"});
    in.deployment("d1");
    in.revision("r1", "d1", 1);
    in.revision("r2", "d1", 2);
    router::State(rows).put(router::RouterId("local"), {.generation = 4});
    router::State(rows)
        .members(router::RouterId("local"))
        .push({.router = "m1", .name = "main", .control = control, .acknowledged = 4});
    rollout::State state(rows);
    state.put(kRollout, {.number = 1,
                         .deployment = "d1",
                         .concept_ = "r2",
                         .baseline = "r1",
                         .criteria = R"({"interval": 1, "warmUp": 0, "settle": 0})",
                         .status = rollout::RolloutStatus::running,
                         .step = 1,
                         .weightBps = 5'000,
                         .pauseSeconds = 3,
                         .attempt = 1,
                         .judging = lang::Request("q1")});
    state.steps(kRollout).assign({{.weightBps = 5'000, .pauseSeconds = 3}, {.weightBps = 10'000}});
    analyse(3);
  }
  void analyse(int64_t window, bool again = false) {
    telemetry::State(rows).put(telemetry::TelemetryAId("a1"),
                               {.ask = lang::Request("q2"),
                                .subject = "r2",
                                .window = window,
                                .criteria = R"({"interval": 1, "warmUp": 0, "settle": 0})",
                                .again = again});
  }

  const lang::Rows& rows_of(std::string_view name) const override { return in.rows_of(name); }

  RowsInMemory in;
  lang::MemoryRows& rows = in.rows;
  const rollout::RolloutId kRollout{"01J2000000000000000000000A"};
};

}  // namespace sluice::deploy
