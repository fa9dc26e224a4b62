// A program that is a supervisor and nothing else, for the tests and benchmarks of src/process.
#include "process/supervisor.h"

int main(int count, char** words) { return sluice::process::supervise(count, words).value_or(2); }
