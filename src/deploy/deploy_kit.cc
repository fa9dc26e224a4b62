// registered() and kit_files() are made by the build (cmake/kit.cmake, cmake/embed.cmake).
#include "deploy/deploy_kit.h"

#include <algorithm>

#include "deploy/admission.h"

namespace sluice::deploy {

std::vector<const lang::ConceptBinding*> concepts() {
  static const std::vector<lang::ConceptBinding> kAdmitted = admitted(registered());
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
