// The bundle.yaml that `sluice init` writes: short, complete, and commented, so that the next setting is found in it.
#pragma once

#include <string>
#include <vector>

#include "bundle/manifest/manifest.h"

namespace sluice::bundle {

// The answers to the three questions.
struct InitAnswers {
  Name name;
  std::vector<std::string> run;
  Listen listen = Listen::port;
};

// A manifest that parse_manifest reads; what is commented out in it shows the defaults.
std::string manifest_template(const InitAnswers& answers);

}  // namespace sluice::bundle
