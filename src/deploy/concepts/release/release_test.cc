// Release through the harness: one test a variant. Cutting one of what is defined needs Definition, and is in
// promotion_sync_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "deploy/promotion/release_sources.h"
#include "lang/run/harness.h"
#include "release.gen.h"

namespace sluice::deploy::release {

void prepare(lang::Harness& harness) {
  static RealClock clock;
  harness.tools().add<Clock>(clock);
}

namespace release_test {

using testing::HasSubstr;

std::string written(const std::string& image, const std::string& type = R"("content": {
    "apiVersion": "openchoreo.dev/v1alpha1", "kind": "ComponentTypeDefinition", "metadata": {"name": "web"},
    "spec": {"workloadType": "deployment", "resources": []}})") {
  return R"({"apiVersion": "openchoreo.dev/v1alpha1", "kind": "Release", "metadata": {"name": "shop-1"}, "spec": {
    "component": {"name": "shop", "content": {"apiVersion": "openchoreo.dev/v1alpha1", "kind": "Component",
        "metadata": {"name": "shop"}, "spec": {"componentType": "deployment/web"}}},
    "componentTypeDefinition": {"name": "web", )" +
         type + R"(},
    "workload": {"apiVersion": "openchoreo.dev/v1alpha1", "kind": "Workload", "metadata": {"name": "shop"},
        "spec": {"image": ")" +
         image + R"("}}}})";
}

class ReleaseTest : public testing::Test {
 protected:
  ReleaseTest() { prepare(harness); }
  auto put(const std::string& document) {
    return harness.invoke(Put{.releases = {{.name = "shop-1", .document = document}}, .by = "user:ann"});
  }
  static Cut cut(const std::string& identity, const std::optional<std::string>& name = {}) {
    return {.component = "shop",
            .name = name,
            .document = "{}",
            .identity = identity,
            .image = "shop",
            .parts = {{.role = "workload", .name = "shop", .digest = "sha256:1", .text = std::string(30'000, 'x')}},
            .by = "user:ann"};
  }
  ReleaseRecord record(const std::string& name = "shop-1") { return *State(harness.rows()).get(ReleaseId(name)); }
  lang::Harness harness{release_binding()};
};

TEST_F(ReleaseTest, CreateEndsAsItIsAnswered) {
  const Create create{.component = "shop"};
  harness.answer_with({"ok", {{"release", "shop-1"}, {"identity", "i"}, {"image", "shop"}, {"fresh", true}}});
  EXPECT_TRUE(harness.invoke(create).is<Create::Ok>());
  harness.answer_with({"exists", {{"release", "shop-1"}, {"message", "no"}}});
  EXPECT_TRUE(harness.invoke(create).is<Create::Exists>());
  harness.answer_with({"notFound", {{"component", "shop"}, {"message", "no"}}});
  EXPECT_TRUE(harness.invoke(create).is<Create::NotFound>());
  EXPECT_TRUE(harness.invoke(create).is<Create::Invalid>()) << "what nobody answers";
  EXPECT_TRUE(harness.invoke(Compose{.component = "shop"}).is<Compose::NotFound>());
  harness.end_with({.outcome = lang::EngineOutcome::timeout, .message = "the registry is slow"});
  EXPECT_EQ(harness.invoke(Compose{.component = "shop"}).as<Compose::Invalid>().message, "the registry is slow");
}

TEST_F(ReleaseTest, AnEnvironmentThatIsLoggedInLendsItsLogin) {
  constexpr const char* kSince = "2026-01-01T00:00:00Z";
  ReleaseSources sources;
  sources.pin_image = [](const std::string& image, const auto&) { return Result<std::string>(image + "@sha256:1"); };
  harness.tools().add<ReleaseSources>(sources);
  auto define = [&](const std::string& kind, const std::string& name, const std::string& spec) {
    harness.rows().put("Definition", kind + "/" + name,
                       {{"kind", kind},
                        {"name", name},
                        {"document", R"({"apiVersion": "openchoreo.dev/v1alpha1", "kind": ")" + kind +
                                         R"(", "metadata": {"name": ")" + name + R"("}, "spec": )" + spec + "}"},
                        {"digest", ""},
                        {"since", kSince}});
  };
  define("ComponentTypeDefinition", "web", R"({"workloadType": "deployment", "resources": []})");
  define("Component", "shop", R"({"componentType": "deployment/web"})");
  define("Workload", "shop", R"({"image": "registry.example/shop:1"})");
  EXPECT_EQ(harness.invoke(Compose{.component = "shop"}).as<Compose::Ok>().image, "registry.example/shop:1@sha256:1");
  harness.rows().put(
      "Pipeline", "main",
      {{"document", "{}"}, {"digest", ""}, {"since", kSince}, {"stopped", false}, {"stoppedBy", ""}, {"reason", ""}});
  harness.rows().put("Pipeline.stages", lang::child_key("main", lang::rows::number_key(0)),
                     {{"environment", "local"}, {"root", true}});
  harness.rows().put("Registry", "local/registry.example",
                     {{"environment", "local"}, {"host", "registry.example"}, {"secret", "login"}, {"since", kSince}});
  harness.rows().put("Env", "local",
                     {{"name", "local"},
                      {"createdAt", kSince},
                      {"generation", 1},
                      {"runtimeType", "local"},
                      {"secretsType", "store"},
                      {"revocation", json::object{{"required", false}, {"listRef", ""}}},
                      {"retention", json::object{{"archivedMaxAgeDays", 14}, {"stagedMaxCount", 5}}},
                      {"health", json::object{{"lastDoctorStatus", "green"}, {"message", ""}}}});
  const auto locked = harness.invoke(Compose{.component = "shop"}).as<Compose::Locked>();
  EXPECT_EQ(locked.environment, "local");
  EXPECT_EQ(locked.provider, "store");
  EXPECT_EQ(locked.secret, "login");
  EXPECT_EQ(locked.image, "registry.example/shop:1");
}

TEST_F(ReleaseTest, TheSameContentIsTheSameRelease) {
  const auto first = harness.invoke(cut("i1")).as<Cut::Ok>();
  EXPECT_TRUE(first.fresh);
  EXPECT_THAT(first.release.text(), testing::MatchesRegex("shop-[0-9]{8}-1"));
  EXPECT_FALSE(harness.invoke(cut("i1")).as<Cut::Ok>().fresh);
  EXPECT_THAT(harness.invoke(cut("i2")).as<Cut::Ok>().release.text(), testing::EndsWith("-2"));
  EXPECT_TRUE(harness.invoke(cut("i3", first.release.text())).is<Cut::Exists>());
  const auto kept = State(harness.rows()).get(ReleaseTId("sha256:1"));
  ASSERT_TRUE(kept);
  EXPECT_THAT(kept->text, testing::StartsWith("zstd:")) << "content is kept once, and small";
}

TEST_F(ReleaseTest, WhatIsReadyNeverChanges) {
  EXPECT_EQ(put(written("shop")).as<Put::Ok>().changed.size(), 1U);
  EXPECT_TRUE(record().ready) << record().message;
  EXPECT_TRUE(put(written("shop")).as<Put::Ok>().changed.empty());
  EXPECT_EQ(put(written("other")).as<Put::Differs>().message, "the release shop-1 is there, and never changes");
}

TEST_F(ReleaseTest, OneThatCannotBeResolvedIsKeptAndTriedAgain) {
  const std::string git = R"("gitRef": {"repository": "https://git.example/x", "revision": "a1", "path": "web.yaml"})";
  put(written("shop", git));
  EXPECT_FALSE(record().ready);
  EXPECT_THAT(record().message, HasSubstr("there is no Git to read from"));
  ReleaseSources sources{.read_git = [](const promote::GitRef& ref) -> Result<std::string> {
    return "apiVersion: openchoreo.dev/v1alpha1\nkind: ComponentTypeDefinition\nmetadata: {name: web}\n"
           "spec: {resources: [], workloadType: deployment} # " +
           ref.revision;
  }};
  harness.tools().add(sources);
  put(written("shop", git));
  EXPECT_TRUE(record().ready) << record().message;
  const std::string identity = record().identity;
  harness.invoke(Put{.releases = {{.name = "shop-2", .document = written("shop")}}});
  EXPECT_EQ(record("shop-2").identity, identity) << "however it is written";
  EXPECT_NE(record("shop-2").documentDigest, record().documentDigest);
}

TEST_F(ReleaseTest, ItIsRejectedAndForgotten) {
  const ReleaseId id("shop-1");
  EXPECT_TRUE(harness.invoke(Reject{.release = id, .reason = "slow"}).is<Reject::NotFound>());
  EXPECT_TRUE(harness.invoke(Remove{.release = id}).is<Remove::NotFound>());
  put(written("shop"));
  EXPECT_TRUE(harness.invoke(Reject{.release = id, .reason = "slow", .caller = "user:ann"}).is<Reject::Ok>());
  EXPECT_EQ(record().rejected->reason, "slow");
  harness.invoke(Put{.releases = {{.name = "shop-2", .document = written("other")}}});
  size_t contents = 0;
  EXPECT_TRUE(harness.invoke(Remove{.release = id}).is<Remove::Ok>());
  State state(harness.rows());
  for (const auto& each : state.parts(ReleaseId("shop-2")))
    contents += state.has(ReleaseTId(each.value.digest)) ? 1 : 0;
  EXPECT_EQ(contents, 3U) << "what another release has stays";
  EXPECT_TRUE(harness.invoke(Drop{.release = ReleaseId("shop-2")}).is<Drop::Ok>());
  EXPECT_EQ(harness.rows().scan("Release[T]", "", "", 10).size(), 0U);
}

TEST_F(ReleaseTest, NothingIsNeedlessWhereNothingIs) {
  EXPECT_TRUE(harness.invoke(Gc{.dryRun = true}).as<Gc::Ok>().needless.empty());
}

}  // namespace release_test
}  // namespace sluice::deploy::release
