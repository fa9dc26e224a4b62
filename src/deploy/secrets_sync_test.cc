// How revisions get their secrets, on the whole kit: looked for, resolved, handed over, and kept beside the revision.
#include <gtest/gtest.h>

#include <atomic>

#include "deploy/testing_workflow.h"

namespace sluice::deploy {
namespace secrets_sync_test {

class SecretsSyncTest : public WorkflowTest {
 protected:
  engine::End secret(const std::string& verb, json::object more = {}, const std::string& name = "shop/TOKEN") {
    json::object input{{"environment", "local"}, {"name", name}, {"provider", "store"}};
    for (const auto& each : more) input[each.key()] = each.value();
    return kit.run("Secret/" + verb, input);
  }
  // Another pack is bound, which has nothing of what the rows say is in use.
  std::string why_not_bound() {
    kit.put_element("Env.packs", "local", 1,
                    to_json(env::EnvPack{.slot = "secrets", .kind = "sluice.secrets.store@1.0.0"}));
    EXPECT_EQ(
        kit.run("Env/rebind", {{"environment", "local"}, {"slot", "secrets"}, {"kind", "sluice.secrets.env@1.0.0"}})
            .variant,
        "ok");
    std::string why;
    EXPECT_TRUE(eventually([&] {
      for (const json::value& each : kit.elements("Env.takenBack", "local")) why += write(each);
      return !why.empty();
    })) << "it stays bound";
    EXPECT_EQ(kit.row("Env", "local").at("secretsType"), json::value("store"));
    return why;
  }
  std::string version(const engine::End& end) {
    auto versions = kit.elements("Revision.secretVersions", text(end, "revision"));
    return versions.empty() ? "none" : std::string(versions.front().at("version").as_string());
  }
  // What the revision's program was given.
  std::string given(const engine::End& end) {
    for (const auto& [key, row] : kit.rows("LocalRuntime")) {
      const json::value runtime = kit.row("Runtime", std::string(row.at("instance").as_string()));
      if (runtime.at("concept") == json::value(text(end, "revision"))) return world.secrets_of(key);
    }
    return "no such program";
  }
};

TEST_F(SecretsSyncTest, ARevisionIsGivenItsSecrets) {
  ASSERT_EQ(secret("put", {{"value", "hunter2"}}).variant, "ok");
  auto end = up(world.put("shop", "1.0", "secrets: [TOKEN]\n"));
  ASSERT_EQ(end.variant, "ok") << write(end.fields);
  EXPECT_EQ(given(end), R"({"TOKEN":"hunter2"})");
  EXPECT_EQ(version(end), "1");
  EXPECT_EQ(revision(text(end, "revision")).at("secretsFrom"), json::value("store"));
  auto readers = kit.elements("Secret.audit", "local/shop/TOKEN");
  ASSERT_EQ(readers.size(), 1U);
  EXPECT_EQ(readers[0].at("accessedBy"), json::value("shop@1"));
  EXPECT_EQ(readers[0].at("version"), json::value("1"));
  EXPECT_EQ(kit.count("Secret[G]"), 0U);
}

TEST_F(SecretsSyncTest, AMissingSecretFailsTheWarmAndIsNamed) {
  secret("put", {{"value", "a"}}, "shop/HAS");
  auto end = up(world.put("shop", "1.0", "secrets: [TOKEN, HAS, OTHER]\n"));
  EXPECT_EQ(end.variant, "failed") << write(end.fields);
  EXPECT_NE(text(end, "message").find("there is no secret shop/OTHER in local"), std::string::npos);
  EXPECT_NE(text(end, "message").find("there is no secret shop/TOKEN in local"), std::string::npos);
  EXPECT_EQ(text(end, "message").find("shop/HAS"), std::string::npos);
  EXPECT_TRUE(world.running().empty());
}

TEST_F(SecretsSyncTest, PinnedVersionsComeBack) {
  secret("put", {{"value", "one"}});
  const std::string archive = world.put("shop", "1.0", "secrets: [TOKEN]\npin_secrets: true\n");
  auto first = up(archive);
  ASSERT_EQ(first.variant, "ok") << write(first.fields);
  secret("put", {{"value", "two"}});
  auto second = up(world.put("shop", "2.0", "secrets: [TOKEN]\npin_secrets: true\n"));
  EXPECT_EQ(given(second), R"({"TOKEN":"two"})");
  const std::string revision = text(first, "revision");
  ASSERT_EQ(kit.run("Revision/drain", {{"revision", revision}}).variant, "ok");
  ASSERT_EQ(kit.run("Revision/retry", {{"revision", revision}}).variant, "ok");
  ASSERT_EQ(kit.run("Revision/warm", {{"revision", revision}}).variant, "ok");
  EXPECT_EQ(given(first), R"({"TOKEN":"one"})");
  EXPECT_EQ(version(first), "1");
  EXPECT_EQ(kit.row("Secret", "local/shop/TOKEN").at("version"), json::value("2")) << "the newest is still another";
}

TEST_F(SecretsSyncTest, APinnedVersionThatIsLostIsNamed) {
  secret("put", {{"value", "one"}});
  auto first = up(world.put("shop", "1.0", "secrets: [TOKEN]\npin_secrets: true\n"));
  ASSERT_EQ(up(world.put("shop", "2.0")).variant, "ok");
  const std::string revision = text(first, "revision");
  ASSERT_EQ(kit.run("Revision/drain", {{"revision", revision}}).variant, "ok");
  ASSERT_EQ(secret("remove").variant, "ok");
  ASSERT_EQ(secret("put", {{"value", "two"}}).variant, "ok");
  ASSERT_EQ(kit.run("Revision/retry", {{"revision", revision}}).variant, "ok");
  auto warmed = kit.run("Revision/warm", {{"revision", revision}});
  EXPECT_EQ(warmed.variant, "failed");
  EXPECT_NE(text(warmed, "message").find("version 1 of shop/TOKEN"), std::string::npos) << text(warmed, "message");
}

TEST_F(SecretsSyncTest, WhatIsNotPinnedIsTheNewest) {
  secret("put", {{"value", "one"}});
  auto first = up(world.put("shop", "1.0", "secrets: [TOKEN]\n"));
  secret("put", {{"value", "two"}});
  up(world.put("shop", "2.0", "secrets: [TOKEN]\n"));
  const std::string revision = text(first, "revision");
  ASSERT_EQ(kit.run("Revision/drain", {{"revision", revision}}).variant, "ok");
  ASSERT_EQ(kit.run("Revision/retry", {{"revision", revision}}).variant, "ok");
  ASSERT_EQ(kit.run("Revision/warm", {{"revision", revision}}).variant, "ok");
  EXPECT_EQ(version(first), "2");
}

TEST_F(SecretsSyncTest, AVersionThatComesWhileItWarmsReachesIt) {
  secret("put", {{"value", "one"}});
  std::atomic<bool> put = false;
  before_deploy = [&] {
    if (put.exchange(true)) return;
    EXPECT_EQ(secret("put", {{"value", "two"}}).variant, "ok");
  };
  auto end = up(world.put("shop", "1.0", "secrets: [TOKEN]\n"));
  ASSERT_EQ(end.variant, "ok") << write(end.fields);
  EXPECT_TRUE(put);
  EXPECT_TRUE(eventually([&] { return version(end) == "2"; })) << version(end);
}

TEST_F(SecretsSyncTest, TheSameNumberOfAnotherPackIsAnotherValue) {
  secret("put", {{"value", "one"}});
  auto end = up(world.put("shop", "1.0", "secrets: [TOKEN]\n"));
  // As if it had its second version from a pack that was bound before.
  const std::string id = text(end, "revision");
  ASSERT_EQ(
      kit.run("Revision/entrust",
              {{"revision", id},
               {"versions", json::array{json::object{{"variable", "TOKEN"}, {"name", "shop/TOKEN"}, {"version", "2"}}}},
               {"provider", "vault"}})
          .variant,
      "ok");
  ASSERT_EQ(secret("put", {{"value", "two"}}).variant, "ok");
  EXPECT_TRUE(eventually([&] { return revision(id).at("secretsFrom") == json::value("store"); }));
}

TEST_F(SecretsSyncTest, OnlyTheBoundPackKeepsSecrets) {
  for (const char* verb : {"put", "rotate", "remove"}) {
    json::object input{{"environment", "local"}, {"name", "shop/TOKEN"}, {"provider", "vault"}};
    if (std::string(verb) == "put") input["value"] = "x";
    EXPECT_EQ(kit.run("Secret/" + std::string(verb), input).variant, "otherProvider") << verb;
  }
  auto rekeyed = kit.run("Secret/rekey", {{"environment", "local"}, {"provider", "vault"}});
  EXPECT_EQ(rekeyed.variant, "otherProvider");
  EXPECT_EQ(text(rekeyed, "message"), "vault does not keep the secrets of local");
}

TEST_F(SecretsSyncTest, APackThatLacksTheDeployersCredentialIsNotBound) {
  kit.put_element("Credentials.deploysWith", "local", 0, {{"name", "credentials/deployer"}});
  EXPECT_NE(why_not_bound().find("credentials/deployer"), std::string::npos);
}

TEST_F(SecretsSyncTest, APackThatLacksALoginIsNotBound) {
  kit.put("Registry", "local/registry.example",
          {{"environment", "local"},
           {"host", "registry.example"},
           {"secret", "registry/registry.example"},
           {"since", "2030-01-01T00:00:00.000Z"}});
  EXPECT_NE(why_not_bound().find("registry/registry.example"), std::string::npos);
}

TEST_F(SecretsSyncTest, AUsedSecretStays) {
  secret("put", {{"value", "one"}});
  auto end = up(world.put("shop", "1.0", "secrets: [TOKEN]\n"));
  auto refused = secret("remove");
  EXPECT_EQ(refused.variant, "inUse");
  EXPECT_EQ(text(refused, "message"), "shop@1 uses shop/TOKEN");
  EXPECT_EQ(kit.run("Deployment/down", {{"deployment", text(end, "deployment")}, {"deleteData", false}}).variant, "ok");
  EXPECT_EQ(secret("remove").variant, "ok");
}

TEST_F(SecretsSyncTest, TheDeployersCredentialStays) {
  const json::object credential{{"environment", "local"}, {"provider", "store"}, {"name", "credentials/deployer"}};
  json::object put = credential;
  put["value"] = "a token";
  ASSERT_EQ(kit.run("Secret/put", put).variant, "ok");
  kit.put_element("Credentials.deploysWith", "local", 0, {{"name", "credentials/deployer"}});
  auto refused = kit.run("Secret/remove", credential);
  EXPECT_EQ(refused.variant, "inUse");
  EXPECT_EQ(text(refused, "message"), "the deployer of local uses credentials/deployer");
}

}  // namespace secrets_sync_test
}  // namespace sluice::deploy
