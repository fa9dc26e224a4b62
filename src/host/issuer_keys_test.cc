// Keys of a real issuer on loopback: kept, followed when they change, refused from elsewhere.
#include "host/issuer_keys.h"

#include <gtest/gtest.h>

#include "host/testing_issuer.h"

namespace sluice::host {
namespace issuer_keys_test {

TEST(IssuerKeys, AreFoundByDiscoveryAndKept) {
  RealClock clock;
  IssuerServer issuer;
  IssuerKeys keys(clock);
  for (int i = 0; i < 3; ++i) {
    auto found = keys.keys_of(issuer.url, "k1");
    ASSERT_TRUE(found) << to_string(found.error());
    ASSERT_EQ(found->size(), 1U);
    EXPECT_EQ(found->front().id, "k1");
  }
  EXPECT_EQ(issuer.asked, 2) << "discovery and keys, once";
  // A name that somebody has invented does not make it ask again at once.
  EXPECT_EQ(keys.keys_of(issuer.url, "k9")->front().id, "k1");
  EXPECT_EQ(issuer.asked, 2);
}

TEST(IssuerKeys, AnIssuerThatIsNoneIsRefused) {
  RealClock clock;
  IssuerServer issuer;
  IssuerKeys keys(clock);
  EXPECT_FALSE(is_issuer_url("http://ci.example"));
  EXPECT_FALSE(is_issuer_url("https://ci.example/?a=b"));
  EXPECT_TRUE(is_issuer_url("https://ci.example"));
  EXPECT_EQ(keys.keys_of("http://ci.example", "k1").error().code, Code::invalid);
  issuer.says_issuer = "https://other.example";
  EXPECT_EQ(keys.keys_of(issuer.url, "k1").error().message, issuer.url + " says that it is another issuer");
}

}  // namespace issuer_keys_test
}  // namespace sluice::host
