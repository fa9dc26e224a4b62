// The whole program behind main(): the kit's concepts with the disk, clock, processes and routers that they work with,
// and the commands over them. Another program may add concepts of its own: examples/kits/orders does.
#pragma once

#include <functional>

#include "base/disk.h"
#include "base/terminal.h"
#include "host/loaded_concepts.h"

namespace sluice::cli {

// Adds concepts and their tools, which must outlive the program's run.
using AddConcepts = std::function<void(host::LoadedConcepts& loaded, Disk& disk, const Variables& variables)>;

// The exit code.
int run_program(int count, char** words, const AddConcepts& add = {});

}  // namespace sluice::cli
