// A program that is a supervisor, or a command in a replica's place, and nothing else, for the tests and benchmarks of
// src/process.
#include "process/replica_exec.h"
#include "process/supervisor.h"

int main(int count, char** words) {
  if (auto code = sluice::process::exec_in_replica(count, words)) return *code;
  return sluice::process::supervise(count, words).value_or(2);
}
