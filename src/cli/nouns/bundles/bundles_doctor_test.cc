// sluice bundles doctor, on archives that nobody should unpack. tests/bundle/ has it from end to end.
#include "cli/nouns/bundles/bundles_doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "bundle/archive/testing_archives.h"
#include "cli/testing_commands.h"

namespace sluice::cli {
namespace bundles_doctor_test {

using ::testing::HasSubstr;

struct BundlesDoctor : ::testing::Test {
  Ran doctor(const std::string& bytes) {
    EXPECT_TRUE(write_atomically(disk, folder.path("app"), bytes, 0644));
    return run_line(commands, {"bundles", "doctor", folder.path("app")}, {}, {{}, "", nullptr});
  }

  TestingFolder folder;
  RealDisk disk;
  Commands commands = all_commands();
  const std::string canary = std::string("AKIA") + "Q3EGLU2R7XVNTP4H";
};

TEST_F(BundlesDoctor, NamesWhatLiesBehindAHardLink) {
  auto done = doctor(bundle::tar_of({{.name = "a"},
                                     {.name = "b", .type = '1', .link = "a"},
                                     {.name = "s.txt", .content = "x\nkey = " + canary + "\n"}}));
  EXPECT_EQ(done.exit, 1);
  EXPECT_THAT(done.err, HasSubstr("secret  s.txt:2: an AWS access key (sha256:"));
}

TEST_F(BundlesDoctor, DoesNotVouchForWhatItCannotRead) {
  auto done = doctor(bundle::tar_of({{.name = "x.7z", .content = "7z\xbc\xaf\x27\x1c and so on"}}));
  EXPECT_EQ(done.exit, 1);
  EXPECT_THAT(done.err, HasSubstr("unknown  x.7z: an archive that is not looked into (7z) (sha256:"));
  EXPECT_THAT(done.err, HasSubstr("0 findings in 1 file, 1 could not be looked into"));
}

TEST_F(BundlesDoctor, SaysThatThereAreNone) {
  auto done = doctor(bundle::tar_of({{.name = "a", .content = "nothing"}}));
  EXPECT_EQ(done.exit, 0);
  EXPECT_THAT(done.err, HasSubstr("There are no secrets in 1 file."));
}

}  // namespace bundles_doctor_test
}  // namespace sluice::cli
