// Which texts are names, identities, addresses, keys.
#include "mesh/words.h"

#include <gtest/gtest.h>

namespace sluice::mesh {
namespace words_test {

template <class T>
bool reads(std::string_view text) {
  return JsonScalar<T>::parse(text).has_value();
}

TEST(Words, Names) {
  for (const char* good : {"a", "alpha", "beta-eth1", "0", "x9"}) EXPECT_TRUE(reads<Name>(good)) << good;
  for (const std::string& bad : {std::string(), std::string("Alpha"), std::string("-a"), std::string("a-"),
                                 std::string("a_b"), std::string("a.b"), std::string("a/b"), std::string(64, 'a')}) {
    EXPECT_FALSE(reads<Name>(bad)) << bad;
  }
}

TEST(Words, IdentitiesHaveSixKinds) {
  for (const char* good : {"spiffe://acme/user/alice", "spiffe://acme/service/api", "spiffe://acme/service/alpha/ssh",
                           "spiffe://acme.example/node/alpha", "spiffe://acme/vertex/alpha/rete",
                           "spiffe://acme/management-plane/primary", "spiffe://acme/control-plane/primary"}) {
    EXPECT_TRUE(reads<SpiffeId>(good)) << good;
  }
  for (const char* bad :
       {"", "acme/user/alice", "spiffe:///user/alice", "spiffe://acme/users/alice", "spiffe://acme/user/alpha/alice",
        "spiffe://acme/vertex/rete", "spiffe://acme/user/", "spiffe://acme/user", "spiffe://acme/service/a/b/c",
        "spiffe://ACME/user/alice", "spiffe://acme/user/alice/"}) {
    EXPECT_FALSE(reads<SpiffeId>(bad)) << bad;
  }
  const SpiffeId ssh("spiffe://acme/service/alpha/ssh");
  EXPECT_EQ(ssh.domain(), "acme");
  EXPECT_EQ(ssh.kind(), "service");
  EXPECT_EQ(ssh.node(), "alpha");
  EXPECT_EQ(ssh.name(), "ssh");
  EXPECT_EQ(SpiffeId("spiffe://acme/user/alice").node(), "");
}

TEST(Words, Addresses) {
  for (const char* good : {"10.0.0.5:5544", "[fd00::5]:1", "alpha.example:65535"})
    EXPECT_TRUE(reads<HostPort>(good)) << good;
  for (const char* bad : {"", "10.0.0.5", "10.0.0.5:0", "10.0.0.5:65536", "10.0.0:1", "[fd00::5:1", "[x]:1", ":1",
                          "a b:1", "10.0.0.5:01", "a.:1"}) {
    EXPECT_FALSE(reads<HostPort>(bad)) << bad;
  }
  EXPECT_EQ(HostPort("[fd00::5]:1").host(), "fd00::5");
  EXPECT_EQ(HostPort("a.example:80").port(), "80");
}

TEST(Words, PathsDoNotLeadUp) {
  EXPECT_TRUE(reads<FilePath>("certs/a.crt"));
  EXPECT_TRUE(reads<FilePath>("/run/x..y/z"));
  for (const char* bad : {"", "..", "a/../b", "../a", "a\nb"}) EXPECT_FALSE(reads<FilePath>(bad)) << bad;
}

TEST(Words, KeysAndSignaturesHaveOneText) {
  EXPECT_FALSE(reads<KeyText>("AAAA"));
  EXPECT_FALSE(reads<KeyText>("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="));  // a point of small order
  EXPECT_TRUE(reads<KeyText>("11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="));
  EXPECT_FALSE(reads<KeyText>("11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo"));
  EXPECT_FALSE(reads<SignatureText>("AAAA"));
  EXPECT_TRUE(reads<SignatureText>(std::string(86, 'A') + "=="));
}

TEST(Words, SchemaVersionsAndTimes) {
  EXPECT_EQ((JsonScalar<SchemaVersion>::parse("1.10").value()), (SchemaVersion{1, 10}));
  for (const char* bad : {"1", "1.", ".1", "01.0", "1.0.0", "1.x", "1.99999"})
    EXPECT_FALSE(reads<SchemaVersion>(bad)) << bad;
  EXPECT_EQ(UtcTime("1970-01-01T00:00:01Z").ms(), 1000);
  EXPECT_FALSE(reads<UtcTime>("1970-01-01 00:00:01"));
}

}  // namespace words_test
}  // namespace sluice::mesh
