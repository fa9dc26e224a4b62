// Bindings are normal or refused; two of them are refused together exactly when some request means both equally.
#include "deploy/routes.h"

#include <gtest/gtest.h>

#include <random>

namespace sluice::deploy {
namespace routes_test {

std::string refusal(const RouteBinding& given) { return normal_binding(given).error().message; }

TEST(Routes, MakesABindingNormal) {
  auto binding = normal_binding({.hosts = {"*.Shop.Example", "a.example", "a.example"},
                                 .path_prefixes = {"/b/", "/", "/a/b"},
                                 .tenant = "acme",
                                 .team = "support"});
  ASSERT_TRUE(binding);
  EXPECT_EQ(*binding, (RouteBinding{{"*.shop.example", "a.example"}, {"/", "/a/b", "/b"}, "acme", "support"}));
  EXPECT_EQ(routes_of(*binding).size(), 6U);
  EXPECT_TRUE(routes_of({}).empty());
}

TEST(Routes, RefusesWhatCouldMeanSomethingElse) {
  EXPECT_EQ(refusal({.hosts = {"a..example"}}),
            "host 'a..example': expected a name such as shop.example or *.shop.example");
  EXPECT_EQ(refusal({.hosts = {"*."}}), "host '*.': expected a name such as shop.example");
  EXPECT_EQ(refusal({.path_prefixes = {"a"}}), "path 'a': a path begins with /");
  EXPECT_EQ(refusal({.path_prefixes = {"/a/../b"}}), "path '/a/../b': its segments are names, none of them empty");
  EXPECT_EQ(refusal({.path_prefixes = {"/a%2f"}}), "path '/a%2f': it has a character that could mean something else");
  EXPECT_EQ(refusal({.hosts = {"a.example"}, .tenant = "a b"}), "tenant 'a b': expected letters, digits, -, _ and .");
  EXPECT_EQ(refusal({.hosts = {"a.example"}, .team = "x"}), "a team is one of a tenant; name the tenant too");
  EXPECT_EQ(refusal({.tenant = "acme"}), "a route with a tenant needs a host or a path");
  EXPECT_EQ(refusal({.hosts = std::vector<std::string>(33, "a.example")}), "at most 32 hosts are taken");
  for (const char* host : {"", "-a.example", "a.example.", "*", "a.*.example", "a_b.example", "a.example:80"}) {
    EXPECT_FALSE(normal_binding({.hosts = {host}})) << host;
  }
  for (const char* path : {"", "//", "/a//b", "/.", "/a/..", "/a?b", "/a b", "/a\n"}) {
    EXPECT_FALSE(normal_binding({.path_prefixes = {path}})) << path;
  }
}

TEST(Routes, MatchByWholeLabelsAndSegments) {
  const RouteRequest request{.host = "a.shop.example", .path = "/cart/1", .tenant = "acme", .team = "x"};
  EXPECT_TRUE(matches({"*.example", "/cart", "acme", ""}, request));
  EXPECT_TRUE(matches({"", "/", "", ""}, request));
  EXPECT_FALSE(matches({"*.a.shop.example", "/", "", ""}, request));
  EXPECT_FALSE(matches({"", "/car", "", ""}, request));
  EXPECT_FALSE(matches({"", "/", "other", ""}, request));
  EXPECT_FALSE(matches({"shop.example", "/", "", ""}, request));
}

TEST(Routes, NameWhatTwoBindingsShare) {
  RouteBinding acme{.hosts = {"a.example", "b.example"}, .path_prefixes = {"/x"}, .tenant = "acme", .team = "t"};
  EXPECT_EQ(shared_route(acme, acme), "a.example/x for tenant acme, team t");
  EXPECT_EQ(shared_route({.path_prefixes = {"/x"}}, {.path_prefixes = {"/x"}}), "any host, /x");
  EXPECT_EQ(shared_route(acme, {.hosts = {"a.example"}, .path_prefixes = {"/x"}, .tenant = "other"}), std::nullopt);
  EXPECT_EQ(shared_route({.hosts = {"*.example"}}, {.hosts = {"a.example"}}), std::nullopt) << "the exact one counts";
  EXPECT_EQ(shared_route({}, {}), std::nullopt) << "nobody reaches either";
}

// Every request there could be over a small alphabet, asked of every pair of routes.
bool brute_force(const RouteBinding& one, const RouteBinding& other) {
  static const std::vector<std::string> kHosts = {"a", "a.b", "b.a", "c.a.b", "d.c.a.b", "other"};
  static const std::vector<std::string> kPaths = {"/", "/p", "/p/q", "/q", "/p/q/r", "/z"};
  static const std::vector<std::string> kSelectors = {"", "t", "u"};
  for (const Route& a : routes_of(one)) {
    for (const Route& b : routes_of(other)) {
      if (rank_of(a) != rank_of(b)) continue;
      for (const std::string& host : kHosts) {
        for (const std::string& path : kPaths) {
          for (const std::string& tenant : kSelectors) {
            for (const std::string& team : kSelectors) {
              RouteRequest request{host, path, tenant, team};
              if (matches(a, request) && matches(b, request)) return true;
            }
          }
        }
      }
    }
  }
  return false;
}

TEST(Routes, AreAmbiguousExactlyWhenSomeRequestMeansBothEqually) {
  static const std::vector<std::string> kHosts = {"a", "*.a", "a.b", "*.b", "*.a.b", "b.a", "c.a.b"};
  static const std::vector<std::string> kPaths = {"/", "/p", "/p/q", "/q"};
  static const std::vector<std::string> kSelectors = {"", "t", "u"};
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same sets in every run
  auto pick = [&](const std::vector<std::string>& from) { return from[random() % from.size()]; };
  auto some = [&](const std::vector<std::string>& from) {
    std::vector<std::string> all;
    for (size_t i = random() % 4; i > 0; --i) all.push_back(pick(from));
    return all;
  };
  auto binding = [&] {
    RouteBinding given{.hosts = some(kHosts), .path_prefixes = some(kPaths)};
    if (given.hosts.empty() && given.path_prefixes.empty()) return given;
    given.tenant = pick(kSelectors);
    if (!given.tenant.empty()) given.team = pick(kSelectors);
    return normal_binding(given).value();
  };
  int ambiguous = 0;
  for (int i = 0; i < 10'000; ++i) {
    RouteBinding one = binding(), other = binding();
    bool shared = shared_route(one, other).has_value();
    ambiguous += shared ? 1 : 0;
    ASSERT_EQ(shared, brute_force(one, other)) << i;
  }
  EXPECT_GT(ambiguous, 200);
  EXPECT_LT(ambiguous, 9'500);
}

}  // namespace routes_test
}  // namespace sluice::deploy
