// The judge of a canary: is it worse than the baseline that serves at the same time? It is given windows of counts and
// may be asked for its verdict after each of them, as often as one likes, without more false alarms. It knows no clock
// and draws nothing: the same windows give the same verdict.
//
//   Judge judge(settings, buckets);
//   for (const Counts& earlier : last_hour) judge.learn(earlier);   // of the baseline, if there was traffic
//   judge.add(window);                                              // every ten seconds
//   Verdict verdict = judge.verdict("v1", "v2");
//
// A change of the canary's weight begins a step: what speaks for the canary is gathered anew, what speaks against it is
// kept. What is beyond one window is in State, which is plain data: a judge that is made of it goes on.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "judge/bets.h"
#include "judge/buckets.h"
#include "judge/counts.h"
#include "judge/settings.h"
#include "judge/verdict.h"

namespace sluice::judge {

// Requests of a stream and how many were bad.
struct Tally {
  double canary = 0;
  double canary_bad = 0;
  double baseline = 0;
  double baseline_bad = 0;
  double seconds = 0;
  bool operator==(const Tally&) const = default;
};
BOOST_DESCRIBE_STRUCT(Tally, (), (canary, canary_bad, baseline, baseline_bad, seconds))

struct State {
  Counts known;  // the baseline's earlier windows, each counting a little less than the next
  std::vector<Stream> streams;
  std::vector<Tally> steps;      // of each stream since the step began
  std::vector<Tally> spells;     // of each stream since nothing spoke against the canary
  Tally step;                    // all requests, and those that failed
  Window pending{.seconds = 0};  // windows in which one of the two had no request, to be added to the next
  bool pending_cold = false;
  double canary_age_s = 0;
  double since_rise_s = 0;
  std::optional<int64_t> weight_bps;
  int64_t windows = 0;
  int64_t dropped = 0;
  bool unhealthy = false;  // for good
  bool timed = false;      // somebody has counted how long requests take
  bool untimed = false;    // or only that they were answered
  static constexpr std::string_view kDefaulted[] = {"timed", "untimed"};
};
BOOST_DESCRIBE_STRUCT(State, (),
                      (known, streams, steps, spells, step, pending, pending_cold, canary_age_s, since_rise_s,
                       weight_bps, windows, dropped, unhealthy, timed, untimed))

class Judge {
 public:
  // The settings must have passed check().
  Judge(Settings settings, Buckets buckets);
  // Goes on from a state that a judge with these settings and buckets had; `invalid` if it cannot be one.
  static Result<Judge> resumed(Settings settings, Buckets buckets, State state);

  // A window of the baseline alone, from before the canary.
  void learn(const Counts& baseline);
  // After `unhealthy` nothing changes any more.
  void add(const Window& window);
  // Counts that could not be made a window of (Totals).
  void drop(int64_t windows) { state_.dropped += windows; }
  // Only where the weight stays: a change of weight begins one by itself.
  void begin_step();

  double against() const;  // the mean over the streams
  Outcome outcome() const;
  // The names are how the sentence calls the two.
  Verdict verdict(std::string_view baseline, std::string_view canary) const;

  const State& state() const { return state_; }
  const Settings& settings() const { return settings_; }

 private:
  enum class Kind { errors, latency, error_limit, latency_limit };
  struct Spec {
    std::string name;
    Kind kind;
    double tail = 0;  // latency: the share of the baseline's requests that is about to be above the end
    size_t end = 0;   // latency_limit: which end
    Bounds bounds;
    size_t grouped_as = 0;  // limits: the stream whose grouping they take
  };
  struct Seen;  // a window's histograms and what is known

  void add_streams();
  void fold(const Window& window, bool cold);
  size_t end_of(const Spec& spec, const Tails& known) const;
  std::optional<Sample> sample_of(const Spec& spec, const Seen& seen) const;
  double known_share(const Spec& spec, const Tails& known, size_t further) const;
  Grouping grouping(size_t stream) const;
  Metric metric(size_t stream, const Tails& known, std::optional<double> per_canary) const;
  std::optional<double> baseline_per_canary() const;
  void note_times(const Counts& counts);
  // Where nobody counts latencies, errors alone are compared.
  bool is_left_out(const Spec& spec) const;

  Settings settings_;
  Buckets buckets_;
  std::vector<Spec> specs_;
  State state_;
};

// Limits for a canary that has all the traffic: what the baseline did at worst in its last hour, doubled. The windows
// are taken in six blocks, or in fewer and with wider limits if they have too few requests; nothing below 100 requests.
std::vector<Limit> limits_of_last_hour(std::span<const Counts> windows, const Buckets& buckets);

}  // namespace sluice::judge
