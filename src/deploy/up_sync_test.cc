// What up.sync says, on the whole kit: a bundle is brought to serve, again, in shares, one call after the other, and
// what cannot serve changes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/json.hpp>
#include <future>
#include <latch>

#include "base/testing_wait.h"
#include "deploy/testing_workflow.h"
#include "deployment.gen.h"

namespace sluice::deploy {
namespace up_sync_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

using UpSync = WorkflowTest;

TEST_F(UpSync, TheFirstMakesADeploymentThatGetsEverything) {
  auto end = up(world.put("shop", "1"));
  ASSERT_EQ(end.variant, "ok") << write(end.fields);
  EXPECT_EQ(text(end, "bundle"), "shop");
  EXPECT_EQ(text(end, "customer"), "local-dev");
  EXPECT_EQ(end.fields.at("sequence"), json::value(1));
  EXPECT_EQ(end.fields.at("changed"), json::value(true));
  EXPECT_EQ(entries_of(end), "1=10000");
  EXPECT_THAT(text(end, "signature"), HasSubstr("nobody vouches for it")) << "in local it may be anybody's";
  EXPECT_EQ(lifecycle(end), "ready");
  EXPECT_EQ(deployment(end).at("route").at("pathPrefixes"), (json::value{"/"}));
  EXPECT_EQ(kit.elements("Traffic.log", text(end, "deployment")).size(), 1U);
  EXPECT_EQ(world.running().size(), 1U);
}

TEST_F(UpSync, TheSameAgainChangesNothing) {
  const std::string archive = world.put("shop", "1");
  auto first = up(archive);
  auto again = up(archive);
  ASSERT_EQ(again.variant, "ok");
  EXPECT_EQ(again.fields.at("changed"), json::value(false));
  EXPECT_EQ(text(again, "revision"), text(first, "revision"));
  EXPECT_EQ(kit.elements("Traffic.log", text(first, "deployment")).size(), 1U);
}

TEST_F(UpSync, WhatARollbackLeadsToStaysWarmAndOlderOnesDrain) {
  auto one = up(world.put("shop", "1")), two = up(world.put("shop", "2"));
  EXPECT_EQ(entries_of(two), "2=10000");
  EXPECT_EQ(lifecycle(one), "ready");
  auto three = up(world.put("shop", "3"));
  EXPECT_EQ(lifecycle(one), "inactive");
  EXPECT_EQ(lifecycle(two), "ready");
  EXPECT_EQ(lifecycle(three), "ready");
  EXPECT_EQ(world.running().size(), 2U);
}

TEST_F(UpSync, OnlyWhatLeavesTheLastTenThatServedIsArchived) {
  std::vector<engine::End> ends;
  for (int i = 1; i <= 12; ++i) ends.push_back(up(world.put("shop", std::to_string(i))));
  EXPECT_EQ(lifecycle(ends[0]), "archived");
  EXPECT_EQ(lifecycle(ends[1]), "archived");
  EXPECT_EQ(lifecycle(ends[2]), "inactive");
  EXPECT_EQ(lifecycle(ends[9]), "inactive");
  EXPECT_EQ(lifecycle(ends[10]), "ready");
  EXPECT_EQ(lifecycle(ends[11]), "ready");
}

TEST_F(UpSync, ACanaryGetsItsShareAndTheRoutesStay) {
  const std::string one = world.put("shop", "1"), two = world.put("shop", "2"),
                    three = world.put("shop", "3", "routes: [{path: /three}]\n");
  up(one);
  EXPECT_EQ(entries_of(up(two, {{"canaryBps", 1'000}})), "2=1000 1=9000");
  auto end = up(three, {{"canaryBps", 2'501}});
  EXPECT_EQ(entries_of(end), "3=2501 2=750 1=6749");
  EXPECT_EQ(deployment(end).at("route").at("pathPrefixes"), (json::value{"/"}));
  EXPECT_EQ(world.running().size(), 3U);
  end = up(three);
  EXPECT_EQ(entries_of(end), "3=10000");
  EXPECT_EQ(deployment(end).at("route").at("pathPrefixes"), (json::value{"/three"}));
  EXPECT_EQ(up(three, {{"canaryBps", 5'000}}).fields.at("changed"), json::value(false)) << "it has everything";
}

TEST_F(UpSync, FirstWeek06SettingsStayUntilTheyAreUnset) {
  const std::string asks =
      "config: [{name: color, question: Which?, default: red}, {name: size, question: Which?, default: s}]\n";
  const std::string one = world.put("shop", "1", asks), two = world.put("shop", "2", asks),
                    three = world.put("shop", "3", "config: [{name: size, question: Which?, default: s}]\n");
  up(one, {{"set", R"({"color": "blue", "size": "l"})"}});
  auto end = up(two);
  EXPECT_EQ(settings(end).at("non_secret"), (json::value{{"color", "blue"}, {"size", "l"}}));
  end = up(two, {{"unset", json::array{"color"}}});
  EXPECT_EQ(settings(end).at("non_secret"), (json::value{{"size", "l"}}));
  EXPECT_EQ(end.fields.at("sequence"), json::value(3));
  end = up(three);
  EXPECT_EQ(settings(end).at("non_secret"), (json::value{{"size", "l"}})) << "as far as it still asks";
  end = up(three, {{"set", R"({"shape": "round"})"}});
  EXPECT_EQ(end.variant, "invalid");
  EXPECT_THAT(text(end, "message"), testing::EndsWith("; traffic stays as it was"));
}

TEST_F(UpSync, OneThatDoesNotBecomeHealthyChangesNothing) {
  auto one = up(world.put("shop", "1"));
  auto end = up(world.put("shop", "2", "env: {BROKEN: \"1\"}\nroutes: [{path: /two}]\n"));
  ASSERT_EQ(end.variant, "failed") << write(end.fields);
  EXPECT_EQ(text(end, "check"), "provider-health");
  EXPECT_EQ(text(end, "message"), "it ended with exit code 1; traffic stays as it was");
  EXPECT_EQ(end.fields.at("lastLines"), (json::value{"out no luck"}));
  EXPECT_EQ(lifecycle(end), "failed");
  EXPECT_EQ(lifecycle(one), "ready");
  EXPECT_EQ(deployment(one).at("route").at("pathPrefixes"), (json::value{"/"}));
  EXPECT_EQ(kit.elements("Traffic.log", text(one, "deployment")).size(), 1U);
  EXPECT_EQ(world.running().size(), 1U);
  EXPECT_EQ(kit.count("Deployment[C]"), 0U);
}

TEST_F(UpSync, RoutesOfAnotherAreRefusedBeforeAnythingIsStaged) {
  up(world.put("shop", "1", "routes: [{path: /shop}]\n"));
  auto notes = up(world.put("notes", "1"));
  auto end = up(world.put("notes", "2", "routes: [{path: /shop}]\n"));
  EXPECT_EQ(end.variant, "refused");
  EXPECT_THAT(text(end, "message"), HasSubstr("is the route of"));
  EXPECT_EQ(up(world.put("notes", "1")).fields.at("sequence"), json::value(1));
  EXPECT_EQ(deployment(notes).at("route").at("pathPrefixes"), (json::value{"/"}));
}

TEST_F(UpSync, WithoutRoutesASecondBundleIsReachedByItsName) {
  up(world.put("shop", "1"));
  auto end = up(world.put("notes", "1"));
  EXPECT_EQ(deployment(end).at("route").at("hosts"), (json::value{"notes.localhost"}));
}

TEST_F(UpSync, WhatIsWrongWithACallIsSaid) {
  const std::string none = "sha256:" + std::string(64, '0');
  auto said = [&](const engine::End& end) { return end.variant + ": " + text(end, "message"); };
  EXPECT_EQ(said(up("/tmp/shop.bundle")), "invalid: the archive is named by its digest, sha256: and 64 digits");
  EXPECT_EQ(said(up(none, {{"signature", "x"}})),
            "invalid: the signatures are named by their digest, sha256: and 64 digits");
  EXPECT_EQ(said(up(none, {{"set", "[]"}})), "invalid: set is a JSON object by name");
  EXPECT_THAT(said(up(none, {{"runtimeRefs", "{"}})), StartsWith("invalid: runtimeRefs:1:2"));
  EXPECT_EQ(said(up(none, {{"canaryBps", 10'000}})), "invalid: a canary gets 1 to 9999 bps");
  EXPECT_EQ(said(up(none, {{"drainSeconds", -1}})), "invalid: a revision drains for 0 to 86400 seconds");
  EXPECT_EQ(said(up(none)), "invalid: there is no archive " + none + " in this home; nothing was changed");
  EXPECT_EQ(said(up(none, {{"environment", "mars"}})), "notFound: there is no environment mars");
  EXPECT_EQ(
      said(up(world.put("shop", "1"), {{"environment", "prod"}})),
      "invalid: outside local a deployment is for a customer; next: name the customer with --customer-id; nothing was "
      "changed");
}

TEST_F(UpSync, AnArchiveIsRead) {
  auto change = [&](const char* id, const std::string& customer) {
    kit.put("Deployment[C]", id,
            to_json(deployment::DeploymentCRecord{
                .target = {.environment = "local", .customer = customer},
                .ask = lang::Request(id),
                .wish = {.source = world.put("shop", "1", "routes: [{host: a.example, path: /a}]\n")}}));
  };
  change("c1", "acme");
  for (const char* id : {"d1", "d2"}) {
    kit.put("Deployment", id,
            to_json(deployment::DeploymentRecord{.environment = "local", .bundle = "shop", .customer = id}));
  }
  auto read = kit.run("Deployment/read", {{"change", "c1"}});
  EXPECT_EQ(read.variant, "ok");
  EXPECT_EQ(read.fields.at("bundle"), json::value("shop"));
  EXPECT_EQ(read.fields.at("hosts"), (json::value{"a.example"}));
  EXPECT_EQ(read.fields.at("pathPrefixes"), (json::value{"/a"}));
  change("c2", "");
  EXPECT_EQ(kit.run("Deployment/read", {{"change", "c2"}}).variant, "ambiguous");
}

TEST_F(UpSync, ACustomerNeedsNoNameIfItIsTheOnlyOne) {
  const std::string one = world.put("shop", "1", "routes: [{host: a.example, path: /}]\n"),
                    two = world.put("shop", "2", "routes: [{host: b.example, path: /}]\n");
  EXPECT_EQ(text(up(one, {{"customer", "acme"}}), "customer"), "acme");
  EXPECT_EQ(text(up(one), "customer"), "acme");
  EXPECT_EQ(text(up(two, {{"customer", "globex"}}), "customer"), "globex");
  auto end = up(one);
  EXPECT_EQ(end.variant, "refused");
  EXPECT_EQ(
      text(end, "message"),
      "shop is deployed in local for 2 customers: acme, globex; next: name one of them with --customer-id; nothing was "
      "changed");
}

TEST_F(UpSync, OutsideLocalAnUnsignedBundleIsNotServed) {
  auto end = up(world.put("shop", "1"), {{"environment", "prod"}, {"customer", "acme"}});
  ASSERT_EQ(end.variant, "unverified") << write(end.fields);
  EXPECT_EQ(lifecycle(end), "failed");
  EXPECT_TRUE(world.running().empty());
}

TEST_F(UpSync, ADeploymentThatWasMadeForNothingIsRemoved) {
  auto end = up(world.put("shop", "1", "config: [{name: color, question: Which?}]\n"));
  EXPECT_EQ(end.variant, "invalid");
  EXPECT_EQ(up(world.put("shop", "2")).fields.at("sequence"), json::value(1));
}

TEST_F(UpSync, FirstWeek04TheSameAtOnceIsOneAndEndsAsOne) {
  const std::string archive = world.put("shop", "1");
  up(world.put("notes", "1"));
  std::latch at_work(1), go(1);
  std::atomic<int> deploys = 0;
  before_deploy = [&] {
    if (deploys++ > 0) return;
    at_work.count_down();
    go.wait();
  };
  auto first = std::async(std::launch::async, [&] { return up(archive); });
  at_work.wait();
  std::vector<std::future<engine::End>> others;
  for (int i = 0; i < 3; ++i) others.push_back(std::async(std::launch::async, [&] { return up(archive); }));
  ASSERT_TRUE(eventually([&] { return kit.count("Deployment[C]") == 4; }));
  go.count_down();
  const engine::End end = first.get();
  ASSERT_EQ(end.variant, "ok");
  for (auto& each : others) EXPECT_EQ(each.get().fields, end.fields) << "also that something was changed";
  EXPECT_EQ(kit.count("Revision"), 2U);
  EXPECT_EQ(kit.count("Deployment[C]"), 0U);
}

TEST_F(UpSync, FirstWeek04OthersRunOneAfterTheOther) {
  const std::string one = world.put("shop", "1"), two = world.put("shop", "2");
  up(world.put("notes", "1"));
  std::latch at_work(1), go(1);
  std::atomic<int> deploys = 0;
  before_deploy = [&] {
    if (deploys++ > 0) return;
    at_work.count_down();
    go.wait();
  };
  auto first = std::async(std::launch::async, [&] { return up(one); });
  at_work.wait();
  std::vector<std::future<engine::End>> others;
  size_t open = 1;
  for (const std::string& archive : {two, one}) {
    others.push_back(std::async(std::launch::async, [&, archive] { return up(archive); }));
    ++open;
    ASSERT_TRUE(eventually([&] { return kit.count("Deployment[C]") == open; }));
  }
  go.count_down();
  EXPECT_EQ(entries_of(first.get()), "1=10000");
  EXPECT_EQ(entries_of(others[0].get()), "2=10000");
  EXPECT_EQ(entries_of(others[1].get()), "1=10000") << "it was asked for last";
}

TEST_F(UpSync, OneThatIsCancelledLetsTheNextRun) {
  auto notes = up(world.put("shop", "0"));
  std::latch at_work(1), go(1);
  std::atomic<int> deploys = 0;
  before_deploy = [&] {
    if (deploys++ > 0) return;
    at_work.count_down();
    go.wait();
  };
  const Ulid first = kit.start("Deployment/up", {{"environment", "local"}, {"archive", world.put("shop", "1")}});
  at_work.wait();
  const std::string two = world.put("shop", "2");
  auto second = std::async(std::launch::async, [&] { return up(two); });
  ASSERT_TRUE(eventually([&] { return kit.count("Deployment[C]") == 2; }));
  kit.cancel(first);
  go.count_down();
  auto gone = kit.run("Deployment/down", {{"deployment", text(notes, "deployment")}, {"deleteData", false}});
  EXPECT_EQ(second.get().variant, "ok");
  EXPECT_EQ(gone.variant, "ok");
  EXPECT_EQ(kit.count("Deployment[C]"), 0U);
}

TEST_F(UpSync, ArchivesThatNoRevisionIsMadeOfAnyMoreAreRemovedAfterAWeek) {
  const std::string first = world.put("shop", "0"), unused = world.put("shop", "unused");
  auto raise = [&](int from, int to) {
    for (int i = from; i <= to; ++i) up(i == 0 ? first : world.put("shop", std::to_string(i)));
  };
  world.age(unused, 8);
  raise(0, 11);
  EXPECT_FALSE(world.has(unused)) << "nothing names it";
  EXPECT_TRUE(world.has(first)) << "what was exported before can be applied again";
  world.age(first, 8);
  world.age(world.put("shop", "11"), 8);
  raise(12, 13);
  EXPECT_FALSE(world.has(first));
  EXPECT_TRUE(world.has(world.put("shop", "11"))) << "a revision that is kept was made of it";
}

}  // namespace up_sync_test
}  // namespace sluice::deploy
