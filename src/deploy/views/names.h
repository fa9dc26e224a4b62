// How people name objects: an environment by its id, a deployment by its ULID, a unique beginning of one, or by the
// bundle (and customer) if that means one; a revision by its ULID, a unique beginning, or BUNDLE@SEQUENCE. What is
// unknown is `not_found`, what means several is a `conflict`; the error lists what could have been meant.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "deploy/views/states.h"
#include "deployment.gen.h"
#include "env.gen.h"
#include "revision.gen.h"

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
// All that a name can mean: one alone if it is its whole id.
std::vector<deployment::DeploymentFound> deployments_named(const States& states, const std::string& environment,
                                                           const DeploymentName& name);
// With nothing named: the only one that there is.
Result<deployment::DeploymentFound> find_deployment(const States& states, const std::string& environment,
                                                    const DeploymentName& name);

// Of the environment, or of one deployment alone if that is given: all that a name can mean, and the one that it means.
std::vector<revision::RevisionFound> revisions_named(const States& states, const std::string& environment,
                                                     const std::string& name, const std::string& deployment = "");
Result<revision::RevisionFound> find_revision(const States& states, const std::string& environment,
                                              const std::string& name, const std::string& deployment = "");

// The bundle in "hello@2"; empty if it is no such name.
std::string bundle_in(const std::string& revision);
// What tells several of one name apart: their customers, if those differ, else their ids.
std::string way_to_tell(const States& states, const std::vector<revision::RevisionFound>& several);

// "hello@2".
std::string name_of(const revision::RevisionFound& found);
// The same with what tells it apart from others of that name: "01J… (hello for local-dev)", "01J… (hello@2 for acme)".
std::string title_of(const deployment::DeploymentFound& found);
std::string title_of(const States& states, const revision::RevisionFound& found);
std::string customer_of(const States& states, const revision::RevisionFound& found);

}  // namespace sluice::deploy::views
