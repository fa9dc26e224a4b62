// A step is a weight and what ends it: time, or a person.
#include "deploy/rollout_steps.h"

#include <algorithm>
#include <array>

#include "base/basis_points.h"
#include "base/duration.h"

namespace sluice::deploy {
namespace {

constexpr std::array<std::string_view, 4> kStrategies = {kCanary, kBlueGreen, kRolling, kImmediate};

constexpr size_t kMostSteps = 100;
constexpr int64_t kLongestPause_s = 30L * 24 * 3600;

Error fault(size_t number, const std::string& what) {
  return {.code = Code::invalid, .message = "step " + std::to_string(number) + ": " + what};
}

Result<WrittenStep> parse_step(const std::string& text, size_t number) {
  const size_t colon = text.find(':');
  auto weight = parse_basis_points(text.substr(0, colon));
  if (!weight) return fault(number, weight.error().message);
  WrittenStep step{.weight_bps = *weight};
  if (colon == std::string::npos) return step;
  const std::string pause = text.substr(colon + 1);
  if (pause == "manual") {
    step.manual = true;
    return step;
  }
  auto time = parse_duration(pause);
  if (!time) return fault(number, time.error().message + "; write 10%:5m, or 10%:manual to wait for a person");
  step.pause_s = time->count() / 1'000;
  if (step.pause_s > kLongestPause_s) return fault(number, "a pause is 30 days at most");
  return step;
}

std::vector<std::string> usual_steps(std::string_view strategy) {
  if (strategy == kCanary) return {"5%:5m", "25%:10m", "50%:15m", "100%"};
  if (strategy == kBlueGreen) return {"0%", "100%"};
  return {"100%"};  // those of rolling are known when the replicas are counted
}

}  // namespace

Result<std::string> parse_strategy(const std::string& name) {
  if (name.empty()) return std::string(kCanary);
  if (std::ranges::find(kStrategies, name) != kStrategies.end()) return name;
  return Error{.code = Code::invalid,
               .message = "there is no strategy " + name + "; it is canary, blue-green, rolling or immediate"};
}

Result<std::vector<WrittenStep>> parse_steps(const std::vector<std::string>& given, const std::string& strategy_name) {
  auto strategy = parse_strategy(strategy_name);
  if (!strategy) return strategy.error();
  if (*strategy == kRolling && !given.empty()) {
    return Error{
        .code = Code::invalid,
        .message = "rolling makes its steps of the replicas; say with `batch` how many are replaced at a time"};
  }
  const std::vector<std::string> texts = given.empty() ? usual_steps(*strategy) : given;
  std::vector<WrittenStep> steps;
  if (texts.size() > kMostSteps) {
    return Error{.code = Code::invalid, .message = "a rollout has at most 100 steps"};
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    auto step = parse_step(texts[i], i + 1);
    if (!step) return step.error();
    if (i > 0 && step->weight_bps <= steps.back().weight_bps) {
      return fault(i + 1, "its weight " + print_basis_points(static_cast<int>(step->weight_bps)) +
                              " is not above step " + std::to_string(i) + "'s " +
                              print_basis_points(static_cast<int>(steps.back().weight_bps)));
    }
    const bool preview = *strategy == kBlueGreen;
    if (step->weight_bps == 0 && !preview) return fault(i + 1, "a weight of 0% is a step of blue-green alone");
    if (preview && step->weight_bps != 0 && step->weight_bps != kAllBasisPoints) {
      return fault(i + 1, "blue-green gives 0% or 100%, nothing between");
    }
    if (*strategy == kImmediate && step->weight_bps != kAllBasisPoints) {
      return fault(i + 1, "immediate gives 100% at once");
    }
    if (step->weight_bps == kAllBasisPoints && (step->pause_s > 0 || step->manual)) {
      return fault(i + 1, "no step may follow 100%; `after` says how long judging goes on");
    }
    steps.push_back(*step);
  }
  if (steps.back().weight_bps != kAllBasisPoints) steps.push_back({.weight_bps = kAllBasisPoints});
  return steps;
}

}  // namespace sluice::deploy
