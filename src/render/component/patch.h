// Changes to a rendered object, as addons describe them.
//
//   /spec/replicas                              a field
//   /spec/template/spec/volumes/-               the end of a list; add makes the list and the maps on the way
//   /spec/containers[?(@.name=='app')]/image    the items of a list that a filter selects
//   /spec/rules[*]/backendRefs/0                all items; an item by its index
//
// `add` sets a field or inserts an item; `replace` wants what is there; `remove` of a field that is not there is fine,
// of an item it is not; `mergeShallow` puts the fields of a map into a map. A filter or `[*]` that selects nothing is
// an error.
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "render/component/kinds.h"

namespace sluice::component {

struct PatchedPlace {
  std::string pointer;
  std::optional<json::value> displaced;
};

// Changes the object and says what it changed. Nothing is changed if it fails.
Result<std::vector<PatchedPlace>> apply_patch(json::value& object, PatchOp op, std::string_view path,
                                              const json::value& value);

}  // namespace sluice::component
