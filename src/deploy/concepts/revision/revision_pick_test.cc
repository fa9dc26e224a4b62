// Which revision is picked, of rows in memory; settings that are carried over are in up_sync_test.cc.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_writer.h"
#include "deploy/concepts/revision/revision_work.h"
#include "deploy/concepts/revision/testing_revision.h"
#include "deploy/pack_config.h"
#include "deploy/testing_kit_engine.h"

namespace sluice::deploy::revision {
namespace revision_pick_test {

class PickTest : public testing::Test {
 protected:
  static constexpr const char* kManifest =
      "name: shop\nversion: \"1\"\nrun: [./app]\nconfig: [{name: color, question: Which?, default: red}]\n";

  static json::object ask(const std::string& settings = "{}") {
    return {{"deployment", kShop.text()}, {"environment", "local"}, {"manifest", kManifest},  {"tree", "t"},
            {"settings", settings},       {"runtimeRefs", "{}"},    {"unset", json::array()}, {"overrides", ""}};
  }
  void ready_revision(const std::string& id, const std::string& settings, int64_t sequence) {
    auto resolved = resolve_config(bundle::parse_manifest(kManifest).value(), {"local", settings, ""});
    kit.put("Revision", id,
            to_json(RevisionRecord{.deployment = kShop.text(),
                                   .environment = "local",
                                   .bundle = "shop",
                                   .sequence = sequence,
                                   .treeDigest = "t",
                                   .configDigest = config_digest(resolved.value()),
                                   .drainSeconds = 30,
                                   .lifecycle = RevisionLifecycle::ready}));
  }

  KitEngine kit;
};

TEST_F(PickTest, KnownIsTheNewestThatIsJustWhatIsAskedFor) {
  ready_revision("a", "", 1);
  ready_revision("b", "", 2);
  ready_revision("c", R"({"non_secret":{"color":"blue"}})", 3);
  auto known = kit.run("Revision/pick", ask());
  EXPECT_EQ(known.variant, "known");
  EXPECT_EQ(known.fields, (json::object{{"revision", "b"}, {"sequence", 2}}));
}

TEST_F(PickTest, FreshSaysWithWhichConfig) {
  ready_revision("a", "", 1);
  auto fresh = kit.run("Revision/pick", ask(R"({"color":"blue"})"));
  EXPECT_EQ(fresh.variant, "fresh");
  EXPECT_EQ(parse_json(std::string(fresh.fields.at("config").as_string())).value().root,
            (json::value{{"non_secret", {{"color", "blue"}}}, {"runtime_refs", json::object()}}));
  json::object slower = ask();
  slower["drainSeconds"] = 60;
  EXPECT_EQ(kit.run("Revision/pick", slower).variant, "fresh");
}

TEST_F(PickTest, InvalidSaysWhatDoesNotFit) {
  auto invalid = kit.run("Revision/pick", ask(R"({"shape":1})"));
  EXPECT_EQ(invalid.variant, "invalid");
  EXPECT_NE(std::string(invalid.fields.at("message").as_string()).find("shape"), std::string::npos);
}

class RetireTest : public RevisionFixture {
 protected:
  RevisionId revision(RevisionLifecycle lifecycle, int64_t sequence) {
    RevisionId id = in_state(lifecycle);
    State(harness.rows()).edit(id, [&](RevisionRecord& row) {
      row.sequence = sequence;
      row.warmedAt = lang::DateTime{1};
    });
    return id;
  }
};

TEST_F(RetireTest, DrainsOnceWhatIsOlderThanWhatStays) {
  RevisionId old = revision(RevisionLifecycle::ready, 1), stays = revision(RevisionLifecycle::ready, 2);
  revision(RevisionLifecycle::ready, 3);
  const Retire ask{.deployment = kShop, .stays = {stays.text()}, .kept = {stays.text(), old.text()}};
  EXPECT_EQ(harness.invoke(ask).as<Retire::Drain>().revision, old);
  harness.invoke(ask).as<Retire::Ok>();
}

TEST_F(RetireTest, ArchivesWhatIsNotKept) {
  RevisionId old = revision(RevisionLifecycle::inactive, 1), kept = revision(RevisionLifecycle::inactive, 2),
             stays = revision(RevisionLifecycle::ready, 3);
  EXPECT_EQ(harness.invoke(Retire{.deployment = kShop, .stays = {stays.text()}, .kept = {kept.text()}})
                .as<Retire::Archive>()
                .revision,
            old);
}

TEST_F(RetireTest, ReviveNextSaysWhatLeadsOn) {
  auto next = [&](RevisionLifecycle lifecycle) {
    return harness.invoke(ReviveNext{.revisions = {revision(lifecycle, 1).text()}});
  };
  next(RevisionLifecycle::ready).as<ReviveNext::Ok>();
  next(RevisionLifecycle::inactive).as<ReviveNext::Retry>();
  next(RevisionLifecycle::failed).as<ReviveNext::Retry>();
  next(RevisionLifecycle::staged).as<ReviveNext::Warm>();
  EXPECT_EQ(next(RevisionLifecycle::archived).as<ReviveNext::Lost>().message, "shop@1 is archived");
  EXPECT_EQ(harness.invoke(ReviveNext{.revisions = {"none"}}).as<ReviveNext::Lost>().message,
            "the revision none is gone");
}

TEST_F(RetireTest, EndNextNamesWhatIsNotArchived) {
  RevisionId id = revision(RevisionLifecycle::staged, 1);
  revision(RevisionLifecycle::archived, 2);
  EXPECT_EQ(harness.invoke(EndNext{.deployment = kShop}).as<EndNext::Archive>().revision, id);
  harness.invoke(EndNext{.deployment = RevisionDId("none")}).as<EndNext::Ok>();
}

}  // namespace revision_pick_test
}  // namespace sluice::deploy::revision
