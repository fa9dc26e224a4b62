// What is told of secrets: those that are kept, those that are wanted, and who has read them.
#include "deploy/views/secrets.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "deploy/testing_views.h"
#include "secret.gen.h"

namespace sluice::deploy::views {
namespace secrets_test {

class SecretsViewTest : public testing::Test {
 protected:
  SecretsViewTest() {
    rows.environment("local", {.name = "Local", .secretsType = "store"});
    const revision::RevisionId id(rows.revision("r1", "d1", 1));
    revision::State revisions(rows.rows);
    revisions.edit(id, [](revision::RevisionRecord& record) {
      record.needs.secretRefs = {"secret://local/shop/shop/KEY", "secret://local/shop/shop/OTHER"};
      record.needs.pinSecrets = true;
    });
    revisions.secret_versions(id).push({.variable = "KEY", .name = "shop/KEY", .version = "1"});
    const secret::SecretId kept("local/shop/KEY");
    secret::State secrets(rows.rows);
    secrets.put(kept, {.environment = "local", .name = "shop/KEY", .provider = "store", .version = "2"});
    secrets.known(kept).assign({{"1", {1}}, {"2", {2}}});
    secrets.audit(kept).push({{3}, "shop@1", "1", "warming r1"});
  }
  Result<json::value> read(const std::string& name, const json::object& query) {
    for (const lang::View& each : secret_views()) {
      if (each.name == name) return each.read({.rows = rows, .tools = tools}, query);
    }
    return Error{.message = "there is no view " + name};
  }

  RowsInMemory rows;
  lang::Tools tools;
};

TEST_F(SecretsViewTest, WhatIsMissingIsListedToo) {
  auto all = sluice::read<std::vector<ListedSecret>>(read("secrets", {{"environment", "local"}}).value()).value();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "shop/KEY");
  EXPECT_EQ(*all[0].version, "2");
  EXPECT_EQ(all[0].wanted, std::vector<std::string>{"shop@1"});
  EXPECT_EQ(all[1].name, "shop/OTHER");
  EXPECT_FALSE(all[1].version);
}

TEST_F(SecretsViewTest, ASecretHasVersionsUsersAndReaders) {
  auto one = sluice::read<SecretView>(read("secret", {{"environment", "local"}, {"name", "shop/KEY"}}).value()).value();
  ASSERT_EQ(one.versions.size(), 2U);
  EXPECT_EQ(one.versions[0].version, "2");
  ASSERT_EQ(one.used_by.size(), 1U);
  EXPECT_EQ(one.used_by[0].revision, "shop@1");
  EXPECT_EQ(one.used_by[0].version, "1");
  EXPECT_TRUE(one.used_by[0].pinned);
  ASSERT_EQ(one.readers.size(), 1U);
  EXPECT_EQ(one.readers[0].purpose, "warming r1");
  auto wanted = read("secret", {{"environment", "local"}, {"name", "shop/OTHER"}});
  EXPECT_TRUE(wanted) << "it is wanted";
  EXPECT_EQ(read("secret", {{"environment", "local"}, {"name", "shop/NONE"}}).error().code, Code::not_found);
}

TEST_F(SecretsViewTest, WhatCameFromAnotherPackIsNotInUseOfThisOne) {
  const revision::RevisionId id("r1");
  revision::State revisions(rows.rows);
  auto now_from = [&](std::optional<std::string> provider) {
    revisions.edit(id, [&](revision::RevisionRecord& record) {
      record.needs.pinSecrets = false;
      record.secretsFrom = provider;
    });
    return secrets_in_use(rows).size();
  };
  EXPECT_EQ(now_from("store"), 1U);
  EXPECT_EQ(now_from("vault"), 0U);
  EXPECT_EQ(now_from(std::nullopt), 1U) << "of an earlier version of Sluice";
}

}  // namespace secrets_test
}  // namespace sluice::deploy::views
