// How windows become samples of streams, and samples a verdict. The bets themselves are in judge/bets.h.
#include "judge/judge.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "judge/sentence.h"

namespace sluice::judge {
namespace {

constexpr double kForgetKnown = 0.98;
// Half of the stake is spread over a day, so that harm is found as soon after a good hour as at the start.
constexpr double kRestartPerSecond = 1.0 / 172'800;
constexpr double kTenSeconds = 10;
constexpr double kMostKnown = 0.99;
// Places among the streams, as add_streams has them.
constexpr size_t kErrors = 0;
constexpr size_t kP99 = 3;

void add_to(Tally& tally, const Sample& sample, double seconds) {
  tally.canary += sample.canary;
  tally.canary_bad += sample.canary_bad;
  tally.baseline += sample.baseline;
  tally.baseline_bad += sample.baseline_bad;
  tally.seconds += seconds;
}

}  // namespace

struct Judge::Seen {
  const Window& window;
  Tails known, baseline, canary;
};

// ------------------------------------------------------------------------------------------------------- streams

Judge::Judge(Settings settings, Buckets buckets) : settings_(std::move(settings)), buckets_(std::move(buckets)) {
  add_streams();
  state_.known.latencies.resize(buckets_.size());
  state_.streams.resize(specs_.size());
  state_.steps.resize(specs_.size());
  state_.spells.resize(specs_.size());
}

Result<Judge> Judge::resumed(Settings settings, Buckets buckets, State state) {
  Judge judge(std::move(settings), std::move(buckets));
  const Stream fresh;
  bool fits = state.known.latencies.size() == judge.buckets_.size() && state.streams.size() == judge.specs_.size() &&
              state.steps.size() == judge.specs_.size() && state.spells.size() == judge.specs_.size();
  for (const Stream& stream : state.streams) {
    fits = fits && stream.stakes.size() == fresh.stakes.size() && stream.credits.size() == fresh.credits.size();
  }
  if (!fits) {
    return Error{.code = Code::invalid, .message = "the judge's state belongs to other settings or buckets"};
  }
  judge.state_ = std::move(state);
  return judge;
}

void Judge::add_streams() {
  if (!settings_.alone) {
    specs_ = {{.name = "errors", .kind = Kind::errors, .bounds = settings_.errors},
              {.name = "p50", .kind = Kind::latency, .tail = 0.6, .bounds = settings_.p50},
              {.name = "p90", .kind = Kind::latency, .tail = 0.14, .bounds = settings_.p90},
              {.name = "p99", .kind = Kind::latency, .tail = 0.014, .bounds = settings_.p99}};
  }
  std::vector<Limit> limits;
  if (settings_.max_error_rate) limits.push_back({.name = "max_error_rate", .share = *settings_.max_error_rate});
  if (settings_.max_latency_p99_ms) {
    limits.push_back({.name = "max_latency_p99", .over_ms = settings_.max_latency_p99_ms, .share = 0.01});
  }
  limits.insert(limits.end(), settings_.limits.begin(), settings_.limits.end());
  for (const Limit& limit : limits) {
    bool latency = limit.over_ms.has_value();
    specs_.push_back({.name = limit.name,
                      .kind = latency ? Kind::latency_limit : Kind::error_limit,
                      .end = latency ? buckets_.end_at(*limit.over_ms * 1'000) : 0,
                      .bounds = {0, limit.share, 0, limit.share},
                      .grouped_as = latency ? kP99 : kErrors});
  }
}

size_t Judge::end_of(const Spec& spec, const Tails& known) const {
  return spec.kind == Kind::latency ? known.end_of_tail(spec.tail) : spec.end;
}

// Nothing where the stream cannot be compared in this window.
std::optional<Sample> Judge::sample_of(const Spec& spec, const Seen& seen) const {
  const Window& window = seen.window;
  if (spec.kind == Kind::errors || spec.kind == Kind::error_limit) {
    return Sample{.canary = window.canary.requests,
                  .canary_bad = window.canary.failed,
                  .canary_far = window.canary.failed,
                  .baseline = window.baseline.requests,
                  .baseline_bad = window.baseline.failed};
  }
  if (seen.canary.all() <= 0) return std::nullopt;
  if (spec.kind == Kind::latency && (seen.baseline.all() <= 0 || seen.known.all() <= 0)) return std::nullopt;
  size_t end = end_of(spec, seen.known), far = spec.kind == Kind::latency ? end + 1 : end;
  return Sample{.canary = seen.canary.all(),
                .canary_bad = seen.canary.above(end),
                .canary_far = seen.canary.above(far),
                .baseline = seen.baseline.all(),
                .baseline_bad = seen.baseline.above(end)};
}

// The share of the baseline's earlier requests that was bad, or slower than so many ends further.
double Judge::known_share(const Spec& spec, const Tails& known, size_t further) const {
  if (spec.kind == Kind::errors || spec.kind == Kind::error_limit) {
    return state_.known.requests > 0 ? state_.known.failed / state_.known.requests : 0;
  }
  return known.all() > 0 ? known.above(end_of(spec, known) + further) / known.all() : 0;
}

Grouping Judge::grouping(size_t stream) const {
  const Spec& spec = specs_[stream];
  if (spec.kind == Kind::errors || spec.kind == Kind::latency) return grouping_of(state_.streams[stream]);
  return settings_.alone ? Grouping() : grouping_of(state_.streams[spec.grouped_as]);
}

// ------------------------------------------------------------------------------------------------------- windows

void Judge::note_times(const Counts& counts) {
  const double times = std::accumulate(counts.latencies.begin(), counts.latencies.end(), 0.0);
  state_.timed = state_.timed || times > 0;
  state_.untimed = state_.untimed || (times <= 0 && counts.requests > counts.failed);
}

bool Judge::is_left_out(const Spec& spec) const {
  return spec.kind == Kind::latency && state_.untimed && !state_.timed;
}

void Judge::learn(const Counts& baseline) {
  if (state_.unhealthy) return;
  if (!is_sound(baseline)) {
    state_.dropped++;
    return;
  }
  note_times(baseline);
  Counts& known = state_.known;
  Tails before(known.latencies, buckets_.size()), window(baseline.latencies, buckets_.size());
  for (size_t i = 0; i < specs_.size(); ++i) {
    if (specs_[i].kind == Kind::errors) {
      watch_drift(state_.streams[i], known.requests, known.failed, baseline.requests, baseline.failed);
    } else if (specs_[i].kind == Kind::latency) {
      size_t end = end_of(specs_[i], before);
      watch_drift(state_.streams[i], before.all(), before.above(end), window.all(), window.above(end));
    }
  }
  known.requests *= kForgetKnown;
  known.failed *= kForgetKnown;
  for (double& count : known.latencies) count *= kForgetKnown;
  judge::add(known, baseline);
  known.latencies.resize(buckets_.size());
}

void Judge::begin_step() {
  state_.step = {};
  for (Tally& tally : state_.steps) tally = {};
  for (Stream& stream : state_.streams) std::ranges::fill(stream.credits, 0);
}

void Judge::add(const Window& window) {
  if (state_.unhealthy) return;
  Window& pending = state_.pending;
  if (window.canary_weight_bps && window.canary_weight_bps != state_.weight_bps) {
    if (state_.weight_bps) {
      // What is left over was counted at other weights, so that it compares with nothing.
      if (pending.baseline.requests > 0) learn(pending.baseline);
      pending = {.seconds = 0};
      state_.pending_cold = false;
      if (*window.canary_weight_bps > *state_.weight_bps) state_.since_rise_s = 0;
      begin_step();
    } else {
      state_.since_rise_s = settings_.settle_s;  // the canary's first weight: warm_up_s is for it
    }
    state_.weight_bps = window.canary_weight_bps;
  }
  bool rose = state_.weight_bps && state_.since_rise_s < settings_.settle_s;
  bool cold = state_.canary_age_s < settings_.warm_up_s || rose;
  state_.canary_age_s += window.seconds;
  state_.since_rise_s += window.seconds;
  if (!is_sound(window.baseline) || !is_sound(window.canary)) {
    state_.dropped++;
    return;
  }
  note_times(window.baseline);
  note_times(window.canary);
  auto complete = [&](const Window& each) {
    return each.canary.requests > 0 && (each.baseline.requests > 0 || settings_.alone);
  };
  bool is_first = pending.seconds == 0 && pending.canary.requests == 0 && pending.baseline.requests == 0;
  if (is_first && complete(window)) return fold(window, cold);
  pending.seconds += window.seconds;
  judge::add(pending.baseline, window.baseline);
  judge::add(pending.canary, window.canary);
  state_.pending_cold = state_.pending_cold || cold;
  if (!complete(pending)) return;
  Window whole = std::exchange(pending, {.seconds = 0});
  fold(whole, std::exchange(state_.pending_cold, false));
}

void Judge::fold(const Window& window, bool cold) {
  Seen seen{.window = window,
            .known = Tails(state_.known.latencies, buckets_.size()),
            .baseline = Tails(window.baseline.latencies, buckets_.size()),
            .canary = Tails(window.canary.latencies, buckets_.size())};
  double restart = window.seconds * kRestartPerSecond;
  // Only what earlier windows say decides how this one counts.
  std::vector<Grouping> groupings;
  for (size_t i = 0; i < specs_.size(); ++i) groupings.push_back(grouping(i));
  for (size_t i = 0; i < specs_.size(); ++i) {
    const Spec& spec = specs_[i];
    bool latency = spec.kind == Kind::latency || spec.kind == Kind::latency_limit;
    if (latency && cold) continue;
    auto sample = sample_of(spec, seen);
    if (!sample) continue;
    bool limit = spec.kind == Kind::error_limit || spec.kind == Kind::latency_limit;
    double share = limit ? 0 : known_share(spec, seen.known, 0);
    if (spec.bounds.tolerated_ratio * share + spec.bounds.tolerated_plus > kMostKnown) continue;
    Stream& stream = state_.streams[i];
    lay_bets(stream, spec.bounds, share, *sample, groupings[i], restart, settings_.beta);
    if (!limit) watch_spread(stream, *sample);
    add_to(state_.steps[i], *sample, window.seconds);
    add_to(state_.spells[i], *sample, window.seconds);
    double all = std::accumulate(stream.stakes.begin(), stream.stakes.end(), 0.0);
    if (all < static_cast<double>(stream.stakes.size()) * kRestartPerSecond * kTenSeconds) state_.spells[i] = {};
  }
  add_to(state_.step,
         {.canary = window.canary.requests,
          .canary_bad = window.canary.failed,
          .baseline = window.baseline.requests,
          .baseline_bad = window.baseline.failed},
         window.seconds);
  state_.windows++;
  if (!settings_.alone) learn(window.baseline);
  state_.unhealthy = against() >= 1 / settings_.alpha;
}

// ------------------------------------------------------------------------------------------------------- verdict

double Judge::against() const {
  if (state_.streams.empty()) return 0;
  double sum = 0;
  for (const Stream& stream : state_.streams) sum += judge::against(stream);
  return sum / static_cast<double>(state_.streams.size());
}

Outcome Judge::outcome() const {
  if (state_.unhealthy) return Outcome::unhealthy;
  bool passed = !specs_.empty();
  for (size_t i = 0; i < specs_.size(); ++i) {
    passed = passed && (is_left_out(specs_[i]) || for_(state_.streams[i]) >= 1 / settings_.beta);
  }
  return passed && against() < kDoubt ? Outcome::healthy : Outcome::insufficientData;
}

// In this step, or by its weight as long as there were no requests.
std::optional<double> Judge::baseline_per_canary() const {
  if (settings_.alone) return 0;
  if (state_.step.canary > 0) return state_.step.baseline / state_.step.canary;
  if (state_.weight_bps.value_or(0) > 0) return 10'000.0 / static_cast<double>(*state_.weight_bps) - 1;
  return std::nullopt;
}

Metric Judge::metric(size_t i, const Tails& known, std::optional<double> per_canary) const {
  const Spec& spec = specs_[i];
  const Stream& stream = state_.streams[i];
  const Tally& tally = state_.unhealthy ? state_.spells[i] : state_.steps[i];
  bool limit = spec.kind == Kind::error_limit || spec.kind == Kind::latency_limit;
  bool latency = spec.kind == Kind::latency || spec.kind == Kind::latency_limit;
  Grouping grouped = grouping(i);
  Metric metric{.name = spec.name,
                .canary_requests = tally.canary,
                .canary_bad = tally.canary_bad,
                .baseline_requests = tally.baseline,
                .baseline_bad = tally.baseline_bad,
                .seconds = tally.seconds,
                .against = judge::against(stream),
                .for_ = for_(stream),
                .grouping = grouped.against};
  size_t end = end_of(spec, known);
  if (latency && (limit || known.all() > 0) && end < buckets_.ends_us().size()) {
    metric.over_ms = buckets_.ends_us()[end] / 1'000;
  }
  if (limit) metric.limit = spec.bounds.tolerated_plus;
  bool is_known = latency ? known.all() > 0 : state_.known.requests > 0;
  if (state_.unhealthy || !per_canary || (!is_known && !settings_.alone)) return metric;
  double share = known_share(spec, known, 0);
  double far = spec.kind == Kind::latency ? known_share(spec, known, 1) : share;
  metric.requests_needed = requests_needed(stream, spec.bounds, share, far, *per_canary, grouped, settings_.beta);
  double odds = 12 * static_cast<double>(specs_.size()) / settings_.alpha;
  metric.smallest_noticed = smallest_noticed(spec.bounds, limit ? 0 : share, *per_canary, tally.canary, grouped, odds);
  return metric;
}

Verdict Judge::verdict(std::string_view baseline, std::string_view canary) const {
  Verdict verdict{.verdict = outcome(),
                  .against = against(),
                  .alpha = settings_.alpha,
                  .beta = settings_.beta,
                  .seconds = state_.step.seconds,
                  .canary_requests = state_.step.canary,
                  .canary_failed = state_.step.canary_bad,
                  .baseline_requests = state_.step.baseline,
                  .baseline_failed = state_.step.baseline_bad,
                  .windows = state_.windows,
                  .dropped_windows = state_.dropped};
  Tails known(state_.known.latencies, buckets_.size());
  std::optional<double> per_canary = baseline_per_canary();
  bool enough_can_be = per_canary.has_value() && !specs_.empty();
  double most = -1;
  for (size_t i = 0; i < specs_.size(); ++i) {
    if (is_left_out(specs_[i])) continue;
    Metric& metric = verdict.metrics.emplace_back(this->metric(i, known, per_canary));
    if (metric.against > most) {
      most = metric.against;
      verdict.metric = metric.name;
    }
    enough_can_be = enough_can_be && metric.requests_needed;
    if (specs_[i].kind == Kind::latency) {
      double step = buckets_.step_at(end_of(specs_[i], known));
      verdict.margin_latency_ratio = std::max(verdict.margin_latency_ratio, step);
    }
  }
  if (enough_can_be && verdict.verdict == Outcome::insufficientData) {
    verdict.requests_needed = 0;
    for (const Metric& metric : verdict.metrics) {
      verdict.requests_needed = std::max(*verdict.requests_needed, *metric.requests_needed);
    }
    double requests = state_.step.canary + state_.pending.canary.requests;
    double seconds = state_.step.seconds + state_.pending.seconds;
    if (requests > 0) verdict.seconds_needed = *verdict.requests_needed * seconds / requests;
  }
  verdict.sentence = sentence_of(verdict, settings_, baseline, canary);
  return verdict;
}

namespace {

constexpr size_t kBlocks = 6;
constexpr double kFewest = 100;  // requests of a block
// Bad requests of a block that may just not have been seen, where blocks are few: with it the version that the limits
// are of is itself beyond them once in thousands of times.
constexpr double kUnseen = 4;

// Nothing if a block has too few requests.
std::optional<std::vector<Limit>> limits_of_blocks(std::span<const Counts> windows, const Buckets& buckets,
                                                   size_t blocks) {
  Counts hour;
  for (const Counts& each : windows) judge::add(hour, each);
  Tails all(hour.latencies, buckets.size());
  const bool timed = all.all() > 0;
  const double unseen = blocks < kBlocks ? kUnseen : 0;
  size_t end = all.end_of_tail(0.014) + 1;
  double errors = 0, slow = 0;
  for (size_t block = 0; block < blocks; ++block) {
    Counts sum;
    size_t from = windows.size() * block / blocks, to = windows.size() * (block + 1) / blocks;
    for (const Counts& each : windows.subspan(from, to - from)) judge::add(sum, each);
    Tails tails(sum.latencies, buckets.size());
    if (sum.requests < kFewest || (timed && tails.all() < kFewest)) return std::nullopt;
    errors = std::max(errors, (sum.failed + unseen) / sum.requests);
    if (timed) slow = std::max(slow, (tails.above(end) + unseen) / tails.all());
  }
  std::vector<Limit> limits = {{.name = "last_hour_errors", .share = std::min(2 * errors + 0.005, 0.99)}};
  if (timed && end < buckets.ends_us().size()) {
    limits.push_back({.name = "last_hour_p99",
                      .over_ms = buckets.ends_us()[end] / 1'000,
                      .share = std::min(2 * slow + 0.005, 0.99)});
  }
  return limits;
}

}  // namespace

std::vector<Limit> limits_of_last_hour(std::span<const Counts> windows, const Buckets& buckets) {
  for (size_t blocks = kBlocks; blocks > 0; --blocks) {
    if (auto limits = limits_of_blocks(windows, buckets, blocks)) return *limits;
  }
  return {};
}

}  // namespace sluice::judge
