// The next steps that a kit names (engine/rules/next_steps.h), as command lines. An action becomes the command that is
// it, with its arguments in their places, or `sluice do Concept/action name=value …` if no command is; a view the
// command that shows it. What a kit says in a sentence stays one.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "base/document.h"
#include "cli/command.h"

namespace sluice::cli {

// All of them, in order, joined by ", or: ". `given` is the command line that was refused: what the steps say nothing
// about, such as the environment of a revision, is taken from it, or is this `environment` if it names none.
std::string next_commands(const json::array& steps, const Commands& commands, const Given& given,
                          const std::string& environment = "");

// The same for a step as errors and findings have it, `Revision/warm revision=r1` or `view environments`; anything else
// stays as it is.
std::string next_command(const std::string& step, const Commands& commands, const Given& given);

// Several of them, one after the other: "Env/create environment=prod, then Secret/put environment=prod name=shop/KEY".
std::string next_commands_in(const std::string& text, const Commands& commands, const Given& given);

// The next step at the end of a message of the kit, "…; next: Secret/put environment=prod name=shop/KEY", as commands;
// empty if it has none.
std::string next_in_message(const std::string& message, const Commands& commands, const Given& given);

}  // namespace sluice::cli
