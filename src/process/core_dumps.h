// From here on this process, and what it starts, leaves no core dump: on their way to where they are used, secrets pass
// through memory that nobody wipes.
#pragma once

namespace sluice::process {

void forbid_core_dumps();

}  // namespace sluice::process
