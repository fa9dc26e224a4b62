// By a limit, which children inherit and nobody but root can raise again.
#include "process/core_dumps.h"

#include <sys/resource.h>

namespace sluice::process {

void forbid_core_dumps() {
  // One byte, not none: where dumps go to a program through a pipe, the kernel leaves out only those with this limit.
  const rlimit one{.rlim_cur = 1, .rlim_max = 1};
  ::setrlimit(RLIMIT_CORE, &one);
}

}  // namespace sluice::process
