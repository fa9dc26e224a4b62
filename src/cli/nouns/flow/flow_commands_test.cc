// sluice flow and sluice why on a home whose journal was written by hand.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/lock_file.h"
#include "base/real_disk.h"
#include "cli/testing_flows.h"

namespace sluice::cli {
namespace flow_commands_test {

struct FlowCommands : testing::Test {
  FlowCommands() { home.write_orders(); }

  TestingHome home;
  std::string one = to_string(id(1)), five = to_string(id(5));
};

TEST_F(FlowCommands, ListShowsTheNewestFirst) {
  auto done = home.run({"flow", "list"});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_EQ(done.out,
            "FLOW                        STATE    ACTION       CALLER    BEGAN                     FAILURE\n" + five +
                "  settled  Shop/open    uid:7     2030-03-17T17:46:40.005Z\n" + one +
                "  failed   Order/place  uid:1000  2030-03-17T17:46:40.001Z\n");
  EXPECT_EQ(
      home.run({"flow", "list", "-o", "json", "--failed"}).out,
      "[\n  {\n    \"flow\": \"" + one +
          "\",\n    \"state\": \"failed\",\n    \"action\": \"Order/place\",\n    \"caller\": \"uid:1000\",\n"
          "    \"beganAt\": \"2030-03-17T17:46:40.001Z\",\n    \"settledAt\": \"2030-03-17T17:46:46.000Z\"\n  }\n]\n");
}

TEST_F(FlowCommands, ListCanBeNarrowed) {
  auto limited = home.run({"flow", "list", "--limit", "1"});
  EXPECT_EQ(limited.out.find(one), std::string::npos);
  EXPECT_NE(limited.out.find(five), std::string::npos);
  EXPECT_EQ(limited.err, "There are more; --limit shows more of them.\n");
  EXPECT_EQ(home.run({"flow", "list", "--limit", "0"}).err,
            "error: --limit is at least 1\nnext:  sluice flow list --limit 1\n");
  TestingHome other;
  other.write([](store::Store& store) {
    engine::TestingJournal journal(store);
    int64_t old_ms = RealClock().wall_ms() - 7'200'000;
    Ulid old = Ulid::from(old_ms, std::array<uint8_t, Ulid::kRandomBytes>{});
    journal.add({.at_ms = old_ms, .flow = old, .invocation = old, .action = "A/go", .root = engine::Root{}});
  });
  EXPECT_EQ(other.run({"flow", "list", "--since", "1h"}).out, "No flows.\n");
  EXPECT_NE(other.run({"flow", "list", "--since", "3h"}).out.find("A/go"), std::string::npos);
  EXPECT_EQ(other.run({"flow", "list", "--failed"}).out, "No flow has failed.\n");
}

TEST_F(FlowCommands, ShowTraceAndWhyTakeShortIds) {
  EXPECT_TRUE(
      home.run({"flow", "show", short_id(id(1))}).out.starts_with("flow        " + one + "\nstate       failed"));
  EXPECT_TRUE(home.run({"flow", "trace", short_id(id(1))}).out.starts_with("flow " + one + " failed"));
  EXPECT_TRUE(home.run({"why", short_id(id(1))}).out.starts_with("Flow " + one + " failed"));
  EXPECT_TRUE(home.run({"why", short_id(id(3))}).out.starts_with("Invocation " + to_string(id(3)) + " is Card/charge"));
  EXPECT_TRUE(home.run({"why", "latest"}).out.starts_with("Flow " + five + " is settled"));
  EXPECT_NE(home.run({"flow", "trace", "latest", "--gates"}).out.find("\nWaits\n  for nothing\n"), std::string::npos);
  EXPECT_TRUE(home.run({"why", short_id(id(3)), "-o", "yaml"}).out.starts_with("kind: invocation\nid: "));
}

TEST_F(FlowCommands, WhatIsNotThereIsNotFound) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"flow", "show", "ZZZZZZ"}, {"flow", "trace", "ZZZZZZ"}, {"why", "ZZZZZZ"}}) {
    auto done = home.run(words);
    EXPECT_EQ(done.exit, 5);
    EXPECT_EQ(done.out, "");
    EXPECT_EQ(done.err, std::string("error: there is no flow") + (words[0] == "why" ? ", invocation or object" : "") +
                            " 'ZZZZZZ'\nnext:  sluice flow list\n");
  }
  EXPECT_EQ(home.run({"flow", "show", "abc"}).exit, 2);
}

TEST_F(FlowCommands, AnEmptyHomeIsSaidInAFriendlyWay) {
  TestingHome empty;
  for (const std::vector<std::string>& words : {std::vector<std::string>{"flow", "list"},
                                                {"flow", "show", "latest"},
                                                {"flow", "trace", "latest"},
                                                {"why", "latest"}}) {
    auto done = empty.run(words);
    EXPECT_EQ(done.exit, 0);
    EXPECT_EQ(done.out, "Nothing has run here yet.\nnext:  sluice kit run FOLDER\n");
  }
  EXPECT_EQ(empty.run({"flow", "list", "-o", "json"}).out, "[]\n");
  auto done = empty.run({"flow", "show", one});
  EXPECT_EQ(done.exit, 5);
  EXPECT_EQ(done.err, "error: nothing has run here yet\nnext:  sluice kit run FOLDER\n");
}

TEST_F(FlowCommands, ABusyStoreIsAConflict) {
  RealDisk disk;
  RealClock clock;
  std::filesystem::create_directories(home.path("run"));
  std::filesystem::permissions(home.path("run"), std::filesystem::perms::owner_all);
  auto lock = LockFile::acquire(disk, clock, home.path("run/store.lock"), 0);
  ASSERT_TRUE(lock) << to_string(lock.error());
  auto done = home.run({"flow", "cancel", one, "--kit", "deploy", "--lock-timeout", "0s"});
  EXPECT_EQ(done.exit, 6);
  EXPECT_TRUE(done.err.starts_with("error: " + home.path("run/store.lock") + " is locked by pid ")) << done.err;
  // Who only reads does not wait.
  done = home.run({"flow", "list", "--lock-timeout", "0s"});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_NE(done.out.find(one), std::string::npos) << done.out;
}

TEST_F(FlowCommands, TraceNamesTheSyncsThatDidNotFire) {
  RealDisk disk;
  std::filesystem::create_directories(home.path("kits/shop"));
  auto write = [&](const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_atomically(disk, home.path("kits/shop/" + name), text, 0644));
  };
  write("suite.yaml",
        "kit: { name: shop, version: 1.0.0 }\nconcepts:\n  Shop: { spec: shop.concept }\nsyncs:\n  required:\n"
        "    - { path: shop.sync }\n");
  write("shop.concept",
        "concept Shop [S] {\n  actions {\n    action open() {\n      -> ok\n      -> late\n    }\n  }\n}\n");
  write("shop.sync",
        "sync Reopen [eager]\n  when { Shop/open: [] => ok[]  Shop/open: [] => late[] }\n"
        "  then { Shop/open: [] }\n");
  auto done = home.run({"flow", "trace", "latest", "--kit", home.path("kits/shop")});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_NE(done.out.find("\nDid not fire\n  Reopen misses Shop/open: [] => late[]\n"), std::string::npos) << done.out;
  EXPECT_EQ(done.err, "The syncs in " + home.path("kits/shop") + " are not those that this flow goes on under.\n");
  auto missing = home.run({"flow", "trace", "latest", "--kit", home.path("none")});
  EXPECT_EQ(missing.exit, 5);
  EXPECT_TRUE(missing.err.starts_with("error: there is no folder " + home.path("none"))) << missing.err;
  write("shop.concept", "concept");
  auto broken = home.run({"flow", "trace", "latest", "--kit", home.path("kits/shop")});
  EXPECT_EQ(broken.exit, 1);
  EXPECT_NE(broken.err.find("sluice kit check " + home.path("kits/shop")), std::string::npos) << broken.err;
}

}  // namespace flow_commands_test
}  // namespace sluice::cli
