// Whose signatures count, and which rule holds for which host.
#include "router/tls/client_rule.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "crypto/x509.h"
#include "router/table/table_compile.h"

namespace sluice::router {
namespace client_rule_test {

std::string authority(const char* name) {
  return crypto::make_certificate({.name = name, .is_ca = true, .until_ms = 86'400'000}, nullptr, 0)->chain_pem;
}

class ClientRulesTest : public testing::Test {
 protected:
  DeploymentDocument deployment(const std::string& id, std::vector<std::string> hosts, const std::string& prefix,
                                ClientCertificate client) {
    DeploymentDocument made;
    made.id = id;
    made.routes = {.hosts = std::move(hosts), .path_prefixes = {prefix}};
    if (client != ClientCertificate::none) made.tls = TlsDocument{.client = client, .client_ca = pem};
    return made;
  }
  void load(std::vector<DeploymentDocument> deployments) {
    auto made =
        compiler.load({.document = {.environment = "local", .generation = 1, .deployments = deployments}}, nullptr);
    table = *std::move(made);
    EXPECT_EQ(table->quarantined, std::vector<Quarantined>());
  }
  void patch(std::optional<DeploymentDocument> now, const std::string& id) {
    PatchDocument document;
    if (now) {
      document.deployment = std::move(now);
    } else {
      document.removed = id;
    }
    table = *compiler.patch({.document = std::move(document), .deployment = id}, table->generation + 1, *table);
  }
  std::string asked(const std::string& host) {
    if (!table->client_rules) return "nothing";
    auto rule = table->client_rules->find(host);
    return !rule ? "none" : rule->required() ? "required" : "wanted";
  }

  std::string pem = authority("one");
  SeededRandom random{7};
  TableCompiler compiler{random, [](const SeriesName&) { return 0U; }};
  std::shared_ptr<const Table> table;
};

TEST_F(ClientRulesTest, HoldForHostsAsRoutesDo) {
  load({deployment("a", {"*.shop.example"}, "/", ClientCertificate::required),
        deployment("b", {"open.shop.example"}, "/", ClientCertificate::none),
        deployment("c", {}, "/", ClientCertificate::wanted)});
  EXPECT_EQ(asked("pay.shop.example"), "required");
  EXPECT_EQ(asked("x.pay.shop.example"), "required");
  EXPECT_EQ(asked("open.shop.example"), "none");
  EXPECT_EQ(asked("shop.example"), "wanted");
  EXPECT_EQ(asked("other.example"), "wanted");
  load({deployment("b", {"open.shop.example"}, "/", ClientCertificate::none)});
  EXPECT_EQ(asked("open.shop.example"), "nothing");
}

TEST_F(ClientRulesTest, OfDeploymentsThatShareAHostTheStrictestCounts) {
  load({deployment("a", {"shop.example"}, "/", ClientCertificate::none),
        deployment("b", {"shop.example"}, "/pay", ClientCertificate::required),
        deployment("c", {"shop.example"}, "/cart", ClientCertificate::wanted)});
  EXPECT_EQ(asked("shop.example"), "required");
}

TEST_F(ClientRulesTest, FollowPatches) {
  load({deployment("a", {"shop.example"}, "/", ClientCertificate::none)});
  EXPECT_EQ(asked("shop.example"), "nothing");
  patch(deployment("a", {"shop.example"}, "/", ClientCertificate::wanted), "a");
  EXPECT_EQ(asked("shop.example"), "wanted");
  const auto before = table->client_rules;
  patch(deployment("a", {"shop.example"}, "/", ClientCertificate::wanted), "a");
  EXPECT_EQ(table->client_rules, before) << "nothing has changed";
  patch(deployment("a", {"new.example"}, "/", ClientCertificate::wanted), "a");
  EXPECT_EQ(asked("new.example"), "wanted");
  EXPECT_EQ(asked("shop.example"), "none");
  patch(std::nullopt, "a");
  EXPECT_EQ(asked("new.example"), "nothing");
}

TEST(ClientRule, TellsRulesApartByWhatTheySay) {
  const std::string one = authority("one"), other = authority("other");
  auto stamp = [](bool required, const std::string& pem) { return (*ClientRule::make(required, pem))->stamp(); };
  EXPECT_EQ(stamp(true, one), stamp(true, one));
  EXPECT_NE(stamp(true, one), stamp(false, one));
  EXPECT_NE(stamp(true, one), stamp(true, other));
  EXPECT_NE(stamp(true, one), stamp(true, one + other));
  for (const std::string& pem : {std::string(), std::string("nothing"), one + "-----BEGIN CERTIFICATE-----\nx\n"}) {
    auto refused = ClientRule::make(true, pem);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "expected certificates of authorities as PEM");
  }
}

}  // namespace client_rule_test
}  // namespace sluice::router
