// Registry through the harness, and with the kit around it: one test a variant.
#include <gtest/gtest.h>

#include "deploy/concepts/registry/registry_work.h"
#include "deploy/testing_registry_bundle.h"
#include "deploy/testing_workflow.h"
#include "lang/run/harness.h"

namespace sluice::deploy::registry {

void prepare(lang::Harness&) {}

namespace registry_test {

class RegistryTest : public testing::Test {
 protected:
  RegistryTest() { harness.tools().add(made.registry); }
  auto prove(const std::string& login) {
    return harness.invoke(Prove{.host = made.there.host(), .credentials = harness.seal(login)});
  }
  auto fetch(const std::string& name = "team/shop:1") {
    return harness.invoke(Fetch{.reference = made.there.host() + "/" + name});
  }
  RegistryBundle made;
  lang::Harness harness{registry_binding()};
};

TEST_F(RegistryTest, ALoginIsProvenOrNot) {
  made.there.login = "ci:hunter2";
  EXPECT_TRUE(prove("ci:hunter2").as<Prove::Ok>().secret.starts_with("registry/127.0.0.1_"));
  EXPECT_TRUE(prove("ci:wrong").is<Prove::Rejected>());
  EXPECT_TRUE(prove("nobody").is<Prove::Invalid>());
  made.there.ill = 1000;
  EXPECT_TRUE(prove("ci:hunter2").is<Prove::Unreachable>());
}

TEST_F(RegistryTest, ABundleIsFetchedOrNot) {
  EXPECT_EQ(fetch().as<Fetch::Ok>().bundle, "shop");
  EXPECT_TRUE(fetch("team/shop:2").is<Fetch::NotFound>());
  EXPECT_TRUE(fetch("Nonsense").is<Fetch::Invalid>());
  made.there.login = "ci:hunter2";
  EXPECT_TRUE(fetch().is<Fetch::Rejected>());
  made.there.login.clear();
  made.there.add_bytes("blobs/" + made.archive.digest, "other bytes");
  EXPECT_TRUE(fetch().is<Fetch::Unverified>());
  made.there.ill = 1000;
  EXPECT_TRUE(fetch().is<Fetch::Unreachable>());
}

TEST_F(RegistryTest, AHostThatIsNoneIsRefusedAtOnce) {
  EXPECT_TRUE(harness.invoke(Login{.environment = "local", .host = "a/b", .credentials = harness.seal("a:b")})
                  .is<Login::Invalid>());
  EXPECT_TRUE(harness.invoke(Locate{.environment = "local", .reference = "Nonsense"}).is<Locate::Invalid>());
}

TEST_F(RegistryTest, ALoginIsKeptUntilItIsForgotten) {
  const Locate locate{.environment = "local", .reference = "registry.example/team/shop:1"};
  EXPECT_TRUE(harness.invoke(locate).is<Locate::Open>());
  harness.invoke(Keep{.environment = "local", .host = "registry.example", .secret = "registry/there"}).as<Keep::Ok>();
  EXPECT_EQ(harness.invoke(locate).as<Locate::Known>().secret, "registry/there");
  EXPECT_EQ(harness.invoke(List{.environment = "local"}).as<List::Ok>().logins.size(), 1U);
  EXPECT_TRUE(harness.invoke(List{.environment = "prod"}).as<List::Ok>().logins.empty());
  harness.invoke(Forget{.environment = "local", .host = "registry.example"}).as<Forget::Ok>();
  EXPECT_TRUE(harness.invoke(locate).is<Locate::Open>());
}

// With the environment's secrets around it.
class RegistryFlowTest : public WorkflowTest {
 protected:
  RegistryFlowTest() { kit.tools().add(made.registry); }
  engine::End login(const std::string& credentials, const std::string& environment = "local") {
    return kit.run("Registry/login",
                   {{"environment", environment}, {"host", made.there.host()}, {"credentials", credentials}});
  }
  engine::End logout() { return kit.run("Registry/logout", {{"environment", "local"}, {"host", made.there.host()}}); }
  engine::End pull(const std::string& name = "team/shop:1") {
    return kit.run("Registry/pull", {{"environment", "local"}, {"reference", made.there.host() + "/" + name}});
  }
  RegistryBundle made;
};

TEST_F(RegistryFlowTest, ALoginIsASecretWithWhichBundlesArePulled) {
  made.there.login = "ci:hunter2";
  EXPECT_EQ(pull().variant, "rejected");
  EXPECT_EQ(login("ci:wrong").variant, "rejected");
  EXPECT_EQ(login("nobody").variant, "invalid");
  auto in = login("ci:hunter2");
  ASSERT_EQ(in.variant, "ok") << write(in.fields);
  EXPECT_EQ(world.value_of(text(in, "secret"), 1), "ci:hunter2");
  auto listed = kit.query("Registry/list", {{"environment", "local"}});
  ASSERT_EQ(listed.fields.at("logins").as_array().size(), 1U);
  EXPECT_EQ(listed.fields.at("logins").at(0).at("host"), json::value(made.there.host()));
  auto pulled = pull();
  ASSERT_EQ(pulled.variant, "ok") << write(pulled.fields);
  EXPECT_EQ(text(pulled, "digest"), made.digest);
  EXPECT_EQ(logout().variant, "ok");
  EXPECT_EQ(logout().variant, "notFound");
  EXPECT_EQ(pull().variant, "rejected");
}

TEST_F(RegistryFlowTest, WhatCannotBePulledSaysWhy) {
  EXPECT_EQ(pull("team/shop:2").variant, "notFound");
  EXPECT_EQ(pull("Nonsense").variant, "invalid");
  made.there.add_bytes("blobs/" + made.archive.digest, "other bytes");
  EXPECT_EQ(pull().variant, "unverified");
  made.there.ill = 1000;
  EXPECT_EQ(pull().variant, "unreachable");
  EXPECT_EQ(login("ci:hunter2").variant, "unreachable");
}

TEST_F(RegistryFlowTest, AnEnvironmentWithoutAPackKeepsNoLogin) {
  kit.put("Env", "bare", to_json(env::EnvRecord{.name = "bare", .generation = 1, .runtimeType = "local"}));
  EXPECT_EQ(login("ci:hunter2", "bare").variant, "notKept");
}

TEST_F(RegistryFlowTest, WhereSecretsCannotBeChangedLoginsCannotEither) {
  const json::object where{{"environment", "fixed"}, {"host", made.there.host()}};
  kit.put("Env", "fixed",
          to_json(env::EnvRecord{.name = "fixed", .generation = 1, .runtimeType = "local", .secretsType = "env"}));
  kit.put("Registry", "fixed/" + made.there.host(),
          to_json(RegistryRecord{.environment = "fixed", .host = made.there.host(), .secret = "registry/there"}));
  EXPECT_EQ(kit.run("Registry/logout", where).variant, "notKept");
  EXPECT_EQ(login("ci:hunter2", "fixed").variant, "notKept");
}

}  // namespace registry_test
}  // namespace sluice::deploy::registry
