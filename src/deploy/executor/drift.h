// What others have changed of an object since it was applied last: fields that have another value now and belong to
// another manager.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::deploy::executor {

struct DriftedField {
  std::string field;    // ".spec.replicas", ".spec.containers[name="a"].image"
  std::string manager;  // "kubectl"

  bool operator==(const DriftedField&) const = default;
};
std::vector<DriftedField> drift_of(const boost::json::value& last_applied, const boost::json::value& live,
                                   std::string_view own_manager);

}  // namespace sluice::deploy::executor
