// The expressions of a type, or of an addon, against the schemas that it declares: what is wrong with them in every
// environment is said when the definition is applied, before anybody renders it.
#pragma once

#include <vector>

#include "base/result.h"
#include "render/component/kinds.h"

namespace sluice::component {

// All faults, with their places. The schemas must be sound.
std::vector<Error> check_expressions(const Defined<ComponentTypeKind>& type);
std::vector<Error> check_expressions(const Defined<AddonKind>& addon);

}  // namespace sluice::component
