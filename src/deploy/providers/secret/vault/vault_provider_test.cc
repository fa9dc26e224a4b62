// VaultProvider through the harness, against a server that answers as Vault's documentation says.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/providers/secret/vault/testing_vault.h"
#include "deploy/providers/secret/vault/vault_client.h"
#include "deploy/providers/secret/vault/vault_provider_work.h"
#include "lang/run/harness.h"

namespace sluice::deploy::vault_provider {

void prepare(lang::Harness&) {}

namespace vault_provider_test {

class VaultProviderTest : public testing::Test {
 protected:
  VaultProviderTest() {
    harness.tools().add<Disk>(disk);
    harness.tools().add(client);
    file("token", "s.token\n");
  }
  std::string file(const std::string& name, const std::string& text) {
    EXPECT_TRUE(write_atomically(disk, folder.path() + "/" + name, text, 0600));
    return folder.path() + "/" + name;
  }
  void bind(const std::string& answers) {
    harness.rows().put("Env.packs", lang::child_key("local", lang::rows::number_key(0)),
                       json::object{{"slot", "secrets"},
                                    {"kind", "sluice.secrets.vault@1.0.0"},
                                    {"packRef", "sluice.secrets.vault"},
                                    {"answersRef", file("answers.yaml", answers)},
                                    {"generation", 0},
                                    {"boundAt", "2030-01-31T12:00:00.000Z"}});
  }
  void bind_token() { bind("address: " + vault.address() + "\ntoken_file: " + folder.path() + "/token\n"); }
  auto fetch(std::optional<std::string> version = {}) {
    return harness.invoke(Fetch{.environment = "local", .name = "hello/KEY", .version = version});
  }
  auto head() { return harness.invoke(Head{.environment = "local", .name = "hello/KEY"}); }
  auto put(std::optional<std::string> value) {
    Put ask{.environment = "local", .name = "hello/KEY"};
    if (value) ask.value = harness.seal(*value);
    return harness.invoke(ask);
  }
  auto remove() { return harness.invoke(Remove{.environment = "local", .name = "hello/KEY"}); }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  SeededRandom random{1};
  VaultStandIn vault{clock};
  VaultClient client{disk, clock, random, [](const std::string&) { return std::optional<std::string>(); }};
  lang::Harness harness{vault_provider_binding()};
};

TEST_F(VaultProviderTest, VersionsAreVaults) {
  bind_token();
  EXPECT_FALSE(head().as<Head::Ok>().exists);
  EXPECT_EQ(put("one").as<Put::Ok>().version, "1");
  EXPECT_EQ(put("two").as<Put::Ok>().version, "2");
  EXPECT_EQ(head().as<Head::Ok>().version, "2");
  auto ok = fetch().as<Fetch::Ok>();
  EXPECT_EQ(ok.version, "2");
  EXPECT_EQ(harness.opened(ok.value), "two");
  EXPECT_EQ(harness.opened(fetch("1").as<Fetch::Ok>().value), "one");
  EXPECT_EQ(vault.values.begin()->first, "local/hello/KEY");
  EXPECT_EQ(State(harness.rows()).get(VaultProviderId("local"))->address, vault.address());
  EXPECT_EQ(put(std::nullopt).as<Put::Ok>().version, "3");
  EXPECT_EQ(harness.opened(fetch().as<Fetch::Ok>().value).size(), 43U);
  EXPECT_TRUE(remove().is<Remove::Ok>());
  EXPECT_FALSE(head().as<Head::Ok>().exists);
}

TEST_F(VaultProviderTest, PathNotFoundAndExpired) {
  bind_token();
  EXPECT_EQ(fetch().as<Fetch::PathNotFound>().message, "the Vault at " + vault.address() + " has no hello/KEY");
  put("one");
  EXPECT_EQ(fetch("7").as<Fetch::PathNotFound>().message,
            "the Vault at " + vault.address() + " has no version 7 of hello/KEY");
  vault.values["local/hello/KEY"][0] = "";
  EXPECT_EQ(lang::to_text(fetch("1").as<Fetch::Expired>().expiresAt), "2030-01-31T12:00:00.000Z");
}

TEST_F(VaultProviderTest, Sealed) {
  bind_token();
  vault.sealed = true;
  EXPECT_EQ(fetch().as<Fetch::Sealed_>().message, "the Vault at " + vault.address() + " is sealed");
  EXPECT_TRUE(State(harness.rows()).get(VaultProviderId("local"))->sealed);
  EXPECT_TRUE(head().is<Head::Sealed>());
  EXPECT_TRUE(put("x").is<Put::Sealed_>());
  EXPECT_TRUE(remove().is<Remove::Sealed>());
  vault.sealed = false;
  put("one");
  EXPECT_TRUE(fetch().is<Fetch::Ok>());
  EXPECT_FALSE(State(harness.rows()).get(VaultProviderId("local"))->sealed);
}

TEST_F(VaultProviderTest, TokenExpiredSaysNothingOfTheToken) {
  bind_token();
  put("one");
  vault.token = "s.another";
  const std::string message = fetch().as<Fetch::TokenExpired>().message;
  EXPECT_EQ(message, "the Vault at " + vault.address() + " does not know the token of " + folder.path() +
                         "/token; it has expired or was revoked");
  EXPECT_TRUE(head().is<Head::TokenExpired>());
  EXPECT_TRUE(put("x").is<Put::TokenExpired>());
  EXPECT_TRUE(remove().is<Remove::TokenExpired>());
  file("token", "s.another");
  EXPECT_TRUE(fetch().is<Fetch::Ok>()) << "the file has a new one";
}

TEST_F(VaultProviderTest, AccessDenied) {
  bind_token();
  vault.forbids = true;
  EXPECT_EQ(fetch().as<Fetch::AccessDenied>().message,
            "the Vault at " + vault.address() + " does not allow GET secret/data/local/hello/KEY");
  EXPECT_TRUE(head().is<Head::AccessDenied>());
  EXPECT_TRUE(put("x").is<Put::AccessDenied>());
  EXPECT_TRUE(remove().is<Remove::AccessDenied>());
}

TEST_F(VaultProviderTest, UnusableAnswersAndSettings) {
  EXPECT_EQ(fetch().as<Fetch::Unusable>().message,
            "the answers of the secrets pack of local name no `address` of a Vault");
  EXPECT_TRUE(head().is<Head::Unusable>());
  EXPECT_TRUE(put("x").is<Put::Unusable>());
  EXPECT_TRUE(remove().is<Remove::Unusable>());
  bind("address: " + vault.address() + "\nauth: magic\n");
  EXPECT_EQ(fetch().as<Fetch::Unusable>().message, "the answer `auth` is token, approle or kubernetes");
  bind_token();
  vault.nonsense = true;
  EXPECT_EQ(fetch().as<Fetch::Unusable>().message, "what is at " + vault.address() + " does not answer as Vault does");
}

TEST_F(VaultProviderTest, AValueThatIsGoneIsLostUnlessItWasWritten) {
  bind_token();
  const Put gone{.environment = "local", .name = "hello/KEY", .value = lang::Sealed::of_handle("sealed:gone")};
  EXPECT_EQ(harness.invoke(gone).as<Put::Lost>().message,
            "Sluice ended before the value of hello/KEY was written; put it again");
}

TEST_F(VaultProviderTest, AppRoleLogsInAgainWhenItsTokenIsGone) {
  bind("address: " + vault.address() +
       "\nauth: approle\nrole_id: role\nsecret_id_file: " + file("secret-id", "secret-id") + "\n");
  put("one");
  EXPECT_EQ(vault.logins, 1);
  fetch();
  EXPECT_EQ(vault.logins, 1);
  vault.token = "s.revoked";
  EXPECT_TRUE(fetch().is<Fetch::Ok>());
  EXPECT_EQ(vault.logins, 2);
  bind("address: " + vault.address() + "\nauth: approle\nrole_id: other\nsecret_id_file: " + folder.path() +
       "/secret-id\n");
  EXPECT_TRUE(fetch().is<Fetch::TokenExpired>());
}

TEST_F(VaultProviderTest, KubernetesLogsInAtItsMount) {
  bind("address: " + vault.address() +
       "/\nauth: kubernetes\nauth_mount: k8s\nrole: sluice\njwt_file: " + file("jwt", "jwt\n") + "\n");
  EXPECT_EQ(put("one").as<Put::Ok>().version, "1");
  EXPECT_EQ(vault.logins, 1);
}

}  // namespace vault_provider_test
}  // namespace sluice::deploy::vault_provider
