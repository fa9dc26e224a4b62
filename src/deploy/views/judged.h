// The rollouts that wait for a verdict, with all that the judge needs to know of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "deploy/router_fleet.h"
#include "lang/run/handler.h"

namespace sluice::deploy::views {

struct Judged {
  std::string analysis;
  int64_t window_s = 0;  // -1: until it is worse
  int64_t since_ms = 0;
  bool again = false;
  std::string criteria;
  std::string rollout;
  int64_t attempt = 1;
  std::string deployment;
  std::string canary, baseline;            // revisions; the baseline may be empty
  std::string canary_name, baseline_name;  // "shop@2"
  int64_t weight_bps = 0;                  // of the canary
  std::string environment;
  std::vector<RouterFleet::Member> routers;  // of the environment
};

std::vector<Judged> judged(const lang::Snapshot& rows);

}  // namespace sluice::deploy::views
