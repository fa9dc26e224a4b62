// What people ask `why` about: a revision (hello@2), a deployment, an environment or a router, by the names that they
// have; how it stands, in sentences; and the row whose last change says which flow made it so.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "lang/run/view.h"

namespace sluice::deploy::views {

struct Subject {
  std::string kind;  // revision, deployment, environment or router
  std::string id;
  std::string name;  // "hello@2"
  std::string relation;
  std::string key;
  bool waits = false;  // something is under way for it, so the flow is part of the answer
  std::vector<std::string> said;
};

// `not_found` if nothing is called so in any environment; `conflict` names all that are.
// With a customer, those of others are not looked at.
Result<Subject> find_subject(const lang::Reading& reading, const std::string& name, const std::string& customer = "");

}  // namespace sluice::deploy::views
