// The program sluice.
#include "cli/program.h"

int main(int count, char** words) { return sluice::cli::run_program(count, words); }
