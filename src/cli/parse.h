// From a command line to what it asks for, strictly by the table: an unknown word or option, a missing or a surplus
// value, a value of the wrong kind is refused, with the nearest right one where there is one.
//
// Options stand before or after the words of the command, as `--name value`, `--name=value`, `-n value` or `-nvalue`;
// after `--` everything is an argument.
#pragma once

#include <span>
#include <string>

#include "cli/command.h"

namespace sluice::cli {

Result<Given> parse(std::span<const std::string> words, const Commands& commands);

// The global options of a command line that does not parse, as far as they can be made out: the error should still be
// printed in the format that was asked for.
Given parse_globals(std::span<const std::string> words);

}  // namespace sluice::cli
