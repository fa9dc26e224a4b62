// Finding processes by whom started them, and by their mark.
#include "process/process_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "base/process_identity.h"
#include "base/testing_wait.h"
#include "process/spawn.h"

namespace sluice::process {
namespace process_tree_test {

using testing::Contains;
using testing::ElementsAre;

Result<Child> family(const std::string& mark) {
  return Child::spawn({.program = "/bin/sh",
                       .argv = {"sh", "-c", "setsid sleep 1000 & echo $!; wait"},
                       .folder = "/",
                       .environment = {{"PATH", "/usr/bin:/bin"}, {std::string(kMarkVariable), mark}}});
}

pid_t noted(Child& child) {
  std::array<char, 32> bytes{};
  auto said = child.read(60'000, bytes);
  return said ? static_cast<pid_t>(std::atoi(std::string(said->data(), said->size()).c_str())) : 0;
}

std::string program_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

TEST(ProcessTree, FindsChildrenOfChildren) {
  auto child = family("tree-a");
  ASSERT_TRUE(child);
  pid_t grandchild = noted(*child);
  EXPECT_THAT(descendants_of(child->id()), ElementsAre(grandchild));
  EXPECT_THAT(descendants_of(::getpid()), Contains(child->id()));
  EXPECT_THAT(descendants_of(::getpid()), Contains(grandchild));
  end_leftovers({}, "tree-a");
}

TEST(ProcessTree, EndsWhatBearsTheMarkAndNothingElse) {
  const std::string mark = "tree-" + std::to_string(::getpid());
  auto child = family(mark), other = family(mark + "x");
  ASSERT_TRUE(child && other);
  pid_t grandchild = noted(*child), spared = noted(*other);
  // A process that is about to become another program has no environment for a moment.
  EXPECT_TRUE(eventually([&] { return program_of(grandchild) == "sleep" && processes_marked(mark).size() == 2; }));
  EXPECT_TRUE(eventually([&] { return program_of(spared) == "sleep" && processes_marked(mark + "x").size() == 2; }));
  EXPECT_THAT(processes_marked(mark), testing::UnorderedElementsAre(child->id(), grandchild));
  EXPECT_EQ(end_leftovers({}, mark), 2U);
  EXPECT_THAT(processes_marked(mark), ElementsAre());
  EXPECT_THAT(processes_marked(mark + "x"), testing::UnorderedElementsAre(other->id(), spared));
  EXPECT_EQ(end_leftovers({}, mark + "x"), 2U);
  EXPECT_EQ(end_leftovers({}, mark), 0U);
}

TEST(ProcessTree, TellsThoseThatLeftTheGroupToo) {
  // As a supervisor is: orphans become its children, and are found.
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
  auto child = family("tree-b");
  ASSERT_TRUE(child);
  pid_t grandchild = noted(*child);
  auto left = identify_process(grandchild);
  ASSERT_TRUE(left);
  tell_descendants(child->id(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return child->ended() && !*is_running(*left); }));
  ::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

}  // namespace process_tree_test
}  // namespace sluice::process
