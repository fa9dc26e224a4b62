// The order of the commands.
#include "cli/all_commands.h"

namespace sluice::cli {

Commands all_commands() {
  Commands commands;
  add_kit_commands(commands);
  add_init_commands(commands);
  add_up_commands(commands);
  add_down_commands(commands);
  add_scale_commands(commands);
  add_deploy_commands(commands);
  add_bundles_commands(commands);
  add_deployment_commands(commands);
  add_artifact_commands(commands);
  add_runtime_commands(commands);
  add_storage_commands(commands);
  add_logs_commands(commands);
  add_serve_commands(commands);
  add_replicas_commands(commands);
  add_backup_commands(commands);
  add_env_commands(commands);
  add_env_manifest_commands(commands);
  add_env_apply_commands(commands);
  add_env_migrate_commands(commands);
  add_env_packs_commands(commands);
  add_pack_commands(commands);
  add_credentials_commands(commands);
  add_config_commands(commands);
  add_secrets_commands(commands);
  add_migrate_commands(commands);
  add_registry_commands(commands);
  add_cluster_commands(commands);
  add_revisions_commands(commands);
  add_traffic_commands(commands);
  add_router_commands(commands);
  add_tls_commands(commands);
  add_bounds_commands(commands);
  add_rollout_commands(commands);
  add_watch_commands(commands);
  add_health_commands(commands);
  add_telemetry_commands(commands);
  add_webhook_commands(commands);
  add_judge_commands(commands);
  add_render_commands(commands);
  add_mesh_commands(commands);
  add_usage_commands(commands);
  add_do_commands(commands);
  add_flow_commands(commands);
  add_flow_decisions(commands);
  add_audit_commands(commands);
  add_trust_commands(commands);
  add_access_commands(commands);
  add_release_commands(commands);
  add_git_commands(commands);
  add_approval_commands(commands);
  add_context_commands(commands);
  add_mcp_commands(commands);
  add_schema_commands(commands);
  add_help_commands(commands);
  add_completion_commands(commands);
  return commands;
}

}  // namespace sluice::cli
