// What the local deployer needs, with each of it taken away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/local_means.h"
#include "deploy/providers/credentials/local/local_credentials_work.h"
#include "lang/run/harness.h"

namespace sluice::deploy::local_credentials {
namespace {
RealDisk& disk() {
  static RealDisk disk;
  return disk;
}
LocalMeans& shared_means() {
  static TestingFolder folder;
  static LocalMeans means{.disk = &disk(), .home = folder.path()};
  return means;
}
}  // namespace

void prepare(lang::Harness& harness) { harness.tools().add(shared_means()); }

namespace local_credentials_test {

std::vector<LocalCredentialsCheck> inspect(LocalMeans means) {
  lang::Harness harness(local_credentials_binding());
  harness.tools().add(means);
  return harness.invoke(Inspect{.environment = "local"}).as<Inspect::Ok>().checks;
}

TEST(LocalCredentials, AllIsThere) {
  TestingFolder folder;
  auto checks = inspect({.disk = &disk(), .home = folder.path(), .has_user_namespaces = [] { return true; }});
  ASSERT_EQ(checks.size(), 3U);
  for (const auto& each : checks) EXPECT_EQ(each.status, LocalCredentialsStatus::pass) << each.capability;
}

TEST(LocalCredentials, WhatIsMissingSaysHowToMendIt) {
  auto checks = inspect({.disk = &disk(), .home = "/no/such/home", .has_user_namespaces = [] { return false; }});
  EXPECT_EQ(checks[0].status, LocalCredentialsStatus::fail);
  EXPECT_THAT(checks[0].fix, testing::HasSubstr("/no/such/home"));
  EXPECT_EQ(checks[2].status, LocalCredentialsStatus::skipped);
}

TEST(LocalCredentials, AdviseMakesNoCredential) {
  lang::Harness harness(local_credentials_binding());
  auto ok = harness.invoke(Advise{.environment = "local"}).as<Advise::Ok>();
  EXPECT_FALSE(ok.issued);
  ASSERT_EQ(ok.rules.size(), 1U);
  EXPECT_THAT(ok.rules[0].text, testing::HasSubstr("user.max_user_namespaces"));
}

}  // namespace local_credentials_test
}  // namespace sluice::deploy::local_credentials
