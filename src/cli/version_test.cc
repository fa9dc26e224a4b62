// The version is the build's.
#include "cli/version.h"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace version_test {

TEST(Version, NamesProgramNumberAndCommit) {
  EXPECT_FALSE(version().number.empty());
  EXPECT_EQ(version_line(), "sluice " + version().number + " (" + version().commit + ")");
}

}  // namespace version_test
}  // namespace sluice::cli
