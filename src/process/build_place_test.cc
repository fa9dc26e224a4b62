// The same path from every folder, where the system lets a process have its own view.
#include "process/build_place.h"

#include <gtest/gtest.h>

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
