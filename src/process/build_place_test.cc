// The same path from every folder, where the system lets a process have its own view.
#include "process/build_place.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/testing_folder.h"

namespace sluice::process {
namespace build_place_test {

TEST(BuildPlace, IsTheSamePathForEveryFolder) {
  RealClock clock;
  RealRunner runner(clock);
  TestingFolder folder;
  for (const char* name : {"one", "another"}) {
    const std::string work = folder.path(name);
    std::filesystem::create_directories(work + "/src");
    ASSERT_TRUE(has_build_place(runner, work)) << "it needs root, or user namespaces";
    auto ran = runner.run(
        in_build_place({.argv = {"sh", "-c", "pwd; echo $HOME $KEPT; echo made > file"},
                        .folder = work + "/src",
                        .environment = {{"PATH", "/usr/bin:/bin"}, {"HOME", work + "/home"}, {"KEPT", work + "-else"}}},
                       work),
        {});
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->tail, "/tmp/sluice-build/src\n/tmp/sluice-build/home " + work + "-else\n");
    EXPECT_TRUE(std::filesystem::exists(work + "/src/file")) << "what it makes lies in its folder";
  }
  EXPECT_TRUE(std::filesystem::is_empty(kBuildPlace)) << "nobody else sees it there";
}

constexpr uid_t kNobody = 65534;

// Is a user without rights, or becomes one, and says by the exit code what was seen: 0 the place, and no capability in
// it.
[[noreturn]] void look_without_rights(const std::string& work) {
  if (::geteuid() == 0 && (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0))
    ::_exit(2);
  RealClock clock;
  RealRunner runner(clock);
  const std::map<std::string, std::string> environment = {{"PATH", "/usr/bin:/bin"}};
  // In a chroot nobody but root may have a user namespace.
  auto may = runner.run({.argv = {"unshare", "--user", "true"}, .folder = "/", .environment = environment}, {});
  if (!may || !may->good()) ::_exit(has_build_place(runner, work) ? 5 : 0);
  if (!has_build_place(runner, work)) ::_exit(3);
  auto ran = runner.run(in_build_place({.argv = {"sh", "-c", "pwd; id -u; grep CapEff /proc/self/status; touch made"},
                                        .folder = work,
                                        .environment = environment},
                                       work),
                        {});
  const std::string seen = "/tmp/sluice-build\n" + std::to_string(::geteuid()) + "\nCapEff:\t0000000000000000\n";
  ::_exit(ran && ran->tail == seen ? 0 : 4);
}

TEST(BuildPlace, IsThereForWhoIsNotRootAndGivesNoRights) {
  TestingFolder folder;
  const uid_t before = ::geteuid(), user = before == 0 ? kNobody : before;
  ASSERT_EQ(::chown(folder.path().c_str(), user, static_cast<gid_t>(-1)), 0);
  EXPECT_EXIT(look_without_rights(folder.path()), testing::ExitedWithCode(0), "");
  EXPECT_EQ(::chown(folder.path().c_str(), before, static_cast<gid_t>(-1)), 0);
}

TEST(BuildPlace, TellsHowTheCommandEnded) {
  RealClock clock;
  RealRunner runner(clock);
  TestingFolder folder;
  ASSERT_TRUE(has_build_place(runner, folder.path())) << "it needs root, or user namespaces";
  auto ran = runner.run(
      in_build_place(
          {.argv = {"sh", "-c", "exit 7"}, .folder = folder.path(), .environment = {{"PATH", "/usr/bin:/bin"}}},
          folder.path()),
      {});
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(ran->code, 7);
}

TEST(BuildPlace, IsNotThereForAFolderThatIsNot) {
  RealClock clock;
  RealRunner runner(clock);
  TestingFolder folder;
  EXPECT_FALSE(has_build_place(runner, folder.path("nothere")));
}

}  // namespace build_place_test
}  // namespace sluice::process
