// sluice.environment.v1 as a file: what `env export` writes, and what `env apply` takes. Both are written down here
// once: JSON, schema, and which fields a file may have come from these structs. What only the engine decides
// (generations, times, health, splits) may stand in a file, as `env show` prints it, and counts for nothing.
#pragma once

#include <boost/describe.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "deploy/views/documents.h"
#include "deploy/views/file_fields.h"

namespace sluice::deploy::views {

struct ExportedPack {
  std::string slot;
  std::string kind;
  std::string pack_ref;
  OrNull<std::string> answers_ref;
};
BOOST_DESCRIBE_STRUCT(ExportedPack, (), (slot, kind, pack_ref, answers_ref))

struct ExportedBundle {
  std::string bundle_id;
  std::string customer_id;
  deployment::DeploymentStatus status = {};
  RouteDocument route_binding;
  std::vector<ShareDocument> revenue_share;
  json::value config_overrides;
  OrNull<std::string> bundle_source_uri;
  json::value config;
};
BOOST_DESCRIBE_STRUCT(ExportedBundle, (),
                      (bundle_id, customer_id, status, route_binding, revenue_share, config_overrides,
                       bundle_source_uri, config))

struct ExportedEnvironment {
  std::string schema = "sluice.environment.v1";
  std::string environment_id;
  std::string name;
  OrNull<std::string> extends;
  std::map<std::string, std::string> host_config;
  std::vector<ExportedPack> packs;
  OrNull<std::string> credentials_ref;
  RevocationDocument revocation;
  RetentionDocument retention;
  std::vector<ExportedBundle> bundles;
};
BOOST_DESCRIBE_STRUCT(ExportedEnvironment, (),
                      (schema, environment_id, name, extends, host_config, packs, credentials_ref, revocation,
                       retention, bundles))

// What a file may leave out or leave empty.
template <class T>
using Given = std::optional<OrNull<T>>;

struct FilePack {
  std::string slot;
  std::string kind;
  Given<std::string> pack_ref, answers_ref;
  std::optional<int64_t> generation;
  std::optional<std::string> bound_at;
  Given<std::string> previous_binding_ref;
};
BOOST_DESCRIBE_STRUCT(FilePack, (), (slot, kind, pack_ref, answers_ref, generation, bound_at, previous_binding_ref))

struct FileTenant {
  Given<std::string> tenant, team;
};
BOOST_DESCRIBE_STRUCT(FileTenant, (), (tenant, team))

struct FileRoute {
  std::optional<std::vector<std::string>> hosts, path_prefixes;
  std::optional<FileTenant> tenant_selector;
};
BOOST_DESCRIBE_STRUCT(FileRoute, (), (hosts, path_prefixes, tenant_selector))

struct FileConfig {
  std::optional<json::value> non_secret;
  std::optional<std::map<std::string, std::string>> runtime_refs;
  std::optional<json::value> running;
};
BOOST_DESCRIBE_STRUCT(FileConfig, (), (non_secret, runtime_refs, running))

struct FileBundle {
  std::optional<std::string> schema, deployment_id, env_id;
  std::string bundle_id;
  std::string customer_id;
  std::optional<deployment::DeploymentStatus> status;
  std::optional<int64_t> generation;
  std::optional<std::string> created_at;
  std::optional<std::vector<std::string>> current_revisions;
  std::optional<FileRoute> route_binding;
  std::optional<std::vector<ShareDocument>> revenue_share;
  std::optional<std::string> revenue_policy_ref;
  std::optional<json::value> usage;
  Given<std::string> authorization_ref;
  std::optional<json::value> config_overrides;
  Given<std::string> bundle_source_uri;
  Given<FileConfig> config;
};
BOOST_DESCRIBE_STRUCT(FileBundle, (),
                      (schema, deployment_id, env_id, bundle_id, customer_id, status, generation, created_at,
                       current_revisions, route_binding, revenue_share, revenue_policy_ref, usage, authorization_ref,
                       config_overrides, bundle_source_uri, config))

struct FileRevocation {
  std::optional<bool> required;
  Given<std::string> list_ref;
};
BOOST_DESCRIBE_STRUCT(FileRevocation, (), (required, list_ref))

struct FileRetention {
  std::optional<int64_t> archived_max_age_days, staged_max_count;
};
BOOST_DESCRIBE_STRUCT(FileRetention, (), (archived_max_age_days, staged_max_count))

struct EnvironmentFile {
  std::string schema;
  std::string environment_id;
  std::optional<std::string> name;
  Given<std::string> extends;
  std::optional<int64_t> generation;
  std::optional<std::string> created_at;
  std::optional<std::map<std::string, OrNull<std::string>>> host_config;
  std::optional<std::vector<FilePack>> packs;
  Given<std::string> credentials_ref;
  std::optional<std::vector<FileBundle>> bundles;
  std::optional<std::vector<json::value>> revisions, traffic_splits;
  std::optional<FileRevocation> revocation;
  std::optional<FileRetention> retention;
  std::optional<json::value> health;
};
BOOST_DESCRIBE_STRUCT(EnvironmentFile, (),
                      (schema, environment_id, name, extends, generation, created_at, host_config, packs,
                       credentials_ref, bundles, revisions, traffic_splits, revocation, retention, health))

// It is an object, and has no other fields than T.
template <class T>
Result<void> check_fields_of(const Document& file, const std::string& path, const json::value& value) {
  FieldNames known;
  fields::for_each_member<T>([&](std::string_view name, auto) { known.insert(name); });
  return check_fields(file, path, value, known);
}

}  // namespace sluice::deploy::views
