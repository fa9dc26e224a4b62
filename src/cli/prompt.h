// How commands read what a person types. Ctrl-C ends the command at once: commands hold the signal back while they work
// (host::StopSignal), so a plain read would only notice it after the next line.
#pragma once

#include <istream>
#include <string>

#include "base/result.h"
#include "cli/context.h"

namespace sluice::cli {

// Reads one line of the command's input. False: there is no more. An error: the person has had enough.
Result<bool> read_line(Context& context, std::string& line);

// The same of any stream; `fd` is what it reads, or -1 if reading it never waits.
Result<bool> read_line(std::istream& in, int fd, std::string& line);

}  // namespace sluice::cli
