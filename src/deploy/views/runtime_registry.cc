// Two lists of Runtime's state.
#include "deploy/views/runtime_registry.h"

#include "runtime.gen.h"

namespace sluice::deploy::views {

std::optional<std::vector<KnownReplica>> known_replicas(const lang::Snapshot& snapshot, const std::string& instance) {
  lang::ReadOnlyRows rows(snapshot.rows_of("Runtime"));
  const runtime::State state(rows);
  const runtime::RuntimeId id(instance);
  if (!state.has(id)) return std::nullopt;
  std::vector<KnownReplica> known;
  for (const auto& each : state.replicas(id).values()) known.push_back({each.name, each.endpoint});
  return known;
}

std::set<std::string> known_storages(const lang::Snapshot& snapshot, const std::string& runtime_type) {
  lang::ReadOnlyRows rows(snapshot.rows_of("Runtime"));
  const runtime::State state(rows);
  std::set<std::string> known;
  for (const auto& each : state.storages()) {
    if (each.value.runtimeType == runtime_type) known.insert(each.value.storage);
  }
  return known;
}

}  // namespace sluice::deploy::views
