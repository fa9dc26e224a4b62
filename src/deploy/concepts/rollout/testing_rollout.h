// The fixture of Rollout's tests: rollouts of r2 in a deployment whose traffic r1 has.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lang/run/harness.h"
#include "rollout.gen.h"

namespace sluice::deploy::rollout {

class RolloutTest : public testing::Test {
 protected:
  static Begin wish(const std::string& revision = "r2") {
    return {.deployment = "d1", .revision = revision, .steps = std::vector<std::string>{"10%:5s", "50%:manual"}};
  }
  RolloutId begin(const Begin& ask) { return harness.invoke(ask).as<Begin::Ok>().rollout; }
  // Begun, with r1 serving everything.
  RolloutId prepared(const Begin& ask) {
    RolloutId id = begin(ask);
    harness.invoke(Prepare{.rollout = id, .entries = {{"r1", 10'000}}}).as<Prepare::Ok>();
    return id;
  }
  Advance::Ok step(const RolloutId& id) {
    return harness.invoke(Advance{.rollout = id, .step = record(id).step}).as<Advance::Ok>();
  }
  // At 10 %.
  RolloutId moved(const Begin& ask) {
    RolloutId id = prepared(ask);
    step(id);
    return id;
  }
  RolloutRecord record(const RolloutId& id) { return *State(harness.rows()).get(id); }
  std::string refused(const Begin& ask) { return harness.invoke(ask).as<Begin::InvalidStrategy>().message; }
  std::string refused_steps(std::vector<std::string> steps, const std::string& strategy = "canary") {
    Begin ask = wish();
    ask.steps = std::move(steps);
    ask.strategy = strategy;
    return refused(ask);
  }

  lang::Harness harness{rollout_binding()};
};

}  // namespace sluice::deploy::rollout
