// Weights that were asked for come from the split, those that are obeyed from the routers.
#include "host/status_view.h"

#include <algorithm>
#include <boost/json.hpp>
#include <map>

#include "base/json_reader.h"
#include "deploy/views/clock.h"
#include "deploy/views/documents.h"
#include "deployment.gen.h"
#include "env.gen.h"
#include "host/background.h"
#include "host/flows/flow_views.h"
#include "router.gen.h"
#include "router/control_client.h"
#include "traffic.gen.h"

namespace sluice::host {
namespace {

namespace views = deploy::views;

constexpr int64_t kRouterAnswers_ms = 1'000;

// What the routers say of a revision, together.
struct Obeyed {
  int64_t weight_bps = 0;
  int64_t requests = 0;
  int64_t in_flight = 0;
  int64_t websockets = 0;
};
using ObeyedByRevision = std::map<std::string, Obeyed, std::less<>>;

void add_stats(ObeyedByRevision& obeyed, const json::object& stats) {
  const json::value* deployments = stats.if_contains("deployments");
  if (deployments == nullptr || !deployments->is_array()) return;
  for (const json::value& deployment : deployments->get_array()) {
    for (const json::value& each : deployment.at("revisions").as_array()) {
      auto number = [&](std::string_view name) { return each.at(name).to_number<int64_t>(); };
      Obeyed& one = obeyed[std::string(each.at("id").as_string())];
      one.weight_bps = number("weight_bps");
      one.requests += number("requests");
      one.in_flight += number("in_flight");
      one.websockets += number("websockets");
    }
  }
}

// One moment of a home, and what its routers say now.
class Looking {
 public:
  explicit Looking(const HostReading& reading) : reading_(reading), states_(reading.rows), running_(states_) {
    if (reading.beside == nullptr) return;
    routers_ = running_routers(reading.beside->disk, reading.beside->home);
    for (const RunningRouter& each : routers_) {
      auto client = ::sluice::router::ControlClient::connect(each.control, kRouterAnswers_ms);
      if (!client) continue;
      if (auto stats = client->ask({{"op", "stats"}})) add_stats(obeyed_, *stats);
    }
  }

  StatusDocument document() const {
    StatusDocument document;
    std::vector<StatusEnvironment> all;
    for (const auto& each : states_.env().all()) {
      StatusEnvironment one = environment(each.id.text());
      const bool any_runs = std::ranges::any_of(one.routers, &StatusRouter::running);
      if (!one.deployments.empty() || any_runs) all.push_back(std::move(one));
    }
    if (!all.empty()) document.environments = std::move(all);
    if (auto trouble = views::clock_trouble(reading_.rows)) document.clock = {trouble->what, trouble->next};
    return document;
  }

 private:
  StatusEnvironment environment(const std::string& id) const {
    StatusEnvironment shown{.environment = id};
    for (const auto& each : states_.deployment().find_by_environment(id)) {
      if (each.record.status == deploy::deployment::DeploymentStatus::archived) continue;
      shown.deployments.push_back(deployment(each));
    }
    for (const auto& member : states_.router().members(deploy::router::RouterId(id)).values()) {
      StatusRouter one{.name = member.name, .generation = member.acknowledged};
      auto runs = std::ranges::find(routers_, member.router, &RunningRouter::router);
      if (runs != routers_.end()) {
        one.running = true;
        one.pid = runs->pid;
        one.listen = runs->listen;
      }
      shown.routers.push_back(std::move(one));
    }
    return shown;
  }

  StatusDeployment deployment(const deploy::deployment::DeploymentFound& found) const {
    const bool paused = found.record.status == deploy::deployment::DeploymentStatus::paused;
    StatusDeployment shown{.deployment = found.id.text(),
                           .bundle = found.record.bundle,
                           .customer = found.record.customer,
                           .status = paused ? "paused" : "active"};
    std::map<std::string, int64_t> weights;
    for (const auto& entry : states_.traffic().entries(deploy::traffic::TrafficId(found.id.text())).values()) {
      weights[entry.revision] = entry.weightBps;
    }
    for (const auto& each : views::live_revisions_of(states_, found.id.text())) {
      shown.revisions.push_back(revision(each, weights[each.id.text()]));
    }
    return shown;
  }

  StatusRevision revision(const deploy::revision::RevisionFound& found, int64_t asked_bps) const {
    StatusRevision shown{.revision = found.id.text(),
                         .name = found.record.bundle + "@" + std::to_string(found.record.sequence),
                         .version = found.record.version,
                         .lifecycle = found.record.lifecycle,
                         .weight_asked_bps = asked_bps};
    if (auto known = obeyed_.find(found.id.text()); known != obeyed_.end()) {
      shown.weight_obeyed_bps = known->second.weight_bps;
      shown.requests = known->second.requests;
      shown.in_flight = known->second.in_flight;
      shown.websockets = known->second.websockets;
    }
    for (const views::InstanceView& instance : running_.all()) {
      if (instance.component != shown.revision) continue;
      for (views::ReplicaView each : instance.replicas) {
        views::look_at(reading_.tools, each);
        shown.replicas.push_back({each.replica, each.endpoint, each.pid, each.healthy, each.restarts});
      }
    }
    return shown;
  }

  const HostReading& reading_;
  views::States states_;
  views::Running running_;
  std::vector<RunningRouter> routers_;
  ObeyedByRevision obeyed_;
};

Result<StatusDocument> read_status(const HostReading& reading, const NothingAsked&) {
  return Looking(reading).document();
}

}  // namespace

std::vector<HostView> status_views() {
  return {lang::make_view("status", "What runs: environments, deployments, revisions and replicas", read_status)};
}

}  // namespace sluice::host
