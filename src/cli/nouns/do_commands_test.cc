// sluice do on a home of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "cli/testing_objects.h"

namespace sluice::cli {
namespace do_commands_test {

using testing::HasSubstr;
using testing::Not;

TEST(DoCommands, EveryActionCanBeCalledByItsName) {
  ObjectsHome home;
  EXPECT_THAT(home.run({"do", "Env/open"}).out, HasSubstr("ok  "));
  EXPECT_THAT(home.run({"do", "Env/opn"}).err, HasSubstr("did you mean Env/open?"));
  EXPECT_EQ(home.run({"do", "Env/create", "environment=x", "colour=red"}).exit, 2);
  EXPECT_EQ(home.run({"do", "Traffic/drop", "deployment=a", "revision=b"}).exit, 4) << "for syncs alone";
  EXPECT_THAT(home.run({"do", "Traffic/set", "--schema"}).out, HasSubstr("\"entries\""));
}

TEST(DoCommands, ASecretIsReadFromAFileAlone) {
  ObjectsHome home;
  home.run({"env", "list"});
  Ran refused = home.run({"do", "Secret/put", "environment=local", "name=shop/KEY", "provider=store", "value=hunter2"});
  EXPECT_EQ(refused.exit, 2);
  EXPECT_THAT(refused.err, HasSubstr("value is a secret: a value on the command line can be read by every program"));
  EXPECT_THAT(refused.err, HasSubstr("next:  write the arguments into a file that only you can read: "
                                     "sluice do Secret/put --answers FILE\n"));
  EXPECT_THAT(refused.err, Not(HasSubstr("hunter2")));
  EXPECT_THAT(home.run({"do", "Secret/put", "name=shop/KEY"}).err, HasSubstr("next:  sluice do Secret/put name=TEXT"));
}

TEST(DoCommands, AFileOfAnswersMayHaveWhatTheWordsLeaveOut) {
  ObjectsHome home;
  home.run({"env", "list"});
  RealDisk disk;
  const std::string file = home.folder.path("answers.yaml");
  ASSERT_TRUE(write_atomically(disk, file, "environment: staging\n", 0600));
  EXPECT_THAT(home.run({"do", "Env/create", "--answers", file}).out, HasSubstr("environment=staging"));
  ASSERT_TRUE(write_atomically(disk, file, "extends: local\n", 0600));
  Ran missing = home.run({"do", "Env/create", "--answers", file});
  EXPECT_EQ(missing.exit, 2);
  EXPECT_THAT(missing.err, HasSubstr("Env/create also needs environment"));
}

}  // namespace do_commands_test
}  // namespace sluice::cli
