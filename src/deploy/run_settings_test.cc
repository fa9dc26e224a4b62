// How a component runs: what is read, and what holds over a bundle.
#include "deploy/run_settings.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sluice::deploy {
namespace run_settings_test {

TEST(RunSettings, AreReadStrictly) {
  auto good = read_run_settings(json::parse(R"({"replicas": 3, "health": {"path": "/ready"}})"));
  ASSERT_TRUE(good) << to_string(good.error());
  EXPECT_EQ(good->replicas, 3U);
  EXPECT_EQ(read_run_settings(json::parse(R"({"replicas": 0})")).error().message, "expected 1 to 1000 replicas");
  EXPECT_EQ(read_run_settings(json::parse(R"({"health": {"paht": "/"}})")).error().path, "/health/paht");
  EXPECT_EQ(read_run_settings(json::parse(R"({"health": {"by": "command"}})")).error().path, "/health/command");
  EXPECT_FALSE(read_run_settings(json::parse(R"({"replica": 1})")));
}

TEST(RunSettings, ArePartOfAConfig) {
  EXPECT_EQ(run_settings_of(""), RunSettings{});
  EXPECT_EQ(run_settings_of(R"({"non_secret": {}})"), RunSettings{});
  EXPECT_EQ(run_settings_of(R"({"running": {"replicas": 2}})").replicas, 2U);
}

TEST(RunSettings, OnlyWhatIsSaidIsOtherwise) {
  bundle::Health own;
  own.interval = {std::chrono::seconds(7)};
  auto health = health_over(own, json::parse(R"({"path": "/ready", "unhealthy_after": 9})"));
  ASSERT_TRUE(health) << to_string(health.error());
  EXPECT_EQ(health->path.text, "/ready");
  EXPECT_EQ(health->unhealthy_after, 9U);
  EXPECT_EQ(health->interval, own.interval);
  EXPECT_FALSE(health_over(own, json::value("soon")));
}

TEST(RunSettings, EachKeyOfMigrationsHoldsOverItsBundle) {
  const bundle::Migrations own{.autoMigrate = false};
  EXPECT_EQ(migrations_over(own, std::nullopt), own);
  for (const char* key : {"autoExpand", "autoMigrate", "autoContract", "backupBefore"}) {
    for (const bool value : {false, true}) {
      auto said = read_run_settings(json::object{{"migrations", json::object{{key, value}}}});
      ASSERT_TRUE(said) << to_string(said.error());
      const bundle::Migrations over = migrations_over(own, said->migrations);
      const std::string name = key;
      EXPECT_EQ(over.autoExpand, name == "autoExpand" ? value : true) << key;
      EXPECT_EQ(over.autoMigrate, name == "autoMigrate" ? value : false) << key;
      EXPECT_EQ(over.autoContract, name == "autoContract" ? value : false) << key;
      EXPECT_EQ(over.backupBefore, name == "backupBefore" ? value : true) << key;
    }
  }
}

TEST(RunSettings, AManifestNeverAsksForFewerPeopleThanTheBundle) {
  const bundle::Migrations own{.contractApprovals = 2};
  for (const auto& [said, expected] : {std::pair{0U, 2U}, {1U, 2U}, {3U, 3U}}) {
    auto settings = read_run_settings(json::object{{"migrations", json::object{{"contractApprovals", said}}}});
    ASSERT_TRUE(settings) << to_string(settings.error());
    EXPECT_EQ(migrations_over(own, settings->migrations).contractApprovals, expected) << said;
  }
}

}  // namespace run_settings_test
}  // namespace sluice::deploy
