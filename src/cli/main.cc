// The program: hands the command line to cli/ and exits with what it says.
#include <iostream>

#include "cli/all_commands.h"
#include "cli/app.h"

int main(int count, char** words) {
  const sluice::Variables variables = sluice::process_variables();
  sluice::cli::Process process{
      .in = std::cin,
      .out = std::cout,
      .err = std::cerr,
      .variables = variables,
      .terminal = [&](int fd, bool no_color) { return sluice::detect_terminal(fd, variables, no_color); }};
  const std::vector<std::string> line(words + std::min(count, 1), words + count);
  return sluice::cli::run(line, sluice::cli::all_commands(), process);
}
