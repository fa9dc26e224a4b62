// Completion scripts for bash, zsh and fish, made from the table of commands: nouns, verbs, options, the values of
// options and arguments that have a fixed choice, and the topics of help. Nothing is asked of Sluice while completing.
#pragma once

#include <string>

#include "cli/command.h"

namespace sluice::cli {

std::string bash_completion(const Commands& commands);
std::string zsh_completion(const Commands& commands);
std::string fish_completion(const Commands& commands);

}  // namespace sluice::cli
