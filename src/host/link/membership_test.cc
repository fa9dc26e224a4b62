// A home joins with a token, once, and only where the token says; its certificate is renewed by its key.
#include "host/link/membership.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "crypto/x509.h"
#include "host/link/testing_desk.h"

namespace sluice::host {
namespace membership_test {

struct Members : testing::Test {
  std::string token(const std::string& environment = "prod") {
    return std::string(plane.desk->invite(environment)->at("token").as_string());
  }
  Result<Membership> join(const Home& home, const std::string& token, const std::string& name = "edge") {
    return join_as_router(plane.disk, home, plane.clock, {.url = plane.url(), .token = token, .name = name});
  }

  TestingDesk plane;
  Home home{plane.disk, plane.folder.path("edge")}, other{plane.disk, plane.folder.path("other")};
};

TEST_F(Members, AHomeJoinsAndIsRenewed) {
  EXPECT_FALSE(*read_membership(plane.disk, home));
  auto joined = join(home, token());
  ASSERT_TRUE(joined) << joined.error().message;
  EXPECT_EQ(joined->environment, "prod");
  auto known = read_membership(plane.disk, home);
  ASSERT_TRUE(known && *known);
  EXPECT_EQ((*known)->name, "edge");
  EXPECT_EQ(urls_of(**known), (std::vector<std::string>{plane.url()}));
  EXPECT_EQ(trusted_by(**known)->size(), 1U);
  const LinkIdentity before = link_identity(plane.disk, home).value();
  EXPECT_EQ(crypto::read_certificates(before.chain_pem)->front().uris.front(), "spiffe://sluice/router/edge");
  EXPECT_EQ(plane.disk.stat((home.root() / "router/link.key").string(), FollowLinks::no)->mode & 0777, 0600U);
  auto renewed = renew_membership(plane.disk, home, plane.clock, **known, 20'000);
  ASSERT_TRUE(renewed) << renewed.error().message;
  const LinkIdentity after = link_identity(plane.disk, home).value();
  EXPECT_NE(after.chain_pem, before.chain_pem);
  EXPECT_EQ(after.key_pem, before.key_pem);
}

TEST_F(Members, ATokenIsGoodOnce) {
  const std::string once = token();
  ASSERT_TRUE(join(home, once));
  auto again = join(other, once, "core");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, "this token was used already, and is good once");
  EXPECT_EQ(again.error().next, "make another one: sluice router token");
  EXPECT_FALSE(*read_membership(plane.disk, other));
}

TEST_F(Members, ATokenOfAnotherAuthorityIsSentNowhere) {
  std::string wrong = token();
  wrong = wrong.substr(0, wrong.find('.')) + ".sha256:00";
  auto refused = join(home, wrong);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::verification_failed);
  EXPECT_EQ(refused.error().message, plane.url() + " shows the authority " + plane.fingerprint +
                                         ", and this token is for sha256:00; nothing was sent");
}

TEST_F(Members, AHomeThatIsInUseDoesNotJoin) {
  ASSERT_TRUE(join(home, token()));
  auto again = join(home, token(), "core");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, "this home is in use already: there is " +
                                       (home.root() / "router/link.json").string() + "; nothing was sent");
  auto plane_home = join(plane.home, token(), "core");
  EXPECT_EQ(plane_home.error().code, Code::conflict);
}

TEST_F(Members, ATokenForReplicasLetsNoRouterIn) {
  JoinTokens replicas(plane.disk, plane.home, plane.clock);
  EXPECT_EQ(join(home, replicas.make(plane.fingerprint)->token).error().message,
            "this token is not one of this cluster's");
  JoinTokens routers(plane.disk, plane.home, plane.clock, JoinsAs::router);
  EXPECT_EQ(replicas.take(routers.make("", "prod")->token).error().message, "this token is not one of this cluster's");
}

}  // namespace membership_test
}  // namespace sluice::host
