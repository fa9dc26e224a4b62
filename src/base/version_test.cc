// The number of the version, as the build has it.
#include "base/version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sluice {
namespace version_test {

TEST(Version, IsThreeNumbers) {
  EXPECT_THAT(std::string(version_number()), testing::MatchesRegex("[0-9]+[.][0-9]+[.][0-9]+"));
}

}  // namespace version_test
}  // namespace sluice
