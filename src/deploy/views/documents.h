// The objects as documents that people and programs read: sluice.environment.v1, sluice.bundle-deployment.v1,
// sluice.revision.v1, sluice.traffic-split.v1. What is not there is null, so that a document always has all its fields.
// Each is written down once, here: JSON and schema come from the structs.
#pragma once

#include <boost/describe.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "base/json_fields.h"
#include "deploy/views/bundle_settings.h"
#include "deploy/views/states.h"
#include "deployment.gen.h"
#include "env.gen.h"
#include "lang/run/values.h"
#include "revision.gen.h"

namespace sluice::deploy::views {

using Time = lang::DateTime;

struct EntryDocument {
  std::string revision_id;
  int64_t weight_bps = 0;
};
BOOST_DESCRIBE_STRUCT(EntryDocument, (), (revision_id, weight_bps))

struct PackDocument {
  std::string slot;
  std::string kind;
  std::string pack_ref;
  OrNull<std::string> answers_ref;
  int64_t generation = 0;
  Time bound_at;
  OrNull<std::string> previous_binding_ref;
};
BOOST_DESCRIBE_STRUCT(PackDocument, (), (slot, kind, pack_ref, answers_ref, generation, bound_at, previous_binding_ref))

struct TenantSelectorDocument {
  OrNull<std::string> tenant;
  OrNull<std::string> team;
};
BOOST_DESCRIBE_STRUCT(TenantSelectorDocument, (), (tenant, team))

struct RouteDocument {
  std::vector<std::string> hosts;
  std::vector<std::string> path_prefixes;
  TenantSelectorDocument tenant_selector;
};
BOOST_DESCRIBE_STRUCT(RouteDocument, (), (hosts, path_prefixes, tenant_selector))

struct ShareDocument {
  std::string party_id;
  int64_t basis_points = 0;
};
BOOST_DESCRIBE_STRUCT(ShareDocument, (), (party_id, basis_points))

struct MeterDocument {
  OrNull<std::string> meter_endpoint;
};
BOOST_DESCRIBE_STRUCT(MeterDocument, (), (meter_endpoint))

struct DeploymentDocument {
  std::string schema = "sluice.bundle-deployment.v1";
  std::string deployment_id;
  std::string env_id;
  std::string bundle_id;
  std::string customer_id;
  deployment::DeploymentStatus status = {};
  int64_t generation = 0;
  Time created_at;
  std::vector<std::string> current_revisions;
  RouteDocument route_binding;
  std::vector<ShareDocument> revenue_share;
  std::string revenue_policy_ref;
  MeterDocument usage;
  OrNull<std::string> authorization_ref;
  json::value config_overrides;
};
BOOST_DESCRIBE_STRUCT(DeploymentDocument, (),
                      (schema, deployment_id, env_id, bundle_id, customer_id, status, generation, created_at,
                       current_revisions, route_binding, revenue_share, revenue_policy_ref, usage, authorization_ref,
                       config_overrides))

struct PackListDocument {
  std::string pack_id;
  std::string version;
  std::string digest;
  std::string source_uri;
};
BOOST_DESCRIBE_STRUCT(PackListDocument, (), (pack_id, version, digest, source_uri))

struct FailureDocument {
  std::string check;
  std::string message;
};
BOOST_DESCRIBE_STRUCT(FailureDocument, (), (check, message))

struct RevisionDocument {
  std::string schema = "sluice.revision.v1";
  std::string revision_id;
  std::string env_id;
  std::string bundle_id;
  std::string deployment_id;
  int64_t sequence = 0;
  int64_t generation = 0;
  Time created_at;
  OrNull<std::string> bundle_digest;
  std::string bundle_source_uri;
  std::vector<PackListDocument> pack_list;
  OrNull<std::string> pack_list_lock_ref;
  std::vector<std::string> pack_config_refs;
  OrNull<std::string> config_digest;
  OrNull<std::string> signature;
  OrNull<std::string> signature_sidecar_ref;
  revision::RevisionLifecycle lifecycle = {};
  OrNull<FailureDocument> failure;
  OrNull<Time> staged_at;
  OrNull<Time> warmed_at;
  OrNull<Time> archived_at;
  int64_t drain_seconds = 0;
  OrNull<std::string> endpoint;
};
BOOST_DESCRIBE_STRUCT(RevisionDocument, (),
                      (schema, revision_id, env_id, bundle_id, deployment_id, sequence, generation, created_at,
                       bundle_digest, bundle_source_uri, pack_list, pack_list_lock_ref, pack_config_refs, config_digest,
                       signature, signature_sidecar_ref, lifecycle, failure, staged_at, warmed_at, archived_at,
                       drain_seconds, endpoint))

struct SplitDocument {
  std::string schema = "sluice.traffic-split.v1";
  std::string env_id;
  std::string deployment_id;
  std::string bundle_id;
  int64_t generation = 0;
  std::vector<EntryDocument> entries;
  Time updated_at;
  OrNull<std::string> updated_by;
  OrNull<std::string> idempotency_key;
  OrNull<std::string> authorization_ref;
  OrNull<std::string> previous_split_ref;
};
BOOST_DESCRIBE_STRUCT(SplitDocument, (),
                      (schema, env_id, deployment_id, bundle_id, generation, entries, updated_at, updated_by,
                       idempotency_key, authorization_ref, previous_split_ref))

enum class SplitPlace { ahead, current, past };
BOOST_DESCRIBE_ENUM(SplitPlace, ahead, current, past)

struct PastSplitDocument {
  int64_t generation = 0;
  SplitPlace place = SplitPlace::current;
  std::vector<EntryDocument> entries;
  Time updated_at;
  OrNull<std::string> updated_by;
  std::string why;  // "set", "rollback of 2"; empty of what an earlier version wrote
  OrNull<std::string> authorization_ref;
};
BOOST_DESCRIBE_STRUCT(PastSplitDocument, (),
                      (generation, place, entries, updated_at, updated_by, why, authorization_ref))

struct RevocationDocument {
  bool required = false;
  OrNull<std::string> list_ref;
};
BOOST_DESCRIBE_STRUCT(RevocationDocument, (), (required, list_ref))

struct RetentionDocument {
  int64_t archived_max_age_days = 0;
  int64_t staged_max_count = 0;
};
BOOST_DESCRIBE_STRUCT(RetentionDocument, (), (archived_max_age_days, staged_max_count))

struct HealthDocument {
  env::EnvLastDoctorStatus last_doctor_status = {};
  OrNull<std::string> message;
  OrNull<Time> last_checked_at;
};
BOOST_DESCRIBE_STRUCT(HealthDocument, (), (last_doctor_status, message, last_checked_at))

struct EnvironmentDocument {
  std::string schema = "sluice.environment.v1";
  std::string environment_id;
  std::string name;
  OrNull<std::string> extends;
  int64_t generation = 0;
  Time created_at;
  std::map<std::string, std::string> host_config;
  std::vector<PackDocument> packs;
  OrNull<std::string> credentials_ref;
  std::vector<DeploymentDocument> bundles;
  std::vector<RevisionDocument> revisions;
  std::vector<SplitDocument> traffic_splits;
  RevocationDocument revocation;
  RetentionDocument retention;
  HealthDocument health;
};
BOOST_DESCRIBE_STRUCT(EnvironmentDocument, (),
                      (schema, environment_id, name, extends, generation, created_at, host_config, packs,
                       credentials_ref, bundles, revisions, traffic_splits, revocation, retention, health))

struct ProducedDocument {
  std::string key;
  std::string generated_by;
  int64_t generation = 0;
  Time generated_at;
};
BOOST_DESCRIBE_STRUCT(ProducedDocument, (), (key, generated_by, generation, generated_at))

struct DiscoveredDocument {
  std::string schema = "sluice.environment-runtime.v1";
  std::string environment_id;
  std::map<std::string, std::string> discovered;
  std::vector<ProducedDocument> produced;
  int64_t generation = 0;
};
BOOST_DESCRIBE_STRUCT(DiscoveredDocument, (), (schema, environment_id, discovered, produced, generation))

struct AnsweredPackDocument {
  std::string slot;
  std::string kind;
  std::string answers_ref;
  json::value answers;
  OrNull<std::string> problem;  // why they cannot be read
};
BOOST_DESCRIBE_STRUCT(AnsweredPackDocument, (), (slot, kind, answers_ref, answers, problem))

// How a bundle is set up: an answer of the environment.
struct BundleAnswerDocument {
  std::string bundle;
  std::string name;
  json::value value;
  Time answered_at;
};
BOOST_DESCRIBE_STRUCT(BundleAnswerDocument, (), (bundle, name, value, answered_at))

struct ConfigDocument {
  std::map<std::string, std::string> host_config;
  int64_t generation = 0;
  std::vector<AnsweredPackDocument> setup;
  std::vector<BundleAnswerDocument> answers;
  DiscoveredDocument runtime;
  std::vector<DeploymentSettings> deployments;
};
BOOST_DESCRIBE_STRUCT(ConfigDocument, (), (host_config, generation, setup, answers, runtime, deployments))

EnvironmentDocument environment_document(const States& states, const env::EnvFound& found);
DeploymentDocument deployment_document(const States& states, const deployment::DeploymentFound& found);
RevisionDocument revision_document(const revision::RevisionFound& found);
// Nothing if the deployment has no split, or an empty one.
OrNull<SplitDocument> split_document(const States& states, const deployment::DeploymentFound& found);
// All splits that there were, newest first.
std::vector<PastSplitDocument> split_history(const States& states, const std::string& deployment);
ConfigDocument config_document(const States& states, const std::string& environment);

// Those that are not archived: of a deployment, by sequence, or of an environment.
std::vector<revision::RevisionFound> live_revisions_of(const States& states, const std::string& deployment);
std::vector<revision::RevisionFound> live_revisions_in(const States& states, const std::string& environment);

}  // namespace sluice::deploy::views
