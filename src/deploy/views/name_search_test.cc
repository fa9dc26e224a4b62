// Each place in which an environment's name can stand is found, with its file and key; what only reads like it is not.
#include "deploy/views/name_search.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "bundle/archive/pack.h"
#include "config.gen.h"
#include "deploy/testing_views.h"

namespace sluice::deploy::views {
namespace name_search_test {

class NameSearchTest : public testing::Test {
 protected:
  NameSearchTest() { rows.environment("local", {.name = "Local"}); }
  std::string found() {
    std::string text;
    for (const NameUse& each : uses_of_environment(rows, disk, {"dev", "local"}, "store.db")) {
      text += std::string(each.level == UseLevel::blocking ? "blocking" : "info") + " " + each.kind + " " + each.file +
              " " + each.key + " | " + each.what + "\n";
    }
    return text;
  }
  void file(const std::string& name, const std::string& text) {
    EXPECT_TRUE(write_atomically(disk, folder.path(name), text, 0644));
  }

  TestingFolder folder;
  RealDisk disk;
  RowsInMemory rows;
};

TEST_F(NameSearchTest, FindsNothingWhereThereIsNothing) {
  rows.deployment("d1");
  rows.revision("r1", "d1", 1);
  EXPECT_EQ(found(), "");
}

TEST_F(NameSearchTest, FindsTheEnvironmentItsCredentialsAndItsConfig) {
  env::EnvRecord dev{.name = "Dev"};
  dev.credentialsRef = "secret://dev/key";
  rows.environment("dev", dev);
  env::EnvRecord child{.name = "Child"};
  child.extends = env::EnvId("dev");
  rows.environment("child", child);
  config::State config(rows.rows);
  config.values(config::ConfigId("dev")).push({"region", "eu"});
  config.values(config::ConfigId("local")).push({"tenant_org_id", "dev"});
  config.values(config::ConfigId("local")).push({"public_hostname", "dev.example"});
  EXPECT_EQ(found(),
            "blocking environment store.db Env/child/extends | child extends it\n"
            "info environment store.db Env/dev | the environment itself\n"
            "blocking secrets store.db Env/dev/credentials_ref | secret://dev/key\n"
            "info config store.db Config/dev/region | eu\n"
            "blocking config store.db Config/local/tenant_org_id | dev\n");
}

TEST_F(NameSearchTest, TellsWhatWouldBeLostToWhatTheOtherHas) {
  rows.environment("dev", {.name = "Dev"});
  config::State config(rows.rows);
  config.values(config::ConfigId("dev")).push({"region", "eu"});
  config.values(config::ConfigId("dev")).push({"tenant_org_id", "t"});
  config.values(config::ConfigId("local")).push({"region", "us"});
  config.values(config::ConfigId("local")).push({"tenant_org_id", "t"});
  env::State state(rows.rows);
  state.packs(env::EnvId("dev")).push({.slot = "telemetry", .kind = "a.b@1.0.0"});
  state.packs(env::EnvId("dev")).push({.slot = "iac", .kind = "a.d@1.0.0"});
  state.packs(env::EnvId("local")).push({.slot = "telemetry", .kind = "a.c@1.0.0"});
  EXPECT_EQ(found(),
            "info environment store.db Env/dev | the environment itself\n"
            "info config store.db Config/dev/region | eu, lost: local has us, which stays\n"
            "info config store.db Config/dev/tenant_org_id | t\n"
            "info environment store.db Env/dev/packs/telemetry | a.b@1.0.0, lost: local has a.c@1.0.0, which stays\n");
}

TEST_F(NameSearchTest, FindsDeploymentsRevisionsAndTheirConfig) {
  rows.deployment("d1");
  deployment::State(rows.rows).edit(deployment::DeploymentId("d1"), [](deployment::DeploymentRecord& record) {
    record.environment = "dev";
    record.configOverrides = R"({"shop":{"stage":"dev","mode":"devel"}})";
  });
  rows.revision("r1", "d1", 1, revision::RevisionLifecycle::archived);
  rows.revision("r2", "d1", 2);
  for (const char* id : {"r1", "r2"}) {
    revision::State(rows.rows).edit(revision::RevisionId(id), [](revision::RevisionRecord& record) {
      record.environment = "dev";
      record.packConfig = R"({"secret_refs":{"TOKEN":"secret://dev/shop/shop/TOKEN"},"non_secret":{"url":"x"}})";
    });
  }
  EXPECT_EQ(found(),
            "blocking environment store.db Deployment/d1/environment | shop for acme is deployed there\n"
            "blocking config store.db Deployment/d1/config_overrides/shop/stage | dev\n"
            "info environment store.db Revision/r1/environment | shop@1 is archived there\n"
            "info secrets store.db Revision/r1/secret_refs/TOKEN | secret://dev/shop/shop/TOKEN\n"
            "blocking environment store.db Revision/r2/environment | shop@2 is ready there\n"
            "blocking secrets store.db Revision/r2/secret_refs/TOKEN | secret://dev/shop/shop/TOKEN\n");
}

TEST_F(NameSearchTest, FindsWhatFilesSay) {
  file("answers.yaml", "environment: dev\nendpoint: http://dev.example\n");
  env::State(rows.rows)
      .packs(env::EnvId("local"))
      .push({.slot = "iac", .kind = "a.b@1.0.0", .answersRef = folder.path("answers.yaml")});
  env::State(rows.rows)
      .packs(env::EnvId("local"))
      .push({.slot = "state", .kind = "a.c@1.0.0", .answersRef = folder.path("gone.yaml")});
  ASSERT_TRUE(disk.make_folder(folder.path("in"), 0755));
  file("in/bundle.yaml",
       "name: shop\nversion: \"1\"\nrun: [./shop]\nenv: { STAGE: dev, MODE: prod }\n"
       "config: [{ name: env, question: Where?, default: dev }]\n");
  const std::string archive = folder.path("shop.bundle");
  ASSERT_TRUE(bundle::pack(disk, folder.path("in"), {"bundle.yaml"}, archive));
  rows.deployment("d1");
  rows.revision("r1", "d1", 1);
  revision::State(rows.rows).edit(revision::RevisionId("r1"),
                                  [&](revision::RevisionRecord& record) { record.artifact = archive; });
  const std::string text = found();
  EXPECT_NE(text.find("blocking config " + folder.path("answers.yaml") + " /environment | dev\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("blocking config " + folder.path("gone.yaml") + " / | cannot be read"), std::string::npos)
      << text;
  EXPECT_NE(text.find("blocking bundles " + archive + "/bundle.yaml /env/STAGE | dev\n"), std::string::npos) << text;
  EXPECT_NE(text.find("blocking bundles " + archive + "/bundle.yaml /config/0/default | dev\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("MODE"), std::string::npos);
}

}  // namespace name_search_test
}  // namespace sluice::deploy::views
