// Puts the parts of a test into whole documents.
#include "render/component/testing_component.h"

#include "base/yaml.h"

namespace sluice::component {
namespace {

std::string indented(std::string_view text) {
  std::string made;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) made += "  " + std::string(text.substr(0, end));
    made += "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return made;
}

std::string document(std::string_view kind, std::string_view name, std::string_view spec) {
  return "---\napiVersion: openchoreo.dev/v1alpha1\nkind: " + std::string(kind) +
         "\nmetadata: {name: " + std::string(name) + "}\nspec:\n" + indented(spec);
}

}  // namespace

const char* const kDeployment = R"(resources:
  - id: deployment
    template:
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: "${metadata.name}"}
      spec:
        replicas: ${parameters.replicas}
        template: {spec: {containers: [{name: main, image: "${build.image}"}]}}
)";

RenderedComponent& ComponentTest::render(const Sources& sources) {
  std::string text = document("ComponentTypeDefinition", "web", "workloadType: deployment\n" + sources.type) +
                     document("Component", "shop", "componentType: deployment/web\n" + sources.component) +
                     document("Workload", "shop", "image: registry.example/shop:1\n" + sources.workload);
  if (!sources.settings.empty()) {
    text += document("EnvSettings", "shop-dev", "owner: {componentName: shop}\nenvironment: dev\n" + sources.settings);
  }
  auto documents = parse_yaml_stream(text + sources.more, "all.yaml");
  EXPECT_TRUE(documents) << (documents ? "" : to_string(documents.error())) << "\n" << text;
  kinds_ = read_kinds(std::move(*documents));
  made_ = {};
  made_.faults = kinds_.faults;
  if (kinds_.faults.empty()) made_ = render_component(kinds_, {.component = "shop", .environment = "dev"});
  return made_;
}

std::string ComponentTest::object(const Sources& sources, std::string_view kind) {
  if (!render(sources).faults.empty()) return faults(sources);
  for (const auto& each : made_.objects) {
    if (each.object.at("kind").as_string() == kind) return json::serialize(each.object);
  }
  return "there is no " + std::string(kind);
}

std::string ComponentTest::faults(const Sources& sources) {
  std::string text;
  for (const auto& fault : render(sources).faults)
    text += (text.empty() ? "" : "\n") + fault.path + ": " + fault.message;
  return text;
}

std::string ComponentTest::at(const std::string& object, std::string_view pointer) {
  boost::system::error_code failed;
  const auto value = json::parse(object, failed);
  if (failed) return object;
  const auto* found = value.find_pointer(pointer, failed);
  return found && !failed ? json::serialize(*found) : "nothing";
}

}  // namespace sluice::component
