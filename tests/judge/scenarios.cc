// Unless a scenario says otherwise: 100 requests a second, the canary gets 5 % of them, 0.1 % fail, and latencies are
// log-normal with a median of 50 ms and a p99 of 255 ms.
#include "scenarios.h"

#include <cmath>

#include "router/counters.h"

namespace sluice::judge::simulation {
namespace {

std::function<Moment(double, Dice&)> always(const Version& canary) {
  return [canary](double, Dice&) { return Moment{.canary = canary}; };
}

// The same median, and a p99 so many times as long.
Version p99_times(double ratio) { return {.sigma = 0.7 + std::log(ratio) / 2.3263}; }

// The same mean, and so many times the variance.
Version variance_times(double ratio) {
  const Version base;
  double square = std::log(1 + ratio * (std::exp(base.sigma * base.sigma) - 1));
  return {.median_ms = base.median_ms * std::exp((base.sigma * base.sigma - square) / 2), .sigma = std::sqrt(square)};
}

Buckets of_router() {
  return Buckets::with_ends({router::kLatencyEnds_us.begin(), router::kLatencyEnds_us.end()}).value();
}

// A day: traffic ±60 %, errors from a third to three times as many, latencies ±30 %; every hundredth window has a
// hundred times the errors in both; the canary's weight rises four times.
Moment day(double at_s, Dice& dice) {
  double hour = std::floor(at_s / 900) / 4;  // versions change every quarter of an hour
  double wave = std::sin(2 * M_PI * hour / 24);
  Version version{.error_rate = 0.001 * std::exp(wave), .median_ms = 50 * std::exp(0.3 * wave)};
  if (dice.happens(0.01)) version.error_rate = std::min(version.error_rate * 100, 0.5);
  constexpr int64_t kWeights[] = {100, 500, 2'500, 5'000};
  return {.per_second = 10 * (1 + 0.6 * wave),
          .weight_bps = kWeights[static_cast<size_t>(at_s / 21'600) % 4],
          .baseline = version,
          .canary = version};
}

}  // namespace

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> kAll = {
      {.name = "no difference, a look every second", .truth = Truth::no_worse, .look_s = 1, .moment = always({})},
      {.name = "no difference", .truth = Truth::no_worse, .moment = always({})},
      {.name = "a daily wave, 24 h", .truth = Truth::no_worse, .look_s = 60, .hours = 24, .moment = day},
      {.name = "3 requests a minute, 24 h",
       .truth = Truth::no_worse,
       .look_s = 60,
       .hours = 24,
       .moment = [](double, Dice&) { return Moment{.per_second = 0.05, .weight_bps = 5'000}; }},
      {.name = "95 % zeros, the same tail",
       .truth = Truth::no_worse,
       .moment = [](double, Dice&) { return Moment{.baseline = {.at_once = 0.95}, .canary = {.at_once = 0.95}}; }},
      {.name = "errors +1 %", .moment = always({.error_rate = 0.011})},
      {.name = "errors +5 %", .moment = always({.error_rate = 0.051})},
      {.name = "p99 ×1.2", .truth = Truth::between, .moment = always(p99_times(1.2))},
      {.name = "p99 ×2", .moment = always(p99_times(2))},
      {.name = "variance ×4, the same mean", .moment = always(variance_times(4))},
      {.name = "a spike: 20 % of the hour ×10",
       .truth = Truth::turns,
       .moment = [](double at_s,
                    Dice&) { return Moment{.canary = {.median_ms = at_s >= 1'440 && at_s < 2'160 ? 500.0 : 50.0}}; }},
      {.name = "7 of 10 windows ×100",
       .moment = [](double,
                    Dice& dice) { return Moment{.canary = {.median_ms = dice.happens(0.7) ? 5'000.0 : 50.0}}; }},
      {.name = "95 % zeros, tail ×10",
       .moment =
           [](double, Dice&) {
             return Moment{.baseline = {.at_once = 0.95}, .canary = {.median_ms = 500, .at_once = 0.95}};
           }},
      {.name = "errors +5 %, 3 requests a minute, 24 h",
       .look_s = 60,
       .hours = 24,
       .moment =
           [](double, Dice&) {
             return Moment{.per_second = 0.05, .weight_bps = 5'000, .canary = {.error_rate = 0.051}};
           }},
      {.name = "errors at the tolerance", .truth = Truth::no_worse, .moment = always({.error_rate = 0.00115})},
      {.name = "errors at the margin", .truth = Truth::worse, .moment = always({.error_rate = 0.00625})},
      {.name = "router's buckets: no difference",
       .truth = Truth::no_worse,
       .buckets = of_router(),
       .moment = always({})},
      {.name = "router's buckets: p99 ×2", .buckets = of_router(), .moment = always(p99_times(2))},
      {.name = "router's buckets: variance ×4", .buckets = of_router(), .moment = always(variance_times(4))},
  };
  return kAll;
}

const Fates& Run::fates(const Version& version) {
  std::array<double, 4> key = {version.error_rate, version.median_ms, version.sigma, version.at_once};
  return known_.try_emplace(key, version, scenario_.buckets).first->second;
}

Counts Run::before() {
  Moment moment = scenario_.moment(0, dice_);
  Counts counts;
  fates(moment.baseline).draw(dice_, dice_.poisson(moment.per_second * 10), counts);
  return counts;
}

const Window& Run::next() {
  Moment moment = scenario_.moment(at_s_, dice_);
  double share = static_cast<double>(moment.weight_bps) / 10'000, requests = moment.per_second * scenario_.look_s;
  window_.seconds = scenario_.look_s;
  window_.canary_weight_bps = moment.weight_bps;
  for (Counts* counts : {&window_.baseline, &window_.canary}) {
    counts->requests = counts->failed = 0;
    std::fill(counts->latencies.begin(), counts->latencies.end(), 0);
  }
  fates(moment.baseline).draw(dice_, dice_.poisson(requests * (1 - share)), window_.baseline);
  fates(moment.canary).draw(dice_, dice_.poisson(requests * share), window_.canary);
  at_s_ += scenario_.look_s;
  return window_;
}

}  // namespace sluice::judge::simulation
