// The judge itself says which settings it cannot work with.
#include "deploy/rollout_criteria.h"

#include "base/json.h"
#include "base/json_reader.h"

namespace sluice::deploy {
namespace {

constexpr int64_t kLongestInterval_s = 3600;
constexpr double kHighestFloor_ms = 10'000;

}  // namespace

judge::Settings settings_of(const RolloutCriteria& criteria) {
  return {.alpha = criteria.alpha,
          .beta = criteria.beta,
          .max_error_rate = criteria.maxErrorRate,
          .max_latency_p99_ms = criteria.maxLatencyP99,
          .warm_up_s = criteria.warmUp,
          .settle_s = criteria.settle};
}

Result<RolloutCriteria> parse_criteria(std::string_view text) {
  if (text.empty()) return RolloutCriteria();
  auto document = parse_json(text);
  auto criteria = document ? read<RolloutCriteria>(document->root) : Result<RolloutCriteria>(document.error());
  if (!criteria) return Error{.code = Code::invalid, .message = "criteria: " + to_string(criteria.error())};
  if (criteria->interval < 1 || criteria->interval > kLongestInterval_s) {
    return Error{.code = Code::invalid, .message = "criteria: interval is 1 to 3600 seconds"};
  }
  if (!(criteria->latencyFloor >= 0 && criteria->latencyFloor <= kHighestFloor_ms)) {
    return Error{.code = Code::invalid, .message = "criteria: latencyFloor is 0 to 10000 milliseconds"};
  }
  if (criteria->source) {
    std::string fault = fault_of_source(*criteria->source);
    if (fault.empty() && criteria->maxLatencyP99 && criteria->source->type == "prometheus" &&
        criteria->source->latency.empty()) {
      fault = "maxLatencyP99 needs the source's query latency";
    }
    if (!fault.empty()) return Error{.code = Code::invalid, .message = "criteria: " + fault};
  }
  if (auto sound = judge::check(settings_of(*criteria)); !sound) {
    return Error{.code = Code::invalid, .message = "criteria: " + to_string(sound.error())};
  }
  return criteria;
}

}  // namespace sluice::deploy
