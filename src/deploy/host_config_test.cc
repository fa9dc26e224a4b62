// Each key has its own rule.
#include "deploy/host_config.h"

#include <gtest/gtest.h>

#include "crypto/x509.h"

namespace sluice::deploy {
namespace host_config_test {

TEST(HostConfig, TakesWhatEachKeyMeans) {
  EXPECT_EQ(host_value("region", "eu-west_1.a").value(), "eu-west_1.a");
  EXPECT_EQ(host_value("cluster_endpoint", "https://[::1]:6443").value(), "https://[::1]:6443");
  EXPECT_EQ(host_value("public_hostname", "shop.example").value(), "shop.example");
  for (const char* url : {"redis://cache.example:6379/2", "redis://[::1]", "redis+unix:///run/redis.sock?db=3"}) {
    EXPECT_EQ(host_value("redis_url", url).value(), url);
  }
  EXPECT_EQ(host_value("listen_addr", "127.0.0.1:8080").value(), "127.0.0.1:8080");
  EXPECT_EQ(host_value("listen_addr", "[::]:80").value(), "[::]:80");
  EXPECT_EQ(host_value("public_base_url", "http://shop.example:81/").value(), "http://shop.example:81");
  EXPECT_EQ(host_value("trusted_proxies", "10.0.0.0/8,::1,192.0.2.7").value(), "10.0.0.0/8,::1,192.0.2.7");
  EXPECT_EQ(host_value("access_log_share", "0.5%").value(), "0.5%");
  EXPECT_EQ(host_value("connections_per_address", "200").value(), "200");
  EXPECT_EQ(host_value("tls_redirect", "on").value(), "on");
  EXPECT_EQ(host_value("hsts_s", "31536000").value(), "31536000");
  EXPECT_EQ(host_value("container_engine", "unix:///run/podman/podman.sock").value(), "unix:///run/podman/podman.sock");
  EXPECT_EQ(host_value("workload_address", "10.0.0.5").value(), "10.0.0.5");
  for (const char* each : {"0.0.0.0", "::1", "mill.example", "10.0.0.5:80"}) {
    EXPECT_EQ(host_value("workload_address", each).error().message,
              "workload_address is an IPv4 address of this machine, such as 10.0.0.5, not '" + std::string(each) + "'");
  }
  EXPECT_EQ(host_value("container_engine", "tcp://10.0.0.1").error().message,
            "container_engine is the path of a socket of this machine, such as /run/podman/podman.sock, not "
            "'tcp://10.0.0.1'");
  EXPECT_EQ(host_value("client_certificates", "wanted").value(), "wanted");
  EXPECT_EQ(host_value("trusted_callers", "spiffe://a.example/b,spiffe://a.example/c").value(),
            "spiffe://a.example/b,spiffe://a.example/c");
  const std::string pem =
      crypto::make_certificate({.name = "ca", .is_ca = true, .until_ms = 86'400'000}, nullptr, 0)->chain_pem;
  EXPECT_EQ(host_value("client_ca", pem + pem).value(), pem + pem);
  for (std::string_view each : host_keys()) EXPECT_EQ(host_value(each, "").value(), "");
}

TEST(HostConfig, RefusesWhatIsNot) {
  for (const char* url : {"shop.example", "ftp://a.example", "https://", "https://u@a.example", "https://a.example/x",
                          "https://a.example?q", "https://a.example#f", "https://a.example:x", "https://a b"}) {
    EXPECT_FALSE(host_value("public_base_url", url)) << url;
  }
  for (const char* address : {"8080", "localhost:80", "1.2.3:80", "1.2.3.256:80", "1.2.3.4:0", "::1:80", "1.2.3.4:"}) {
    EXPECT_FALSE(host_value("listen_addr", address)) << address;
  }
  for (const char* proxies : {"proxy.example", "10.0.0.0/33", "10.0.0.1,", "10.0.0.1 10.0.0.2", ","}) {
    EXPECT_EQ(host_value("trusted_proxies", proxies).error().message,
              "trusted_proxies is addresses and networks, such as 10.0.0.0/8,::1, not '" + std::string(proxies) + "'");
  }
  EXPECT_EQ(host_value("access_log_share", "101%").error().message,
            "access_log_share is a share of the requests, such as 1%, not '101%'");
  for (const char* count : {"0", "-1", "1000001", "many", "10 "}) {
    EXPECT_EQ(host_value("tls_redirect", count).error().message,
              "tls_redirect is on or off, not '" + std::string(count) + "'");
    EXPECT_EQ(host_value("connections_per_address", count).error().message,
              "connections_per_address is a number of connections from 1 to 1000000, such as 200, not '" +
                  std::string(count) + "'");
  }
  EXPECT_EQ(host_value("revision_proofs", "digest").value(), "digest");
  EXPECT_EQ(host_value("revision_proofs", "all").error().message, "revision_proofs is digest or signature, not 'all'");
  EXPECT_EQ(host_value("client_certificates", "on").error().message,
            "client_certificates is wanted or required, not 'on'");
  EXPECT_EQ(host_value("trusted_callers", "spiffe://a.example/b,tester").error().message,
            "trusted_callers is SPIFFE IDs, such as spiffe://shop.example/tester, not 'spiffe://a.example/b,tester'");
  EXPECT_EQ(host_value("client_ca", "/etc/ca.pem").error().message,
            "client_ca is certificates of authorities as PEM: there is no certificate in it");
  EXPECT_EQ(host_value("region", "a/b").error().message, "region is 1 to 100 letters, digits, -, _ and ., not 'a/b'");
  EXPECT_EQ(host_value("public_hostname", "-a").error().message, "public_hostname is a host name, not '-a'");
  EXPECT_EQ(host_value("nothing", "x").error().message, "a host has no 'nothing'");
}

TEST(HostConfig, ClientsAreAskedForWhatSomebodyHasSigned) {
  EXPECT_EQ(unfit_together({{"region", "eu"}}).first, "");
  EXPECT_EQ(unfit_together({{"client_ca", "x"}, {"client_certificates", "wanted"}}).first, "");
  EXPECT_EQ(unfit_together({{"client_certificates", "required"}}).second,
            "client_certificates needs client_ca beside it");
  EXPECT_EQ(unfit_together({{"trusted_callers", "spiffe://a.example/b"}}).first, "trusted_callers");
}

TEST(HostConfig, RefusesARedisThatNoRouterCanUse) {
  auto fault = [](const char* url) { return host_value("redis_url", url).error(); };
  EXPECT_EQ(fault("rediss://127.0.0.1").message,
            "redis_url stays as it was: a router speaks no TLS to Redis; expected redis:// or redis+unix://");
  EXPECT_EQ(fault("redis://127.0.0.1/99999999999").message,
            "redis_url stays as it was: a database of Redis is a number of at most 1000000");
  EXPECT_EQ(fault("secret://local/redis").message, "redis_url stays as it was: expected redis:// or redis+unix://");
  EXPECT_EQ(fault("redis+unix:///a\tb").message, "redis_url stays as it was: a URL has no such characters");
  EXPECT_EQ(fault("redis://").next,
            "redis_url=redis://HOST[:PORT][/DATABASE] or redis_url=redis+unix:///PATH[?db=DATABASE]");
  const Error password = fault("redis://u:hunter2@a.example");
  EXPECT_EQ(password.message,
            "redis_url stays as it was: it holds no password, as a host's values are not secret, and nothing else can "
            "hold one for it yet");
  EXPECT_EQ(password.next,
            "name a Redis that asks for none, at a loopback address or a Unix socket: "
            "redis_url=redis+unix:///run/redis/redis.sock");
}

TEST(HostConfig, FollowsReferencesOfItsOwnEnvironmentAlone) {
  EXPECT_EQ(discovered_key("runtime://prod-eu/discovered/alb_dns", "prod-eu").value(), "alb_dns");
  for (const char* reference : {"secret://prod-eu/discovered/x", "runtime://prod/discovered/x", "runtime://prod-eu/x",
                                "runtime://prod-eu/discovered/", "runtime://prod-euro/discovered/x", ""}) {
    EXPECT_FALSE(discovered_key(reference, "prod-eu")) << reference;
  }
}

}  // namespace host_config_test
}  // namespace sluice::deploy
