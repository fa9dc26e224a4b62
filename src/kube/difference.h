// What differs between two states of an object, for people: unified hunks over YAML, without what servers keep for
// themselves.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "kube/object.h"

namespace sluice::kube {

// Without managedFields, resourceVersion, uid, generation, times, status, and without the label of the request, which
// follows from the rest.
json::value comparable(const json::value& object);

// The fields that a manager owns; null if it owns none.
const json::value& fields_of(const json::value& object, std::string_view manager, std::string_view operation = "Apply");

// Whether applying changed nothing: the same object, and the same fields owned by the manager.
bool is_same(const json::value& before, const json::value& after, std::string_view manager);

// "--- current/NAME", "+++ target/NAME" and hunks with three lines of context; empty if nothing differs. Null stands
// for an object that is not there.
std::string unified_difference(const json::value& before, const json::value& after, const std::string& name);

}  // namespace sluice::kube
