// Addresses as people write them.
#include "router/address.h"

#include <gtest/gtest.h>

namespace sluice::router {
namespace address_test {

TEST(Address, IsReadAndWrittenAlike) {
  for (const char* text : {"127.0.0.1:8080", "[::1]:80", "0.0.0.0:0", "unix:/run/a.sock"}) {
    auto address = parse_address(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(to_string(*address), text);
  }
  EXPECT_EQ(parse_address("127.0.0.1:8080")->port(), 8080);
  EXPECT_EQ(host_text(*parse_address("[::ffff:10.0.0.1]:80")), "10.0.0.1");
}

TEST(Address, RefusesNamesAndWhatIsNone) {
  for (const char* text :
       {"localhost:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "::1:80", "[127.0.0.1]:80", "unix:a"}) {
    EXPECT_FALSE(parse_address(text)) << text;
  }
  EXPECT_EQ(parse_address("x:80").error().message,
            "'x:80' is no address; expected 127.0.0.1:8080, [::1]:8080 or unix:/path");
  EXPECT_EQ(parse_replica_address("127.0.0.1:80").error().message,
            "'127.0.0.1:80' is no address; expected tcp:127.0.0.1:9000, tcp:[::1]:9000, "
            "tls:10.0.0.7:8443 or unix:/path");
  EXPECT_FALSE(parse_replica_address("tcp:127.0.0.1:0"));
  EXPECT_TRUE(parse_replica_address("tcp:[::1]:9000"));
}

TEST(Address, IsInItsNetworks) {
  auto contains = [](const char* network, const char* address) {
    return parse_network(network)->contains(ip_bytes(*parse_address(address)));
  };
  EXPECT_TRUE(contains("10.0.0.0/8", "10.255.0.1:1"));
  EXPECT_FALSE(contains("10.0.0.0/8", "11.0.0.1:1"));
  EXPECT_TRUE(contains("10.1.2.3", "10.1.2.3:1"));
  EXPECT_FALSE(contains("10.1.2.3", "10.1.2.4:1"));
  EXPECT_TRUE(contains("192.168.0.0/23", "192.168.1.9:1"));
  EXPECT_FALSE(contains("192.168.0.0/23", "192.168.2.9:1"));
  EXPECT_TRUE(contains("2001:db8::/32", "[2001:db8:1::1]:1"));
  EXPECT_TRUE(contains("127.0.0.0/8", "[::ffff:127.0.0.1]:1"));
  EXPECT_TRUE(contains("0.0.0.0/0", "1.2.3.4:1"));
  EXPECT_FALSE(contains("0.0.0.0/0", "[2001:db8::1]:1"));
  EXPECT_FALSE(parse_network("10.0.0.0/33"));
  EXPECT_FALSE(parse_network("example/8"));
}

}  // namespace address_test
}  // namespace sluice::router
