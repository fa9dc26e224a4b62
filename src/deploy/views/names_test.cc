// What a name means, and what is said when it means nothing or too much.
#include "deploy/views/names.h"

#include <gtest/gtest.h>

#include "deploy/testing_views.h"

namespace sluice::deploy::views {
namespace names_test {

constexpr const char* kOne = "01J0000000000000000000000A";
constexpr const char* kTwo = "01J0000000000000000000000B";
constexpr const char* kFirst = "01J1000000000000000000000A";
constexpr const char* kSecond = "01J1000000000000000000000B";

class NamesTest : public testing::Test {
 protected:
  NamesTest() {
    rows.environment("local", {.name = "Local"});
    rows.deployment(kOne, "acme");
    rows.revision(kFirst, kOne, 1);
    rows.revision(kSecond, kOne, 2, revision::RevisionLifecycle::archived);
  }
  std::string meant(const DeploymentName& name) { return find_deployment(states, "local", name).value().id.text(); }
  std::string wrong(const DeploymentName& name) { return find_deployment(states, "local", name).error().message; }

  RowsInMemory rows;
  const States states{rows};
};

TEST_F(NamesTest, AnEnvironmentByItsIdAlone) {
  EXPECT_EQ(find_environment(states, "local").value().record.name, "Local");
  EXPECT_EQ(find_environment(states, "lokal").error().message, "there is no environment 'lokal'; did you mean local?");
  EXPECT_EQ(find_environment(states, "..").error().message, "there is no environment '..'; there are: local");
  EXPECT_EQ(find_environment(states, "").error().code, Code::not_found);
}

TEST_F(NamesTest, AnEnvironmentByANameThatIsGivenUp) {
  const int64_t now = states.env().now().ms;
  env::State(rows.rows).other_names(env::EnvId("local")).push({.name = "dev", .until = {now + 86'400'000}});
  env::State(rows.rows).other_names(env::EnvId("local")).push({.name = "old", .until = {now - 1}});
  EXPECT_EQ(find_environment(states, "dev").value().id.text(), "local");
  EXPECT_EQ(alias_warning(states, "dev")->substr(0, 22), "dev means local until ");
  EXPECT_FALSE(alias_warning(states, "local"));
  EXPECT_FALSE(find_environment(states, "old")) << "it has run out";
  rows.environment("dev", {.name = "Dev"});
  EXPECT_EQ(find_environment(states, "dev").value().id.text(), "dev") << "as long as it is there";
  EXPECT_EQ(alias_warning(states, "dev"),
            "dev is given up for local; change what still uses it, with env migrate-dev local");
}

TEST_F(NamesTest, ADeploymentByIdBeginningBundleOrBecauseItIsTheOnlyOne) {
  EXPECT_EQ(meant({}), kOne);
  EXPECT_EQ(meant({.bundle = "shop"}), kOne);
  EXPECT_EQ(wrong({.bundle = "mail"}),
            "there is no deployment of 'mail' in local; there are: " + std::string(kOne) + " (shop for acme)");
  rows.deployment(kTwo, "other");
  EXPECT_EQ(meant({.deployment = kTwo}), kTwo);
  EXPECT_EQ(meant({.deployment = "01j0000000000000000000000b"}), kTwo);
  EXPECT_EQ(meant({.bundle = "shop", .customer = "other"}), kTwo);
  EXPECT_EQ(wrong({.bundle = "shop"}), "there are 2 deployments of 'shop' in local: " + std::string(kOne) +
                                           " (shop for acme), " + kTwo + " (shop for other)");
  EXPECT_EQ(find_deployment(states, "local", {.deployment = "01J0"}).error().code, Code::conflict);
}

TEST_F(NamesTest, ARevisionByIdBeginningOrNumber) {
  auto id = [&](const std::string& name, const std::string& deployment = "") {
    return find_revision(states, "local", name, deployment).value().id.text();
  };
  EXPECT_EQ(id(kFirst), kFirst);
  EXPECT_EQ(id("01J1000"), kFirst) << "the archived one is not meant";
  EXPECT_EQ(id("shop@1"), kFirst);
  EXPECT_EQ(id(kSecond), kSecond);
  EXPECT_EQ(id("shop@2", kOne), kSecond);
  EXPECT_EQ(find_revision(states, "local", "shop@9").error().message,
            "there is no revision 'shop@9' in local; there are: " + std::string(kFirst) + " (shop@1 for acme)");
  EXPECT_FALSE(find_revision(states, "prod", kFirst));
  EXPECT_FALSE(find_revision(states, "local", ""));
  rows.deployment(kTwo, "other");
  rows.revision("01J1000000000000000000000C", kTwo, 1);
  EXPECT_EQ(find_revision(states, "local", "shop@1").error().message.substr(0, 33),
            "2 revisions are called 'shop@1': ");
}

}  // namespace names_test
}  // namespace sluice::deploy::views
