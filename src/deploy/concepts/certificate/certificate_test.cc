// Certificate through the harness, with a shelf in a folder: one test a variant.
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/certificate_shelf.h"
#include "deploy/concepts/certificate/certificate_work.h"
#include "deploy/testing_router.h"
#include "deploy/testing_views.h"
#include "lang/run/harness.h"

namespace sluice::deploy::certificate {

void prepare(lang::Harness& harness) {
  static TestingFolder folder;
  static RealDisk disk;
  static RealClock clock;
  static CertificateShelf shelf(disk, folder.path());
  harness.tools().add(shelf);
  harness.tools().add<Clock>(clock);
}

namespace certificate_test {

constexpr int64_t kDay_ms = 86'400'000;

class CertificateTest : public testing::Test {
 protected:
  CertificateTest() {
    harness.tools().add(shelf);
    harness.tools().add<Clock>(clock);
    harness.rows().set_now({clock.wall_ms()});
  }

  crypto::MadeCertificate made(const std::string& name, int64_t days = 90) const {
    return crypto::make_certificate({.names = {name}, .until_ms = clock.wall_ms() + days * kDay_ms}, nullptr,
                                    clock.wall_ms())
        .value();
  }
  auto import_(const std::string& id, const crypto::MadeCertificate& pair) {
    return harness.invoke(Import{.certificate = CertificateId(id),
                                 .chain = pair.chain_pem,
                                 .key = harness.seal(std::string(pair.key_pem.reveal()))});
  }
  // As if a provider had issued it.
  void known(const std::string& id, const std::string& provider = "local-ca") {
    State(harness.rows()).put(CertificateId(id), {.provider = provider, .fingerprint = "sha256:1"});
  }
  auto listed() { return harness.invoke(List{}).as<List::Ok>().certificates; }
  // A router that shows this, and reads the shelf's folder.
  void route(TestingRouter& router, const std::string& id, const std::string& fingerprint,
             const std::string& error = "") {
    router.show({{"ok", true},
                 {"folder", shelf.folder()},
                 {"certificates",
                  json::array{json::object{{"certificate", id}, {"fingerprint", fingerprint}, {"error", error}}}}});
    register_router(harness.rows(), "local", router);
  }
  static void register_router(lang::MemoryRows& rows, const std::string& environment, const TestingRouter& router) {
    rows.put("Router", environment, json::object{{"generation", 1}});
    rows.put("Router.members", lang::child_key(environment, lang::rows::number_key(0)),
             json::object{{"router", router.router()},
                          {"name", "main"},
                          {"control", router.control()},
                          {"acknowledged", 1},
                          {"trouble", ""}});
  }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  CertificateShelf shelf{disk, folder.path()};
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  lang::Harness harness{certificate_binding()};
};

TEST_F(CertificateTest, ImportOkKeepsThePairAndListsIt) {
  const auto pair = made("shop.example");
  const auto ok = import_("shop", pair).as<Import::Ok>();
  EXPECT_EQ(ok.names, std::vector<std::string>{"shop.example"});
  EXPECT_EQ(shelf.look("shop")->fingerprint, ok.fingerprint);
  EXPECT_EQ(disk.stat(folder.path("tls/shop/key.pem"), FollowLinks::yes)->mode, 0600U);
  ASSERT_EQ(listed().size(), 1U);
  EXPECT_EQ(listed()[0].provider, "import");
  EXPECT_EQ(listed()[0].names, std::vector<std::string>{"shop.example"});
  const auto next = import_("shop", made("shop.example", 30)).as<Import::Ok>();
  EXPECT_EQ(shelf.look("shop")->fingerprint, next.fingerprint);
  EXPECT_EQ(disk.list(folder.path("tls/.kept"))->size(), 1U) << "the one before is gone";
  EXPECT_EQ(listed().size(), 1U);
}

TEST_F(CertificateTest, ImportInvalidChangesNothing) {
  const auto before = import_("shop", made("shop.example")).as<Import::Ok>();
  crypto::MadeCertificate mixed = made("shop.example");
  mixed.key_pem = crypto::SecretBuffer::copy_of(made("shop.example").key_pem.reveal());
  EXPECT_EQ(import_("shop", mixed).as<Import::Invalid>().message, "the private key is not that of the certificate");
  EXPECT_TRUE(import_("shop", made("shop.example", -1))
                  .as<Import::Invalid>()
                  .message.starts_with("the certificate has expired"));
  EXPECT_EQ(import_("../shop", made("shop.example")).as<Import::Invalid>().message,
            "'../shop' is no name for a certificate: letters, digits, -, _ and . are");
  EXPECT_EQ(shelf.look("shop")->fingerprint, before.fingerprint);
}

TEST_F(CertificateTest, ImportFailedIfARouterRefusesIt) {
  const auto before = import_("shop", made("shop.example")).as<Import::Ok>();
  TestingRouter router(folder.path("router"), "main", key.public_key());
  route(router, "shop", before.fingerprint, "the private key cannot be read");
  EXPECT_EQ(import_("shop", made("shop.example")).as<Import::Failed>().message,
            "the router main does not show it: the private key cannot be read");
  EXPECT_EQ(shelf.look("shop")->fingerprint, before.fingerprint) << "the one before is there again";
}

TEST_F(CertificateTest, IssueOkNotesWhenToRenew) {
  const lang::DateTime now{clock.wall_ms()};
  harness.answer_with(lang::Completion{"ok",
                                       {{"names", json::array{"localhost"}},
                                        {"issuer", "CN=ca"},
                                        {"fingerprint", "sha256:2"},
                                        {"validFrom", lang::to_text(now)},
                                        {"expiresAt", lang::to_text({now.ms + 90 * kDay_ms})}}});
  const auto ok =
      harness.invoke(Issue{.certificate = CertificateId("local"), .provider = "local-ca", .names = {"localhost"}})
          .as<Issue::Ok>();
  EXPECT_NEAR(static_cast<double>(ok.renewInSeconds), 60 * 86'400.0, 86'400.0);
  EXPECT_EQ(listed()[0].issuer, "CN=ca");
}

TEST_F(CertificateTest, IssueInvalidNamesWhatIsNoHost) {
  auto message = [&](const std::string& id, std::vector<std::string> names) {
    return harness.invoke(Issue{.certificate = CertificateId(id), .provider = "local-ca", .names = std::move(names)})
        .as<Issue::Invalid>()
        .message;
  };
  EXPECT_EQ(message("x", {}), "a certificate is of at least one host or address");
  EXPECT_EQ(message("x", {"a b"}), "'a b' is no host and no address");
  EXPECT_EQ(message(".x", {"a"}), "'.x' is no name for a certificate: letters, digits, -, _ and . are");
}

TEST_F(CertificateTest, IssueFailedWhereNobodyAnswers) {
  EXPECT_TRUE(
      harness.invoke(Issue{.certificate = CertificateId("x"), .provider = "none", .names = {"a"}}).is<Issue::Failed>());
}

TEST_F(CertificateTest, RenewOkAndFailedAreNoted) {
  known("local");
  harness.end_with({.outcome = lang::EngineOutcome::unavailable, .message = "the CA is down"});
  EXPECT_EQ(harness.invoke(Renew{.certificate = CertificateId("local")}).as<Renew::Failed>().message, "the CA is down");
  EXPECT_EQ(listed()[0].problem, "the CA is down");
  harness.answer_with(lang::Completion{"ok",
                                       {{"names", json::array{"localhost"}},
                                        {"issuer", "CN=ca"},
                                        {"fingerprint", "sha256:2"},
                                        {"validFrom", "2030-01-01T00:00:00.000Z"},
                                        {"expiresAt", "2030-03-01T00:00:00.000Z"}}});
  harness.invoke(Renew{.certificate = CertificateId("local")}).as<Renew::Ok>();
  EXPECT_EQ(listed()[0].problem, "");
  EXPECT_EQ(listed()[0].provider, "local-ca");
}

TEST_F(CertificateTest, RenewNotFoundReplacedAndImported) {
  EXPECT_EQ(harness.invoke(Renew{.certificate = CertificateId("x")}).as<Renew::NotFound>().message,
            "there is no certificate x");
  known("x");
  EXPECT_TRUE(
      harness.invoke(Renew{.certificate = CertificateId("x"), .fingerprint = "sha256:0"}).is<Renew::Replaced>());
  known("y", "import");
  EXPECT_TRUE(harness.invoke(Renew{.certificate = CertificateId("y")}).is<Renew::Imported>());
}

TEST_F(CertificateTest, RemoveOkNotFoundAndFailed) {
  EXPECT_TRUE(harness.invoke(Remove{.certificate = CertificateId("x")}).is<Remove::NotFound>());
  import_("x", made("x.example")).as<Import::Ok>();
  harness.invoke(Remove{.certificate = CertificateId("x")}).as<Remove::Ok>();
  EXPECT_FALSE(shelf.look("x"));
  EXPECT_TRUE(listed().empty());
  EXPECT_TRUE(disk.list(folder.path("tls/.kept"))->empty());
  known("z");
  ASSERT_TRUE(disk.make_folder(folder.path("tls/z"), 0700));
  EXPECT_TRUE(harness.invoke(Remove{.certificate = CertificateId("z")})
                  .as<Remove::Failed>()
                  .message.find("is a folder that Sluice has not made") != std::string::npos);
}

TEST_F(CertificateTest, InspectOkSaysWhatIsWrong) {
  const auto good = import_("good", made("good.example")).as<Import::Ok>();
  import_("soon", crypto::make_certificate({.names = {"soon.example"}, .until_ms = clock.wall_ms() + kDay_ms}, nullptr,
                                           clock.wall_ms() - 80 * kDay_ms)
                      .value());
  import_("gone", made("gone.example"));
  ASSERT_TRUE(disk.remove(folder.path("tls/gone/key.pem")));
  TestingRouter router(folder.path("router"), "main", key.public_key());
  route(router, "good", good.fingerprint);
  const auto ok = harness.invoke(Inspect{}).as<Inspect::Ok>();
  EXPECT_EQ(ok.checked, 3);
  std::vector<std::string> found;
  for (const auto& each : ok.problems) found.push_back(each.certificate + ": " + each.message.substr(0, 24));
  EXPECT_EQ(found,
            (std::vector<std::string>{"gone: its files cannot be used",
                                      "soon: it expires on " + utc_text(shelf.look("soon")->until_ms).substr(0, 10),
                                      "soon: the router main does not"}))
      << testing::PrintToString(found);
}

}  // namespace certificate_test
}  // namespace sluice::deploy::certificate
