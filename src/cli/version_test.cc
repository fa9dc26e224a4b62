// The version is the build's.
#include "cli/version.h"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

TEST(Version, NamesProgramNumberAndCommit) {
  EXPECT_FALSE(version().number.empty());
  EXPECT_EQ(version_line(), "sluice " + version().number + " (" + version().commit + ")");
}

}  // namespace
}  // namespace sluice::cli
