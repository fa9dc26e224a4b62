// A worker that is a program of its own, of another version than its master perhaps: what it is to do comes as JSON in
// a file that it inherits, together with the descriptors that the JSON names.
//
//   sluice router-worker FD
#pragma once

#include <optional>
#include <string>

#include "base/disk.h"
#include "base/result.h"
#include "router/worker.h"

namespace sluice::router {

std::string worker_order(const WorkerPlan& plan, const WorkerPlaces& places);
Result<std::pair<WorkerPlan, WorkerPlaces>> read_worker_order(std::string_view text);

// Becomes that program, in a process that was forked for it; returns only if that fails.
void become_worker(const std::string& binary, const WorkerPlan& plan, const WorkerPlaces& places);

// If the command line is that of such a worker: serves, and the process's exit code.
std::optional<int> serve_as_worker(int count, char** words, Disk& disk);

}  // namespace sluice::router
