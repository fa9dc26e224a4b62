// Bounds, and the words in which they are told.
#include "deploy/environment_rules.h"

#include <gtest/gtest.h>

namespace sluice::deploy {
namespace environment_rules_test {

TEST(EnvironmentRules, ANameIsALabel) {
  for (const char* good : {"local", "prod-eu", "a", "0x"}) EXPECT_EQ(fault_of_environment_name(good), "") << good;
  EXPECT_TRUE(is_environment_name(std::string(63, 'a')));
  for (const std::string& bad : {std::string(), std::string(".."), std::string("Prod"), std::string("-a"),
                                 std::string("a-"), std::string("a/b"), std::string(64, 'a')}) {
    EXPECT_EQ(fault_of_environment_name(bad),
              "an environment is named by 1 to 63 of a-z, 0-9 and -, with no - at an end")
        << bad;
  }
}

TEST(EnvironmentRules, RetentionHasBounds) {
  for (int64_t days : {0, 14, 36'500}) EXPECT_EQ(fault_of_archived_days(days), "");
  for (int64_t days : {-1, 36'501})
    EXPECT_EQ(fault_of_archived_days(days), "archived revisions are kept for 0 to 36500 days");
  for (int64_t count : {1, 5, 1000}) EXPECT_EQ(fault_of_staged_count(count), "");
  for (int64_t count : {0, 1001}) EXPECT_EQ(fault_of_staged_count(count), "1 to 1000 staged revisions are kept");
}

TEST(EnvironmentRules, CredentialsAreItsOwnSecrets) {
  EXPECT_EQ(fault_of_credentials("prod", ""), "");
  EXPECT_EQ(fault_of_credentials("prod", "secret://prod/aws"), "");
  EXPECT_EQ(fault_of_credentials("prod", "secret://dev/aws"), "credentials are referred to as secret://prod/…");
}

}  // namespace environment_rules_test
}  // namespace sluice::deploy
