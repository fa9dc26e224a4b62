// It stands in the deployment's row.
#include "deploy/views/storage_name.h"

#include "deploy/concepts/deployment/deployment_rows.h"

namespace sluice::deploy::views {

std::string storage_name(const lang::Snapshot& snapshot, const std::string& deployment) {
  lang::ReadOnlyRows rows(snapshot.rows_of("Deployment"));
  const deployment::State state(rows);
  const deployment::DeploymentId id(deployment);
  return storage_of(id, state.get(id).value_or(deployment::DeploymentRecord{}));
}

}  // namespace sluice::deploy::views
