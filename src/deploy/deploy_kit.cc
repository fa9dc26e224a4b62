// The list of the kit's concepts, as in suite.yaml. kit_files() is made by the build (cmake/embed.cmake).
#include "deploy/deploy_kit.h"

#include <algorithm>

#include "artifact.gen.h"
#include "config.gen.h"
#include "deploy/admission.h"
#include "deployment.gen.h"
#include "env.gen.h"
#include "local_runtime.gen.h"
#include "revision.gen.h"
#include "router.gen.h"
#include "runtime.gen.h"
#include "traffic.gen.h"
#include "trust.gen.h"
#include "usage.gen.h"

namespace sluice::deploy {

std::vector<const lang::ConceptBinding*> concepts() {
  static const std::vector<lang::ConceptBinding> kAdmitted =
      admitted({&trust::trust_binding(), &artifact::artifact_binding(), &runtime::runtime_binding(),
                &env::env_binding(), &config::config_binding(), &deployment::deployment_binding(),
                &revision::revision_binding(), &traffic::traffic_binding(), &router::router_binding(),
                &usage::usage_binding(), &local_runtime::local_runtime_binding()});
  std::vector<const lang::ConceptBinding*> all;
  for (const lang::ConceptBinding& each : kAdmitted) all.push_back(&each);
  return all;
}

Result<std::string> read_kit_file(std::string_view path) {
  std::string_view name = path;
  if (name.starts_with(kKitFolder)) name.remove_prefix(std::min(name.size(), kKitFolder.size() + 1));
  auto found = std::ranges::find(kit_files(), name, &KitFile::path);
  if (found == kit_files().end()) {
    return Error{.code = Code::not_found, .message = "there is no " + std::string(path)};
  }
  return std::string(found->text);
}

}  // namespace sluice::deploy
