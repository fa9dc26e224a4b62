// Sluice's own kit: the concepts with their handlers, and the texts of the kit, which are part of the program. They are
// checked like any other kit before they are loaded (cli/kit_place.h): its folder is a name that no disk has.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lang/run/binding.h"

namespace sluice::deploy {

inline constexpr std::string_view kKitName = "deploy";
inline constexpr std::string_view kKitFolder = "built-in:deploy";

// In the order of suite.yaml; concepts() with the rules of admission.h.
std::vector<const lang::ConceptBinding*> registered();
std::vector<const lang::ConceptBinding*> concepts();

// What makes a new home usable: the environment local.
inline constexpr std::string_view kFirstAction = "Env/open";

struct KitFile {
  std::string_view path;  // from the kit's folder: "concepts/trust/trust.concept"
  std::string_view text;
};

// All files of the kit, by path.
std::span<const KitFile> kit_files();

// The text of kKitFolder/…; `not_found` for what the kit does not have.
Result<std::string> read_kit_file(std::string_view path);

}  // namespace sluice::deploy
