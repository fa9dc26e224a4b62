// By the archive's digest alone: it may come with other signatures.
#include "deploy/views/wished_for.h"

#include "deployment.gen.h"
#include "env.gen.h"

namespace sluice::deploy::views {

bool is_wished_for(const lang::Snapshot& snapshot, const std::string& source) {
  const std::string digest = source.substr(0, source.find(','));
  lang::ReadOnlyRows deployment_rows(snapshot.rows_of("Deployment"));
  const deployment::State deployments(deployment_rows);
  for (const deployment::DeploymentCFound& each : deployments.all_c()) {
    if (each.record.wish.source.find(digest) != std::string::npos) return true;
  }
  lang::ReadOnlyRows env_rows(snapshot.rows_of("Env"));
  const env::State environments(env_rows);
  for (const env::EnvAFound& each : environments.all_a()) {
    for (const env::EnvStep& step : environments.steps(each.id).values()) {
      if (step.input.find(digest) != std::string::npos) return true;
    }
  }
  return false;
}

}  // namespace sluice::deploy::views
