// One pass over each concept's rows.
#include "deploy/views/metrics.h"

#include <boost/describe/enum_to_string.hpp>

#include "deploy/views/objects.h"
#include "deploy/views/states.h"
#include "deployment.gen.h"
#include "health.gen.h"
#include "revision.gen.h"
#include "rollout.gen.h"
#include "router.gen.h"
#include "telemetry.gen.h"

namespace sluice::deploy::views {
namespace {

using Labels = std::map<std::string, std::string>;

// Counts rows by their labels.
class Family {
 public:
  Family(std::string name, std::string help)
      : made_{.name = std::move(name), .type = "gauge", .help = std::move(help)} {}
  void count(const Labels& labels, double more = 1) { sums_[labels] += more; }
  MetricFamily done() {
    for (const auto& [labels, sum] : sums_) made_.samples.push_back({labels, sum});
    return std::move(made_);
  }

 private:
  MetricFamily made_;
  std::map<Labels, double> sums_;
};

template <class Enum>
std::string text_of(Enum value) {
  return boost::describe::enum_to_string(value, "");
}

Result<std::vector<MetricFamily>> read_metrics(const lang::Reading& reading, const AllQuery&) {
  const States states(reading.rows);
  Family deployments("sluice_deployments", "Deployments by status");
  std::map<std::string, std::string> environments;  // of deployments
  for (const auto& each : states.deployment().all()) {
    environments[each.id.text()] = each.record.environment;
    deployments.count({{"environment", each.record.environment}, {"status", text_of(each.record.status)}});
  }
  Family revisions("sluice_revisions", "Revisions that are not archived, by lifecycle");
  for (const auto& each : states.revision().all()) {
    if (each.record.lifecycle == revision::RevisionLifecycle::archived) continue;
    revisions.count({{"environment", each.record.environment}, {"lifecycle", text_of(each.record.lifecycle)}});
  }
  Family rollouts("sluice_rollouts", "Rollouts by status, with the last 50 of each deployment that have ended");
  for (const auto& each : states.rollout().all()) {
    rollouts.count({{"environment", environments[each.record.deployment]}, {"status", text_of(each.record.status)}});
  }
  Family analyses("sluice_analyses_open", "Analyses of rollouts that wait for a verdict");
  analyses.count({}, 0);
  for (const auto& each : states.telemetry().all_a()) {
    (void)each;
    analyses.count({});
  }
  Family unsent("sluice_markers_unsent", "Markers of deployments that a backend does not have yet");
  unsent.count({}, 0);
  for (const auto& each : states.telemetry().all_m()) {
    if (!each.record.trouble.empty()) unsent.count({});
  }
  Family degraded("sluice_instances_degraded", "Routed instances none of whose replicas answers");
  degraded.count({}, 0);
  for (const auto& each : states.health().find_by_kind(health::HealthKind::suspect)) {
    if (each.record.details) degraded.count({});
  }
  Family routers("sluice_routers", "Routers by whether they obey the newest table");
  for (const auto& each : states.router().all()) {
    for (const auto& member : states.router().members(each.id).values()) {
      routers.count({{"environment", each.id.text()},
                     {"obeys", member.acknowledged >= each.record.generation ? "true" : "false"}});
    }
  }
  return std::vector<MetricFamily>{deployments.done(), revisions.done(), rollouts.done(), analyses.done(),
                                   unsent.done(),      degraded.done(),  routers.done()};
}

}  // namespace

std::vector<lang::View> metrics_views() {
  return {lang::make_view("metrics", "How many of each thing there are, by its state", read_metrics)};
}

}  // namespace sluice::deploy::views
