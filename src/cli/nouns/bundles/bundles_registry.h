// `sluice bundles push` and `sluice bundles pull`: bundles in OCI registries; and what `sluice pack push` and `pack
// pull` share with them.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/command.h"
#include "deploy/registry_bundles.h"

namespace sluice::cli {

Command bundles_push_command();
Command bundles_pull_command();

// The argument of all of them, and what `pull` takes besides.
Arg registry_reference();
std::vector<Option> pulled_options();

// Sends what the argument `file` names to the registry that the command line names.
using PushTo = std::function<Result<deploy::PushedBundle>(oci::Registry& registry, const std::string& file)>;
Result<Code> push_to_registry(Context& context, const PushTo& push);

// Fetches an artifact of this type; `next` begins the command to go on with, before the file's name.
Result<Code> pull_from_registry(Context& context, std::string_view type, const std::string& next);

}  // namespace sluice::cli
