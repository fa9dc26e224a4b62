// Cookies: issued, believed, and not.
#include "router/pins/sticky.h"

#include <gtest/gtest.h>

#include "router/testing_proxy.h"

namespace sluice::router {
namespace sticky_test {

constexpr const char* kKey1 = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
constexpr const char* kKey2 = "BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
constexpr int64_t kNow = 1'700'000'000;

class Sticky : public testing::Test {
 protected:
  Sticky() {
    document.stickiness.mode = StickyMode::session;
    document.tenant = "default";
    document.revisions = {{.id = "r2", .weight_bps = 100}, {.id = "r1", .weight_bps = 9'900}};
    load({{"k1", kKey1}});
  }
  void load(std::vector<CookieKeyDocument> keys, const std::string& environment = "test") {
    TableDocument made = testing_table({document});
    made.environment = environment;
    made.cookie_keys = std::move(keys);
    table = *compiler.load({.document = made}, table.get());
  }
  const Deployment& deployment() { return **table->named("d1"); }
  std::string issue(const std::string& revision, uint32_t bucket = 0) {
    std::string line;
    cookies.issue(*table->settings, deployment(), *deployment().named(revision), bucket, "/", kNow, line);
    return line;
  }
  std::string value_of(const std::string& line) {
    size_t at = line.find('=') + 1;
    return line.substr(at, line.find(';') - at);
  }
  std::string believed(const std::string& value, int64_t now = kNow) {
    auto claim = cookies.verify(*table->settings, deployment(), value, now);
    if (!claim) return "";
    return claim->revision != nullptr ? claim->revision->id : std::to_string(claim->bucket);
  }

  SeededRandom random{1};
  uint32_t series = 0;
  TableCompiler compiler{random, [this](const SeriesName&) { return series++; }};
  DeploymentDocument document = testing_deployment();
  std::shared_ptr<const Table> table;
  StickyCookies cookies{random};
};

TEST_F(Sticky, CookieHasTheSeedsAttributesAndClaims) {
  std::string line = issue("r1");
  EXPECT_TRUE(line.starts_with("Set-Cookie: _sl_rev_d1="));
  EXPECT_TRUE(line.ends_with("; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax; Secure\r\n"));
  EXPECT_EQ(believed(value_of(line)), "r1");
}

TEST_F(Sticky, IsVerifiedOnceAMinute) {
  std::string value = value_of(issue("r1"));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(believed(value, kNow + i % 50), "r1");
  EXPECT_EQ(cookies.verified(), 1U);
  EXPECT_EQ(believed(value, kNow + 61), "r1");
  EXPECT_EQ(cookies.verified(), 2U);
}

TEST_F(Sticky, IsIgnoredIfAnyBitIsFlipped) {
  std::string value = value_of(issue("r1"));
  for (size_t at = 0; at < value.size(); ++at) {
    for (int bit = 0; bit < 7; ++bit) {
      std::string flipped = value;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      EXPECT_EQ(believed(flipped), "") << at << ' ' << bit;
    }
  }
}

TEST_F(Sticky, EndsWithItsTimeAndIsRenewedBefore) {
  std::string value = value_of(issue("r1"));
  EXPECT_FALSE(cookies.verify(*table->settings, deployment(), value, kNow + 1'700)->renew);
  EXPECT_TRUE(cookies.verify(*table->settings, deployment(), value, kNow + 1'900)->renew);
  EXPECT_EQ(believed(value, kNow + 3'599), "r1");
  EXPECT_EQ(believed(value, kNow + 3'600), "");
}

TEST_F(Sticky, IsForOneEnvironmentTenantAndDeployment) {
  std::string value = value_of(issue("r1"));
  load({{"k1", kKey1}}, "other");
  EXPECT_EQ(believed(value), "");
  document.tenant = "t2";
  load({{"k1", kKey1}});
  EXPECT_EQ(believed(value), "");
  document.tenant = "default";
  document.id = "d1x";
  document.routes.hosts = {"x.example"};
  load({{"k1", kKey1}});
  EXPECT_EQ(cookies.verify(*table->settings, **table->named("d1x"), value, kNow), std::nullopt);
}

TEST_F(Sticky, SurvivesChangesOfTheSplitAndOfTheKeys) {
  std::string value = value_of(issue("r1"));
  for (int i = 0; i < 10; ++i) {
    document.revisions[0].weight_bps = 1'000 * i;
    document.revisions[1].weight_bps = 10'000 - 1'000 * i;
    document.generation = i;
    load({{"k2", kKey2}, {"k1", kKey1}});
    EXPECT_EQ(believed(value), "r1");
  }
  load({{"k2", kKey2}});
  EXPECT_EQ(believed(value), "");
}

TEST_F(Sticky, HasABucketInModeBucket) {
  document.stickiness.mode = StickyMode::bucket;
  load({{"k1", kKey1}});
  std::string value = value_of(issue("r1", 4'711));
  EXPECT_EQ(believed(value), "4711");
  document.stickiness.mode = StickyMode::session;
  load({{"k1", kKey1}});
  EXPECT_EQ(believed(value), "");
}

TEST_F(Sticky, IsNotIssuedWithoutAKey) {
  load({});
  EXPECT_EQ(issue("r1"), "");
}

TEST(StickyCookie, IsFoundByItsName) {
  EXPECT_EQ(cookie_named("a=1; bb=2;b=3", "b"), "3");
  EXPECT_EQ(cookie_named("a=1; bb=2", "b"), std::nullopt);
  EXPECT_EQ(cookie_named("", "b"), std::nullopt);
  EXPECT_EQ(cookie_named("b=", "b"), "");
}

}  // namespace sticky_test
}  // namespace sluice::router
