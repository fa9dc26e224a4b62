// Completion scripts for bash, zsh and fish, made from the table of commands: nouns, verbs, options, the values of
// options and arguments that have a fixed choice, and the topics of help. What a home has, its environments, bundles,
// deployments, revisions and flows, is asked of `sluice completion names KIND` while completing.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace sluice::cli {

// The kinds of names that scripts ask for; `things` are what runs: bundles and revisions.
const std::vector<std::string>& completion_kinds();

std::string bash_completion(const Commands& commands);
std::string zsh_completion(const Commands& commands);
std::string fish_completion(const Commands& commands);

}  // namespace sluice::cli
