// Finding out who is behind a process.
#include "host/caller.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_volatile_disk.h"

namespace sluice::host {
namespace caller_test {

TEST(Caller, IsTheRealUserOfTheProcess) {
  RealDisk disk;
  EXPECT_EQ(caller_behind(disk, {.user = ::geteuid(), .pid = ::getpid()}), "uid:" + std::to_string(::getuid()));
}

std::string behind(const std::string& status) {
  VolatileDisk disk;
  for (const char* folder : {"/proc", "/proc/812"}) EXPECT_TRUE(disk.make_folder(folder, 0755));
  EXPECT_TRUE(write_atomically(disk, "/proc/812/status", status, 0644));
  return caller_behind(disk, {.user = 1000, .pid = 812});
}

TEST(Caller, IsNotWhomAProgramActsFor) {
  EXPECT_EQ(behind("Name:\tsluice\nUid:\t65534\t1000\t1000\t1000\nGid:\t1\n"), "uid:65534");
}

TEST(Caller, IsWhomItActsForIfNothingElseIsKnown) {
  EXPECT_EQ(behind("Name:\tother\nUid:\t7\t7\t7\t7\n"), "uid:1000") << "the number was taken by another process";
  EXPECT_EQ(behind("Name:\tsluice\n"), "uid:1000");
  EXPECT_EQ(behind("Name:\tsluice\nUid:\tx"), "uid:1000");
  EXPECT_EQ(behind("Name:\tsluice\nUid:\t7"), "uid:1000");
  VolatileDisk empty;
  EXPECT_EQ(caller_behind(empty, {.user = 1000, .pid = 812}), "uid:1000");
}

}  // namespace caller_test
}  // namespace sluice::host
