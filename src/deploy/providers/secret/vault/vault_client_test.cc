// What VaultClient does by itself: how settings are read, and how a token is kept.
#include "deploy/providers/secret/vault/vault_client.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/providers/secret/vault/testing_vault.h"

namespace sluice::deploy::vault_provider {
namespace vault_client_test {

TEST(VaultToken, IsRenewedAtTwoThirdsOfItsLife) {
  TestingFolder folder;
  RealDisk disk;
  RealClock real;
  ManualClock clock;
  SeededRandom random(1);
  VaultStandIn vault(real);
  vault.ttl_s = 90;
  ASSERT_TRUE(write_atomically(disk, folder.path() + "/token", "s.token", 0600));
  VaultClient client(disk, clock, random, [](const std::string&) { return std::optional<std::string>(); });
  const VaultSettings settings =
      vault_settings("local", [&](std::string_view name) {
        return name == "address" ? vault.address() : name == "token_file" ? folder.path() + "/token" : std::string();
      }).value();
  EXPECT_TRUE(client.newest(settings, "hello/KEY"));
  clock.advance_ms(59'000);
  EXPECT_TRUE(client.newest(settings, "hello/KEY"));
  EXPECT_EQ(vault.renewals, 0);
  clock.advance_ms(2'000);
  EXPECT_TRUE(client.newest(settings, "hello/KEY"));
  EXPECT_EQ(vault.renewals, 1);
  // A lease is a span of time: neither a clock that is set back nor one that is set forward changes it.
  constexpr int64_t kDay_ms = 86'400'000;
  clock.set_wall_ms(clock.wall_ms() - kDay_ms);
  clock.advance_ms(61'000);
  EXPECT_TRUE(client.newest(settings, "hello/KEY"));
  EXPECT_EQ(vault.renewals, 2);
  clock.set_wall_ms(clock.wall_ms() + 2 * kDay_ms);
  EXPECT_TRUE(client.newest(settings, "hello/KEY"));
  EXPECT_EQ(vault.renewals, 2);
}

TEST(VaultLease, IsRenewedAtTwoThirdsAndFetchedAgainOnceItHasExpired) {
  TestingFolder folder;
  RealDisk disk;
  RealClock real;
  ManualClock clock;
  SeededRandom random(1);
  VaultStandIn vault(real);
  vault.lease_s = 90;
  ASSERT_TRUE(write_atomically(disk, folder.path() + "/token", "s.token", 0600));
  VaultClient client(disk, clock, random, [](const std::string&) { return std::optional<std::string>(); });
  const VaultSettings settings =
      vault_settings("local", [&](std::string_view name) {
        return name == "address" ? vault.address() : name == "token_file" ? folder.path() + "/token" : std::string();
      }).value();
  ASSERT_TRUE(client.write(settings, "hello/KEY", "one", "effect"));
  ASSERT_TRUE(client.read(settings, "hello/KEY", std::nullopt));
  clock.advance_ms(59'000);
  ASSERT_TRUE(client.newest(settings, "hello/KEY"));
  EXPECT_EQ(vault.lease_renewals, 0);
  clock.set_wall_ms(clock.wall_ms() - 86'400'000);  // a lease is a span of time
  clock.advance_ms(2'000);
  ASSERT_TRUE(client.newest(settings, "hello/KEY"));
  EXPECT_EQ(vault.lease_renewals, 1);
  ASSERT_TRUE(client.newest(settings, "hello/KEY"));
  EXPECT_EQ(vault.lease_renewals, 1);
  EXPECT_EQ(vault.reads, 1);
  vault.forgets_leases = true;
  clock.advance_ms(61'000);
  ASSERT_TRUE(client.newest(settings, "hello/KEY"));
  EXPECT_EQ(vault.reads, 2) << "what has expired is fetched again";
  clock.advance_ms(61'000);
  ASSERT_TRUE(client.newest(settings, "hello/KEY"));
  EXPECT_EQ(vault.lease_renewals, 3);
  vault.lease_s = 0;
  ASSERT_TRUE(client.read(settings, "hello/KEY", std::nullopt));
  clock.advance_ms(200'000);
  ASSERT_TRUE(client.newest(settings, "hello/KEY"));
  EXPECT_EQ(vault.lease_renewals, 3) << "without a lease there is nothing to renew";
}

TEST(VaultAnswers, AProxyThatHasNoVaultIsAskedAgainLater) {
  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  SeededRandom random(1);
  VaultStandIn vault(clock);
  ASSERT_TRUE(write_atomically(disk, folder.path() + "/token", "s.token", 0600));
  VaultClient client(disk, clock, random, [](const std::string&) { return std::optional<std::string>(); });
  const VaultSettings settings =
      vault_settings("local", [&](std::string_view name) {
        return name == "address" ? vault.address() : name == "token_file" ? folder.path() + "/token" : std::string();
      }).value();
  vault.restarts = true;
  const Error away = client.newest(settings, "hello/KEY").error();
  EXPECT_EQ(away.code, Code::unavailable);
  EXPECT_EQ(away.message, "the Vault at " + vault.address() + " answered 503");
  vault.restarts = false;
  EXPECT_TRUE(client.newest(settings, "hello/KEY"));
  vault.sealed = true;
  EXPECT_EQ(client.newest(settings, "hello/KEY").error().message, "the Vault at " + vault.address() + " is sealed");
}

TEST(VaultSettings, HaveDefaultsAndAreChecked) {
  auto settings_of = [](std::string address, std::string auth) {
    return vault_settings("prod", [&](std::string_view name) {
      return name == "address" ? address : name == "auth" ? auth : std::string();
    });
  };
  const VaultSettings settings = settings_of("https://vault.example:8200/", "").value();
  EXPECT_EQ(settings.address, "https://vault.example:8200");
  EXPECT_EQ(settings.path, "prod");
  EXPECT_EQ(settings.mount, "secret");
  EXPECT_EQ(settings.auth_mount, "token");
  EXPECT_FALSE(settings_of("", ""));
  EXPECT_FALSE(settings_of("vault.example", ""));
  EXPECT_FALSE(settings_of("https://vault.example", "magic"));
}

}  // namespace vault_client_test
}  // namespace sluice::deploy::vault_provider
