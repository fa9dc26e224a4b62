// What a deployment is set to: by whom, from where, and whether it runs with that.
#include "deploy/views/bundle_settings.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "config.gen.h"
#include "deploy/testing_views.h"

namespace sluice::deploy::views {
namespace bundle_settings_test {

class BundleSettingsTest : public testing::Test {
 protected:
  BundleSettingsTest() {
    rows.environment("local", {.name = "Local"});
    rows.deployment("d1");
    asks.questions = {{.name = {"color"}, .question = "Which?", .default_ = json::value("red")},
                      {.name = {"dns"}, .question = "Where?", .required = false}};
    staged("r1", 1, "");
    rows.split("d1", {{.revision = "r1", .weightBps = 10'000}});
  }
  void staged(const std::string& id, int64_t sequence, const std::string& config) {
    const json::object answers = environment_answers(rows, "local", "shop");
    auto resolved = resolve_config(asks, {"local", config, "", answers}).value();
    rows.revision(id, "d1", sequence);
    revision::State(rows.rows).edit(revision::RevisionId(id), [&](revision::RevisionRecord& record) {
      record.asks = write_asks(asks);
      record.config = config;
      record.bundleDigest = "sha256:a";
      record.configDigest = config_digest(resolved);
      record.packConfig = write(pack_config_document(resolved, "shop", id));
    });
  }
  void answer(const std::string& name, const std::string& value) {
    config::State state(rows.rows);
    state.put(config::ConfigId("local"), {});
    state.answers(config::ConfigId("local")).push({.bundle = "shop", .name = name, .value = value});
  }
  DeploymentSettings only() {
    auto all = read_settings({.rows = rows, .tools = tools}, {.environment = "local"}).value();
    EXPECT_EQ(all.size(), 1U);
    return all.front();
  }

  Asks asks{.bundle = "shop"};
  RowsInMemory rows;
  lang::Tools tools;
};

TEST_F(BundleSettingsTest, ADefaultIsTheBundlesOwn) {
  EXPECT_FALSE(only().pending);
  ASSERT_EQ(only().settings.size(), 1U);
  EXPECT_EQ(only().settings[0].owner, SettingOwner::bundle);
  EXPECT_EQ(only().settings[0].from, "the default of shop@1");
}

TEST_F(BundleSettingsTest, AnAnswerOfTheEnvironmentMakesItPendingUntilARevisionHasIt) {
  answer("color", "\"blue\"");
  EXPECT_TRUE(only().pending);
  EXPECT_EQ(only().settings[0].value, json::value("blue"));
  EXPECT_EQ(only().settings[0].running, json::value("red"));
  EXPECT_EQ(only().settings[0].from, "the answer of local");
  EXPECT_EQ(settings_of(rows, "d1")->wanted, "");
  staged("r2", 2, "");
  EXPECT_FALSE(only().pending);
  EXPECT_EQ(*only().staged_as, "shop@2");
  EXPECT_EQ(settings_of(rows, "d1")->wanted, "r2");
}

TEST_F(BundleSettingsTest, WhatIsFoundOutIsTheDeployers) {
  answer("dns", "\"runtime://local/discovered/alb\"");
  EXPECT_TRUE(only().settings[1].value.is_null());
  config::State state(rows.rows);
  state.discovered(config::ConfigId("local")).push({.key = "alb", .value = "one.example", .producer = "p@1.0.0"});
  EXPECT_EQ(only().settings[1].owner, SettingOwner::runtime);
  EXPECT_EQ(only().settings[1].value, json::value("one.example"));
  EXPECT_EQ(only().settings[1].from, "runtime://local/discovered/alb, found out by p@1.0.0");
  EXPECT_EQ(*found_by(rows, "runtime://local/discovered/alb"), "one.example");
  EXPECT_FALSE(found_by(rows, "runtime://local/discovered/nlb"));
  EXPECT_FALSE(found_by(rows, "http://local"));
}

TEST_F(BundleSettingsTest, SettingsThatCannotBeUsedSayWhy) {
  answer("color", "7");
  EXPECT_EQ(*only().problem, "config color: expected a text, not 7");
  EXPECT_TRUE(only().pending);
}

TEST_F(BundleSettingsTest, QuestionsAreThoseOfTheNewestRevision) {
  EXPECT_EQ(asks_of_bundle(rows, "local", "shop")->questions.size(), 2U);
  EXPECT_FALSE(asks_of_bundle(rows, "local", "other"));
  EXPECT_FALSE(settings_of(rows, "none"));
}

}  // namespace bundle_settings_test
}  // namespace sluice::deploy::views
