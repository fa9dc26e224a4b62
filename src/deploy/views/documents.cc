// Field names are those of the documents; the concepts have their own.
#include "deploy/views/documents.h"

#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/json_writer.h"
#include "config.gen.h"
#include "deploy/bundle_shelf.h"
#include "deploy/concepts/revision/lifecycle.h"
#include "traffic.gen.h"

namespace sluice::deploy::views {
namespace {

using revision::RevisionFound;
using revision::RevisionLifecycle;

OrNull<std::string> text_or_null(const std::string& text) {
  if (text.empty()) return {};
  return text;
}
OrNull<std::string> text_or_null(const std::optional<std::string>& text) { return text_or_null(text.value_or("")); }
OrNull<Time> time_or_null(const std::optional<Time>& time) {
  if (!time) return {};
  return *time;
}

// The record of the journal by which somebody was allowed to do it: `sluice audit list --flow …`.
OrNull<std::string> audit_ref(const std::string& request) {
  return text_or_null(request.empty() ? "" : "audit:" + request);
}

std::vector<EntryDocument> entries_of(const std::vector<traffic::TrafficEntry>& entries) {
  std::vector<EntryDocument> all;
  for (const traffic::TrafficEntry& each : entries) all.push_back({each.revision, each.weightBps});
  return all;
}

std::vector<PackDocument> packs_of(const States& states, const env::EnvId& id) {
  std::vector<PackDocument> packs;
  for (const env::EnvPack& each : states.env().packs(id).values()) {
    PackDocument pack{.slot = each.slot,
                      .kind = each.kind,
                      .pack_ref = each.packRef,
                      .answers_ref = text_or_null(each.answersRef),
                      .generation = each.generation,
                      .bound_at = each.boundAt};
    for (const env::EnvPastPack& past : states.env().past_packs(id).values()) {
      if (past.slot != each.slot) continue;
      pack.previous_binding_ref = past.kind + " generation " + std::to_string(past.generation);
    }
    packs.push_back(std::move(pack));
  }
  std::ranges::sort(packs, {}, &PackDocument::slot);
  return packs;
}

std::map<std::string, std::string> host_config_of(const States& states, const std::string& environment) {
  std::map<std::string, std::string> host{{"env_id", environment}};
  for (const auto& each : states.config().values(config::ConfigId(environment)).values()) host[each.key] = each.value;
  return host;
}

std::string file_uri(const std::string& path) { return "file://" + path; }

// The split to which a rollback leads: `sluice traffic history` has it under its generation.
OrNull<std::string> split_ref_before(const States& states, const traffic::TrafficId& id) {
  auto past = states.traffic().past(id).values();
  if (past.empty()) return {};
  return "traffic-splits/" + id.text() + "/" + std::to_string(past.back().generation);
}

std::vector<RevisionFound> live_of(std::vector<RevisionFound> all) {
  std::erase_if(all, [](const RevisionFound& each) { return each.record.lifecycle == RevisionLifecycle::archived; });
  std::ranges::sort(all, {},
                    [](const RevisionFound& each) { return std::pair(each.record.deployment, each.record.sequence); });
  return all;
}

}  // namespace

std::vector<RevisionFound> live_revisions_of(const States& states, const std::string& deployment) {
  return live_of(states.revision().find_by_deployment(deployment));
}

// By the states in which they can be, so that thousands that are archived cost nothing.
std::vector<RevisionFound> live_revisions_in(const States& states, const std::string& environment) {
  std::vector<RevisionFound> all;
  using enum RevisionLifecycle;
  for (RevisionLifecycle each : {inactive, staged, warming, ready, draining, failed}) {
    for (RevisionFound& found : states.revision().find_by_lifecycle(each)) {
      if (found.record.environment == environment) all.push_back(std::move(found));
    }
  }
  return live_of(std::move(all));
}

EnvironmentDocument environment_document(const States& states, const env::EnvFound& found) {
  const env::EnvRecord& record = found.record;
  const std::string& id = found.id.text();
  EnvironmentDocument document{
      .environment_id = id,
      .name = record.name,
      .extends = text_or_null(record.extends ? record.extends->text() : ""),
      .generation = record.generation,
      .created_at = record.createdAt,
      .host_config = host_config_of(states, id),
      .packs = packs_of(states, found.id),
      .credentials_ref = text_or_null(record.credentialsRef),
      .revocation = {.required = record.revocation.required, .list_ref = text_or_null(record.revocation.listRef)},
      .retention = {.archived_max_age_days = record.retention.archivedMaxAgeDays,
                    .staged_max_count = record.retention.stagedMaxCount},
      .health = {.last_doctor_status = record.health.lastDoctorStatus,
                 .message = text_or_null(record.health.message),
                 .last_checked_at = time_or_null(record.health.checkedAt)}};
  for (const auto& each : states.deployment().find_by_environment(id)) {
    document.bundles.push_back(deployment_document(states, each));
    if (auto split = split_document(states, each)) document.traffic_splits.push_back(*std::move(split));
  }
  for (const RevisionFound& each : live_revisions_in(states, id)) document.revisions.push_back(revision_document(each));
  return document;
}

DeploymentDocument deployment_document(const States& states, const deployment::DeploymentFound& found) {
  const deployment::DeploymentRecord& record = found.record;
  DeploymentDocument document{
      .deployment_id = found.id.text(),
      .env_id = record.environment,
      .bundle_id = record.bundle,
      .customer_id = record.customer,
      .status = record.status,
      .generation = record.generation,
      .created_at = record.createdAt,
      .route_binding = {.hosts = record.route.hosts,
                        .path_prefixes = record.route.pathPrefixes,
                        .tenant_selector = {.tenant = text_or_null(record.route.tenant),
                                            .team = text_or_null(record.route.team)}},
      .revenue_policy_ref = record.bundle + "/" + record.customer + "/v" + std::to_string(record.policyVersion),
      .usage = {.meter_endpoint = text_or_null(record.usage.meterEndpoint)},
      .authorization_ref = audit_ref(record.authorization),
      .config_overrides = json::object()};
  for (const auto& each : record.revenueShare.parties) {
    document.revenue_share.push_back({.party_id = each.partyId, .basis_points = each.basisPoints});
  }
  for (const auto& each : states.traffic().entries(traffic::TrafficId(found.id.text())).values()) {
    document.current_revisions.push_back(each.revision);
  }
  if (!record.configOverrides.empty()) {
    if (auto overrides = parse_json(record.configOverrides)) document.config_overrides = overrides->root;
  }
  return document;
}

RevisionDocument revision_document(const RevisionFound& found) {
  const revision::RevisionRecord& record = found.record;
  RevisionDocument document{.revision_id = found.id.text(),
                            .env_id = record.environment,
                            .bundle_id = record.bundle,
                            .deployment_id = record.deployment,
                            .sequence = record.sequence,
                            .generation = record.generation,
                            .created_at = record.createdAt,
                            .bundle_digest = text_or_null(record.bundleDigest),
                            .bundle_source_uri = file_uri(record.source),
                            .config_digest = text_or_null(record.configDigest),
                            .signature = text_or_null(record.signature),
                            .lifecycle = record.lifecycle,
                            .staged_at = time_or_null(record.stagedAt),
                            .warmed_at = time_or_null(record.warmedAt),
                            .archived_at = time_or_null(record.archivedAt),
                            .drain_seconds = std::max<int64_t>(record.drainSeconds, 0),
                            .endpoint = text_or_null(record.endpoint)};
  if (!record.bundleDigest.empty()) {
    document.pack_list.push_back({.pack_id = record.bundle,
                                  .version = record.version,
                                  .digest = record.treeDigest,
                                  .source_uri = file_uri(record.source)});
    document.pack_config_refs.push_back(record.configDigest);
  }
  if (!record.artifact.empty()) {
    document.pack_list_lock_ref = file_uri(lock_beside(record.artifact));
    if (!record.sidecar.empty()) document.signature_sidecar_ref = file_uri(sidecar_beside(record.artifact));
  }
  if (record.lifecycle == RevisionLifecycle::failed) {
    document.failure = FailureDocument{.check = record.failure.check, .message = record.failure.message};
  }
  return document;
}

OrNull<SplitDocument> split_document(const States& states, const deployment::DeploymentFound& found) {
  const traffic::TrafficId id(found.id.text());
  auto record = states.traffic().get(id);
  auto entries = states.traffic().entries(id).values();
  if (!record || entries.empty()) return {};
  return SplitDocument{.env_id = found.record.environment,
                       .deployment_id = found.id.text(),
                       .bundle_id = found.record.bundle,
                       .generation = record->generation,
                       .entries = entries_of(entries),
                       .updated_at = record->updatedAt,
                       .updated_by = text_or_null(record->updatedBy),
                       .idempotency_key = text_or_null(record->idempotencyKey),
                       .authorization_ref = audit_ref(record->authorization),
                       .previous_split_ref = split_ref_before(states, id)};
}

// One that an earlier version wrote has no log before its next change: then what leads back is all that is known.
std::vector<PastSplitDocument> split_history(const States& states, const std::string& deployment) {
  const traffic::TrafficId id(deployment);
  std::set<int64_t> ahead;
  for (const auto& each : states.traffic().future(id).values()) ahead.insert(each.generation);
  const auto record = states.traffic().get(id);
  std::vector<PastSplitDocument> history;
  auto add = [&](PastSplitDocument split) {
    const bool current = record && record->generation == split.generation;
    split.place = current                            ? SplitPlace::current
                  : ahead.contains(split.generation) ? SplitPlace::ahead
                                                     : SplitPlace::past;
    history.push_back(std::move(split));
  };
  for (const auto& each : states.traffic().log(id).values()) {
    add({.generation = each.generation,
         .entries = entries_of(each.entries),
         .updated_at = each.at,
         .updated_by = text_or_null(each.by),
         .why = each.why,
         .authorization_ref = audit_ref(each.authorization)});
  }
  if (history.empty()) {
    for (const auto& each : states.traffic().past(id).values()) {
      add({.generation = each.generation,
           .entries = entries_of(each.entries),
           .updated_at = each.updatedAt,
           .updated_by = text_or_null(each.updatedBy),
           .authorization_ref = audit_ref(each.authorization)});
    }
    if (record) {
      add({.generation = record->generation,
           .entries = entries_of(states.traffic().entries(id).values()),
           .updated_at = record->updatedAt,
           .updated_by = text_or_null(record->updatedBy),
           .authorization_ref = audit_ref(record->authorization)});
    }
  }
  std::ranges::reverse(history);
  return history;
}

ConfigDocument config_document(const States& states, const std::string& environment) {
  const config::ConfigId id(environment);
  auto record = states.config().get(id).value_or(config::ConfigRecord{});
  ConfigDocument document{.host_config = host_config_of(states, environment),
                          .generation = record.generation,
                          .runtime = {.environment_id = environment, .generation = record.discoveredGeneration}};
  for (const auto& each : states.config().answers(id).values()) {
    auto value = parse_json(each.value);
    document.answers.push_back({.bundle = each.bundle,
                                .name = each.name,
                                .value = value ? value->root : json::value(each.value),
                                .answered_at = each.at});
  }
  for (const auto& each : states.config().discovered(id).values()) {
    document.runtime.discovered[each.key] = each.value;
    document.runtime.produced.push_back(
        {.key = each.key, .generated_by = each.producer, .generation = each.generation, .generated_at = each.at});
  }
  return document;
}

}  // namespace sluice::deploy::views
