// Topics that restate a table follow it.
#include "cli/topics.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <set>

#include "base/code.h"
#include "bundle/manifest/manifest.h"
#include "host/home.h"

namespace sluice::cli {
namespace topics_test {

TEST(Topics, AreTheOnesThatHelpPromises) {
  std::vector<std::string> names;
  for (const Topic& topic : topics()) names.push_back(topic.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"glossary", "output", "exit-codes", "home", "environment", "bundle-yaml"}));
  EXPECT_EQ(find_topic("home"), &topics()[3]);
  EXPECT_EQ(find_topic("nowhere"), nullptr);
}

TEST(Topics, FollowTheTablesThatTheyPrint) {
  const Topic& codes = *find_topic("exit-codes");
  ASSERT_EQ(codes.rows.size(), code_table().size());
  for (size_t i = 0; i < codes.rows.size(); ++i) {
    EXPECT_EQ(codes.rows[i][0], std::to_string(code_table()[i].exit_code));
    EXPECT_EQ(codes.rows[i][1], code_table()[i].name);
  }
  EXPECT_EQ(find_topic("home")->rows.size(), host::home_layout().size());
}

TEST(Topics, OnBundleYamlNameEverySettingOfItsSchema) {
  std::set<std::string> named, known;
  for (const auto& row : find_topic("bundle-yaml")->rows) named.insert(row[0]);
  const json::value schema = bundle::manifest_schema();
  for (const auto& each : schema.at("properties").as_object()) known.emplace(each.key());
  EXPECT_EQ(named, known);
}

// Help speaks of what is there.
TEST(FirstWeek15, TheGlossaryPromisesNothingThatThisVersionLacks) {
  for (const auto& row : find_topic("glossary")->rows) {
    EXPECT_EQ(row[1].find("k8s"), std::string::npos) << row[1];
    for (const char* missing : {"release", "pin", "plan"}) EXPECT_NE(row[0], missing);
  }
}

TEST(Topics, HaveRowsAsWideAsTheirColumns) {
  for (const Topic& topic : topics()) {
    for (const auto& row : topic.rows) EXPECT_EQ(row.size(), topic.columns.size()) << topic.name;
  }
}

}  // namespace topics_test
}  // namespace sluice::cli
