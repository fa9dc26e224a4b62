// The pins are read from the state whenever that has changed.
#include "deploy/promotion/pin_watch.h"

#include <chrono>

#include "base/basis_points.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "deploy/executor/cluster_means.h"
#include "deploy/executor/drift.h"
#include "deploy/views/states.h"
#include "deployment.gen.h"
#include "kube/object.h"
#include "pin.gen.h"
#include "render/manifests.h"
#include "render/promote/target.h"
#include "revision.gen.h"
#include "traffic.gen.h"

namespace sluice::deploy {
namespace {

constexpr const char* kInCluster = "cluster";  // in the place of a deployment
constexpr int kNotFound = 404;

std::string listed(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& each : words) all += (all.empty() ? "" : ", ") + each;
  return all.empty() ? "none" : all;
}

// "traffic: shop@2 100% (user:ann)"; empty: the pinned revision has all of it.
std::string drift_of_traffic(const views::States& states, const pin::PinRecord& record) {
  const traffic::TrafficId id(record.deployment);
  const auto entries = states.traffic().entries(id).values();
  if (entries.size() == 1 && entries[0].revision == record.revision) return "";
  std::vector<std::string> shares;
  for (const auto& each : entries) {
    const auto revision = states.revision().get(revision::RevisionId(each.revision));
    shares.push_back((revision ? revision->bundle + "@" + std::to_string(revision->sequence) : each.revision) + " " +
                     print_basis_points(static_cast<int>(each.weightBps)));
  }
  const auto split = states.traffic().get(id);
  return "traffic: " + listed(shares) + (split && !split->updatedBy.empty() ? " (" + split->updatedBy + ")" : "");
}

std::vector<std::string> drift_of_bundle(const views::States& states, const pin::PinRecord& record) {
  const auto target = promote::parse_target(record.running);
  if (!target || !target->bundle) return {};
  const auto is = states.deployment().get(deployment::DeploymentId(record.deployment));
  if (!is) return {"the deployment is gone"};
  std::vector<std::string> drift;
  if (is->status != deployment::DeploymentStatus::active) {
    drift.push_back(std::string("the deployment is ") + boost::describe::enum_to_string(is->status, ""));
  }
  if (auto traffic = drift_of_traffic(states, record); !traffic.empty()) drift.push_back(std::move(traffic));
  const promote::BundleSpec& says = *target->bundle;
  if (says.replicas && is->replicas && *is->replicas != *says.replicas && !is->scaling.value_or(false)) {
    drift.push_back("replicas: " + std::to_string(*is->replicas));
  }
  if (says.routes && is->route.hosts != says.routes->hosts) drift.push_back("hosts: " + listed(is->route.hosts));
  if (says.routes && is->route.pathPrefixes != says.routes->pathPrefixes) {
    drift.push_back("paths: " + listed(is->route.pathPrefixes));
  }
  return drift;
}

}  // namespace

LiveObject live_in(executor::ClusterMeans& means) {
  return [&means](const json::value& object, const std::string& name_space) -> Result<json::value> {
    if (means.is_noop()) return Error{.code = Code::unavailable, .message = "there is no cluster"};
    auto client = means.client();
    if (!client) return client.error();
    kube::ObjectRef ref = kube::ref_of(object);
    auto kind = (*client)->kind_of(ref.api_version, ref.kind);
    if (!kind) return kind.error();
    ref.name_space = kind->namespaced ? name_space : "";
    auto reply = (*client)->get(ref);
    if (!reply) return reply.error();
    if (reply->failure && reply->failure->status == kNotFound) return json::value();
    if (reply->failure) return reply->failure->error("read " + ref.kind + " " + ref.name);
    return std::move(reply->body);
  };
}

PinWatch::~PinWatch() {
  if (looking_.valid()) looking_.wait();
}

void PinWatch::compare(const lang::Snapshot& snapshot, const Tell&) {
  const views::States states(snapshot);
  pins_.clear();
  for (const auto& each : states.pin().all()) {
    const pin::PinRecord& record = each.record;
    if (!record.ready || record.reconciling) continue;
    Watched watched{.environment = record.environment, .generation = record.generation};
    if (record.deployment == kInCluster) {
      watched.objects = record.running;
    } else {
      watched.found = drift_of_bundle(states, record);
    }
    for (const auto& noted : states.pin().drift(each.id)) watched.drift.push_back(noted.value);
    pins_.emplace(each.id.text(), std::move(watched));
  }
}

PinWatch::Drifts PinWatch::drifts_of(const Pins& pins) const {
  Drifts drifts;
  for (const auto& [pin, watched] : pins) {
    if (watched.objects.empty()) drifts.emplace(pin, watched.found);
    const auto objects = parse_json_value(watched.objects);
    if (!objects || !objects->is_array()) continue;
    std::vector<std::string> drift;
    bool asked = true;
    for (const json::value& each : objects->as_array()) {
      const auto live = live_(each, watched.environment);
      asked = asked && live;
      if (!live) break;
      const std::string name = kube::text_at(each, {"kind"}) + "/" + kube::text_at(each, {"metadata", "name"});
      if (live->is_null()) drift.push_back(name + " is gone");
      if (live->is_null()) continue;
      for (const auto& field : executor::drift_of(each, *live, rendering::kManager)) {
        drift.push_back(name + " " + field.field + " (" + field.manager + ")");
      }
    }
    if (asked) drifts.emplace(pin, std::move(drift));
  }
  return drifts;
}

void PinWatch::look(const Tell& tell) {
  if (looking_.valid()) {
    if (looking_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    for (const auto& [pin, drift] : looking_.get()) {
      const auto now = pins_.find(pin);
      // What has moved since is looked at the next time.
      if (now == pins_.end() || now->second.generation != asked_[pin].generation) continue;
      if (now->second.drift != drift) tell("Pin/drifted", {{"pin", pin}, {"drift", to_json(drift)}});
    }
  }
  if (pins_.empty() || clock_.monotonic_ns() - looked_ns_ < kEvery_ns) return;
  looked_ns_ = clock_.monotonic_ns();
  asked_ = pins_;
  looking_ = std::async(std::launch::async, [this] { return drifts_of(asked_); });
}

}  // namespace sluice::deploy
