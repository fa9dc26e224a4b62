// Acme through the harness, with an authority that does what a test says. The protocol itself is tested with pebble.
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/certificate_shelf.h"
#include "deploy/providers/certificate/acme/acme_issuer.h"
#include "deploy/providers/certificate/acme/acme_work.h"
#include "lang/run/harness.h"

namespace sluice::deploy::acme {

void prepare(lang::Harness&) {}

namespace acme_test {

namespace protocol = ::sluice::acme;

class AcmeTest : public testing::Test {
 protected:
  AcmeTest() {
    harness.tools().add(shelf);
    harness.tools().add(issuer);
    harness.tools().add<Clock>(clock);
    harness.tools().add<Disk>(disk);
    issuer.issue = [this](const protocol::Wish& wish, const protocol::Place&,
                          const protocol::Hooks&) -> Result<protocol::Issued> {
      asked.push_back(wish);
      if (refusal) return *refusal;
      auto made = crypto::make_certificate({.names = wish.names, .until_ms = clock.wall_ms() + 86'400'000}, nullptr,
                                           clock.wall_ms());
      return protocol::Issued{.chain_pem = made->chain_pem, .key_pem = std::move(made->key_pem)};
    };
  }
  Issue ask() {
    return {.certificate = "shop", .names = {"shop.invalid"}, .directory = "https://acme.example/directory"};
  }
  auto issue(const Issue& wanted) { return harness.invoke(wanted); }
  auto renew() { return harness.invoke(Renew{.certificate = "shop"}); }
  void refuse(Code code) { refusal = Error{.code = code, .message = "no"}; }

  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  CertificateShelf shelf{disk, folder.path()};
  AcmeIssuer issuer;
  std::vector<protocol::Wish> asked;
  std::optional<Error> refusal;
  lang::Harness harness{acme_binding()};
};

TEST_F(AcmeTest, IssueOkKeepsWhatComes) {
  Issue wanted = ask();
  wanted.email = "me@shop.invalid";
  wanted.challenge = "tls-alpn-01";
  wanted.roots = "PEM";
  wanted.bindingId = "k1";
  wanted.bindingKey = harness.seal("c2VjcmV0");
  const auto ok = issue(wanted).as<Issue::Ok>();
  EXPECT_EQ(ok.names, std::vector<std::string>{"shop.invalid"});
  EXPECT_EQ(shelf.look("shop")->fingerprint, ok.fingerprint);
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].challenge, protocol::ChallengeKind::tls_alpn01);
  EXPECT_EQ(asked[0].binding->key, "c2VjcmV0");
  const auto again = renew().as<Renew::Ok>();
  EXPECT_NE(again.fingerprint, ok.fingerprint);
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked[1].directory + asked[1].email + asked[1].roots_pem,
            "https://acme.example/directoryme@shop.invalidPEM");
  EXPECT_FALSE(asked[1].binding) << "the account is bound already";
}

TEST_F(AcmeTest, IssueInvalid) {
  auto message = [&](auto change) {
    Issue wanted = ask();
    change(wanted);
    return issue(wanted).as<Issue::Invalid>().message;
  };
  EXPECT_EQ(message([](Issue& it) { it.directory.reset(); }), "name the authority's directory");
  EXPECT_EQ(message([](Issue& it) { it.directory = "http://a"; }), "the directory of an authority is an https:// URL");
  EXPECT_EQ(message([](Issue& it) { it.challenge = "dns-01"; }),
            "'dns-01' is no way to prove a name: http-01 and tls-alpn-01 are");
  EXPECT_EQ(message([](Issue& it) { it.names = {"*.shop.invalid"}; }),
            "a wildcard such as *.shop.invalid is proved by DNS alone");
}

TEST_F(AcmeTest, IssueRefusedLimitedUnreachableAndNotShown) {
  refuse(Code::denied);
  EXPECT_EQ(issue(ask()).as<Issue::Refused>().message, "no");
  refuse(Code::limit);
  EXPECT_TRUE(issue(ask()).is<Issue::Limited>());
  refuse(Code::timeout);
  EXPECT_TRUE(issue(ask()).is<Issue::Unreachable>());
  refuse(Code::failed);
  EXPECT_TRUE(issue(ask()).is<Issue::NotShown>());
  EXPECT_TRUE(renew().is<Renew::Unreadable>()) << "nothing came of it";
}

TEST_F(AcmeTest, RenewRefusedLimitedUnreachableAndNotShown) {
  issue(ask()).as<Issue::Ok>();
  const auto before = shelf.look("shop")->fingerprint;
  refuse(Code::verification_failed);
  EXPECT_TRUE(renew().is<Renew::Refused>());
  refuse(Code::limit);
  EXPECT_TRUE(renew().is<Renew::Limited>());
  refuse(Code::unavailable);
  EXPECT_TRUE(renew().is<Renew::Unreachable>());
  refuse(Code::failed);
  EXPECT_TRUE(renew().is<Renew::NotShown>());
  EXPECT_EQ(shelf.look("shop")->fingerprint, before) << "it stays";
  ASSERT_TRUE(shelf.remove("shop"));
  EXPECT_TRUE(renew().is<Renew::Unreadable>());
}

}  // namespace acme_test
}  // namespace sluice::deploy::acme
