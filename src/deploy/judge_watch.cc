// A look is one question to each router, and a few microseconds of arithmetic.
#include "deploy/judge_watch.h"

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "deploy/series_watch.h"
#include "router/counters.h"

namespace sluice::deploy {
namespace {

constexpr int64_t kSecond_ns = 1'000'000'000;
constexpr size_t kLooksKept = 60;
constexpr size_t kPastKept = 60;
constexpr int64_t kAgainWindow_s = 600;
constexpr int64_t kReportAgain_ns = 5 * kSecond_ns;
constexpr int64_t kSilence_ns = 30 * kSecond_ns;
constexpr int64_t kForgetAfter_ns = 600 * kSecond_ns;
constexpr int64_t kAsk_ms = 2'000;
constexpr int64_t kHour_s = 3'600;
constexpr size_t kFewMinutes = 6;
constexpr size_t kMaxFile = 1 << 20;
constexpr std::string_view kSchema = "sluice.judge-state.v1";

constexpr auto& kEnds_us = ::sluice::router::kLatencyEnds_us;

// How many of the router's ends lie below the floor: their buckets are one.
size_t below_floor(const RolloutCriteria& criteria) {
  return static_cast<size_t>(std::ranges::count_if(
      kEnds_us, [&](uint32_t end) { return static_cast<double>(end) < criteria.latencyFloor * 1'000; }));
}

judge::Buckets buckets_of(const RolloutCriteria& criteria) {
  const auto from = kEnds_us.begin() + static_cast<std::ptrdiff_t>(below_floor(criteria));
  return judge::Buckets::with_ends({from, kEnds_us.end()}).value();
}

judge::Counts judged_counts(const judge::Counts& counts, const RolloutCriteria& criteria) {
  const size_t merged = below_floor(criteria);
  judge::Counts made{.requests = counts.requests, .failed = counts.failed};
  for (size_t i = 0; i < counts.latencies.size(); ++i) {
    if (made.latencies.empty() || i > merged) {
      made.latencies.push_back(counts.latencies[i]);
    } else {
      made.latencies.front() += counts.latencies[i];
    }
  }
  return made;
}

// Where this share of the counted latencies lies below; within a bucket they are taken to be even.
std::optional<double> quantile_ms(const std::vector<double>& latencies, double share) {
  double all = 0;
  for (double each : latencies) all += each;
  if (all <= 0) return std::nullopt;
  double below = 0;
  for (size_t i = 0; i < latencies.size(); ++i) {
    if (latencies[i] > 0 && below + latencies[i] >= share * all) {
      const double from = i == 0 ? 0 : kEnds_us[i - 1];
      const double to = i < kEnds_us.size() ? kEnds_us[i] : from;
      return (from + (to - from) * (share * all - below) / latencies[i]) / 1'000;
    }
    below += latencies[i];
  }
  return kEnds_us.back() / 1'000.0;
}

SideSeen side_of(const judge::Counts& counts, double seconds) {
  return {.requests_per_s = seconds > 0 ? counts.requests / seconds : 0,
          .requests = counts.requests,
          .failed = counts.failed,
          .p50_ms = quantile_ms(counts.latencies, 0.5),
          .p99_ms = quantile_ms(counts.latencies, 0.99)};
}

judge::Counts counts_of(const RouterFleet::Counted& counted) {
  return {.requests = counted.requests, .failed = counted.failed, .latencies = counted.latencies};
}

// What is in the file.
struct Kept {
  std::string schema;
  int64_t attempt = 0;
  bool alone = false;
  judge::Settings settings;
  judge::State state;
  std::vector<judge::Counts> past;
};
BOOST_DESCRIBE_STRUCT(Kept, (), (schema, attempt, alone, settings, state, past))

}  // namespace

void JudgeWatch::take_up(Watched& watched, const views::Judged& judged, const std::string& file) {
  auto text = read_file(disk_, file, kMaxFile);
  auto document = text ? parse_json(*text) : Result<Document>(text.error());
  auto kept = document ? sluice::read<Kept>(document->root) : Result<Kept>(document.error());
  if (!kept || kept->schema != kSchema || kept->attempt != judged.attempt) return;
  watched.past = kept->past;
  if (kept->alone != watched.alone) return;
  auto resumed = judge::Judge::resumed(kept->settings, buckets_of(watched.criteria), kept->state);
  if (resumed) watched.judge = *std::move(resumed);
}

// What the routers have counted of the revision before, in the last hour or since this process began; else what was
// counted of it while the two were compared, or ever.
std::vector<judge::Limit> JudgeWatch::limits_of_past(const Watched& watched, const views::Judged& judged) const {
  const judge::Buckets buckets = buckets_of(watched.criteria);
  if (series_ != nullptr && !watched.criteria.source && !judged.baseline.empty()) {
    const int64_t now_s = clock_.wall_ms() / 1'000;
    auto spans = series_->since(judged.baseline, now_s - kHour_s, 60);
    if (spans.size() < kFewMinutes) spans = series_->since(judged.baseline, now_s - kHour_s, 1);
    std::vector<judge::Counts> hour;
    for (const auto& [at_s, span] : spans) {
      hour.push_back(judged_counts({.requests = span.requests,
                                    .failed = span.failed,
                                    .latencies = {span.latencies.begin(), span.latencies.end()}},
                                   watched.criteria));
    }
    auto limits = judge::limits_of_last_hour(hour, buckets);
    if (!limits.empty()) return limits;
  }
  auto limits = judge::limits_of_last_hour(watched.past, buckets);
  if (!limits.empty() || watched.criteria.source || judged.baseline.empty()) return limits;
  judge::Counts ever;
  for (const RouterFleet::Member& router : judged.routers) {
    auto counted = fleet_.counts(router, judged.deployment, kAsk_ms);
    if (counted) judge::add(ever, judged_counts(counts_of((*counted)[judged.baseline]), watched.criteria));
  }
  return judge::limits_of_last_hour({&ever, 1}, buckets);
}

void JudgeWatch::begin(Watched& watched, const views::Judged& judged, int64_t now_ns) {
  const bool first = watched.analysis.empty() || watched.attempt != judged.attempt;
  const bool alone = judged.baseline.empty() || judged.weight_bps >= 10'000;
  if (first) watched = {};
  if (watched.alone != alone) watched.judge.reset();
  watched.alone = alone;
  watched.analysis = judged.analysis;
  watched.attempt = judged.attempt;
  watched.reported_ns = 0;
  watched.heard_ns = now_ns;
  // Time that passed before this process saw it counts, but no more than there can have been.
  const int64_t ago_ms = std::clamp<int64_t>(clock_.wall_ms() - judged.since_ms, 0, 3'600'000);
  watched.begun_ns = now_ns - ago_ms * 1'000'000;
  if (auto criteria = parse_criteria(judged.criteria)) watched.criteria = *criteria;
  if (first) take_up(watched, judged, file_of(judged.rollout));
  if (watched.judge) return;
  judge::Settings settings = settings_of(watched.criteria);
  if (alone) {
    settings.alone = true;
    settings.limits = limits_of_past(watched, judged);
  }
  watched.judge.emplace(settings, buckets_of(watched.criteria));
  for (const judge::Counts& each : watched.past) watched.judge->learn(each);
}

Result<MeasuredTotals> JudgeWatch::source_totals(const MetricsSource& source, const views::Judged& judged,
                                                 Away& away) const {
  if (auto known = away.find(source.name()); known != away.end()) return known->second;
  auto totals = metrics_.totals(source, {.rollout = judged.rollout,
                                         .deployment = judged.deployment,
                                         .environment = judged.environment,
                                         .canary = {judged.canary, judged.canary_name},
                                         .baseline = {judged.baseline, judged.baseline_name}});
  // Whoever answers that a query is wrong has answered.
  if (!totals && totals.error().code == Code::timeout) away.emplace(source.name(), totals.error());
  return totals;
}

bool JudgeWatch::count(Watched& watched, const views::Judged& judged, bool fold, double seconds, Away& away) {
  RolloutSeen& seen = watched.seen;
  seen.obeyed_bps.reset();
  seen.silent.clear();
  judge::Window sum{.seconds = seconds, .canary_weight_bps = judged.weight_bps};
  bool any = false;
  for (const RouterFleet::Member& router : judged.routers) {
    auto counted = away.contains(router.router)
                       ? Result<std::map<std::string, RouterFleet::Counted>>(away.at(router.router))
                       : fleet_.counts(router, judged.deployment, kAsk_ms);
    if (!counted) {
      away.emplace(router.router, counted.error());
      seen.silent.push_back(router.name);
      continue;
    }
    const RouterFleet::Counted& canary = (*counted)[judged.canary];
    const int64_t obeyed = canary.weight_bps;
    seen.obeyed_bps = std::min(seen.obeyed_bps.value_or(obeyed), obeyed);
    if (watched.criteria.source) continue;
    any = true;
    judge::Totals& totals = watched.totals[router.router];
    auto window = totals.since_last(
        {.seconds = seconds, .baseline = counts_of((*counted)[judged.baseline]), .canary = counts_of(canary)});
    if (!window || obeyed != judged.weight_bps) continue;
    judge::add(sum.canary, window->canary);
    judge::add(sum.baseline, window->baseline);
  }
  if (watched.criteria.source) {
    auto totals = source_totals(*watched.criteria.source, judged, away);
    seen.trouble = totals ? "" : totals.error().message;
    if (totals) {
      any = true;
      auto window = watched.totals[watched.criteria.source->name()].since_last(
          {.seconds = seconds, .baseline = totals->baseline, .canary = totals->canary});
      if (window && seen.obeyed_bps.value_or(judged.weight_bps) == judged.weight_bps) {
        sum.canary = window->canary;
        sum.baseline = window->baseline;
      }
    }
  }
  if (!any || !fold) return any;
  if (seen.looks.size() == kLooksKept) seen.looks.pop_front();
  seen.looks.push_back({.canary = side_of(sum.canary, seconds), .baseline = side_of(sum.baseline, seconds)});
  sum.canary = judged_counts(sum.canary, watched.criteria);
  sum.baseline = judged_counts(sum.baseline, watched.criteria);
  watched.judge->add(sum);
  if (sum.baseline.requests > 0) {
    watched.past.push_back(sum.baseline);
    // Of a long rollout two windows become one, so that the past is never long.
    if (watched.past.size() == kPastKept) {
      for (size_t i = 0; i < kPastKept / 2; ++i) {
        watched.past[i] = watched.past[2 * i];
        judge::add(watched.past[i], watched.past[2 * i + 1]);
      }
      watched.past.resize(kPastKept / 2);
    }
  }
  return true;
}

void JudgeWatch::keep(const Watched& watched, const std::string& rollout) const {
  const Kept kept{.schema = std::string(kSchema),
                  .attempt = watched.attempt,
                  .alone = watched.alone,
                  .settings = watched.judge->settings(),
                  .state = watched.judge->state(),
                  .past = watched.past};
  // Not synced: what is lost with the machine is evidence that comes again. A torn file is no state, and is left.
  const std::string path = file_of(rollout);
  (void)disk_.make_folder(folder_, 0700);
  auto file = disk_.open(path + ".new", {.write = true, .create = true, .truncate = true});
  if (file && (*file)->write_at(0, write(to_json(kept)))) (void)disk_.rename(path + ".new", path);
}

void JudgeWatch::report(Watched& watched, const views::Judged& judged, int64_t now_ns, const Tell& tell) {
  if (watched.reported_ns != 0 && now_ns - watched.reported_ns < kReportAgain_ns) return;
  const int64_t passed_s = (now_ns - watched.begun_ns) / kSecond_ns;
  const bool endless = judged.window_s < 0;
  const bool over = !endless && passed_s >= judged.window_s;
  std::string verdict;
  std::string reason;
  const auto& said = watched.seen.verdict;
  if (said && said->verdict == judge::Outcome::unhealthy) {
    verdict = "unhealthy";
  } else if (said && said->verdict == judge::Outcome::healthy && !endless && (over || judged.again)) {
    verdict = "healthy";
  } else if ((watched.criteria.source || !judged.routers.empty()) && now_ns - watched.heard_ns >= kSilence_ns &&
             !endless) {
    verdict = "unavailable";
    reason = watched.criteria.source
                 ? watched.criteria.source->name() + " has given no counts for 30 s: " + watched.seen.trouble
                 : "no router has said for 30 s what it counted; look whether the routers run";
  } else if (over && passed_s >= (judged.again ? std::max(judged.window_s, kAgainWindow_s) : judged.window_s)) {
    verdict = "insufficientData";
  }
  if (verdict.empty()) return;
  if (reason.empty() && said) reason = said->sentence;
  if (reason.empty()) reason = "nothing was counted yet";
  const judge::Verdict numbers = said.value_or(judge::Verdict());
  const auto& looks = watched.seen.looks;
  const double p99_ms = looks.empty() ? 0 : looks.back().canary.p99_ms.value_or(0);
  const double requests = numbers.canary_requests;
  watched.reported_ns = now_ns;
  tell("Telemetry/report", {{"analysis", judged.analysis},
                            {"verdict", verdict},
                            {"reason", reason},
                            {"errorRate", requests > 0 ? numbers.canary_failed / requests : 0.0},
                            {"latencyP99", static_cast<int64_t>(p99_ms)},
                            {"sampleSize", static_cast<int64_t>(requests)},
                            {"samplesNeeded", static_cast<int64_t>(numbers.requests_needed.value_or(0))},
                            {"endpoint", watched.criteria.source  ? watched.criteria.source->name()
                                         : judged.routers.empty() ? std::string("no router")
                                                                  : judged.routers.front().name}});
}

void JudgeWatch::compare(const lang::Snapshot& rows, const Tell& tell) {
  judged_ = views::judged(rows);
  if (!std::exchange(knows_files_, true)) {
    // Those of rollouts that have ended are forgotten in their time, though another process watched them.
    const auto files = disk_.list(folder_);
    for (const FolderEntry& each : files ? *files : std::vector<FolderEntry>()) {
      const size_t end = each.name.rfind(".json");
      if (end != std::string::npos) watched_[each.name.substr(0, end)].last_look_ns = clock_.monotonic_ns();
    }
  }
  look(tell);
  std::set<std::string> open;
  for (const views::Judged& each : judged_) open.insert(each.rollout);
  // What has no open analysis is between two steps, or has ended; its last look stays to be seen for a while.
  const int64_t now_ns = clock_.monotonic_ns();
  std::lock_guard lock(mutex_);
  std::erase_if(watched_, [&](const auto& each) {
    if (open.contains(each.first) || now_ns - each.second.last_look_ns < kForgetAfter_ns) return false;
    (void)disk_.remove(file_of(each.first));
    seen_.erase(each.first);
    return true;
  });
}

void JudgeWatch::look_at(const views::Judged& judged, Watched& watched, int64_t now_ns, Away& away) {
  // Counts of other weights are no part of any window.
  const bool moved = watched.weight_bps != judged.weight_bps;
  if (!moved && now_ns - watched.last_look_ns < watched.criteria.interval * kSecond_ns) return;
  const double seconds = static_cast<double>(now_ns - watched.last_look_ns) / static_cast<double>(kSecond_ns);
  if (count(watched, judged, !moved, seconds, away)) watched.heard_ns = now_ns;
  watched.weight_bps = judged.weight_bps;
  watched.last_look_ns = now_ns;
  watched.seen.verdict = watched.judge->verdict(judged.baseline_name, judged.canary_name);
  if (!moved) keep(watched, judged.rollout);
  watched.seen.next_look_ms = clock_.wall_ms() + watched.criteria.interval * 1'000;
  std::lock_guard lock(mutex_);
  seen_[judged.rollout] = watched.seen;
}

void JudgeWatch::look(const Tell& tell) {
  const int64_t now_ns = clock_.monotonic_ns();
  Away away;
  std::vector<const views::Judged*> by_source;  // last, since a source may be slow
  auto look_and_report = [&](const views::Judged& judged, Watched& watched) {
    look_at(judged, watched, now_ns, away);
    report(watched, judged, now_ns, tell);
  };
  for (const views::Judged& each : judged_) {
    Watched& watched = watched_[each.rollout];
    if (watched.analysis != each.analysis) begin(watched, each, now_ns);
    if (watched.criteria.source) {
      by_source.push_back(&each);
    } else {
      look_and_report(each, watched);
    }
  }
  for (const views::Judged* each : by_source) look_and_report(*each, watched_[each->rollout]);
}

std::optional<RolloutSeen> JudgeWatch::seen(const std::string& rollout) const {
  std::lock_guard lock(mutex_);
  auto found = seen_.find(rollout);
  if (found == seen_.end()) return std::nullopt;
  return found->second;
}

}  // namespace sluice::deploy
