// Weights that were asked for come from the split, those that are obeyed from the routers.
#include "host/status_view.h"

#include <algorithm>
#include <boost/json.hpp>
#include <map>

#include "base/json_reader.h"
#include "deploy/views/clock.h"
#include "deploy/views/documents.h"
#include "deploy/views/instances.h"
#include "deployment.gen.h"
#include "env.gen.h"
#include "host/flows/flow_views.h"
#include "host/link/joined_routers.h"
#include "router.gen.h"
#include "router/control_client.h"
#include "runtime.gen.h"
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
  Looking(const HostReading& reading, const StatusQuery& query)
      : reading_(reading), query_(query), states_(reading.rows) {
    if (reading.beside == nullptr) return;
    routers_ = running_routers(reading.beside->disk, reading.beside->home);
    if (auto joined = JoinedRouters(reading.beside->disk, reading.beside->home).list()) joined_ = *std::move(joined);
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
      if (!query_.environment.empty() && each.id.text() != query_.environment) continue;
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
      if (!query_.deployment.empty() && each.id.text() != query_.deployment) continue;
      if (each.record.status == deploy::deployment::DeploymentStatus::archived) continue;
      shown.deployments.push_back(deployment(each));
    }
    shown.routers = routers_of(states_, routers_, id);
    for (StatusRouter& each : shown.routers) {
      auto joined = std::ranges::find(joined_, each.name, &JoinedRouter::name);
      if (joined == joined_.end()) continue;
      each.machine = joined->machine;
      each.certificate_s = (joined->until_ms - reading_.beside->clock.wall_ms()) / 1'000;
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
    for (const auto& instance : states_.runtime().find_by_concept(shown.revision)) {
      for (const auto& replica : states_.runtime().replicas(instance.id).values()) {
        views::ReplicaView each{.replica = replica.name, .endpoint = replica.endpoint};
        views::look_at(reading_.tools, each);
        shown.replicas.push_back({each.replica, each.endpoint, each.pid, each.healthy, each.restarts});
      }
    }
    return shown;
  }

  const HostReading& reading_;
  const StatusQuery& query_;
  views::States states_;
  std::vector<RunningRouter> routers_;
  std::vector<JoinedRouter> joined_;  // those on other machines
  ObeyedByRevision obeyed_;
};

Result<StatusDocument> read_status(const HostReading& reading, const StatusQuery& query) {
  return Looking(reading, query).document();
}

}  // namespace

std::vector<StatusRouter> routers_of(const views::States& states, const std::vector<RunningRouter>& running,
                                     const std::string& environment) {
  std::vector<StatusRouter> shown;
  for (const auto& member : states.router().members(deploy::router::RouterId(environment)).values()) {
    StatusRouter one{.name = member.name, .generation = member.acknowledged};
    auto runs = std::ranges::find(running, member.router, &RunningRouter::router);
    if (runs != running.end()) {
      one.running = true;
      if (runs->machine.empty()) one.pid = runs->pid;
      one.listen = runs->listen;
    }
    shown.push_back(std::move(one));
  }
  return shown;
}

std::vector<HostView> status_views() {
  return {lang::make_view("status", "What runs: environments, deployments, revisions and replicas", read_status)};
}

}  // namespace sluice::host
