// Every noun's file adds its commands through one function; this is the list of them.
#pragma once

#include "cli/command.h"

namespace sluice::cli {

void add_kit_commands(Commands& commands);
void add_init_commands(Commands& commands);
void add_bundles_commands(Commands& commands);
void add_artifact_commands(Commands& commands);
void add_runtime_commands(Commands& commands);
void add_logs_commands(Commands& commands);
void add_serve_commands(Commands& commands);
void add_replicas_commands(Commands& commands);
void add_backup_commands(Commands& commands);
void add_up_commands(Commands& commands);
void add_down_commands(Commands& commands);
void add_scale_commands(Commands& commands);
void add_storage_commands(Commands& commands);  // after those of runtime, whose noun they share
void add_rollout_commands(Commands& commands);
void add_watch_commands(Commands& commands);
void add_health_commands(Commands& commands);
void add_telemetry_commands(Commands& commands);
void add_deploy_commands(Commands& commands);
void add_env_manifest_commands(Commands& commands);
void add_judge_commands(Commands& commands);
void add_render_commands(Commands& commands);
void add_tls_commands(Commands& commands);
void add_bounds_commands(Commands& commands);
void add_mesh_commands(Commands& commands);  // all of them
void add_mesh_folder_commands(Commands& commands);
void add_mesh_agent_commands(Commands& commands);
void add_mesh_publish_commands(Commands& commands);
void add_usage_commands(Commands& commands);
void add_webhook_commands(Commands& commands);
void add_deployment_commands(Commands& commands);  // after those of bundles, whose noun they share
void add_env_commands(Commands& commands);
void add_env_apply_commands(Commands& commands);
void add_env_migrate_commands(Commands& commands);
void add_schema_commands(Commands& commands);
void add_env_packs_commands(Commands& commands);
void add_pack_commands(Commands& commands);
void add_credentials_commands(Commands& commands);
void add_config_commands(Commands& commands);
void add_secrets_commands(Commands& commands);
void add_migrate_commands(Commands& commands);
void add_registry_commands(Commands& commands);
void add_cluster_commands(Commands& commands);
void add_revisions_commands(Commands& commands);
void add_router_commands(Commands& commands);
void add_traffic_commands(Commands& commands);
void add_do_commands(Commands& commands);
void add_flow_commands(Commands& commands);
void add_flow_decisions(Commands& commands);
void add_audit_commands(Commands& commands);
void add_access_commands(Commands& commands);
void add_release_commands(Commands& commands);
void add_git_commands(Commands& commands);
void add_approval_commands(Commands& commands);
void add_context_commands(Commands& commands);
void add_mcp_commands(Commands& commands);
void add_trust_commands(Commands& commands);
void add_help_commands(Commands& commands);
void add_completion_commands(Commands& commands);

// The whole table, in the order in which help shows it.
Commands all_commands();

}  // namespace sluice::cli
