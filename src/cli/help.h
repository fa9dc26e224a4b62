// Help from the table of commands and the topics. It works without a network and without a home.
#pragma once

#include <string>
#include <string_view>

#include "cli/context.h"

namespace sluice::cli {

// What `sluice help` says: what Sluice is, its commands by group, examples, and where to go next.
std::string overview(const Commands& commands, const Terminal& terminal);

// Explains a command ("kit check"), a noun, a topic, or, for no words, Sluice itself.
Result<Code> print_help(std::string_view words, Context& context);

}  // namespace sluice::cli
