// Made of the same structs as the readers.
#include "render/promote/kind_schemas.h"

#include <string>

#include "base/json_schema.h"
#include "render/promote/kinds.h"

namespace sluice::promote {
namespace {

template <class K>
json::value schema_of(std::string_view kind) {
  auto schema = json_schema<K>(kind, "urn:sluice:schema:kind:" + std::string(kind));
  json::object& properties = schema.as_object().at("properties").as_object();
  properties["apiVersion"] = json::object{{"const", component::kKindsVersion}};
  properties["kind"] = json::object{{"const", kind}};
  return schema;
}

}  // namespace

std::optional<json::value> schema_of_kind(std::string_view kind) {
  if (kind == "Component") return schema_of<component::ComponentKind>(kind);
  if (kind == "ComponentTypeDefinition") return schema_of<component::ComponentTypeKind>(kind);
  if (kind == "Addon") return schema_of<component::AddonKind>(kind);
  if (kind == "Workload") return schema_of<component::WorkloadKind>(kind);
  if (kind == "EnvSettings") return schema_of<component::EnvSettingsKind>(kind);
  if (kind == "Release") return schema_of<ReleaseKind>(kind);
  if (kind == "ReleasePin") return schema_of<ReleasePinKind>(kind);
  if (kind == "DeploymentPipeline") return schema_of<PipelineKind>(kind);
  return std::nullopt;
}

}  // namespace sluice::promote
