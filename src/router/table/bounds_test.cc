// What bounds let pass and what not, rule by rule.
#include "router/table/bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_writer.h"
#include "crypto/base64.h"
#include "crypto/dsse.h"
#include "router/testing_proxy.h"

namespace sluice::router {
namespace bounds_test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kTree = "sha256:" + std::string(64, 'a');

BoundsDocument document() {
  return {
      .environment = "test",
      .version = 3,
      .deployments = {
          {.bundles = {{.type = "enum", .members = {{"shop"}}}},
           .hosts = {{.type = "enum", .members = {{"shop.example"}}}, {.type = "suffix", .suffix = ".shops.example"}},
           .prefixes = {{.type = "enum", .members = {{"/"}}}, {.type = "below", .prefix = "/api"}},
           .revisions = {{.type = "any"}},
           .upstreams = {{.type = "cidr", .network = "10.0.0.0/8"}, {.type = "unix", .prefix = "/run/shop/"}}}}};
}

Bounds made(BoundsDocument from = document()) { return Bounds::compile(std::move(from)).value(); }

std::string breach(const Bounds& bounds, const DeploymentDocument& deployment) {
  return bounds.breach(deployment).value_or("");
}

DeploymentDocument shop() { return testing_deployment(); }

TEST(RouterBounds, LetPassWhatTheyName) {
  EXPECT_EQ(breach(made(), shop()), "");
  DeploymentDocument other = shop();
  other.bundle = "blog";
  EXPECT_EQ(breach(made(), other), "beyond the operator's bounds (version 3): the bundle blog");
}

TEST(RouterBounds, Hosts) {
  DeploymentDocument wide = shop();
  wide.routes.hosts = {};
  EXPECT_EQ(breach(made(), wide), "") << "without hosts and prefixes it has no route";
  wide.routes.path_prefixes = {"/"};
  EXPECT_THAT(breach(made(), wide), HasSubstr("every host"));
  for (const char* good : {"shop.example", "SHOP.example", "a.shops.example", "*.shops.example"}) {
    wide.routes.hosts = {good};
    EXPECT_EQ(breach(made(), wide), "") << good;
  }
  for (const char* bad : {"*.example", "shops.example", ".shops.example", "evilshops.example", "*.shop.example"}) {
    wide.routes.hosts = {"shop.example", bad};
    EXPECT_THAT(breach(made(), wide), HasSubstr("the host " + std::string(bad))) << bad;
  }
}

TEST(RouterBounds, Prefixes) {
  DeploymentDocument wide = shop();
  for (const char* good : {"/", "/api", "/api/v1"}) {
    wide.routes.path_prefixes = {good};
    EXPECT_EQ(breach(made(), wide), "") << good;
  }
  for (const char* bad : {"/apis", "/admin", "/api/../admin", "/api/%2e%2e/admin", "/api//x"}) {
    wide.routes.path_prefixes = {bad};
    EXPECT_THAT(breach(made(), wide), HasSubstr("the path " + std::string(bad))) << bad;
  }
  BoundsDocument narrow = document();
  narrow.deployments[0].prefixes = {{.type = "below", .prefix = "/api"}};
  wide.routes.path_prefixes = {};
  EXPECT_THAT(breach(made(narrow), wide), HasSubstr("the path /")) << "no prefix means all paths";
}

TEST(RouterBounds, Upstreams) {
  DeploymentDocument wide = shop();
  for (const char* good : {"tcp:10.255.0.1:80", "unix:/run/shop/1.sock"}) {
    wide.revisions[0].replicas = {{good}};
    EXPECT_EQ(breach(made(), wide), "") << good;
  }
  for (const char* bad : {"tcp:11.0.0.1:80", "tcp:[::1]:80", "unix:/run/shop/../evil.sock", "unix:/run/shop/",
                          "unix:/run/shopping/x", "nonsense"}) {
    wide.revisions[0].replicas = {{"tcp:10.0.0.1:80"}, {bad}};
    EXPECT_THAT(breach(made(), wide), HasSubstr("the upstream " + std::string(bad))) << bad;
  }
}

TEST(RouterBounds, CustomersAndIds) {
  BoundsDocument narrow = document();
  narrow.deployments[0].customers = {{{.type = "enum", .members = {{"acme"}}}}};
  EXPECT_THAT(breach(made(narrow), shop()), HasSubstr("its customer is"));
  narrow.deployments[0].customers.reset();
  narrow.deployments[0].ids = {{{.type = "enum", .members = {{"d2"}}}}};
  EXPECT_THAT(breach(made(narrow), shop()), HasSubstr("its id is d1"));
}

TEST(RouterBounds, RevisionsByDigest) {
  BoundsDocument narrow = document();
  narrow.deployments[0].revisions = {{.type = "enum", .members = {{kTree}}}};
  DeploymentDocument one = shop();
  EXPECT_THAT(breach(made(narrow), one), HasSubstr("revision r1 does not say what it is"));
  one.revisions[0].digest = kTree;
  EXPECT_EQ(breach(made(narrow), one), "");
  one.revisions[0].digest = "sha256:" + std::string(64, 'b');
  EXPECT_THAT(breach(made(narrow), one), HasSubstr("revision r1 is sha256:bbb"));
}

TEST(RouterBounds, RevisionsByReleaseKeys) {
  const auto ann = crypto::PrivateKey::generate(), ben = crypto::PrivateKey::generate(),
             eve = crypto::PrivateKey::generate();
  const auto base64 = [](const crypto::PrivateKey& key) { return crypto::to_base64(key.public_key().raw()); };
  const auto statement = [&](const std::string& hex, const std::vector<const crypto::PrivateKey*>& signers) {
    std::vector<crypto::PrivateKey> keys;
    for (const auto* each : signers) keys.push_back(crypto::PrivateKey::from_pem(each->to_pem().reveal()).value());
    const std::string text =
        sluice::write(json::object{{"subject", json::array{json::object{{"digest", json::object{{"sha256", hex}}}}}}});
    return crypto::write_envelope(crypto::sign_envelope("application/vnd.in-toto+json", text, keys).value());
  };
  BoundsDocument narrow = document();
  narrow.deployments[0].revisions = {{.type = "signed_by", .keys = {{base64(ann), base64(ben)}}, .threshold = 2}};
  DeploymentDocument one = shop();
  one.revisions[0].digest = kTree;
  EXPECT_THAT(breach(made(narrow), one), HasSubstr("revision r1 is sha256:aaa")) << "nobody vouches for it";
  one.revisions[0].statement = statement(std::string(64, 'a'), {&ann});
  EXPECT_THAT(breach(made(narrow), one), HasSubstr("revision r1 is")) << "one of two";
  one.revisions[0].statement = statement(std::string(64, 'a'), {&ann, &ben});
  EXPECT_EQ(breach(made(narrow), one), "");
  one.revisions[0].statement = statement(std::string(64, 'b'), {&ann, &ben});
  EXPECT_THAT(breach(made(narrow), one), HasSubstr("revision r1 is")) << "about another tree";
  one.revisions[0].statement = statement(std::string(64, 'a'), {&ann, &eve});
  EXPECT_THAT(breach(made(narrow), one), HasSubstr("revision r1 is"));
}

TEST(RouterBounds, Settings) {
  BoundsDocument narrow = document();
  narrow.trusted_proxies = {{.type = "cidr", .network = "10.0.0.0/8"}};
  narrow.debug_keys = {{.type = "enum", .members = {{"KEY"}}}};
  const Bounds bounds = made(narrow);
  TableDocument table = testing_table({shop()});
  EXPECT_TRUE(bounds.check_settings(table));
  table.trusted_proxies = {"10.1.0.0/16", "10.2.3.4"};
  table.debug_keys = {"KEY"};
  EXPECT_TRUE(bounds.check_settings(table));
  table.trusted_proxies = {"0.0.0.0/0"};
  EXPECT_THAT(bounds.check_settings(table).error().message, HasSubstr("the trusted proxy 0.0.0.0/0 goes beyond"));
  table.trusted_proxies = {"10.0.0.0/7"};
  EXPECT_FALSE(bounds.check_settings(table));
  table.trusted_proxies = {};
  table.debug_keys = {"OTHER"};
  EXPECT_THAT(bounds.check_settings(table).error().message, HasSubstr("the debug key OTHER"));
  table.debug_keys = {};
  table.pins = PinsDocument{.redis = "redis://198.51.100.7"};
  EXPECT_THAT(bounds.check_settings(table).error().message, HasSubstr("session pins"));
  table.pins.reset();
  table.environment = "prod";
  EXPECT_THAT(bounds.check_settings(table).error().message, HasSubstr("the environment prod"));
}

TEST(RouterBounds, NarrowLeavesOutAlone) {
  DeploymentDocument bad = shop();
  bad.id = "d2";
  bad.routes.hosts = {"bank.example"};
  ReadTable read{.document = testing_table({bad, shop()})};
  made().narrow(read, true);
  ASSERT_THAT(read.document.deployments, SizeIs(1));
  EXPECT_EQ(read.document.deployments[0].id, "d1");
  ASSERT_THAT(read.quarantined, SizeIs(1));
  EXPECT_EQ(read.quarantined[0].deployment, "d2");
  EXPECT_FALSE(read.quarantined[0].forget);
  ReadPatch patch{.document = {.deployment = bad}, .deployment = "d2"};
  made().narrow(patch);
  EXPECT_TRUE(patch.quarantined);
}

TEST(RouterBounds, AroundATableLetsExactlyThatPass) {
  TableDocument table = testing_table({shop()});
  table.trusted_proxies = {"10.0.0.0/8"};
  table.deployments[0].revisions[0].replicas.push_back({"unix:/run/shop/2.sock"});
  const Bounds bounds = made(bounds_around(table));
  EXPECT_TRUE(bounds.check_settings(table));
  EXPECT_EQ(breach(bounds, table.deployments[0]), "");
  table.deployments[0].revisions[0].replicas.push_back({"tcp:10.0.0.2:80"});
  EXPECT_NE(breach(bounds, table.deployments[0]), "");
}

TEST(RouterBounds, AreSignedAndRead) {
  const auto key = crypto::PrivateKey::generate(), other = crypto::PrivateKey::generate();
  const std::string text = sign_bounds(document(), key).value();
  const std::vector<crypto::PublicKey> trusted = {key.public_key()};
  auto read = read_bounds(text, trusted);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->bounds.document().version, 3);
  EXPECT_THAT(read->signers, SizeIs(1));
  EXPECT_EQ(read_bounds(text, std::vector{other.public_key()}).error().code, Code::verification_failed);
}

TEST(RouterBounds, FaultsNameTheirPlace) {
  const auto fault = [](const char* text) { return to_string(parse_bounds(text, "b.yaml").error()); };
  EXPECT_THAT(fault("schema: sluice.router-bounds.v1\nenvironment: e\nversion: 0\ndeployments: []\n"
                    "trusted_proxies: []\ndebug_keys: []\n"),
              HasSubstr("b.yaml:3:1: /version: a version is at least 1"));
  const std::string head = "schema: sluice.router-bounds.v1\nenvironment: e\nversion: 1\ndebug_keys: []\n";
  const auto rule = [&](const std::string& hosts) {
    return fault((head + "trusted_proxies: []\ndeployments: [{bundles: [], hosts: [" + hosts +
                  "], prefixes: [], revisions: [], upstreams: []}]\n")
                     .c_str());
  };
  EXPECT_THAT(rule("{type: regex}"), HasSubstr("'regex' is no rule for this; known are any, enum, suffix"));
  EXPECT_THAT(rule("{type: enum}"), HasSubstr("a rule of type enum needs its value"));
  EXPECT_THAT(rule("{type: any, members: [a]}"), HasSubstr("this belongs to a rule of type enum"));
  EXPECT_THAT(rule("{type: suffix, suffix: shop.example}"), HasSubstr("begins with a dot"));
  EXPECT_THAT(fault((head + "trusted_proxies: [{type: cidr, network: 10.0.0.0/99}]\ndeployments: []\n").c_str()),
              HasSubstr("/trusted_proxies/0/network"));
  EXPECT_THAT(fault((head + "trusted_proxies: []\ndeployments: []\nmore: 1\n").c_str()), HasSubstr("more"));
}

TEST(RouterBounds, OfARevisionThatIsAboutToBeStarted) {
  BoundsDocument bound = document();
  const crypto::PrivateKey release = crypto::PrivateKey::generate(), other = crypto::PrivateKey::generate();
  bound.deployments[0].ids = {{{.type = "enum", .members = {{"d1"}}}}};
  bound.deployments[0].revisions = {{.type = "enum", .members = {{kTree}}},
                                    {.type = "signed_by", .keys = {{crypto::to_base64(release.public_key().raw())}}}};
  const Bounds bounds = made(bound);
  const auto why = [&](const StartingRevision& revision) { return bounds.breach(revision).value_or(""); };
  EXPECT_EQ(why({.bundle = "shop", .deployment = "d1", .digest = kTree}), "");
  EXPECT_THAT(why({.bundle = "blog", .deployment = "d1", .digest = kTree}), HasSubstr("the bundle blog"));
  EXPECT_THAT(why({.bundle = "shop", .deployment = "d2", .digest = kTree}), HasSubstr("its deployment is d2"));
  const std::string digest = std::string(64, 'b');
  const auto signed_with = [&](const crypto::PrivateKey& key) {
    return crypto::write_envelope(crypto::sign_envelope("application/vnd.in-toto+json",
                                                        R"({"subject":[{"digest":{"sha256":")" + digest + R"("}}]})",
                                                        std::span(&key, 1))
                                      .value());
  };
  const StartingRevision fresh{.bundle = "shop", .deployment = "d1", .digest = "sha256:" + digest};
  EXPECT_THAT(why(fresh), HasSubstr("its tree is sha256:bbb"));
  StartingRevision vouched = fresh;
  vouched.statement = signed_with(other);
  EXPECT_THAT(why(vouched), HasSubstr("its tree is"));
  vouched.statement = signed_with(release);
  EXPECT_EQ(why(vouched), "");
  vouched.digest = "sha256:" + std::string(64, 'c');
  EXPECT_THAT(why(vouched), HasSubstr("its tree is")) << "a statement about another tree";
}

}  // namespace bounds_test
}  // namespace sluice::router
