// Names come from Deployment's rows, sizes from the disk.
#include "deploy/views/stored_data_view.h"

#include "deploy/concepts/deployment/deployment_rows.h"
#include "deploy/stored_data.h"

namespace sluice::deploy::views {
namespace {

Result<std::vector<StoredDataDocument>> read_stored_data(const lang::Reading& reading, const StoredDataQuery& query) {
  lang::ReadOnlyRows rows(reading.rows.rows_of("Deployment"));
  const deployment::State state(rows);
  const auto* stored = reading.tools.find<StoredData>();
  std::vector<StoredDataDocument> all;
  auto add = [&](StoredDataDocument one) {
    if (!query.environment.empty() && one.environment != query.environment) return;
    if (stored != nullptr) {
      one.folder = stored->folder_of(one.storage);
      one.bytes = static_cast<int64_t>(stored->bytes_of(one.storage));
    }
    all.push_back(std::move(one));
  };
  for (const deployment::DeploymentFound& each : state.all()) {
    const std::string storage = storage_of(each.id, each.record);
    if (stored == nullptr || !stored->has(storage)) continue;
    add({.storage = storage,
         .environment = each.record.environment,
         .bundle = each.record.bundle,
         .customer = each.record.customer,
         .deployment = each.id.text()});
  }
  for (const auto& each : state.kept_data().values()) {
    add({.storage = each.storage,
         .environment = each.environment,
         .bundle = each.bundle,
         .customer = each.customer,
         .since = each.since});
  }
  return all;
}

}  // namespace

std::vector<lang::View> stored_data_views() {
  return {
      lang::make_view("stored-data", "What programs have stored, also of deployments that are gone", read_stored_data)};
}

}  // namespace sluice::deploy::views
