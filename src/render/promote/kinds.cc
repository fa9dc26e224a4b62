// What a field may hold is checked by the struct of its kind; what has to hold between fields, here.
#include "render/promote/kinds.h"

#include <set>

#include "base/json_reader.h"
#include "render/component/check.h"
#include "render/component/schema.h"
#include "render/promote/freeze.h"

namespace sluice::promote {
namespace {

std::string member_text(const json::value& object, std::string_view name) {
  const auto* members = object.if_object();
  const auto* found = members ? members->if_contains(name) : nullptr;
  return found && found->is_string() ? std::string(found->as_string()) : "";
}

Error fault_at(const Document& document, const std::string& path, std::string message, std::string next = "") {
  return {.code = Code::invalid,
          .message = std::move(message),
          .next = std::move(next),
          .path = path,
          .position = document.position_of(path)};
}

class Reader {
 public:
  explicit Reader(std::vector<Document> documents) : documents_(std::move(documents)) {}

  Objects run() {
    std::vector<Document> others;
    for (auto& document : documents_) {
      const auto kind = member_text(document.root, "kind");
      const bool ours = member_text(document.root, "apiVersion") == component::kKindsVersion;
      if (ours && kind == "Release") {
        add(objects_.releases, std::move(document), [](const ReleaseKind& each) { return each.metadata.name; });
      } else if (ours && kind == "ReleasePin") {
        add(objects_.pins, std::move(document),
            [](const ReleasePinKind& each) { return each.spec.component + "/" + each.spec.environment; });
      } else if (ours && kind == "DeploymentPipeline") {
        add(objects_.pipelines, std::move(document), [](const PipelineKind& each) { return each.metadata.name; });
      } else {
        others.push_back(std::move(document));
      }
    }
    objects_.kinds = component::read_kinds(std::move(others));
    for (auto& fault : objects_.kinds.faults) {
      if (fault.message.starts_with("there is no kind")) {
        fault.next =
            "there are Component, ComponentTypeDefinition, Addon, Workload, EnvSettings, Release, ReleasePin "
            "and DeploymentPipeline";
      }
      objects_.faults.push_back(fault);
    }
    for (const auto& [name, each] : objects_.kinds.types) check_definition(each);
    for (const auto& [name, each] : objects_.kinds.addons) check_definition(each);
    for (const auto& [name, each] : objects_.releases) check(each);
    for (const auto& [name, each] : objects_.pipelines) check(each);
    return std::move(objects_);
  }

 private:
  template <class K, class NameOf>
  void add(std::map<std::string, Defined<K>, std::less<>>& all, Document document, NameOf name_of) {
    auto value = read<K>(document);
    if (!value) {
      objects_.faults.push_back(value.error());
      return;
    }
    auto name = name_of(*value);
    if (name.empty() || name == "/") {
      fault(document, "/metadata/name", "the object has no name");
      return;
    }
    if (all.contains(name)) {
      fault(document, "/metadata/name", "'" + name + "' stands here a second time");
      return;
    }
    all.emplace(std::move(name), Defined<K>{std::move(*value), std::move(document)});
  }

  void fault(const Document& document, const std::string& path, std::string message, std::string next = "") {
    objects_.faults.push_back(fault_at(document, path, std::move(message), std::move(next)));
  }

  // Its schemas, and its expressions against them.
  template <class K>
  void check_definition(const Defined<K>& defined) {
    const size_t before = objects_.faults.size();
    check_schemas(defined);
    if (objects_.faults.size() > before) return;
    for (auto& each : component::check_expressions(defined)) objects_.faults.push_back(std::move(each));
  }

  template <class K>
  void check_schemas(const Defined<K>& defined) {
    const auto& schema = defined.value.spec.schema;
    for (const auto& [name, declared] :
         {std::pair("parameters", &schema.parameters), std::pair("envOverrides", &schema.envOverrides)}) {
      if (declared->is_null()) continue;
      const auto parsed = component::Schema::parse(*declared);
      if (!parsed) {
        fault(defined.document, std::string("/spec/schema/") + name + parsed.error().path, parsed.error().message);
      }
    }
  }

  void check(const Defined<ReleaseKind>& release) {
    const auto& spec = release.value.spec;
    check(release.document, "/spec/component", spec.component);
    check(release.document, "/spec/componentTypeDefinition", spec.componentTypeDefinition);
    for (size_t index = 0; index < spec.addons.size(); ++index) {
      check(release.document, "/spec/addons/" + std::to_string(index), spec.addons[index]);
    }
  }

  void check(const Document& document, const std::string& path, const Reference& reference) {
    if (reference.gitRef.has_value() == reference.content.has_value()) {
      fault(document, path,
            reference.gitRef ? "a reference has gitRef or content, not both"
                             : "a reference has exactly one of gitRef and content, and this one has neither");
    }
  }

  void check(const Defined<PipelineKind>& pipeline) {
    const auto& paths = pipeline.value.spec.promotionPaths;
    if (paths.empty()) fault(pipeline.document, "/spec/promotionPaths", "a pipeline has at least one path");
    std::map<std::string, std::set<std::string>> leads;
    for (size_t index = 0; index < paths.size(); ++index) {
      const auto place = "/spec/promotionPaths/" + std::to_string(index);
      const auto& source = paths[index].sourceEnvironmentRef.name;
      for (size_t number = 0; number < paths[index].targetEnvironmentRefs.size(); ++number) {
        const auto& target = paths[index].targetEnvironmentRefs[number];
        const auto at = place + "/targetEnvironmentRefs/" + std::to_string(number);
        if (target.soakSeconds < 0) fault(pipeline.document, at + "/soakSeconds", "expected 0 or more");
        if (target.approvals < 0) fault(pipeline.document, at + "/approvals", "expected 0 or more");
        if (!leads[source].insert(target.name).second) {
          fault(pipeline.document, at, "the path from " + source + " to " + target.name + " stands here twice");
        }
      }
    }
    for (const auto& [start, targets] : leads) {
      std::set<std::string> seen;
      std::vector<std::string> open(targets.begin(), targets.end());
      while (!open.empty()) {
        const auto at = open.back();
        open.pop_back();
        if (at == start) {
          fault(pipeline.document, "/spec/promotionPaths", "the paths lead in a circle through " + start);
          return;
        }
        if (!seen.insert(at).second || !leads.contains(at)) continue;
        for (const auto& next : leads[at]) open.push_back(next);
      }
    }
    if (pipeline.value.spec.retentionSeconds < 0) {
      fault(pipeline.document, "/spec/retentionSeconds", "expected 0 or more");
    }
    const auto& freezes = pipeline.value.spec.freezes;
    for (size_t index = 0; index < freezes.size(); ++index) {
      if (auto sound = check_freeze(freezes[index]); !sound) {
        fault(pipeline.document, "/spec/freezes/" + std::to_string(index) + sound.error().path, sound.error().message);
      }
    }
  }

  std::vector<Document> documents_;
  Objects objects_;
};

}  // namespace

Objects read_objects(std::vector<Document> documents) { return Reader(std::move(documents)).run(); }

}  // namespace sluice::promote
