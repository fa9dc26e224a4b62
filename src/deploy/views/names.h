// How people name objects: an environment by its id, a deployment by its ULID, a unique beginning of one, or by the
// bundle (and customer) if that means one; a revision by its ULID, a unique beginning, or BUNDLE@SEQUENCE. What is
// unknown or means several is `not_found`, and the error lists what could have been meant.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "deploy/views/states.h"

namespace sluice::deploy::views {

// A name that is given up means the environment that has it as an alias.
Result<env::EnvFound> find_environment(const States& states, const std::string& name);
// What to tell whoever uses a name that is given up; nothing for others.
std::optional<std::string> alias_warning(const States& states, const std::string& name);

struct DeploymentName {
  std::string deployment;  // a ULID or its beginning; or
  std::string bundle;      // with
  std::string customer;    // perhaps
};
// With nothing named: the only one that there is.
Result<deployment::DeploymentFound> find_deployment(const States& states, const std::string& environment,
                                                    const DeploymentName& name);

// Of the environment, or of one deployment alone if that is given.
Result<revision::RevisionFound> find_revision(const States& states, const std::string& environment,
                                              const std::string& name, const std::string& deployment = "");

}  // namespace sluice::deploy::views
