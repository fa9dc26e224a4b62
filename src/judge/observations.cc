// What a struct's description cannot say is checked here, with the place of what is wrong.
#include "judge/observations.h"

#include <utility>

#include "base/json_reader.h"
#include "base/yaml.h"
#include "judge/buckets.h"
#include "judge/judge.h"

namespace sluice::judge {
namespace {

Error at(std::string path, std::string message) {
  return {.code = Code::invalid, .message = std::move(message), .path = std::move(path)};
}

Result<void> check_counts(const Counts& counts, size_t buckets, const std::string& path) {
  if (counts.latencies.size() <= buckets) return {};
  return at(path + "/latencies",
            "there are " + std::to_string(buckets) + " buckets, not " + std::to_string(counts.latencies.size()));
}

Result<void> check_window(const Window& window, size_t buckets, const std::string& path) {
  if (!(window.seconds > 0 && window.seconds <= 86'400)) {
    return at(path + "/seconds", "a window takes more than 0 and at most 86400 seconds");
  }
  if (window.canary_weight_bps && (*window.canary_weight_bps < 0 || *window.canary_weight_bps > 10'000)) {
    return at(path + "/canary_weight_bps", "a weight is between 0 and 10000");
  }
  if (auto sound = check_counts(window.baseline, buckets, path + "/baseline"); !sound) return sound;
  return check_counts(window.canary, buckets, path + "/canary");
}

Result<Buckets> buckets_of(const Observations& observations) {
  if (observations.latency_ends_us.empty()) return Buckets();
  return Buckets::with_ends(observations.latency_ends_us);
}

Result<void> check(const Observations& observations) {
  if (observations.schema != kObservationsSchema) {
    return at("/schema", "expected " + std::string(kObservationsSchema));
  }
  if (observations.baseline.empty()) return at("/baseline", "the baseline needs a name");
  if (observations.canary.empty()) return at("/canary", "the canary needs a name");
  if (auto sound = judge::check(observations.settings); !sound) {
    return at("/settings" + sound.error().path, sound.error().message);
  }
  auto buckets = buckets_of(observations);
  if (!buckets) return at("/latency_ends_us", buckets.error().message);
  for (size_t i = 0; i < observations.history.size(); ++i) {
    std::string path = "/history/" + std::to_string(i);
    if (auto sound = check_counts(observations.history[i], buckets->size(), path); !sound) return sound;
  }
  for (size_t i = 0; i < observations.windows.size(); ++i) {
    std::string path = "/windows/" + std::to_string(i);
    if (auto sound = check_window(observations.windows[i], buckets->size(), path); !sound) return sound;
  }
  return {};
}

}  // namespace

Result<Observations> parse_observations(std::string_view text, const std::string& file) {
  // A day of windows with two histograms each, and as much again where a file repeats itself.
  auto document = parse_yaml(text, file, {.max_nodes = 4'000'000, .max_added_nodes = 1'000'000});
  if (!document) return document.error();
  auto observations = read<Observations>(*document);
  if (!observations) return observations;
  if (auto sound = check(*observations); !sound) {
    Error error = sound.error();
    error.position = document->position_of(error.path);
    return error;
  }
  return observations;
}

Verdict verdict_on(const Observations& observations) {
  Judge judge(observations.settings, buckets_of(observations).value());
  for (const Counts& counts : observations.history) judge.learn(counts);
  Totals totals;
  for (const Window& window : observations.windows) {
    if (observations.counted == Counted::windows) {
      judge.add(window);
    } else if (auto since = totals.since_last(window)) {
      judge.add(*since);
    }
  }
  judge.drop(totals.resets());
  return judge.verdict(observations.baseline, observations.canary);
}

}  // namespace sluice::judge
