// Which groups would be made is decided from two texts; making them needs a system that lets us.
#include "process/control_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/testing_folder.h"
#include "base/testing_wait.h"
#include "process/system.h"

namespace sluice::process {
namespace control_group_test {

using testing::ElementsAre;

TEST(ControlGroup, IsPlannedBelowTheGroupThatThisProcessIsIn) {
  EXPECT_THAT(plan_groups("30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
                          "0::/system.slice/sluice.service\n", "one"),
              ElementsAre("/sys/fs/cgroup/system.slice/sluice.service/one"));
}

TEST(ControlGroup, IsPlannedInEachHierarchyThatBoundsSomething) {
  EXPECT_THAT(plan_groups("22 28 0:20 / /sys rw shared:7 - sysfs sysfs rw\n"
                          "33 25 0:28 / /cg/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
                          "34 25 0:29 / /cg/memory rw shared:9 - cgroup cgroup rw,memory\n"
                          "35 25 0:30 / /cg/freezer rw shared:9 - cgroup cgroup rw,freezer\n"
                          "36 25 0:31 / /cg/unified rw shared:9 - cgroup2 cgroup2 rw\n",
                          "5:cpu,cpuacct:/\n4:memory:/jobs/7\n3:freezer:/\n0::/\n", "one"),
              ElementsAre("/cg/cpu,cpuacct/one", "/cg/memory/jobs/7/one", "/cg/unified/one"));
}

TEST(ControlGroup, IsPlannedWhereAContainerSeesIt) {
  EXPECT_THAT(plan_groups("30 23 0:26 /docker/a /cg/memory rw shared:4 - cgroup cgroup rw,memory\n",
                          "4:memory:/docker/a\n", "one"),
              ElementsAre("/cg/memory/one"));
}

TEST(ControlGroup, IsNotPlannedFromWhatIsNoSuchText) {
  EXPECT_THAT(plan_groups("", "", "one"), ElementsAre());
  EXPECT_THAT(plan_groups("- - -\n1 2 3 4 - cgroup\n", "::\n:\nx\n", "one"), ElementsAre());
}

TEST(ControlGroup, WhatCannotBeMadeIsLeftToRlimits) {
  MadeGroups made = make_groups({"/proc/none/group"}, {});
  EXPECT_THAT(made.folders, ElementsAre());
  EXPECT_EQ(to_string(made), "rlimits");
  EXPECT_EQ(to_string(MadeGroups{.limits = {"memory"}}), "control groups (memory) and rlimits");
  EXPECT_EQ(to_string(MadeGroups{.limits = {"cpu", "memory", "pids"}}), "control groups (cpu, memory, pids)");
}

TEST(ControlGroup, HoldsWhatJoinsItUntilItIsKilled) {
  MadeGroups made = make_groups(plan_groups("sluice-test-" + std::to_string(::getpid())), {});
  if (made.folders.empty()) {
    EXPECT_EQ(to_string(made), "rlimits") << "where no group can be made";
    return;
  }
  pid_t child = ::fork();
  if (child == 0) {
    if (!join_groups(made.folders)) ::_exit(1);
    for (;;) ::pause();
  }
  ASSERT_TRUE(eventually([&] { return !members_of(made.folders).empty(); }));
  EXPECT_THAT(members_of(made.folders), ElementsAre(child));
  kill_groups(made.folders);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_EQ(memory_kills(made.folders), 0U);
  remove_groups(made.folders);
  for (const std::string& folder : made.folders) EXPECT_FALSE(std::filesystem::exists(folder)) << folder;
}

TEST(ControlGroup, AChildCanBeBornInOneOfTheSecondVersion) {
  TestingFolder folder;
  std::filesystem::create_directories(folder.path("v1"));
  std::filesystem::create_directories(folder.path("v2"));
  ASSERT_TRUE(replace_file(folder.path("v1/tasks"), "", 0600));
  EXPECT_EQ(birth_group({folder.path("v1"), folder.path("v2")}), folder.path("v2"));
  EXPECT_EQ(birth_group({folder.path("v1")}), "");
  ASSERT_TRUE(join_groups({folder.path("v1"), folder.path("v2")}, folder.path("v2")));
  EXPECT_FALSE(std::filesystem::exists(folder.path("v2/cgroup.procs")));
  EXPECT_EQ(fork_into(folder.path("v2")), -1) << "that is no control group";
}

TEST(ControlGroup, ThoseThatAreThereAreFoundByTheirFiles) {
  TestingFolder folder;
  std::filesystem::create_directories(folder.path("cg/one"));
  for (const char* file : {"cgroup.procs", "memory.max", "pids.max"}) {
    ASSERT_TRUE(replace_file(folder.path("cg/one/") + file, "", 0600));
  }
  MadeGroups found = groups_there({folder.path("cg/one"), folder.path("cg/none")});
  EXPECT_THAT(found.folders, ElementsAre(folder.path("cg/one")));
  EXPECT_THAT(found.limits, ElementsAre("memory", "pids"));
}

}  // namespace control_group_test
}  // namespace sluice::process
