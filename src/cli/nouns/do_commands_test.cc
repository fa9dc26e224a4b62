// sluice do on a home of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace do_commands_test {

using testing::HasSubstr;

TEST(DoCommands, EveryActionCanBeCalledByItsName) {
  ObjectsHome home;
  EXPECT_THAT(home.run({"do", "Env/open"}).out, HasSubstr("ok  "));
  EXPECT_THAT(home.run({"do", "Env/opn"}).err, HasSubstr("did you mean Env/open?"));
  EXPECT_EQ(home.run({"do", "Env/create", "environment=x", "colour=red"}).exit, 2);
  EXPECT_EQ(home.run({"do", "Traffic/drop", "deployment=a", "revision=b"}).exit, 4) << "for syncs alone";
  EXPECT_THAT(home.run({"do", "Traffic/set", "--schema"}).out, HasSubstr("\"entries\""));
}

}  // namespace do_commands_test
}  // namespace sluice::cli
