// Settings on the whole kit: answered, pending, staged anew, and told again.
#include <gtest/gtest.h>

#include "deploy/testing_workflow.h"

namespace sluice::deploy {
namespace settings_sync_test {

class SettingsSyncTest : public WorkflowTest {
 protected:
  static constexpr const char* kAsks =
      "config:\n  - {name: color, question: Which?, choices: [red, blue], default: red}\n"
      "  - {name: dns, question: Where?, required: false}\n";

  engine::End answer(const std::string& name, const std::string& value, const std::string& bundle = "shop") {
    return kit.run("Config/setUp", {{"environment", "local"},
                                    {"bundle", bundle},
                                    {"values", json::array{json::object{{"key", name}, {"value", value}}}}});
  }
  engine::End configure(const engine::End& end, const std::string& name, const std::string& value) {
    return kit.run("Deployment/configure", {{"deployment", text(end, "deployment")},
                                            {"values", json::array{json::object{{"key", name}, {"value", value}}}}});
  }
  engine::End refresh(const engine::End& end) {
    return kit.run("Revision/refresh", {{"deployment", text(end, "deployment")}});
  }
  std::string compared(const std::string& deployment) {
    return kit.run("Revision/compare", {{"deployment", deployment}}).variant;
  }
  engine::End discover(const std::string& value) {
    return kit.run("Config/discover", {{"environment", "local"},
                                       {"producer", "sluice.deployer.local-process@1.0.0"},
                                       {"key", "alb_dns"},
                                       {"value", value}});
  }
  json::value plain(const std::string& id) {
    return parse_json(std::string(revision(id).at("packConfig").as_string())).value().root.at("non_secret");
  }
};

TEST_F(SettingsSyncTest, AnAnswerOfTheEnvironmentIsStagedByARefresh) {
  auto first = up(world.put("shop", "1.0", kAsks));
  ASSERT_EQ(first.variant, "ok") << write(first.fields);
  EXPECT_EQ(compared(text(first, "deployment")), "same");
  EXPECT_EQ(refresh(first).variant, "unchanged");
  ASSERT_EQ(answer("color", "\"blue\"").variant, "ok");
  EXPECT_EQ(compared(text(first, "deployment")), "fresh");
  auto fresh = refresh(first);
  ASSERT_EQ(fresh.variant, "ok") << write(fresh.fields);
  EXPECT_EQ(fresh.fields.at("fresh"), json::value(true));
  EXPECT_EQ(plain(text(fresh, "revision")), (json::value{{"color", "blue"}}));
  EXPECT_EQ(plain(text(first, "revision")), (json::value{{"color", "red"}}));
  EXPECT_EQ(compared(text(first, "deployment")), "known");
  auto again = refresh(first);
  EXPECT_EQ(again.fields.at("fresh"), json::value(false));
  EXPECT_EQ(text(again, "revision"), text(fresh, "revision"));
  ASSERT_EQ(answer("color", "").variant, "ok");
  EXPECT_EQ(refresh(first).variant, "unchanged");
}

TEST_F(SettingsSyncTest, TheDeploymentsOwnAnswerOverridesTheEnvironments) {
  auto first = up(world.put("shop", "1.0", kAsks));
  answer("color", "\"blue\"");
  ASSERT_EQ(configure(first, "color", "\"red\"").variant, "ok");
  EXPECT_EQ(refresh(first).variant, "unchanged") << "red is what it has";
  ASSERT_EQ(configure(first, "color", "").variant, "ok");
  EXPECT_EQ(deployment(first).at("configOverrides"), json::value(""));
  EXPECT_EQ(refresh(first).variant, "ok");
}

TEST_F(SettingsSyncTest, WhatDoesNotFitIsNamedWithTheNearestQuestion) {
  EXPECT_EQ(answer("anything", "1", "unknown").variant, "ok") << "nothing is known of it yet";
  auto first = up(world.put("shop", "1.0", kAsks));
  EXPECT_EQ(text(answer("colour", "\"red\""), "message"), "shop has no setting colour; did you mean color?");
  EXPECT_EQ(answer("color", "\"pink\"").variant, "invalid");
  EXPECT_EQ(answer("color", "{").variant, "invalid");
  EXPECT_EQ(answer("Color", "1").variant, "invalid");
  EXPECT_EQ(configure(first, "color", "7").variant, "invalid");
  EXPECT_EQ(kit.run("Config/setUp", {{"environment", "none"}, {"bundle", "x"}, {"values", json::array()}}).variant,
            "notFound");
  EXPECT_EQ(kit.run("Deployment/configure", {{"deployment", "none"}, {"values", json::array()}}).variant, "notFound");
  EXPECT_EQ(kit.run("Revision/refresh", {{"deployment", "none"}}).variant, "notFound");
}

TEST_F(SettingsSyncTest, SettingsThatCannotBeUsedAreNotStaged) {
  auto first = up(world.put("shop", "1.0", kAsks));
  kit.run("Deployment/update",
          {{"deployment", text(first, "deployment")}, {"configOverrides", R"({"shop":{"shape":1}})"}});
  EXPECT_EQ(compared(text(first, "deployment")), "unfit");
  EXPECT_EQ(compared("none"), "nothing");
  auto failed = refresh(first);
  EXPECT_EQ(failed.variant, "failed");
  EXPECT_EQ(text(failed, "message"), "shop has no setting shape");
}

TEST_F(SettingsSyncTest, WhatWasFoundOutIsLookedUpBeforeTheProgramStarts) {
  const std::string reference = "runtime://local/discovered/alb_dns";
  const std::string archive = world.put("shop", "1.0", std::string(kAsks) + "reload: signal\n");
  auto unknown = up(archive, {{"runtimeRefs", write(json::object{{"dns", reference}})}});
  EXPECT_EQ(unknown.variant, "failed");
  EXPECT_EQ(text(unknown, "message"), "nothing has found out alb_dns in local; traffic stays as it was");
  auto found = discover("one.example");
  EXPECT_EQ(found.fields.at("reference"), json::value(reference));
  EXPECT_EQ(found.fields.at("changed"), json::value(true));
  EXPECT_EQ(discover("one.example").fields.at("changed"), json::value(false));
  auto first = up(archive, {{"runtimeRefs", write(json::object{{"dns", reference}})}});
  ASSERT_EQ(first.variant, "ok") << write(first.fields);
  auto reads = kit.elements("Revision.readsFound", text(first, "revision"));
  ASSERT_EQ(reads.size(), 1U);
  EXPECT_EQ(reads[0], (json::value{{"reference", reference}, {"reload", "signal"}}));
}

}  // namespace settings_sync_test
}  // namespace sluice::deploy
