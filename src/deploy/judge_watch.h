// JudgeWatch judges rollouts on the routers' own counts, or on those of the source that the criteria name. For every
// analysis that is open it asks the routers, once per `interval` of the rollout's criteria, how many requests the two
// revisions had, how many failed and how long they took, gives what is new since the last look to the judge
// (src/judge), and reports the verdict to Telemetry: unhealthy at once, anything else when the analysis's window has
// passed. A look leaves no trace in the journal.
//
// What the judge knows of a rollout is in a file beside the store, so that a control plane that was killed goes on with
// the evidence that it had. Routers are counted one by one: the counts of one that began again, or obeys other weights,
// are left out for that look.
//
// A revision that has all traffic is judged by limits: those of the criteria, and what the one before did in its last
// hour.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "deploy/rollout_criteria.h"
#include "deploy/router_fleet.h"
#include "deploy/views/judged.h"
#include "judge/judge.h"
#include "lang/run/observer.h"

namespace sluice::deploy {

// Requests of a revision between two looks.
struct SideSeen {
  double requests_per_s = 0;
  double requests = 0;
  double failed = 0;
  std::optional<double> p50_ms, p99_ms;
};

// What was seen of a rollout.
struct RolloutSeen {
  struct Look {
    SideSeen canary, baseline;
  };
  std::deque<Look> looks;  // the oldest first
  std::optional<judge::Verdict> verdict;
  std::optional<int64_t> obeyed_bps;  // the least weight that a router gives the canary
  std::vector<std::string> silent;    // routers that did not answer
  std::string trouble;                // why the source of the criteria gave no counts
  int64_t next_look_ms = 0;           // from the last one
};

class SeriesWatch;

class JudgeWatch final : public lang::Observer {
 public:
  // `folder` keeps what judges know, `series` what routers have counted before. All must outlive it.
  JudgeWatch(const RouterFleet& fleet, const MetricsReader& metrics, Disk& disk, const Clock& clock, std::string folder,
             const SeriesWatch* series = nullptr)
      : fleet_(fleet), metrics_(metrics), disk_(disk), clock_(clock), folder_(std::move(folder)), series_(series) {}

  std::string_view concept_name() const override { return "Telemetry"; }
  void look(const Tell& tell) override;
  void compare(const lang::Snapshot& rows, const Tell& tell) override;

  // For views; any thread.
  std::optional<RolloutSeen> seen(const std::string& rollout) const;

 private:
  struct Watched {
    RolloutCriteria criteria;
    std::string analysis;
    int64_t attempt = 0;
    bool alone = false;  // judged by limits, as nothing serves beside it
    int64_t weight_bps = -1;
    int64_t begun_ns = 0;  // the analysis
    int64_t last_look_ns = 0;
    int64_t reported_ns = 0;                      // 0: not yet
    int64_t heard_ns = 0;                         // from a router
    std::map<std::string, judge::Totals> totals;  // by router
    std::optional<judge::Judge> judge;
    std::vector<judge::Counts> past;  // the baseline's windows so far
    RolloutSeen seen;
  };

  void begin(Watched& watched, const views::Judged& judged, int64_t now_ns);
  std::vector<judge::Limit> limits_of_past(const Watched& watched, const views::Judged& judged) const;
  void take_up(Watched& watched, const views::Judged& judged, const std::string& file);
  // Who did not answer in this look, and why: a router by its id, a source by its name. Nobody is asked again in the
  // same look, so what is slow costs a look its timeout once, however many rollouts there are.
  using Away = std::map<std::string, Error>;
  void look_at(const views::Judged& judged, Watched& watched, int64_t now_ns, Away& away);
  // One look at the routers; false: nobody answered.
  bool count(Watched& watched, const views::Judged& judged, bool fold, double seconds, Away& away);
  Result<MeasuredTotals> source_totals(const MetricsSource& source, const views::Judged& judged, Away& away) const;
  void report(Watched& watched, const views::Judged& judged, int64_t now_ns, const Tell& tell);
  void keep(const Watched& watched, const std::string& rollout) const;
  std::string file_of(const std::string& rollout) const { return folder_ + "/" + rollout + ".json"; }

  const RouterFleet& fleet_;
  const MetricsReader& metrics_;
  Disk& disk_;
  const Clock& clock_;
  std::string folder_;
  const SeriesWatch* series_;
  std::vector<views::Judged> judged_;       // as of the last comparison
  std::map<std::string, Watched> watched_;  // by rollout; of the thread that looks
  bool knows_files_ = false;                // watched_ has an entry for each file
  mutable std::mutex mutex_;
  std::map<std::string, RolloutSeen> seen_;  // of the last look, which views read
};

}  // namespace sluice::deploy
