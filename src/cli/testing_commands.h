// A small table of commands, with every kind of argument and option, and a place to run command lines in.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/terminal.h"
#include "cli/all_commands.h"
#include "cli/command.h"
#include "host/loaded_concepts.h"

namespace sluice::cli {

Commands testing_commands();

// What came of a command line.
struct Ran {
  int exit = -1;
  std::string out;
  std::string err;
};

// What is around a command line, where a test needs it: variables, stdin, and concepts that can run.
struct Around {
  std::map<std::string, std::string> variables;
  std::string in;
  const host::LoadedConcepts* concepts = nullptr;
};

Ran run_line(const Commands& commands, const std::vector<std::string>& words, const Terminal& terminal = {},
             const Around& around = {});

}  // namespace sluice::cli
