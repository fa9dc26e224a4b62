// A paused deployment keeps its split and its routes; the router answers its requests itself. Revisions that are ready
// are in the table also without weight, for debug tokens; those that drain, so that the router knows them as such.
#include "deploy/views/snapshot.h"

#include <algorithm>
#include <map>

#include "config.gen.h"
#include "deploy/packs.h"
#include "deployment.gen.h"
#include "env.gen.h"
#include "revision.gen.h"
#include "rollout.gen.h"
#include "router/pins/redis_url.h"
#include "runtime.gen.h"
#include "traffic.gen.h"

namespace sluice::deploy::views {
namespace {

namespace data_plane = ::sluice::router;

constexpr size_t kMostRevisions = 64;  // of a deployment in a table
constexpr std::string_view kHttp = "http://";
constexpr std::string_view kNobody = "default";

data_plane::RevisionDocument revision_of(const States& states, const revision::RevisionFound& found,
                                         int64_t weight_bps) {
  data_plane::RevisionDocument document{.id = found.id.text(),
                                        .weight_bps = weight_bps,
                                        .drain_seconds = std::max<int64_t>(found.record.drainSeconds, 0)};
  if (found.record.lifecycle == revision::RevisionLifecycle::draining && weight_bps == 0) {
    document.state = data_plane::RevisionState::draining;
  }
  if (found.record.serving && found.record.serving->transport == "http2") {
    document.transport = data_plane::Transport::http2;
  }
  for (std::string& address : replica_addresses(states, found.id.text())) {
    document.replicas.push_back({std::move(address)});
  }
  return document;
}

std::vector<data_plane::RevisionDocument> revisions_of(const States& states, const std::string& deployment) {
  std::map<std::string, int64_t> weights;
  for (const auto& entry : states.traffic().entries(traffic::TrafficId(deployment)).values()) {
    weights[entry.revision] = entry.weightBps;
  }
  std::vector<revision::RevisionFound> found = states.revision().find_by_deployment(deployment);
  std::erase_if(found, [&](const revision::RevisionFound& each) {
    using enum revision::RevisionLifecycle;
    auto weight = weights.find(each.id.text());
    return each.record.lifecycle != ready && each.record.lifecycle != draining &&
           (weight == weights.end() || weight->second == 0);
  });
  // The newest first. Beyond what a table takes, those without weight go, the oldest first.
  std::ranges::sort(found, [](const auto& a, const auto& b) { return a.record.sequence > b.record.sequence; });
  for (size_t i = found.size(); found.size() > kMostRevisions && i-- > 0;) {
    if (weights[found[i].id.text()] == 0) found.erase(found.begin() + static_cast<std::ptrdiff_t>(i));
  }
  std::vector<data_plane::RevisionDocument> documents;
  for (const revision::RevisionFound& each : found) {
    documents.push_back(revision_of(states, each, weights[each.id.text()]));
  }
  return documents;
}

// What the bundle says of requests, for the deployment as a whole: that of the newest revision that gets any, or else
// of the newest that could. The page, which nobody sees while it serves, is that of the newest that could.
void add_words_of_bundle(const States& states, data_plane::DeploymentDocument& document) {
  const auto& all = document.revisions;  // the newest first
  auto has_weight = [](const data_plane::RevisionDocument& each) { return each.weight_bps > 0; };
  auto may_serve = [](const data_plane::RevisionDocument& each) {
    return each.state == data_plane::RevisionState::ready;
  };
  auto newest_able = std::ranges::find_if(all, may_serve);
  auto newest_used = std::ranges::find_if(all, has_weight);
  if (newest_used == all.end()) newest_used = newest_able;
  auto serving_of = [&](auto revision) {
    auto record = revision == all.end() ? std::nullopt : states.revision().get(revision::RevisionId(revision->id));
    return record ? record->serving : std::nullopt;
  };
  if (auto said = serving_of(newest_used)) {
    boost::describe::enum_from_string(said->stickiness.mode.c_str(), document.stickiness.mode);
    document.stickiness.key_header = said->stickiness.keyHeader;
    document.stickiness.key_cookie = said->stickiness.keyCookie;
    document.stickiness.ttl_s = said->stickiness.ttlSeconds;
    document.timeouts = {said->timeouts.connectMs, said->timeouts.firstByteMs, said->timeouts.idleMs,
                         said->timeouts.streamIdleMs};
    document.routes.strip_prefixes = said->stripPrefixes;
  }
  if (auto said = serving_of(newest_able)) {
    document.retry_after_s = said->retryAfterSeconds;
    for (auto& page : states.revision().paused_pages(revision::RevisionId(newest_able->id)).values()) {
      document.paused_page = std::move(page.text);
      document.paused_type = std::move(page.type);
    }
  }
}

}  // namespace

std::string address_of_endpoint(const std::string& endpoint) {
  if (endpoint.starts_with("unix:/")) return endpoint;
  if (!endpoint.starts_with(kHttp)) return "";
  std::string place = endpoint.substr(kHttp.size());
  place.resize(std::min(place.find('/'), place.size()));
  return place.empty() ? "" : "tcp:" + place;
}

std::vector<std::string> replica_addresses(const States& states, const std::string& revision) {
  std::vector<std::string> addresses;
  for (const auto& instance : states.runtime().find_by_concept(revision)) {
    for (const auto& replica : states.runtime().replicas(instance.id).values()) {
      addresses.push_back(address_of_endpoint(replica.endpoint));
    }
  }
  // What is too many is stopped when nobody uses it any more.
  auto of = states.revision().get(revision::RevisionId(revision));
  auto deployment = of ? states.deployment().get(deployment::DeploymentId(of->deployment)) : std::nullopt;
  if (deployment && deployment->replicas && addresses.size() > static_cast<size_t>(*deployment->replicas)) {
    addresses.resize(static_cast<size_t>(*deployment->replicas));
  }
  for (const auto& each :
       of ? states.rollout().find_by_deployment(of->deployment) : std::vector<rollout::RolloutFound>{}) {
    const auto& cap = each.record.concept_ == revision   ? each.record.newCap
                      : each.record.baseline == revision ? each.record.oldCap
                                                         : std::optional<int64_t>{};
    if (cap && addresses.size() > static_cast<size_t>(*cap)) addresses.resize(static_cast<size_t>(*cap));
  }
  if (addresses.empty()) {
    auto record = states.revision().get(revision::RevisionId(revision));
    if (record) addresses.push_back(address_of_endpoint(record->endpoint));
  }
  std::erase(addresses, "");
  return addresses;
}

PinsPlace pins_place(const States& states, const std::string& environment) {
  bool wanted = false;
  for (const auto& pack : states.env().packs(env::EnvId(environment)).values()) {
    auto descriptor = pack.slot == "sessions" ? parse_descriptor(pack.kind) : Result<PackDescriptor>(Error{});
    wanted = wanted || (descriptor && descriptor->path == kRedisSessions);
  }
  if (!wanted) return {};
  for (const auto& each : states.config().values(config::ConfigId(environment)).values()) {
    if (each.key != "redis_url") continue;
    auto place = data_plane::parse_redis_url(each.value);
    if (place) return {.url = each.value};
    return {.trouble = "redis_url cannot be used: " + place.error().message};
  }
  return {.trouble = "no redis_url says where it is"};
}

data_plane::TableDocument router_table(const States& states, const std::string& environment) {
  data_plane::TableDocument table{.environment = environment};
  if (std::string url = pins_place(states, environment).url; !url.empty()) {
    table.pins = data_plane::PinsDocument{.redis = std::move(url)};
  }
  std::string pack_kind;
  for (const auto& pack : states.env().packs(env::EnvId(environment)).values()) {
    if (pack.slot == "deployer") pack_kind = pack.kind;
  }
  for (const auto& each : states.deployment().find_by_environment(environment)) {
    const deployment::DeploymentRecord& record = each.record;
    if (record.status == deployment::DeploymentStatus::archived) continue;
    auto split = states.traffic().get(traffic::TrafficId(each.id.text()));
    data_plane::DeploymentDocument document{.id = each.id.text(),
                                            .bundle = record.bundle,
                                            .customer = record.customer,
                                            .tenant = record.route.tenant,
                                            .team = record.route.team,
                                            .pack_kind = pack_kind,
                                            .generation = split ? split->generation : 0};
    if (document.tenant.empty()) document.tenant = kNobody;
    if (document.team.empty()) document.team = kNobody;
    if (record.status == deployment::DeploymentStatus::paused) document.status = data_plane::DeploymentStatus::paused;
    document.routes = {.hosts = record.route.hosts,
                       .path_prefixes = record.route.pathPrefixes,
                       .tenant = record.route.tenant,
                       .team = record.route.team};
    // On one's own machine there is no TLS, and a cookie for it alone would never come back.
    document.stickiness.secure = environment != "local";
    document.revisions = revisions_of(states, each.id.text());
    add_words_of_bundle(states, document);
    table.deployments.push_back(std::move(document));
  }
  return table;
}

}  // namespace sluice::deploy::views
