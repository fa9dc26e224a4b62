// Routers count from their beginning on; what came in a second is the difference of two looks.
#include "deploy/series_watch.h"

#include <algorithm>

namespace sluice::deploy {
namespace {

constexpr int64_t kAskCounts_ms = 500;
// A router that was silent for longer has counts of many seconds at once, which would look like a peak.
constexpr int64_t kLongestLook_ns = 3'000'000'000;

// What was counted between two looks; nothing if the counters began again meanwhile.
std::optional<CountedSpan> difference(const RouterFleet::Counted& now, const RouterFleet::Counted* before) {
  static const RouterFleet::Counted kNone;
  const RouterFleet::Counted& last = before != nullptr ? *before : kNone;
  if (now.requests < last.requests || now.failed < last.failed) return std::nullopt;
  CountedSpan span{.requests = now.requests - last.requests, .failed = now.failed - last.failed};
  for (size_t i = 0; i < std::min(now.latencies.size(), span.latencies.size()); ++i) {
    span.latencies[i] = std::max(0.0, now.latencies[i] - (i < last.latencies.size() ? last.latencies[i] : 0));
  }
  return span;
}

}  // namespace

void CountedSpan::add(const CountedSpan& more) {
  span_ms += more.span_ms;
  requests += more.requests;
  failed += more.failed;
  for (size_t i = 0; i < latencies.size(); ++i) latencies[i] += more.latencies[i];
}

std::optional<double> CountedSpan::quantile_ms(double share) const {
  constexpr auto& kEnds_us = ::sluice::router::kLatencyEnds_us;
  double all = 0;
  for (double each : latencies) all += each;
  if (all <= 0) return std::nullopt;
  double below = 0;
  for (size_t i = 0; i < kEnds_us.size(); ++i) {
    if (latencies[i] > 0 && below + latencies[i] >= share * all) {
      const double from = i == 0 ? 0 : kEnds_us[i - 1];
      return (from + (kEnds_us[i] - from) * (share * all - below) / latencies[i]) / 1'000;
    }
    below += latencies[i];
  }
  return kEnds_us.back() / 1'000.0;
}

void RequestSeries::put(std::deque<Slot>& slots, int64_t at_s, size_t most, const CountedSpan& span) {
  // A clock that was set back begins a new slot only when it is ahead again.
  if (slots.empty() || slots.back().at_s < at_s) slots.push_back({.at_s = at_s});
  Slot& slot = slots.back();
  slot.span_ms += static_cast<uint32_t>(span.span_ms);
  slot.requests += static_cast<uint32_t>(span.requests);
  slot.failed += static_cast<uint32_t>(span.failed);
  for (size_t i = 0; i < span.latencies.size(); ++i) {
    if (span.latencies[i] <= 0) continue;
    const auto bucket = static_cast<uint8_t>(i);
    auto known = std::ranges::find(slot.latencies, bucket, &std::pair<uint8_t, uint32_t>::first);
    if (known == slot.latencies.end()) known = slot.latencies.insert(known, {bucket, 0});
    known->second += static_cast<uint32_t>(span.latencies[i]);
  }
  while (slots.size() > most) slots.pop_front();
}

void RequestSeries::add(const CountedSpan& span) {
  put(seconds_, span.at_s, kSeconds, span);
  put(minutes_, span.at_s - span.at_s % 60, kMinutes, span);
  if (span.requests > 0) last_request_s_ = span.at_s;
}

std::map<int64_t, CountedSpan> RequestSeries::since(int64_t from_s, int64_t step_s) const {
  std::map<int64_t, CountedSpan> all;
  for (const Slot& slot : step_s >= 60 ? minutes_ : seconds_) {
    if (slot.at_s < from_s) continue;
    CountedSpan one{.span_ms = slot.span_ms,
                    .requests = static_cast<double>(slot.requests),
                    .failed = static_cast<double>(slot.failed)};
    for (const auto& [bucket, count] : slot.latencies) one.latencies[bucket] = count;
    const int64_t at_s = slot.at_s - slot.at_s % step_s;
    CountedSpan& sum = all[at_s];
    sum.at_s = at_s;
    sum.add(one);
  }
  return all;
}

void SeriesWatch::compare(const lang::Snapshot& rows, const Tell&) { routers_ = views::known_routers(rows); }

void SeriesWatch::look(const Tell&) {
  std::map<std::string, CountedSpan> heard;  // by revision, of all routers
  const int64_t at_s = clock_.wall_ms() / 1'000;
  for (const views::KnownRouter& each : routers_) {
    auto counted = fleet_.counts(each.member, "", kAskCounts_ms);
    if (!counted) continue;
    const int64_t now_ns = clock_.monotonic_ns();
    Last& last = last_[each.member.router];
    const int64_t passed_ns = now_ns - last.at_ns;
    const bool first = last.at_ns == 0 && last.totals.empty();
    if (!first && passed_ns <= kLongestLook_ns) {
      for (const auto& [revision, now] : *counted) {
        auto before = last.totals.find(revision);
        auto span = difference(now, before == last.totals.end() ? nullptr : &before->second);
        if (!span) continue;
        CountedSpan& sum = heard[revision];
        sum.add(*span);
        // Routers are asked one after the other in the same look: their seconds are the same one.
        sum.span_ms = std::max(sum.span_ms, passed_ns / 1'000'000);
      }
    }
    last.at_ns = now_ns;
    // What a router no longer tells of may come back, with all that it had counted.
    for (auto& [revision, now] : *counted) last.totals[revision] = std::move(now);
  }
  std::lock_guard lock(mutex_);
  for (auto& [revision, span] : heard) {
    auto known = series_.find(revision);
    if (known == series_.end()) {
      if (span.requests <= 0) continue;
      if (series_.size() >= kMostSeries) {
        series_.erase(std::ranges::min_element(series_, std::less(),
                                               [](const auto& each) { return each.second.last_request_s(); }));
      }
      known = series_.emplace(revision, RequestSeries()).first;
    }
    span.at_s = at_s;
    known->second.add(span);
  }
}

std::map<int64_t, CountedSpan> SeriesWatch::since(const std::string& revision, int64_t from_s, int64_t step_s) const {
  std::lock_guard lock(mutex_);
  auto known = series_.find(revision);
  return known == series_.end() ? std::map<int64_t, CountedSpan>() : known->second.since(from_s, step_s);
}

int64_t SeriesWatch::last_minute(const std::string& revision) const {
  double sum = 0;
  for (const auto& [at_s, span] : since(revision, clock_.wall_ms() / 1'000 - 60, 1)) sum += span.requests;
  return static_cast<int64_t>(sum);
}

}  // namespace sluice::deploy
