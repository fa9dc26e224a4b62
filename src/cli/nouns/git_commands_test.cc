// What the commands say while no repository can be reached. A branch is followed in tests/releases/test_git_flow.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace git_commands_test {

using testing::HasSubstr;

TEST(GitCommands, ABranchIsWatchedListedAndForgotten) {
  ObjectsHome home;
  EXPECT_THAT(home.run({"git", "list"}).out, HasSubstr("No repository is watched"));
  EXPECT_THAT(home.run({"git", "watch", "http://git.example/acme/infra.git"}).err, HasSubstr("https://"));
  EXPECT_THAT(home.run({"git", "list"}).out, HasSubstr("No repository is watched")) << "it was refused";
  home.run({"git", "watch", "https://127.0.0.1:1/acme/infra.git"});
  EXPECT_THAT(home.run({"git", "list"}).out, HasSubstr("infra")) << "a server that is away may come back";
  EXPECT_THAT(home.run({"git", "unwatch", "infra"}).out, HasSubstr("infra"));
  EXPECT_THAT(home.run({"git", "list"}).out, HasSubstr("No repository is watched"));
  EXPECT_THAT(home.run({"git", "sync", "infra"}).err, HasSubstr("infra"));
}

}  // namespace git_commands_test
}  // namespace sluice::cli
