// A step is a weight and what ends it: time, or a person.
#include "deploy/concepts/rollout/rollout_steps.h"

#include "base/basis_points.h"
#include "base/duration.h"

namespace sluice::deploy::rollout {
namespace {

constexpr size_t kMostSteps = 100;
constexpr int64_t kLongestPause_s = 30L * 24 * 3600;

Error fault(size_t number, const std::string& what) {
  return {.code = Code::invalid, .message = "step " + std::to_string(number) + ": " + what};
}

Result<RolloutStep> parse_step(const std::string& text, size_t number) {
  const size_t colon = text.find(':');
  auto weight = parse_basis_points(text.substr(0, colon));
  if (!weight) return fault(number, weight.error().message);
  RolloutStep step{.weightBps = *weight};
  if (colon == std::string::npos) return step;
  const std::string pause = text.substr(colon + 1);
  if (pause == "manual") {
    step.manual = true;
    return step;
  }
  auto time = parse_duration(pause);
  if (!time) return fault(number, time.error().message + "; write 10%:5m, or 10%:manual to wait for a person");
  step.pauseSeconds = time->count() / 1'000;
  if (step.pauseSeconds > kLongestPause_s) return fault(number, "a pause is 30 days at most");
  return step;
}

}  // namespace

Result<std::vector<RolloutStep>> parse_steps(const std::vector<std::string>& texts, RolloutStrategy strategy) {
  std::vector<RolloutStep> steps;
  if (texts.size() > kMostSteps) {
    return Error{.code = Code::invalid, .message = "a rollout has at most 100 steps"};
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    auto step = parse_step(texts[i], i + 1);
    if (!step) return step.error();
    if (i > 0 && step->weightBps <= steps.back().weightBps) {
      return fault(i + 1, "its weight " + print_basis_points(static_cast<int>(step->weightBps)) +
                              " is not above step " + std::to_string(i) + "'s " +
                              print_basis_points(static_cast<int>(steps.back().weightBps)));
    }
    const bool preview = strategy == RolloutStrategy::blue_green;
    if (step->weightBps == 0 && !preview) return fault(i + 1, "a weight of 0% is a step of blue-green alone");
    if (preview && step->weightBps != 0 && step->weightBps != kAllBasisPoints) {
      return fault(i + 1, "blue-green gives 0% or 100%, nothing between");
    }
    if (strategy == RolloutStrategy::immediate && step->weightBps != kAllBasisPoints) {
      return fault(i + 1, "immediate gives 100% at once");
    }
    if (step->weightBps == kAllBasisPoints && (step->pauseSeconds > 0 || step->manual)) {
      return fault(i + 1, "no step may follow 100%; `after` says how long judging goes on");
    }
    steps.push_back(*step);
  }
  if (steps.empty() || steps.back().weightBps != kAllBasisPoints) steps.push_back({.weightBps = kAllBasisPoints});
  return steps;
}

}  // namespace sluice::deploy::rollout
