// Each object is read by the struct of its kind.
#include "render/component/kinds.h"

#include "base/json_reader.h"

namespace sluice::component {
namespace {

std::string kind_text(const json::value& object, std::string_view name) {
  const auto* members = object.if_object();
  const auto* found = members ? members->if_contains(name) : nullptr;
  return found && found->is_string() ? std::string(found->as_string()) : "";
}

Error kind_fault(const Document& document, std::string path, std::string message, std::string next = "") {
  return {.code = Code::invalid,
          .message = std::move(message),
          .next = std::move(next),
          .path = path,
          .position = document.position_of(path)};
}

template <class K>
void keep(std::map<std::string, Defined<K>, std::less<>>& all, std::string name, Document document,
          std::vector<Error>& faults) {
  auto value = read<K>(document);
  if (!value) {
    faults.push_back(value.error());
    return;
  }
  if constexpr (std::is_same_v<K, EnvSettingsKind>) {
    name = value->spec.owner.componentName + "/" + value->spec.environment;
  }
  if (const auto known = all.find(name); known != all.end()) {
    const auto first = known->second.document.position_of("/metadata/name");
    faults.push_back(
        kind_fault(document, "/metadata/name",
                   "'" + name + "' stands here a second time" + (first ? "; first at " + to_string(*first) : "")));
    return;
  }
  all.emplace(std::move(name), Defined<K>{std::move(*value), std::move(document)});
}

}  // namespace

Kinds read_kinds(std::vector<Document> documents) {
  Kinds kinds;
  for (auto& document : documents) {
    if (document.root.is_null()) continue;
    const auto version = kind_text(document.root, "apiVersion");
    const auto kind = kind_text(document.root, "kind");
    if (version != kKindsVersion) {
      kinds.faults.push_back(kind_fault(
          document, "/apiVersion",
          "expected apiVersion " + std::string(kKindsVersion) + (version.empty() ? "" : ", found '" + version + "'")));
      continue;
    }
    const auto* metadata = document.root.as_object().if_contains("metadata");
    const auto name = metadata ? kind_text(*metadata, "name") : "";
    if (kind == "Component") {
      keep(kinds.components, name, std::move(document), kinds.faults);
    } else if (kind == "ComponentTypeDefinition") {
      keep(kinds.types, name, std::move(document), kinds.faults);
    } else if (kind == "Addon") {
      keep(kinds.addons, name, std::move(document), kinds.faults);
    } else if (kind == "Workload") {
      keep(kinds.workloads, name, std::move(document), kinds.faults);
    } else if (kind == "EnvSettings") {
      keep(kinds.settings, name, std::move(document), kinds.faults);
    } else {
      kinds.faults.push_back(
          kind_fault(document, "/kind", "there is no kind '" + kind + "' here",
                     "there are Component, ComponentTypeDefinition, Addon, Workload and EnvSettings"));
    }
  }
  return kinds;
}

}  // namespace sluice::component
