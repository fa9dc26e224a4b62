// What apply.sync says, on the whole kit: a document becomes true, all of it is looked at first, and what was done is
// said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deploy/testing_workflow.h"

namespace sluice::deploy {
namespace apply_sync_test {

using testing::ElementsAre;
using testing::HasSubstr;

class ApplySync : public WorkflowTest {
 protected:
  engine::End apply(const std::string& document, bool prune = false, bool wait = true,
                    const std::string& environment = "local") {
    return kit.run("Env/apply",
                   {{"environment", environment}, {"document", document}, {"prune", prune}, {"wait", wait}});
  }
  static std::string head(const std::string& environment = "local") {
    return "schema: sluice.environment.v1\nenvironment_id: " + environment + "\n";
  }
  static std::string bundle(const std::string& name, const std::string& source, const std::string& more = "") {
    return "- bundle_id: " + name + "\n  customer_id: acme\n  bundle_source_uri: \"" + source +
           "\"\n  route_binding: {path_prefixes: [/" + name + "]}\n" + more;
  }
  static std::vector<std::string> changes(const engine::End& end) {
    std::vector<std::string> all;
    for (const json::value& each : end.fields.at("changes").as_array()) {
      all.push_back(std::string(each.at("sign").as_string()) + " " + std::string(each.at("what").as_string()));
    }
    return all;
  }
  // "shop 1=10000, …" of all revisions that get something.
  std::string serving() {
    std::string all;
    for (const auto& [id, deployment] : kit.rows("Deployment")) {
      for (const json::value& entry : kit.elements("Traffic.entries", id)) {
        const json::value served = revision(std::string(entry.at("revision").as_string()));
        all += (all.empty() ? "" : ", ") + std::string(served.at("bundle").as_string()) + " " +
               std::string(served.at("version").as_string()) + "=" + write(entry.at("weightBps"));
      }
    }
    return all;
  }
};

TEST_F(ApplySync, APlanAloneChangesNothing) {
  const std::string document = "schema: sluice.environment.v1\nenvironment_id: local\nname: Here\n";
  auto end =
      kit.run("Env/apply",
              {{"environment", "local"}, {"document", document}, {"prune", false}, {"wait", true}, {"planOnly", true}});
  ASSERT_EQ(end.variant, "ok") << write(end.fields);
  EXPECT_EQ(end.fields.at("changes").as_array().size(), 1U);
  EXPECT_EQ(kit.run("Env/apply", {{"environment", "local"}, {"document", document}, {"prune", false}, {"wait", true}})
                .fields.at("changes"),
            end.fields.at("changes"))
      << "it was to be done still";
}

TEST_F(ApplySync, OkWhenAllOfItServes) {
  const std::string shop = world.put("shop", "1"), notes = world.put("notes", "2");
  const std::string file = head() + "bundles:\n" + bundle("shop", shop) + bundle("notes", notes);
  auto end = apply(file);
  ASSERT_EQ(end.variant, "ok") << write(end.fields);
  EXPECT_THAT(changes(end), ElementsAre("+ shop for acme", "+ shop for acme serves " + shop, "+ notes for acme",
                                        "+ notes for acme serves " + notes));
  EXPECT_THAT(serving(), testing::AnyOf("shop 1=10000, notes 2=10000", "notes 2=10000, shop 1=10000"));
  EXPECT_THAT(changes(apply(file)), ElementsAre()) << "it is as the document says";
  EXPECT_EQ(kit.count("Env[A]"), 0U);
}

TEST_F(ApplySync, FirstWeek07OtherSettingsAndOtherBytesAreChanges) {
  const std::string asks = "config: [{name: color, question: Which?, default: red}]\n";
  const std::string one = world.put("shop", "1", asks), two = world.put("shop", "2", asks);
  auto file = [&](const std::string& source, const std::string& color) {
    return head() + "bundles:\n" +
           bundle("shop", source, "  config: {non_secret: {" + (color.empty() ? "" : "color: " + color) + "}}\n");
  };
  EXPECT_EQ(apply(file(one, "blue")).variant, "ok");
  EXPECT_THAT(changes(apply(file(one, "blue"))), ElementsAre());
  EXPECT_THAT(changes(apply(file(one, "green"))), ElementsAre("~ shop for acme serves " + one));
  EXPECT_THAT(changes(apply(file(one, ""))), ElementsAre("~ shop for acme serves " + one)) << "one is taken back";
  EXPECT_THAT(changes(apply(file(one, ""))), ElementsAre());
  EXPECT_THAT(changes(apply(file(two, ""))), ElementsAre("~ shop for acme serves " + two));
  EXPECT_EQ(serving(), "shop 2=10000");
}

TEST_F(ApplySync, FirstWeek07EverythingIsCheckedBeforeTheFirstChange) {
  const std::string shop = world.put("shop", "1"), none = "sha256:" + std::string(64, '0');
  auto said = [&](const std::string& file) {
    auto end = apply(file);
    EXPECT_EQ(kit.count("Deployment"), 0U);
    EXPECT_EQ(end.variant, "invalid") << write(end.fields);
    return text(end, "message");
  };
  const std::string good = head() + "name: Mine\nbundles:\n" + bundle("shop", shop);
  EXPECT_EQ(said(good + bundle("notes", none)), "there is no archive " + none + " in this home; nothing was changed");
  EXPECT_EQ(said(good + bundle("notes", shop)), shop + " is the bundle shop, not notes; nothing was changed");
  EXPECT_THAT(said(good + bundle("notes", world.put("notes", "1"), "  config: {non_secret: {shape: round}}\n")),
              HasSubstr("the settings of notes: "));
  EXPECT_THAT(said(good + bundle("notes", "file:///tmp/notes.bundle")), HasSubstr("names a file"));
  EXPECT_EQ(said(good + "- bundle_id: notes\n  customer_id: acme\n  bundle_source_uri: \"" + world.put("notes", "1") +
                 "\"\n  route_binding: {path_prefixes: [/shop]}\n"),
            "any host, /shop would be the route of notes for acme and of shop for acme; nothing was changed");
  EXPECT_THAT(said("a: [\n"), HasSubstr("document:"));
  EXPECT_EQ(said(head("prod")), "the document is of prod; nothing was changed");
  EXPECT_EQ(kit.row("Env", "local").at("name"), json::value("local"));
}

TEST_F(ApplySync, FirstWeek07ASecretThatIsMissingIsKnownBeforeTheFirstChange) {
  const std::string shop = world.put("shop", "1"), notes = world.put("notes", "1", "secrets: [KEY, LOCK]\n");
  auto end = apply(head() + "name: Mine\nbundles:\n" + bundle("shop", shop) + bundle("notes", notes));
  EXPECT_EQ(end.variant, "invalid") << write(end.fields);
  EXPECT_EQ(text(end, "message"),
            "local needs secrets that it does not have: notes/KEY, notes/LOCK; nothing was changed; next: Secret/put "
            "environment=local name=notes/KEY");
  EXPECT_EQ(kit.count("Deployment"), 0U);
  EXPECT_EQ(kit.row("Env", "local").at("name"), json::value("local"));
}

TEST_F(ApplySync, PartialSaysWhatWasDone) {
  const std::string shop = world.put("shop", "1"), notes = world.put("notes", "1", "env: {BROKEN: \"1\"}\n");
  auto end = apply(head() + "name: Mine\nbundles:\n" + bundle("shop", shop) + bundle("notes", notes));
  ASSERT_EQ(end.variant, "partial") << write(end.fields);
  EXPECT_THAT(changes(end),
              ElementsAre("~ name of local", "+ shop for acme", "+ shop for acme serves " + shop, "+ notes for acme"));
  EXPECT_EQ(text(end, "failed"), "notes for acme serves " + notes);
  EXPECT_EQ(text(end, "message"), "it ended with exit code 1; traffic stays as it was");
  EXPECT_EQ(serving(), "shop 1=10000");
}

TEST_F(ApplySync, WithoutWaitingItServesLater) {
  auto end = apply(head() + "bundles:\n" + bundle("shop", world.put("shop", "1")), false, false);
  EXPECT_EQ(end.variant, "ok");
  EXPECT_EQ(serving(), "shop 1=10000");
}

TEST_F(ApplySync, WhatItDoesNotHaveIsPruned) {
  const std::string shop = world.put("shop", "1"), notes = world.put("notes", "1");
  apply(head() + "bundles:\n" + bundle("shop", shop) + bundle("notes", notes));
  auto end = apply(head() + "bundles:\n" + bundle("shop", shop), true);
  ASSERT_EQ(end.variant, "ok") << write(end.fields);
  EXPECT_THAT(changes(end), ElementsAre("- notes for acme"));
  EXPECT_EQ(serving(), "shop 1=10000");
  EXPECT_EQ(world.running().size(), 1U);
}

TEST_F(ApplySync, StatusRoutesSharesAndTheHostAreChanged) {
  const std::string shop = world.put("shop", "1");
  auto file = [&](const std::string& status, const std::string& path) {
    return head() + "host_config: {region: eu}\nbundles:\n- bundle_id: shop\n  customer_id: acme\n  status: " + status +
           "\n  bundle_source_uri: \"" + shop + "\"\n  config_overrides: {}\n  route_binding: {path_prefixes: [" +
           path + "]}\n";
  };
  EXPECT_EQ(apply(file("active", "/a")).variant, "ok");
  EXPECT_THAT(changes(apply(file("paused", "/b"))),
              ElementsAre("~ routes of shop for acme", "~ shop for acme is paused"));
  EXPECT_THAT(changes(apply(file("active", "/b"))), ElementsAre("~ shop for acme is active"));
  EXPECT_THAT(changes(apply(file("active", "/b"))), ElementsAre());
  auto end = apply(file("archived", "/b"));
  EXPECT_EQ(end.variant, "partial") << "it has traffic";
  EXPECT_THAT(text(end, "message"), HasSubstr("has traffic"));
}

TEST_F(ApplySync, ANewEnvironmentIsMade) {
  auto end = apply(head("mars") + "packs:\n- {slot: state, kind: acme.state.x@1.0.0}\n", false, true, "mars");
  ASSERT_EQ(end.variant, "ok") << write(end.fields);
  EXPECT_THAT(changes(end), ElementsAre("+ environment mars", "+ acme.state.x@1.0.0 for state"));
  EXPECT_EQ(kit.elements("Env.packs", "mars").size(), 1U);
}

TEST_F(ApplySync, PlanOkAndInvalid) {
  kit.put("Env[A]", "a1", to_json(env::EnvARecord{.applying = lang::Request("r"), .appliedTo = "local"}));
  auto plan = [&](const std::string& document) {
    return kit.run("Env/plan", {{"apply", "a1"}, {"environment", "local"}, {"document", document}, {"prune", false}});
  };
  EXPECT_EQ(plan(head() + "name: Mine\n").fields.at("steps").as_array().size(), 1U);
  EXPECT_EQ(plan("schema: other\n").variant, "invalid");
}

}  // namespace apply_sync_test
}  // namespace sluice::deploy
