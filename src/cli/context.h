// What a command's handler works with.
#pragma once

#include <iosfwd>
#include <optional>

#include "base/disk.h"
#include "base/terminal.h"
#include "cli/command.h"
#include "cli/output.h"
#include "host/loaded_concepts.h"

namespace sluice::cli {

struct Context {
  const Commands& commands;
  const Given& given;
  Output& output;
  const Variables& variables;  // the process's environment variables
  std::istream& in;
  Disk& disk;
  const host::LoadedConcepts* concepts = nullptr;  // what this program can run; nothing: only what needs no handlers
  std::optional<int> exit_code = {};               // of a program that the command ran, in place of the code's own
};

}  // namespace sluice::cli
