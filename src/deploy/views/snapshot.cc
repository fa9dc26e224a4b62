// A paused deployment keeps its split and its routes, but its requests are answered by the router itself.
#include "deploy/views/snapshot.h"

#include <boost/json.hpp>

#include "deploy/routes.h"

namespace sluice::deploy::views {

json::object router_snapshot(const States& states, const std::string& environment) {
  json::array deployments;
  for (const auto& each : states.deployment().find_by_environment(environment)) {
    const deployment::DeploymentRecord& record = each.record;
    if (record.status == deployment::DeploymentStatus::archived) continue;
    const traffic::TrafficId id(each.id.text());
    auto split = states.traffic().get(id);
    json::array revisions, routes;
    if (record.status == deployment::DeploymentStatus::active) {
      for (const auto& entry : states.traffic().entries(id).values()) {
        auto revision = states.revision().get(revision::RevisionId(entry.revision));
        if (!revision) continue;
        revisions.push_back(json::object{{"revision_id", entry.revision},
                                         {"weight_bps", entry.weightBps},
                                         {"endpoint", revision->endpoint},
                                         {"config_digest", revision->configDigest},
                                         {"drain_seconds", revision->drainSeconds}});
      }
    }
    for (const Route& route :
         routes_of({record.route.hosts, record.route.pathPrefixes, record.route.tenant, record.route.team})) {
      routes.push_back(json::object{
          {"host", route.host}, {"path_prefix", route.prefix}, {"tenant", route.tenant}, {"team", route.team}});
    }
    deployments.push_back(json::object{{"deployment_id", each.id.text()},
                                       {"bundle_id", record.bundle},
                                       {"customer_id", record.customer},
                                       {"generation", split ? split->generation : 0},
                                       {"routes", std::move(routes)},
                                       {"revisions", std::move(revisions)}});
  }
  return {{"schema", "sluice.runtime-config.v1"}, {"env_id", environment}, {"deployments", std::move(deployments)}};
}

}  // namespace sluice::deploy::views
