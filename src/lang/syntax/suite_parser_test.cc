// What a suite.yaml says and how its faults are told.
#include "lang/syntax/suite_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::lang {
namespace suite_parser_test {

using namespace std::string_literals;

using testing::ElementsAre;

std::vector<std::string> faults(std::string_view text) {
  Diagnostics found;
  auto suite = parse_suite(text, "suite.yaml", found);
  EXPECT_TRUE(suite || found.failed());
  std::vector<std::string> lines;
  for (const auto& one : found.all()) {
    lines.push_back(std::to_string(one.mark.line) + ":" + std::to_string(one.mark.column) + " " + one.text +
                    (one.hint.empty() ? "" : " | " + one.hint));
  }
  return lines;
}

TEST(SuiteParser, ReadsEveryKey) {
  std::string_view text = R"(suite:
  name: deploy
  version: 0.1.0
  description: Deploys.
concepts:
  Rollout:
    spec: ./rollout.concept
    params:
      R: { as: rollout-ref, description: one rollout }
  Local:
    spec: ./local.concept
    optional: true
syncs:
  required:
    - ./core.sync
  recommended:
    - path: ./more.sync
      name: Alias
      sync: Real
      description: More.
  integration:
    - { path: ./local.sync }
guards: [./guards.sync]
uses:
  - suite: auth
    optional: true
    concepts:
      - name: User
        params: { U: { as: user-ref } }
    syncs: [./auth.sync]
scope:
  Traffic: deployment -> Deployment.environment
overrides:
  Other: ./mine.sync
disable: [Noise]
dependencies: [auth]
limits: { cascade: 500000 }
infrastructure: { transports: [anything] }
chainConfigs: {}
)";
  Diagnostics found;
  auto suite = parse_suite(text, "suite.yaml", found);
  ASSERT_TRUE(suite) << render(found, text);
  EXPECT_EQ(suite->name, "deploy");
  EXPECT_EQ(suite->version, "0.1.0");
  ASSERT_EQ(suite->concepts.size(), 2u);
  EXPECT_EQ(suite->concepts[0].params[0].as, "rollout-ref");
  EXPECT_EQ(suite->concepts[0].at.line, 6u);
  EXPECT_TRUE(suite->concepts[1].optional);
  ASSERT_EQ(suite->syncs.size(), 3u);
  EXPECT_EQ(suite->syncs[0].path, "./core.sync");
  EXPECT_EQ(suite->syncs[1].tier, Tier::recommended);
  EXPECT_EQ(suite->syncs[1].sync, "Real");
  EXPECT_EQ(suite->syncs[2].tier, Tier::integration);
  ASSERT_EQ(suite->guards.size(), 1u);
  EXPECT_EQ(suite->guards[0].text, "./guards.sync");
  EXPECT_EQ(suite->uses[0].concepts[0].name, "User");
  EXPECT_EQ(suite->uses[0].syncs[0].path, "./auth.sync");
  EXPECT_EQ(suite->scopes[0].path, "deployment -> Deployment.environment");
  EXPECT_EQ(suite->overrides[0].path, "./mine.sync");
  EXPECT_EQ(suite->disable[0].text, "Noise");
  EXPECT_EQ(suite->dependencies[0].text, "auth");
  EXPECT_EQ(suite->cascade_limit, 500000);
}

TEST(SuiteParser, KitIsAnotherWordForSuite) {
  Diagnostics found;
  auto suite = parse_suite("kit: { name: deploy }\n", "suite.yaml", found);
  ASSERT_TRUE(suite);
  EXPECT_EQ(suite->name, "deploy");
}

TEST(SuiteParser, RefusesUnknownKeysWithTheNearest) {
  EXPECT_THAT(faults("suite: { name: a }\nconcpets: {}\nsyncs:\n  recomended: []\n"),
              ElementsAre("2:1 unknown key `concpets` | write `concepts`",
                          "4:3 unknown key `recomended` | write `recommended`"));
}

TEST(SuiteParser, TellsWhatAValueShouldBe) {
  EXPECT_THAT(faults("suite:\n  name: a\n  version: 1.0\nconcepts: []\nguards: x\nlimits: { cascade: 0 }\n"),
              ElementsAre("3:3 `version`: expected a string, found a number | put it in quotes",
                          "4:1 `concepts`: expected a map, found a list | write a map",
                          "5:1 `guards`: expected a list, found a string | write a list",
                          "6:11 `cascade`: expected a whole number from 1 | write `cascade: 100000`"));
  EXPECT_THAT(faults("concepts:\n  A: {}\nsyncs:\n  required: [{ name: x }]\n"),
              ElementsAre("2:3 concept `A` has no file | write `spec: ./concepts/….concept`",
                          "4:14 the sync has no file | write `path: ./syncs/….sync`",
                          "1:1 the suite has no name | begin with `suite:` and its `name:`"));
  EXPECT_THAT(faults("suite: { name: a }\nkit: { name: b }\n"),
              ElementsAre("2:1 a second name of the suite | keep one of `suite:` and `kit:`"));
}

TEST(SuiteParser, AnEmptyTextIsNoSuite) {
  EXPECT_THAT(faults(""), ElementsAre(testing::HasSubstr("expected a map, found nothing")));
}

TEST(SuiteParser, FaultsOfYamlKeepTheirPlace) {
  auto all = faults("suite: {\n");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_NE(all[0].substr(0, 2), "0:");
}

TEST(SuiteParser, AKitsNameIsAPlainOne) {
  std::string fault =
      "2:3 a kit's name is of a-z, 0-9 and -, begins with a letter and has at most 64 characters | write one such as "
      "`order-desk`";
  EXPECT_THAT(faults("kit:\n  name: order-desk2\n"), testing::IsEmpty());
  for (std::string name : {"a b", ".", "Q/../../x", "Orders", "\"a\\n\"", "-a"}) {
    EXPECT_THAT(faults("kit:\n  name: " + name + "\n"), ElementsAre(fault)) << name;
  }
  EXPECT_THAT(faults("kit:\n  name: " + std::string(1'000'000, 'a') + "\n"), ElementsAre(fault));
}

TEST(SuiteParser, OtherNamesArePlainAndShort) {
  const std::string fault =
      " a name is of letters, digits, -, . and _, begins with a letter and has at most 256 characters | write one such "
      "as `SendParcel` or `order-ref`";
  const std::string head = "kit: { name: a }\n";
  for (const std::string& name : {std::string(257, 'x'), std::string(1'000'000, 'x'), "\"al\\e[3m\""s, "\"a b\""s}) {
    EXPECT_THAT(faults(head + "disable: [ " + name + " ]\n"), ElementsAre("2:12" + fault));
    EXPECT_THAT(faults(head + "syncs: { required: [ { path: r, name: " + name + " } ] }\n"),
                ElementsAre("2:33" + fault));
    EXPECT_THAT(faults(head + "syncs: { required: [ { path: r, sync: " + name + " } ] }\n"),
                ElementsAre("2:33" + fault));
    EXPECT_THAT(faults(head + "concepts: { A: { spec: s, params: { P: { as: " + name + " } } } }\n"),
                ElementsAre("2:42" + fault));
    EXPECT_THAT(faults(head + "uses: [ { suite: b, concepts: [ { name: " + name + " } ] } ]\n"),
                ElementsAre("2:35" + fault));
  }
  EXPECT_THAT(faults(head + "concepts: { \"a b\": { spec: s } }\noverrides: { \"a b\": s }\nscope: { \"a b\": s }\n"),
              ElementsAre("2:13" + fault, "3:14" + fault, "4:10" + fault));
  EXPECT_THAT(faults(head + "disable: [ Send.it-2_x, " + std::string(256, 'x') + " ]\n"), testing::IsEmpty());
}

TEST(SuiteParser, PathsAndOtherKitsAreShort) {
  const std::string head = "kit: { name: a }\n", name(1'000'000, 'x');
  const std::string path = " a path has at most 4,096 characters | shorten it";
  EXPECT_THAT(faults(head + "concepts: { A: { spec: " + name + " } }\n"), ElementsAre("2:18" + path));
  EXPECT_THAT(faults(head + "syncs: { required: [ " + name + " ] }\n"), ElementsAre("2:22" + path));
  EXPECT_THAT(faults(head + "scope: { A: " + name + " }\n"), ElementsAre("2:10" + path));
  EXPECT_THAT(faults(head + "guards: [ " + name + " ]\n"), ElementsAre("2:11" + path));
  EXPECT_THAT(
      faults(head + "uses: [ { suite: " + name + " } ]\n"),
      ElementsAre("2:11 a kit's name is of a-z, 0-9 and -, begins with a letter and has at most 64 characters | "
                  "write one such as `order-desk`"));
  EXPECT_THAT(faults(head + "scope: { A: \"\" }\n"),
              ElementsAre("2:10 `A`: may not be empty | write a name or a path, or leave it out"));
}

}  // namespace suite_parser_test
}  // namespace sluice::lang
