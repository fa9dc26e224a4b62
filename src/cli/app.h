// The program behind main(): parses the command line, runs the command, prints its error, and answers the exit code.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "base/disk.h"
#include "base/terminal.h"
#include "cli/command.h"
#include "host/loaded_concepts.h"

namespace sluice::cli {

// The process as a command sees it; tests give their own.
struct Process {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  Disk& disk;
  Variables variables;
  std::function<Terminal(int fd, bool no_color)> terminal;
  const host::LoadedConcepts* concepts = nullptr;
};

int run(std::span<const std::string> words, const Commands& commands, const Process& process);

}  // namespace sluice::cli
