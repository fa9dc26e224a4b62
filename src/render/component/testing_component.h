// A component from YAML in a test: its type with parts that the test says, and what it comes to.
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "render/component/component.h"

namespace sluice::component {

struct Sources {
  std::string type;       // below `spec:` of the ComponentTypeDefinition, beside workloadType
  std::string component;  // below `spec:` of the Component, beside componentType
  std::string settings;   // below `spec:` of the EnvSettings, beside owner and environment; none if empty
  std::string more;       // whole documents, each after a line of ---
  std::string workload;   // below `spec:` of the Workload, beside image
};

class ComponentTest : public testing::Test {
 protected:
  // Renders the component `shop` in `dev`. The kinds stay for explain().
  RenderedComponent& render(const Sources& sources);
  // The object of a kind, as JSON; else the faults, one a line.
  std::string object(const Sources& sources, std::string_view kind);
  // The faults, one a line, each "line: message".
  std::string faults(const Sources& sources);
  static std::string at(const std::string& object, std::string_view pointer);

  Kinds kinds_;
  RenderedComponent made_;
};

// A Deployment with one container, indented as a resource below `resources:`.
extern const char* const kDeployment;

}  // namespace sluice::component
