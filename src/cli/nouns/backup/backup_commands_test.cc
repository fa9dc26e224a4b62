// What sluice backup does without a control plane, and what it refuses; backups of a running one are in tests/store.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/testing_flows.h"

namespace sluice::cli {
namespace backup_commands_test {

TEST(BackupCommands, AKeyIsMadeOnceAndForItsOwnerAlone) {
  TestingHome home;
  const std::string key = home.path("backup.key");
  std::filesystem::create_directories(home.path(""));
  Ran made = home.run({"backup", "key", "--out", key});
  EXPECT_EQ(made.exit, 0) << made.err;
  EXPECT_EQ(std::filesystem::status(key).permissions() & std::filesystem::perms::all,
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  ASSERT_TRUE(std::filesystem::exists(key + ".pub"));
  std::ifstream file(key);
  const std::string before(std::istreambuf_iterator<char>(file), {});
  Ran again = home.run({"backup", "key", "--out", key});
  EXPECT_NE(again.exit, 0);
  std::ifstream after(key);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(after), {}), before);
}

TEST(BackupCommands, ARecipientThatIsNoneIsRefused) {
  TestingHome home;
  std::filesystem::create_directories(home.path(""));
  { std::ofstream(home.path("none.pub")) << "no key"; }
  Ran done = home.run({"backup", "configure", home.path("backups"), "--recipient", home.path("none.pub")});
  EXPECT_EQ(done.exit, 1) << done.err;
  EXPECT_NE(done.err.find("sluice backup key --out FILE"), std::string::npos) << done.err;
}

}  // namespace backup_commands_test
}  // namespace sluice::cli
