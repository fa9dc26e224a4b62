// The calls to the system, each by what it promises.
#include "process/system.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::process {
namespace system_test {

struct SystemTest : testing::Test {
  TestingFolder folder;
  RealDisk disk;
};

TEST_F(SystemTest, ALockIsHeldByOneAndByWhoeverInheritsIt) {
  const std::string path = folder.path("lock");
  auto first = take_lock(path);
  ASSERT_TRUE(first && *first);
  EXPECT_FALSE(take_lock(path).value());
  Descriptor inherited(::dup((*first)->fd()));
  first = std::optional<Descriptor>();
  EXPECT_FALSE(take_lock(path).value()) << "the other one still has it";
  inherited.reset();
  EXPECT_TRUE(take_lock(path).value());
  EXPECT_EQ(take_lock(folder.path("none/lock")).error().code, Code::not_found);
}

TEST_F(SystemTest, AReplacedFileIsTheOldOrTheNew) {
  const std::string path = folder.path("state");
  ASSERT_TRUE(replace_file(path, "old", 0600));
  ASSERT_TRUE(replace_file(path, "new", 0444));
  EXPECT_EQ(*read_file(disk, path, 100), "new");
  EXPECT_EQ(disk.stat(path, FollowLinks::no)->mode, 0444U);
  ASSERT_TRUE(disk.make_folder(folder.path("taken"), 0700));
  EXPECT_FALSE(replace_file(folder.path("taken"), "x", 0600));
  EXPECT_EQ(disk.list(folder.path())->size(), 2U) << "nothing is left beside them";
}

TEST_F(SystemTest, ASealedFileInMemoryCannotBeChanged) {
  auto file = sealed_memory("secret", "abc");
  ASSERT_TRUE(file);
  EXPECT_EQ(*read_all(file->fd()), "abc");
  EXPECT_EQ(*read_all(file->fd()), "abc") << "also the second time";
  EXPECT_EQ(::write(file->fd(), "x", 1), -1);
  EXPECT_EQ(::ftruncate(file->fd(), 0), -1);
}

TEST_F(SystemTest, AHandleIsOfThatProcessAlone) {
  pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  auto identity = identify_process(child);
  ASSERT_TRUE(identity);
  ProcessIdentity earlier = *identity;
  earlier.start_ticks--;
  EXPECT_EQ(ProcessHandle::open(earlier).error().message, "process " + std::to_string(child) + " has ended");
  auto handle = ProcessHandle::open(*identity);
  ASSERT_TRUE(handle);
  EXPECT_FALSE(handle->wait_ms(0));
  EXPECT_TRUE(handle->send(SIGKILL));
  EXPECT_TRUE(handle->wait_ms(60'000));
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(handle->send(SIGKILL)) << "it has ended: nothing is left to do, and nobody else is hit";
  EXPECT_EQ(ProcessHandle::open(*identity).error().code, Code::not_found);
}

TEST_F(SystemTest, ADetachedProgramHasItsDescriptorsAndASessionOfItsOwn) {
  const int leak = ::dup(2);
  auto first = sealed_memory("first", "1"), second = sealed_memory("second", "2");
  auto code = start_detached({"/bin/sh", "-c",
                              "cat <&4 >&2; cat <&3 >&2; ls /proc/self/fd | wc -l >&2; "
                              "set -- $(cat /proc/$$/stat); test $6 = $$"},
                             std::array{first->fd(), second->fd()}, folder.path("messages"));
  ::close(leak);
  ASSERT_TRUE(code) << to_string(code.error());
  EXPECT_EQ(*code, 0);
  // 0 to 4, and the one by which ls reads.
  EXPECT_EQ(*read_file(disk, folder.path("messages"), 100), "216\n");
  EXPECT_EQ(start_detached({"/bin/sh", "-c", "exit 7"}, {}, "/dev/null").value(), 7);
  EXPECT_EQ(start_detached({"/none"}, {}, "/dev/null").error().code, Code::not_found);
}

TEST_F(SystemTest, OwnIdsAreThoseThatThereAre) {
  auto ids = make_ids();
  if (!ids) {
    EXPECT_THAT(ids.error().message, testing::StartsWith("cannot "));
    return;
  }
  pid_t child = ::fork();
  if (child == 0) {
    bool same = take_ids(ids->fd()) == 0 && ::setresuid(65532, 65532, 65532) == 0;
    struct stat root {};
    ::_exit(same && ::getuid() == 65532 && ::stat("/", &root) == 0 && root.st_uid == 0 ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(SystemTest, WhatTheKernelDoesNotTellIsEmpty) {
  EXPECT_EQ(kernel_text("/proc/self/comm").back(), '\n');
  EXPECT_EQ(kernel_text("/proc/self/none"), "");
  EXPECT_EQ(kernel_text("/proc/self/mem"), "") << "it can be opened, and reading it fails";
}

TEST_F(SystemTest, ControlFilesSayNo) {
  EXPECT_EQ(write_control(folder.path("none"), "1").error().code, Code::not_found);
  EXPECT_EQ(move_file(folder.path("none"), folder.path("other")).error().code, Code::not_found);
  EXPECT_EQ(give_to(folder.path("none"), 1).error().code, Code::not_found);
}

}  // namespace system_test
}  // namespace sluice::process
