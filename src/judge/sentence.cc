// Sentences give counts, not ratios: at the moment of an alarm a ratio is always a little exaggerated.
#include "judge/sentence.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "base/duration.h"

namespace sluice::judge {
namespace {

std::string plain(const char* format, double number) {
  char text[64];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

// As a person would say it: to the minute above an hour, to the second below.
std::string time_text(double seconds) {
  using namespace std::chrono_literals;
  constexpr double kLongest = 86'400.0 * 36'500;
  double unit = seconds >= 864'000 ? 86'400 : seconds >= 36'000 ? 3'600 : seconds >= 3'600 ? 60 : 1;
  double rounded = std::min(std::max(std::round(seconds / unit), 1.0) * unit, kLongest);
  return print_duration(std::chrono::seconds(static_cast<int64_t>(rounded)));
}

std::string rate_text(double per_second) {
  if (per_second >= 1) return plain(per_second < 10 ? "%.1f a second" : "%.0f a second", per_second);
  if (per_second >= 1.0 / 60) return plain("%.1f a minute", per_second * 60);
  return plain("%.1f an hour", per_second * 3'600);
}

std::string odds_text(double alpha) {
  return "the odds that this is chance are below 1 in " + count_text(std::round(1 / alpha));
}

std::string requests_text(double count) { return count_text(count) + (count == 1 ? " request" : " requests"); }

// "v2 fails 6.0 % of requests, v1 0.11 % (200 and 3,800 requests in 40s)"
std::string comparison(const Metric& metric, std::string_view baseline, std::string_view canary) {
  auto share = [](double bad, double all) { return share_text(all > 0 ? bad / all : 0); };
  std::string text(canary);
  std::string what = share(metric.canary_bad, metric.canary_requests) + " of requests";
  if (metric.over_ms) {
    text += " answers " + what + " slower than " + latency_text(*metric.over_ms);
  } else {
    text += " fails " + what;
  }
  std::string in = " in " + time_text(metric.seconds) + ")";
  if (metric.limit) {
    return text + ", more than the " + share_text(*metric.limit) + " of " + metric.name + " (" +
           requests_text(metric.canary_requests) + in;
  }
  return text + ", " + std::string(baseline) + " " + share(metric.baseline_bad, metric.baseline_requests) + " (" +
         count_text(metric.canary_requests) + " and " + requests_text(metric.baseline_requests) + in;
}

const Metric& loudest(const Verdict& verdict) {
  return *std::ranges::max_element(verdict.metrics, {}, &Metric::against);
}

std::string healthy(const Verdict& verdict, const Settings& settings, std::string_view baseline,
                    std::string_view canary) {
  std::string counts = count_text(verdict.canary_failed) + " of " + count_text(verdict.canary_requests) + " failed";
  std::string passes = " passes in at most " + plain("%g", verdict.beta * 100) + " of 100";
  if (settings.alone)
    return std::string(canary) + " is within its limits: " + counts + "; a version beyond them" + passes;
  std::string margin = "errors " + plain("%g", settings.errors.margin_ratio) + " × " + std::string(baseline) + " + " +
                       plain("%g", settings.errors.margin_plus * 100) + " points";
  if (verdict.margin_latency_ratio > 0) margin += ", latency ×" + plain("%.2f", verdict.margin_latency_ratio);
  return std::string(canary) + " is within the margin (" + margin + "): " + counts + ", " + std::string(baseline) +
         " " + count_text(verdict.baseline_failed) + " of " + count_text(verdict.baseline_requests) +
         "; a version beyond it" + passes;
}

// What would have shown by now, by the first metric of failures.
std::string noticed(const Verdict& verdict) {
  auto errors = std::ranges::find_if(verdict.metrics, [](const Metric& each) { return !each.over_ms; });
  if (errors == verdict.metrics.end()) return "";
  if (!errors->smallest_noticed) return "; so far not even a version that fails every request would have shown";
  if (*errors->smallest_noticed >= 1) return "; so far only a version that fails every request would have shown";
  return "; so far a version that fails " + plain("%g", *errors->smallest_noticed * 100) +
         " % of requests would have shown";
}

std::string too_early(const Verdict& verdict, const Settings& settings, std::string_view baseline,
                      std::string_view canary) {
  if (verdict.against >= kDoubt) {
    return "Undecided: " + comparison(loudest(verdict), baseline, canary) +
           "; that speaks against it, but it may still be chance";
  }
  std::string to(canary), from(baseline);
  if (verdict.metrics.empty()) {
    return "Undecided, and more requests will not help: no limit was set, and " +
           (from.empty() ? "there is nothing to compare with"
                         : from + " had fewer than 100 requests in its last hour to take limits from");
  }
  if (verdict.canary_requests <= 0 && !verdict.requests_needed) return "Too early: " + to + " has had no requests yet";
  if (verdict.requests_needed) {
    std::string text = "Too early: " + count_text(std::ceil(*verdict.requests_needed)) + " more requests to " + to;
    if (verdict.seconds_needed && *verdict.seconds_needed > 0) {
      text += " (" + time_text(*verdict.seconds_needed) + " at " +
              rate_text(*verdict.requests_needed / *verdict.seconds_needed) + ")";
    }
    text += settings.alone ? " if none of them is bad" : " if it is as good as " + from;
    return text + noticed(verdict);
  }
  for (const Metric& metric : verdict.metrics) {
    // No margin of latency is given where nobody counts latencies.
    if (metric.limit && metric.over_ms && !settings.alone && verdict.margin_latency_ratio == 0) {
      return "Undecided, and more requests will not help: nothing says how long requests take, which " + metric.name +
             " needs";
    }
    if (metric.limit && !metric.requests_needed) {
      return "Undecided, and more requests will not help: " + from + " itself is too near to " + metric.name + " (" +
             share_text(*metric.limit) + ")";
    }
  }
  return "Too early: too little is known of " + from + " to compare with";
}

}  // namespace

std::string count_text(double count) {
  std::string digits = plain("%.0f", count), text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string share_text(double share) {
  double percent = share * 100;
  if (percent <= 0) return "0 %";
  if (percent >= 9.95) return plain("%.0f %%", percent);
  if (percent < 0.0001) return "below 0.0001 %";
  return plain("%#.2g %%", percent);
}

std::string latency_text(double ms) {
  if (ms >= 1'000) return plain(ms >= 10'000 ? "%.0f s" : "%.1f s", ms / 1'000);
  return plain(ms >= 10 ? "%.0f ms" : "%.1f ms", ms);
}

std::string sentence_of(const Verdict& verdict, const Settings& settings, std::string_view baseline,
                        std::string_view canary) {
  std::string text;
  switch (verdict.verdict) {
    case Outcome::unhealthy:
      text = comparison(loudest(verdict), baseline, canary) + "; " + odds_text(verdict.alpha);
      break;
    case Outcome::healthy:
      text = healthy(verdict, settings, baseline, canary);
      break;
    case Outcome::insufficientData:
      text = too_early(verdict, settings, baseline, canary);
      break;
  }
  return text + ".";
}

}  // namespace sluice::judge
