// What is told when a credential has lived for four fifths of its life.
#include "deploy/credential_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "credentials.gen.h"
#include "deploy/testing_views.h"

namespace sluice::deploy {
namespace credential_watch_test {

using testing::ElementsAre;

class CredentialWatchTest : public testing::Test {
 protected:
  void credential(int64_t rotate_at_ms) {
    credentials::State(rows.rows).put(credentials::CredentialsId("prod"),
                                      {.deployer = "k8s", .rotateAt = lang::DateTime{rotate_at_ms}});
    watch.compare(rows, tell);
  }
  // How often it is told within so much time.
  size_t told_within(int64_t ms) {
    told.clear();
    for (int64_t passed = 0; passed < ms; passed += 1'000) {
      clock.advance_ms(1'000);
      watch.look(tell);
    }
    return told.size();
  }

  RowsInMemory rows;
  ManualClock clock;
  std::vector<std::string> told;
  lang::Observer::Tell tell = [this](const std::string& action, const json::object& input) {
    told.push_back(action + write(input));
  };
  CredentialWatch watch{clock};
};

TEST_F(CredentialWatchTest, WhatIsDueIsRenewed) {
  credential(clock.wall_ms() + 60'000);
  EXPECT_EQ(told_within(59'000), 0U);
  EXPECT_EQ(told_within(10'000), 1U);
  EXPECT_THAT(told, ElementsAre(R"(Credentials/rotate{"environment":"prod","ifNeeded":true})"));
  credential(clock.wall_ms() + 60'000);
  EXPECT_EQ(told_within(50'000), 0U);
}

TEST_F(CredentialWatchTest, AShortCommandRenewsNothing) {
  credential(clock.wall_ms() - 1);
  EXPECT_TRUE(told.empty());
  EXPECT_EQ(told_within(10'000), 1U);
}

TEST_F(CredentialWatchTest, WhatFailsIsTriedAgainMoreAndMoreSeldom) {
  credential(clock.wall_ms() - 1);
  EXPECT_EQ(told_within(600'000), 5U);  // after 0, 30, 90, 210 and 450 seconds
  credential(clock.wall_ms() - 600'001);
  EXPECT_LE(told_within(86'400'000), 40U);
}

}  // namespace credential_watch_test
}  // namespace sluice::deploy
