// How a person or a script hands a secret to a command: through a file, a pipe or a prompt that does not show it, never
// through the command line, which every program of the machine can read.
#pragma once

#include <string>

#include "cli/context.h"

namespace sluice::cli {

// --file FILE, else what is piped in, less one line break at its end, else what is typed at a prompt.
Result<std::string> read_secret_value(Context& context, const std::string& name);

// The same without a file.
Result<std::string> read_unfiled_value(Context& context, const std::string& name);

// Refuses a value that stands on the command line, and does not repeat it.
Result<void> check_no_value_given(const Context& context);

}  // namespace sluice::cli
