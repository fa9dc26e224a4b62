// The limit, in a process of its own: it cannot be taken back.
#include "process/core_dumps.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace sluice::process {
namespace core_dumps_test {

TEST(CoreDumps, AreForbiddenForGood) {
  const pid_t child = ::fork();
  if (child == 0) {
    forbid_core_dumps();
    rlimit limit{};
    ::getrlimit(RLIMIT_CORE, &limit);
    if (limit.rlim_cur != 1 || limit.rlim_max != 1) ::_exit(1);
    std::abort();
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(WCOREDUMP(status));
}

}  // namespace core_dumps_test
}  // namespace sluice::process
