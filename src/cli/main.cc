// The program: hands the command line to cli/ and exits with what it says.
#include <iostream>

#include "cli/version.h"

int main() {
  std::cout << sluice::cli::version_line() << '\n';
  return 0;
}
