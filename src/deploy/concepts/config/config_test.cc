// Config through the harness: one test a variant.
#include <gtest/gtest.h>

#include "deploy/concepts/config/config_work.h"
#include "lang/run/harness.h"

namespace sluice::deploy::config {

void prepare(lang::Harness&) {}

namespace config_test {

const ConfigId kLocal("local");

class ConfigTest : public testing::Test {
 protected:
  Show::Ok shown() { return harness.invoke(Show{.environment = kLocal}).as<Show::Ok>(); }
  lang::Invoked<Set> set(const std::string& key, const std::string& value) {
    return harness.invoke(Set{.environment = kLocal, .values = {{.key = key, .value = value}}});
  }
  void discover(const std::string& key, const std::string& value) {
    harness.invoke(Discover{.environment = kLocal, .producer = "p@1.0.0", .key = key, .value = value})
        .as<Discover::Ok>();
  }

  lang::Harness harness{config_binding()};
};

TEST_F(ConfigTest, AbsorbOkTakesWhatIsNotSaidHere) {
  set("region", "eu-west").as<Set::Ok>();
  const ConfigId dev("dev");
  harness.invoke(Set{.environment = dev, .values = {{"region", "us"}, {"public_hostname", "a.example"}}}).as<Set::Ok>();
  harness.invoke(Absorb{.environment = kLocal, .other = dev}).as<Absorb::Ok>();
  EXPECT_EQ(shown().values, (std::vector<ConfigValue>{{.key = "public_hostname", .value = "a.example"},
                                                      {.key = "region", .value = "eu-west"}}));
  EXPECT_EQ(shown().generation, 2);
  EXPECT_FALSE(State(harness.rows()).has(dev));
  harness.invoke(Absorb{.environment = kLocal, .other = kLocal}).as<Absorb::Ok>();
  EXPECT_EQ(shown().generation, 2);
}

TEST_F(ConfigTest, SetOkKeepsAndTakesAway) {
  EXPECT_EQ(set("region", "eu-west").as<Set::Ok>().generation, 1);
  EXPECT_EQ(set("public_base_url", "https://shop.example/").as<Set::Ok>().generation, 2);
  EXPECT_EQ(shown().values, (std::vector<ConfigValue>{{.key = "public_base_url", .value = "https://shop.example"},
                                                      {.key = "region", .value = "eu-west"}}));
  set("region", "").as<Set::Ok>();
  EXPECT_EQ(shown().values.size(), 1U);
}

TEST_F(ConfigTest, SetInvalidChangesNothing) {
  Set ask{.environment = kLocal, .values = {{.key = "region", .value = "eu"}, {.key = "regoin", .value = "eu"}}};
  auto refused = harness.invoke(ask).as<Set::Invalid>();
  EXPECT_EQ(refused.key, "regoin");
  EXPECT_EQ(refused.message, "a host has no 'regoin'; did you mean region?");
  EXPECT_TRUE(shown().values.empty());
}

TEST_F(ConfigTest, DiscoverOkKeepsProducerAndGeneration) {
  discover("a", "1");
  discover("b", "2");
  discover("a", "3");
  auto all = shown().discovered;
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].key, "a");
  EXPECT_EQ(all[1].value, "3");
  EXPECT_EQ(all[1].producer, "p@1.0.0");
  EXPECT_EQ(all[1].generation, 3);
}

TEST_F(ConfigTest, CorrectOkKeepsTheProducerAndTakesAwayWhatIsGone) {
  discover("a", "1");
  auto correct = [&](const std::string& key, const std::string& value) {
    harness.invoke(Correct{.environment = kLocal, .key = key, .value = value}).as<Correct::Ok>();
  };
  correct("a", "2");
  auto all = shown().discovered;
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].value, "2");
  EXPECT_EQ(all[0].producer, "p@1.0.0");
  EXPECT_EQ(all[0].generation, 2);
  correct("b", "3");
  EXPECT_EQ(shown().discovered.size(), 1U) << "nobody had found it out";
  correct("a", "");
  EXPECT_TRUE(shown().discovered.empty());
}

TEST_F(ConfigTest, ResolveOkAndUnresolved) {
  discover("alb_dns", "x.example");
  Resolve ask{.environment = kLocal, .refs = {"runtime://local/discovered/alb_dns"}};
  EXPECT_TRUE(harness.invoke(ask).is<Resolve::Ok>());
  ask.refs.emplace_back("runtime://local/discovered/none");
  ask.refs.emplace_back("runtime://prod/discovered/alb_dns");
  auto lacks = harness.invoke(ask).as<Resolve::Unresolved>();
  EXPECT_EQ(lacks.missing.size(), 2U);
  EXPECT_EQ(lacks.message, "nothing has found out none in local");
  ask.refs = {"runtime://prod/discovered/alb_dns"};
  EXPECT_EQ(harness.invoke(ask).as<Resolve::Unresolved>().message,
            "'runtime://prod/discovered/alb_dns' is not runtime://local/discovered/…");
}

TEST_F(ConfigTest, ForgetLeavesNothing) {
  set("region", "eu").as<Set::Ok>();
  discover("a", "1");
  harness.invoke(Forget{.environment = kLocal}).as<Forget::Ok>();
  EXPECT_EQ(shown(), (Show::Ok{.environment = kLocal}));
}

TEST_F(ConfigTest, NotFoundIsAGuardsToSay) {
  // Reached through the kit: guards know which environments there are.
  EXPECT_TRUE(set("region", "eu").is<Set::Ok>());
}

}  // namespace config_test
}  // namespace sluice::deploy::config
