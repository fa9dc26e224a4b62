// Every rule of the table, by the deployment that breaks it.
#include "router/table/table_compile.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "crypto/x509.h"
#include "router/testing_proxy.h"

namespace sluice::router {
namespace table_compile_test {

class TableCompile : public testing::Test {
 protected:
  std::shared_ptr<const Table> load(TableDocument document) {
    auto made = compiler.load({.document = std::move(document)}, table.get());
    if (!made) {
      error = to_string(made.error());
      return nullptr;
    }
    return *made;
  }
  std::string reason(const std::function<void(DeploymentDocument&)>& change) {
    DeploymentDocument deployment = testing_deployment();
    change(deployment);
    auto made = load(testing_table({deployment}));
    return made->quarantined.empty() ? "" : made->quarantined[0].reason;
  }

  SeededRandom random{1};
  uint32_t series = 0;
  TableCompiler compiler{random, [this](const SeriesName&) { return series++; }};
  std::shared_ptr<const Table> table;
  std::string error;
};

TEST_F(TableCompile, QuarantinesADeploymentAloneAndSaysWhy) {
  using D = DeploymentDocument;
  EXPECT_EQ(reason([](D&) {}), "");
  EXPECT_EQ(reason([](D& d) { d.id = "a b"; }), "/deployments/0/id: expected 1 to 64 letters, digits, -, _ and .");
  EXPECT_EQ(reason([](D& d) { d.revisions[0].weight_bps = 9'999; }),
            "/deployments/0/revisions: the weights sum to 9999 instead of 10000");
  EXPECT_EQ(reason([](D& d) { d.revisions[0].weight_bps = 10'001; }),
            "/deployments/0/revisions/0/weight_bps: expected 0 to 10000 basis points");
  EXPECT_EQ(reason([](D& d) { d.revisions.push_back({.id = "r1", .weight_bps = 0}); }),
            "/deployments/0/revisions/1/id: the revision is listed twice");
  EXPECT_EQ(reason([](D& d) { d.revisions[0].state = RevisionState::draining; }),
            "/deployments/0/revisions/0/weight_bps: a draining revision has no weight");
  EXPECT_EQ(reason([](D& d) { d.revisions[0].replicas[0].address = "x"; }),
            "/deployments/0/revisions/0/replicas/0/address: 'x' is no address; expected tcp:127.0.0.1:9000, "
            "tcp:[::1]:9000, tls:10.0.0.7:8443 or unix:/path");
  EXPECT_EQ(reason([](D& d) { d.routes.hosts = {"Shop.example"}; }),
            "/deployments/0/routes/hosts: 'Shop.example' is no host in small letters");
  EXPECT_EQ(reason([](D& d) { d.routes.path_prefixes = {"/a/"}; }),
            "/deployments/0/routes/path_prefixes: '/a/' is no path without a slash at its end");
  EXPECT_EQ(reason([](D& d) { d.routes.team = "t"; }), "/deployments/0/routes/team: a team needs its tenant");
  EXPECT_EQ(reason([](D& d) { d.stickiness.key_header = d.stickiness.key_cookie = "s"; }),
            "/deployments/0/stickiness: a session key is in a header or in a cookie, not in both");
  EXPECT_EQ(reason([](D& d) { d.stickiness.ttl_s = 0; }),
            "/deployments/0/stickiness/ttl_s: expected 1 to 34560000 seconds");
  EXPECT_EQ(reason([](D& d) { d.timeouts.idle_ms = 0; }),
            "/deployments/0/timeouts: expected 1 to 86400000 milliseconds");
  EXPECT_EQ(reason([](D& d) { d.paused_type = "a\nb"; }),
            "/deployments/0/paused_type: expected at most 200 bytes without control characters");
}

TEST_F(TableCompile, QuarantinesWhatIsSaidOfTlsWithoutSense) {
  using D = DeploymentDocument;
  const std::string pem =
      crypto::make_certificate({.name = "ca", .is_ca = true, .until_ms = 86'400'000}, nullptr, 0)->chain_pem;
  auto tls = [&](const TlsDocument& given) { return reason([&](D& d) { d.tls = given; }); };
  const auto wanted = ClientCertificate::wanted;
  EXPECT_EQ(tls({.client = wanted, .client_ca = pem}), "");
  EXPECT_EQ(tls({.client = wanted, .client_ca = pem, .trusted_callers = {{"spiffe://shop.example/tester"}}}), "");
  EXPECT_EQ(tls({.client = wanted}),
            "/deployments/0/tls/client_ca: an authority of clients goes with client: wanted or required");
  EXPECT_EQ(tls({.client_ca = pem}),
            "/deployments/0/tls/client_ca: an authority of clients goes with client: wanted or required");
  EXPECT_EQ(tls({.client = wanted, .client_ca = "x"}),
            "/deployments/0/tls/client_ca: expected certificates of authorities as PEM");
  EXPECT_EQ(tls({.trusted_callers = {{"spiffe://shop.example/tester"}}}),
            "/deployments/0/tls/trusted_callers: callers are known by their certificates: client: wanted or required");
  EXPECT_EQ(tls({.client = wanted, .client_ca = pem, .trusted_callers = {{"CN=tester"}}}),
            "/deployments/0/tls/trusted_callers: 'CN=tester' is no SPIFFE ID");

  auto replica = [&](const ReplicaDocument& given) { return reason([&](D& d) { d.revisions[0].replicas = {given}; }); };
  EXPECT_EQ(replica({.address = "tls:10.0.0.7:8443", .server_name = "shop.example", .ca = pem}), "");
  EXPECT_EQ(replica({.address = "tls:10.0.0.7:8443", .ca = "system"}), "");
  EXPECT_EQ(replica({.address = "tls:10.0.0.7:8443"}),
            "/deployments/0/revisions/0/replicas/0/ca: whom to believe at a tls: address: certificates of authorities "
            "as PEM, or system");
  EXPECT_EQ(replica({.address = "tls:10.0.0.7:8443", .ca = "x"}),
            "/deployments/0/revisions/0/replicas/0/ca: expected certificates of authorities as PEM, or system");
  EXPECT_EQ(replica({.address = "tls:10.0.0.7:8443", .server_name = "a b", .ca = pem}),
            "/deployments/0/revisions/0/replicas/0/server_name: 'a b' is no host");
  EXPECT_EQ(replica({.address = "tcp:10.0.0.7:8443", .ca = pem}),
            "/deployments/0/revisions/0/replicas/0/address: a server_name and a ca are for tls: addresses");
}

TEST_F(TableCompile, KeepsWhatItKnewOfADeploymentThatIsAtFaultNow) {
  table = load(testing_table({testing_deployment()}));
  DeploymentDocument broken = testing_deployment(), other = testing_deployment();
  broken.revisions[0].weight_bps = 1;
  other.id = "d2";
  other.routes.hosts = {"other.example"};
  auto after = load(testing_table({broken, other}));
  EXPECT_EQ(after->quarantined.size(), 1U);
  EXPECT_EQ(after->find({"shop.example", "/"}).deployment->revisions[0].weight_bps, 10'000U);
  EXPECT_EQ(after->find({"other.example", "/"}).deployment->id, "d2");
}

TEST_F(TableCompile, QuarantinesTheSecondOfTwoWithOneRoute) {
  DeploymentDocument other = testing_deployment();
  other.id = "d2";
  auto made = load(testing_table({testing_deployment(), other}));
  ASSERT_EQ(made->quarantined.size(), 1U);
  EXPECT_EQ(made->quarantined[0].deployment, "d2");
  EXPECT_EQ(made->quarantined[0].reason, "/deployments/1: its route shop.example/ is d1's");
}

TEST_F(TableCompile, RefusesATableWhoseSettingsAreAtFault) {
  TableDocument document = testing_table({});
  document.cookie_keys = {{"k1", "short"}};
  EXPECT_EQ(load(document), nullptr);
  EXPECT_EQ(error, "/cookie_keys/0/key: expected 32 bytes as unpadded base64url");
  document.cookie_keys = {};
  document.debug_keys = {"AAAA"};
  EXPECT_EQ(load(document), nullptr);
  EXPECT_EQ(error, "/debug_keys/0: expected an Ed25519 public key, 32 bytes as base64");
  document.debug_keys = {};
  document.trusted_proxies = {"10.0.0.0/33"};
  EXPECT_EQ(load(document), nullptr);
  EXPECT_EQ(error, "/trusted_proxies/0: '10.0.0.0/33' is no address; expected 10.0.0.0/8, ::1/128 or an address alone");
}

TEST_F(TableCompile, PatchesOneDeploymentAndKeepsItsMemory) {
  table = load(testing_table({testing_deployment()}));
  const Deployment& before = **table->named("d1");
  before.memory->sequence = 77;
  before.revisions[0].memory->draining = true;
  DeploymentDocument changed = testing_deployment();
  changed.revisions.insert(changed.revisions.begin(), {.id = "r2", .weight_bps = 10'000});
  changed.revisions[1].weight_bps = 0;
  auto after = *compiler.patch({.document = {.deployment = changed}, .deployment = "d1"}, 2, *table);
  const Deployment& deployment = **after->named("d1");
  EXPECT_EQ(after->generation, 2);
  EXPECT_EQ(deployment.memory->sequence, 77U);
  EXPECT_EQ(deployment.revisions[1].memory, before.revisions[0].memory);
  EXPECT_NE(deployment.revisions[0].memory->number, deployment.revisions[1].memory->number);
  EXPECT_TRUE(deployment.revisions[1].draining());
  // With weight again, its drain is over; not so by a patch that is at fault.
  changed = testing_deployment();
  changed.timeouts.idle_ms = 0;
  after = *compiler.patch({.document = {.deployment = changed}, .deployment = "d1"}, 3, *after);
  EXPECT_EQ(after->quarantined.size(), 1U);
  EXPECT_TRUE((*after->named("d1"))->revisions[1].draining());
  after = *compiler.patch({.document = {.deployment = testing_deployment()}, .deployment = "d1"}, 4, *after);
  EXPECT_TRUE(after->quarantined.empty());
  EXPECT_FALSE((*after->named("d1"))->revisions[0].draining());
  after = *compiler.patch({.document = {.removed = "d1"}, .deployment = "d1"}, 5, *after);
  EXPECT_EQ(after->named("d1"), nullptr);
}

TEST_F(TableCompile, KnowsTheRedisOfPinsAndRefusesAWrongOneWithoutRepeatingIt) {
  TableDocument document = testing_table({testing_deployment()});
  EXPECT_FALSE(load(document)->settings->redis);
  document.pins = PinsDocument{"redis://:hunter2@cache.example:7000/2"};
  EXPECT_EQ(load(document)->settings->redis,
            (RedisPlace{.host = "cache.example", .port = 7000, .password = "hunter2", .db = 2}));
  document.pins = PinsDocument{"redis://:hunter2@cache.example:x"};
  EXPECT_EQ(load(document), nullptr);
  EXPECT_EQ(error, "/pins/redis: expected a host and perhaps a port");
}

}  // namespace table_compile_test
}  // namespace sluice::router
