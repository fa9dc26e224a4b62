// Live revisions are read by their lifecycle, all at once: thousands that are archived cost nothing.
#include "host/fleet_view.h"

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <set>

#include "base/ascii.h"
#include "deploy/views/clock.h"
#include "deploy/views/instances.h"
#include "deployment.gen.h"
#include "env.gen.h"
#include "rollout.gen.h"
#include "runtime.gen.h"
#include "traffic.gen.h"

namespace sluice::host {
namespace {

namespace views = deploy::views;
using deploy::deployment::DeploymentFound;
using deploy::deployment::DeploymentStatus;
using deploy::revision::RevisionFound;
using deploy::revision::RevisionLifecycle;

constexpr int64_t kMostShown = 500;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), to_lower);
  return text;
}

class Fleet {
 public:
  Fleet(const HostReading& reading, const FleetQuery& query)
      : reading_(reading), query_(query), text_(lower(query.text)), states_(reading.rows) {
    using enum RevisionLifecycle;
    for (RevisionLifecycle each : {inactive, staged, warming, ready, draining, failed}) {
      for (RevisionFound& found : states_.revision().find_by_lifecycle(each)) {
        live_[found.record.deployment].push_back(std::move(found));
      }
    }
    for (auto& [deployment, revisions] : live_) {
      std::ranges::sort(revisions, {}, [](const RevisionFound& each) { return each.record.sequence; });
    }
    for (const auto& each : states_.rollout().all()) {
      using enum deploy::rollout::RolloutStatus;
      const auto status = each.record.status;
      if (status != complete && status != aborted && status != superseded) changing_.insert(each.record.deployment);
    }
  }

  FleetDocument document() {
    FleetDocument document;
    std::vector<RunningRouter> running;
    if (reading_.beside != nullptr) running = running_routers(reading_.beside->disk, reading_.beside->home);
    for (const auto& environment : states_.env().all()) {
      FleetEnvironment counted{.environment = environment.id.text(),
                               .routers = routers_of(states_, running, environment.id.text())};
      for (const DeploymentFound& each : states_.deployment().find_by_environment(counted.environment)) {
        if (each.record.status == DeploymentStatus::archived) continue;
        count(counted, document, each);
      }
      document.deployments += counted.deployments;
      document.environments.push_back(std::move(counted));
    }
    if (auto trouble = views::clock_trouble(reading_.rows)) document.clock = {trouble->what, trouble->next};
    return document;
  }

 private:
  void count(FleetEnvironment& counted, FleetDocument& document, const DeploymentFound& found) {
    FleetDeployment one = deployment(found);
    ++counted.deployments;
    ++number_of(counted, one.health);
    if (!is_wanted(one)) return;
    const int64_t place = document.found++;
    const int64_t limit = std::clamp<int64_t>(query_.limit, 0, kMostShown);
    if (place >= query_.skip && place < query_.skip + limit) document.shown.push_back(std::move(one));
  }

  static int64_t& number_of(FleetEnvironment& counted, FleetHealth health) {
    using enum FleetHealth;
    switch (health) {
      case healthy:
        return counted.healthy;
      case changing:
        return counted.changing;
      case degraded:
        return counted.degraded;
      case failed:
        return counted.failed;
      case paused:
        return counted.paused;
      case idle:
        break;
    }
    return counted.idle;
  }

  bool is_wanted(const FleetDeployment& one) const {
    if (!query_.environment.empty() && one.environment != query_.environment) return false;
    if (!query_.health.empty() && std::ranges::find(query_.health, one.health) == query_.health.end()) return false;
    auto has = [&](const std::string& where) { return lower(where).find(text_) != std::string::npos; };
    return text_.empty() || has(one.bundle) || has(one.customer) ||
           std::ranges::any_of(one.revisions, has, &FleetRevision::version);
  }

  FleetDeployment deployment(const DeploymentFound& found) const {
    FleetDeployment one{.environment = found.record.environment,
                        .deployment = found.id.text(),
                        .bundle = found.record.bundle,
                        .customer = found.record.customer};
    std::map<std::string, int64_t> weights;
    for (const auto& entry : states_.traffic().entries(deploy::traffic::TrafficId(one.deployment)).values()) {
      weights[entry.revision] = entry.weightBps;
    }
    int64_t well = 0;
    std::string failed_one;
    bool warms = false;
    if (auto live = live_.find(one.deployment); live != live_.end()) {
      for (const RevisionFound& each : live->second) {
        const std::string name = each.record.bundle + "@" + std::to_string(each.record.sequence);
        const int64_t weight = weights[each.id.text()];
        one.revisions.push_back({each.id.text(), name, each.record.version, each.record.lifecycle, weight});
        warms = warms || each.record.lifecycle == RevisionLifecycle::warming;
        if (each.record.lifecycle == RevisionLifecycle::failed) failed_one = name;
        if (weight > 0) look_at_replicas(each.id.text(), one.replicas, well);
      }
    }
    judge(one, found.record.status, well, warms, failed_one);
    return one;
  }

  void look_at_replicas(const std::string& revision, int64_t& replicas, int64_t& well) const {
    for (const auto& instance : states_.runtime().find_by_concept(revision)) {
      for (const auto& replica : states_.runtime().replicas(instance.id).values()) {
        views::ReplicaView each{.replica = replica.name};
        views::look_at(reading_.tools, each);
        ++replicas;
        if (each.healthy) ++well;
      }
    }
  }

  void judge(FleetDeployment& one, DeploymentStatus status, int64_t well, bool warms,
             const std::string& failed_one) const {
    auto is = [&](FleetHealth health, std::string said) {
      one.health = health;
      one.said = std::move(said);
    };
    const bool serves =
        std::ranges::any_of(one.revisions, [](const FleetRevision& each) { return each.weight_asked_bps > 0; });
    if (status == DeploymentStatus::paused) return is(FleetHealth::paused, "takes no traffic");
    if (serves && one.replicas > 0 && well == 0) return is(FleetHealth::failed, "no replica is healthy");
    if (well < one.replicas) {
      return is(FleetHealth::degraded, std::to_string(one.replicas - well) + " of " + std::to_string(one.replicas) +
                                           " replicas fail their health check");
    }
    if (warms || changing_.contains(one.deployment)) return is(FleetHealth::changing, "a change is under way");
    if (serves) return is(FleetHealth::healthy, "");
    if (!failed_one.empty()) return is(FleetHealth::failed, failed_one + " failed");
    is(FleetHealth::idle, "no revision gets traffic");
  }

  const HostReading& reading_;
  const FleetQuery& query_;
  const std::string text_;
  views::States states_;
  std::map<std::string, std::vector<RevisionFound>> live_;  // by deployment, the oldest first
  std::set<std::string> changing_;                          // deployments with a rollout under way
};

Result<FleetDocument> read_fleet(const HostReading& reading, const FleetQuery& query) {
  return Fleet(reading, query).document();
}

}  // namespace

std::vector<HostView> fleet_views() {
  return {lang::make_view("fleet", "How all deployments are, and those that a filter chooses", read_fleet)};
}

}  // namespace sluice::host
