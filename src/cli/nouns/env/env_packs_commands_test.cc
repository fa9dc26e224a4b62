// sluice env-packs on a home of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace env_packs_commands_test {

using testing::HasSubstr;

TEST(EnvPacks, AreBoundReplacedAndBroughtBack) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"env-packs", "add", "local", "acme.gitops.flux@1.0.0"}).out,
            "bound  gitops  acme.gitops.flux@1.0.0, generation 0\n");
  const auto taken = home.run({"env-packs", "add", "local", "acme.gitops.argo@1.0.0"});
  EXPECT_EQ(taken.exit, 6);
  EXPECT_THAT(taken.err, HasSubstr("next:  sluice env-packs update local acme.gitops.argo@1.0.0\n"));
  EXPECT_EQ(home.run({"env-packs", "update", "local", "acme.gitops.argo@1.0.0"}).exit, 0);
  EXPECT_EQ(home.run({"env-packs", "rollback", "local", "gitops"}).out,
            "bound  gitops  acme.gitops.flux@1.0.0, generation 2\n");
  EXPECT_EQ(home.run({"env-packs", "rollback", "local", "gitops", "--steps", "5"}).exit, 6);
  EXPECT_EQ(home.data({"env-packs", "list", "local"}).as_array().size(), 6U);
}

TEST(EnvPacks, ADefaultThatIsTakenAwayComesBack) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"env-packs", "update", "local", "acme.state.other@1.0.0"}).exit, 0);
  EXPECT_EQ(home.run({"env-packs", "remove", "local", "state", "--yes"}).exit, 0);
  EXPECT_THAT(home.run({"env-packs", "list", "local"}).out, HasSubstr("sluice.state.memory@1.0.0"));
}

TEST(EnvPacks, SayWhatIsMissing) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"env-packs", "add", "local", "acme.thing@1.0.0"}).exit, 2);
  EXPECT_THAT(home.run({"env-packs", "add", "local", "thing", "--slot", "iac"}).err, HasSubstr("names no pack"));
  EXPECT_EQ(home.run({"env-packs", "remove", "local", "iac", "--yes"}).exit, 5);
}

}  // namespace env_packs_commands_test
}  // namespace sluice::cli
