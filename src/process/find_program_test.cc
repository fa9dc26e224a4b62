// Names of programs and the files that they lead to.
#include "process/find_program.h"

#include <gtest/gtest.h>

namespace sluice::process {
namespace find_program_test {

TEST(FindProgram, APathIsOneAndANameIsLookedUp) {
  const std::map<std::string, std::string> environment = {{"PATH", "relative::/nowhere:/bin"}};
  EXPECT_EQ(find_program("/opt/app", "/bundle", environment).value(), "/opt/app");
  EXPECT_EQ(find_program("./app", "/bundle", environment).value(), "/bundle/./app");
  EXPECT_EQ(find_program("sh", "/bundle", environment).value(), "/bin/sh");
}

TEST(FindProgram, OnlyAbsoluteEntriesOfPathCount) {
  EXPECT_EQ(find_program("sh", "/bin", {{"PATH", ".:bin:"}}).error().message, "there is no program sh on PATH");
  EXPECT_EQ(find_program("sh", "/bin", {}).error().code, Code::not_found);
}

}  // namespace find_program_test
}  // namespace sluice::process
