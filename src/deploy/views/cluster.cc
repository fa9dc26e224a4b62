// Rows of Cluster as people read them.
#include "deploy/views/cluster.h"

#include <boost/describe.hpp>
#include <map>

#include "cluster.gen.h"
#include "deploy/views/states.h"

namespace sluice::deploy::views {
namespace {

template <class Row>
ClusterObject object_of(const Row& row) {
  return {.apiVersion = row.apiVersion, .kind = row.kind, .namespace_ = row.namespace_, .name = row.name};
}

std::string word_of(auto value) { return boost::describe::enum_to_string(value, ""); }

Result<ClusterRequestDocument> read_request(const lang::Reading& reading, const ClusterRequestQuery& query) {
  const States states(reading.rows);
  const auto state = states.cluster();
  const cluster::ClusterId id(query.requestId);
  const auto record = query.requestId.empty() ? std::nullopt : state.get(id);
  if (!record) return Error{.code = Code::not_found, .message = "there is no request " + query.requestId};
  const cluster::ClusterRequest& asked = record->request;
  ClusterRequestDocument document{.requestId = query.requestId,
                                  .action = word_of(record->action),
                                  .environment = record->environment,
                                  .hostId = asked.hostId,
                                  .instanceId = asked.instanceId,
                                  .clusterId = asked.clusterId,
                                  .namespace_ = asked.namespace_,
                                  .repoUrl = asked.repoUrl,
                                  .ref = asked.ref,
                                  .path = asked.path,
                                  .status = word_of(record->status),
                                  .accepted = record->accepted,
                                  .ended = record->endedAt.has_value(),
                                  .deployerId = record->deployerId,
                                  .noop = record->noop,
                                  .manifestHash = record->manifestHash,
                                  .valuesHash = record->valuesHash,
                                  .runtimeValuesHash = record->runtimeValuesHash,
                                  .valuesSnapshotId = asked.valuesSnapshotId,
                                  .runtimeValuesSnapshotId = asked.runtimeValuesSnapshotId,
                                  .templateCommitSha = record->commit,
                                  .snapshotId = record->snapshot,
                                  .why = record->problem.why,
                                  .message = record->problem.message,
                                  .begunAt = record->begunAt};
  if (record->endedAt) document.endedAt = *record->endedAt;
  for (const auto& each : state.resources(id)) {
    ClusterObject object = object_of(each.value);
    object.action = each.value.action;
    object.state = each.value.state;
    object.message = each.value.message;
    document.resources.push_back(std::move(object));
  }
  for (const auto& each : state.events(id)) {
    if (each.number < query.after) continue;
    ClusterEventSeen event{
        .id = each.number + 1, .timestamp = each.value.at, .status = each.value.status, .message = each.value.message};
    if (!each.value.kind.empty()) event.resource = object_of(each.value);
    document.events.push_back(std::move(event));
  }
  return document;
}

Result<std::vector<ClusterInstanceDocument>> read_cluster(const lang::Reading& reading, const ClusterQuery& query) {
  const States states(reading.rows);
  const auto state = states.cluster();
  std::map<std::string, ClusterInstanceDocument> newest;
  for (const auto& each : state.all()) {
    const cluster::ClusterRecord& record = each.record;
    if (!query.environment.empty() && record.environment != query.environment) continue;
    auto there = newest.find(record.instance.text());
    if (there != newest.end() && record.begunAt < there->second.since) continue;
    ClusterInstanceDocument document{.environment = record.environment,
                                     .hostId = record.request.hostId,
                                     .instanceId = record.request.instanceId,
                                     .namespace_ = record.request.namespace_,
                                     .requestId = each.id.text(),
                                     .action = word_of(record.action),
                                     .status = word_of(record.status),
                                     .message = record.problem.message,
                                     .since = record.begunAt};
    for (const auto& row : state.resources(each.id)) {
      ++document.objects;
      if (row.value.state == "ready" || row.value.state == "gone") ++document.done;
    }
    newest[record.instance.text()] = std::move(document);
  }
  std::vector<ClusterInstanceDocument> all;
  for (auto& [name, document] : newest) {
    const cluster::ClusterIId id(name);
    if (auto instance = state.get(id); instance && instance->current) document.snapshotId = instance->current->text();
    for (const auto& each : state.snapshots(id)) document.snapshots.push_back(each.value.snapshot.text());
    all.push_back(std::move(document));
  }
  return all;
}

}  // namespace

std::vector<lang::View> cluster_views() {
  return {lang::make_view("cluster", "Instances in the cluster, each with its newest request", read_cluster),
          lang::make_view("cluster-request", "A request to the cluster, with its objects and events", read_request)};
}

}  // namespace sluice::deploy::views
