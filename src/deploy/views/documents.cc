// Field names are those of the documents; the concepts have their own.
#include "deploy/views/documents.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/clock.h"
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

json::value text_or_null(const std::string& text) { return text.empty() ? json::value() : json::value(text); }
json::value text_or_null(const std::optional<std::string>& text) { return text ? json::value(*text) : json::value(); }
json::value time_of(lang::DateTime time) { return json::value(utc_text(time.ms)); }
json::value time_or_null(const std::optional<lang::DateTime>& time) { return time ? time_of(*time) : json::value(); }

// The record of the journal by which somebody was allowed to do it: `sluice audit list --flow …`.
json::value audit_ref(const std::string& request) {
  return request.empty() ? json::value() : json::value("audit:" + request);
}

json::array texts(const std::vector<std::string>& all) {
  json::array array;
  for (const std::string& each : all) array.emplace_back(each);
  return array;
}

json::array entries_of(const std::vector<traffic::TrafficEntry>& entries) {
  json::array array;
  for (const traffic::TrafficEntry& each : entries) {
    array.push_back(json::object{{"revision_id", each.revision}, {"weight_bps", each.weightBps}});
  }
  return array;
}

template <class Step>
json::object step_of(const Step& step, std::string_view place) {
  return {{"generation", step.generation},
          {"place", place},
          {"entries", entries_of(step.entries)},
          {"updated_at", time_of(step.updatedAt)},
          {"updated_by", text_or_null(step.updatedBy)},
          {"authorization_ref", audit_ref(step.authorization)}};
}

json::array packs_of(const States& states, const env::EnvId& id) {
  json::array packs;
  for (const env::EnvPack& each : states.env().packs(id).values()) {
    json::value before;
    for (const env::EnvPastPack& past : states.env().past_packs(id).values()) {
      if (past.slot == each.slot) before = past.kind + " generation " + std::to_string(past.generation);
    }
    packs.push_back(json::object{{"slot", each.slot},
                                 {"kind", each.kind},
                                 {"pack_ref", each.packRef},
                                 {"answers_ref", text_or_null(each.answersRef)},
                                 {"generation", each.generation},
                                 {"bound_at", time_of(each.boundAt)},
                                 {"previous_binding_ref", before}});
  }
  std::ranges::sort(packs, {}, [](const json::value& each) { return std::string(each.at("slot").as_string()); });
  return packs;
}

json::object host_config_of(const States& states, const std::string& environment) {
  json::object host{{"env_id", environment}};
  for (const auto& each : states.config().values(config::ConfigId(environment)).values()) host[each.key] = each.value;
  return host;
}

json::value file_uri(const std::string& path) { return json::value("file://" + path); }

// The split to which a rollback leads: `sluice traffic history` has it under its generation.
json::value split_ref_before(const States& states, const traffic::TrafficId& id) {
  auto past = states.traffic().past(id).values();
  if (past.empty()) return nullptr;
  return json::value("traffic-splits/" + id.text() + "/" + std::to_string(past.back().generation));
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

json::object environment_document(const States& states, const env::EnvFound& found) {
  const env::EnvRecord& record = found.record;
  const std::string& id = found.id.text();
  json::array bundles, revisions, splits;
  auto deployments = states.deployment().find_by_environment(id);
  for (const auto& each : deployments) {
    bundles.push_back(deployment_document(states, each));
    if (json::value split = split_document(states, each); !split.is_null()) splits.push_back(std::move(split));
  }
  for (const RevisionFound& each : live_revisions_in(states, id)) revisions.push_back(revision_document(each));
  return {{"schema", "sluice.environment.v1"},
          {"environment_id", id},
          {"name", record.name},
          {"extends", record.extends ? json::value(record.extends->text()) : json::value()},
          {"generation", record.generation},
          {"created_at", time_of(record.createdAt)},
          {"host_config", host_config_of(states, id)},
          {"packs", packs_of(states, found.id)},
          {"credentials_ref", text_or_null(record.credentialsRef)},
          {"bundles", std::move(bundles)},
          {"revisions", std::move(revisions)},
          {"traffic_splits", std::move(splits)},
          {"revocation", json::object{{"required", record.revocation.required},
                                      {"list_ref", text_or_null(record.revocation.listRef)}}},
          {"retention", json::object{{"archived_max_age_days", record.retention.archivedMaxAgeDays},
                                     {"staged_max_count", record.retention.stagedMaxCount}}},
          {"health", json::object{{"last_doctor_status", to_json(record.health.lastDoctorStatus)},
                                  {"message", text_or_null(record.health.message)},
                                  {"last_checked_at", time_or_null(record.health.checkedAt)}}}};
}

json::object deployment_document(const States& states, const deployment::DeploymentFound& found) {
  const deployment::DeploymentRecord& record = found.record;
  json::array shares, current;
  for (const auto& each : record.revenueShare.parties) {
    shares.push_back(json::object{{"party_id", each.partyId}, {"basis_points", each.basisPoints}});
  }
  for (const auto& each : states.traffic().entries(traffic::TrafficId(found.id.text())).values()) {
    current.emplace_back(each.revision);
  }
  json::value overrides = json::object();
  if (!record.configOverrides.empty()) {
    if (auto document = parse_json(record.configOverrides)) overrides = document->root;
  }
  return {{"schema", "sluice.bundle-deployment.v1"},
          {"deployment_id", found.id.text()},
          {"env_id", record.environment},
          {"bundle_id", record.bundle},
          {"customer_id", record.customer},
          {"status", to_json(record.status)},
          {"generation", record.generation},
          {"created_at", time_of(record.createdAt)},
          {"current_revisions", std::move(current)},
          {"route_binding", json::object{{"hosts", texts(record.route.hosts)},
                                         {"path_prefixes", texts(record.route.pathPrefixes)},
                                         {"tenant_selector", json::object{{"tenant", text_or_null(record.route.tenant)},
                                                                          {"team", text_or_null(record.route.team)}}}}},
          {"revenue_share", std::move(shares)},
          {"revenue_policy_ref", record.bundle + "/" + record.customer + "/v" + std::to_string(record.policyVersion)},
          {"usage", json::object{{"meter_endpoint", text_or_null(record.usage.meterEndpoint)}}},
          {"authorization_ref", audit_ref(record.authorization)},
          {"config_overrides", std::move(overrides)}};
}

json::object revision_document(const RevisionFound& found) {
  const revision::RevisionRecord& record = found.record;
  json::array packs, configs;
  if (!record.bundleDigest.empty()) {
    packs.push_back(json::object{{"pack_id", record.bundle},
                                 {"version", record.version},
                                 {"digest", record.treeDigest},
                                 {"source_uri", file_uri(record.source)}});
    configs.emplace_back(record.configDigest);
  }
  json::value failure;
  if (record.lifecycle == RevisionLifecycle::failed) {
    failure = json::object{{"check", record.failure.check}, {"message", record.failure.message}};
  }
  return {
      {"schema", "sluice.revision.v1"},
      {"revision_id", found.id.text()},
      {"env_id", record.environment},
      {"bundle_id", record.bundle},
      {"deployment_id", record.deployment},
      {"sequence", record.sequence},
      {"generation", record.generation},
      {"created_at", time_of(record.createdAt)},
      {"bundle_digest", text_or_null(record.bundleDigest)},
      {"bundle_source_uri", file_uri(record.source)},
      {"pack_list", std::move(packs)},
      {"pack_list_lock_ref", record.artifact.empty() ? json::value() : file_uri(lock_beside(record.artifact))},
      {"pack_config_refs", std::move(configs)},
      {"config_digest", text_or_null(record.configDigest)},
      {"signature", text_or_null(record.signature)},
      {"signature_sidecar_ref",
       record.artifact.empty() || record.sidecar.empty() ? json::value() : file_uri(sidecar_beside(record.artifact))},
      {"lifecycle", revision::name_of(record.lifecycle)},
      {"failure", std::move(failure)},
      {"staged_at", time_or_null(record.stagedAt)},
      {"warmed_at", time_or_null(record.warmedAt)},
      {"archived_at", time_or_null(record.archivedAt)},
      {"drain_seconds", std::max<int64_t>(record.drainSeconds, 0)},
      {"endpoint", text_or_null(record.endpoint)}};
}

json::value split_document(const States& states, const deployment::DeploymentFound& found) {
  const traffic::TrafficId id(found.id.text());
  auto record = states.traffic().get(id);
  auto entries = states.traffic().entries(id).values();
  if (!record || entries.empty()) return nullptr;
  return json::object{{"schema", "sluice.traffic-split.v1"},
                      {"env_id", found.record.environment},
                      {"deployment_id", found.id.text()},
                      {"bundle_id", found.record.bundle},
                      {"generation", record->generation},
                      {"entries", entries_of(entries)},
                      {"updated_at", time_of(record->updatedAt)},
                      {"updated_by", text_or_null(record->updatedBy)},
                      {"idempotency_key", text_or_null(record->idempotencyKey)},
                      {"authorization_ref", audit_ref(record->authorization)},
                      {"previous_split_ref", split_ref_before(states, id)}};
}

json::array split_history(const States& states, const std::string& deployment) {
  const traffic::TrafficId id(deployment);
  json::array history;
  for (const auto& each : states.traffic().future(id).values()) history.push_back(step_of(each, "ahead"));
  if (auto record = states.traffic().get(id)) {
    traffic::TrafficPastItem now{.generation = record->generation,
                                 .entries = states.traffic().entries(id).values(),
                                 .updatedAt = record->updatedAt,
                                 .updatedBy = record->updatedBy,
                                 .authorization = record->authorization};
    history.push_back(step_of(now, "current"));
  }
  auto past = states.traffic().past(id).values();
  std::ranges::reverse(past);
  for (const auto& each : past) history.push_back(step_of(each, "past"));
  return history;
}

json::object config_document(const States& states, const std::string& environment) {
  const config::ConfigId id(environment);
  auto record = states.config().get(id).value_or(config::ConfigRecord{});
  json::object discovered;
  json::array produced;
  for (const auto& each : states.config().discovered(id).values()) {
    discovered[each.key] = each.value;
    produced.push_back(json::object{{"key", each.key},
                                    {"generated_by", each.producer},
                                    {"generation", each.generation},
                                    {"generated_at", time_of(each.at)}});
  }
  return {{"host_config", host_config_of(states, environment)},
          {"generation", record.generation},
          {"runtime", json::object{{"schema", "sluice.environment-runtime.v1"},
                                   {"environment_id", environment},
                                   {"discovered", std::move(discovered)},
                                   {"produced", std::move(produced)},
                                   {"generation", record.discoveredGeneration}}}};
}

}  // namespace sluice::deploy::views
