// A test program that is started once more says what a test program says.
#include "process/own_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::process {
namespace own_program_test {

TEST(OwnProgram, IsStartedAgainAndWritesToTheLog) {
  TestingFolder folder;
  RealDisk disk;
  auto pid = start_own_program({"--gtest_list_tests", "--gtest_filter=OwnProgram.*"}, folder.path("log"));
  ASSERT_TRUE(pid);
  ASSERT_TRUE(ends_within(*pid, 60'000));
  EXPECT_THAT(read_file(disk, folder.path("log"), 1 << 20).value(), testing::HasSubstr("OwnProgram.\n"));
}

TEST(OwnProgram, ALogThatCannotBeWrittenIsAnError) {
  TestingFolder folder;
  EXPECT_FALSE(start_own_program({"--gtest_list_tests"}, folder.path("none/log")));
}

}  // namespace own_program_test
}  // namespace sluice::process
