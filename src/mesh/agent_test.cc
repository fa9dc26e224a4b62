// One look of the agent at where its artifacts come from.
#include "mesh/agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/testing_volatile_disk.h"
#include "mesh/authority.h"
#include "mesh/testing_artifacts.h"

namespace sluice::mesh {
namespace agent_test {

using testing::HasSubstr;

constexpr int64_t kNow = 1'790'000'000'000;

std::vector<json::object> examples_at(uint64_t version) {
  std::vector<json::object> all = {example_agent(), example_link(), example_mesh(), example_ctrl()};
  for (json::object& each : all) {
    each["version"] = version;
    if (!each.at("plane").is_string()) each["plane"] = {{"ctrl", {{"obeys_mgmt_version", version}}}};
  }
  return all;
}

std::vector<Artifact> artifacts_at(uint64_t version) {
  std::vector<Artifact> all;
  for (const json::object& each : examples_at(version)) all.push_back(signed_artifact(each));
  return all;
}

struct Scripted final : ConfigSource {
  Result<Fetched> next = Fetched();
  bool proves = true;
  Result<Fetched> fetch(const NodeState&) override { return next; }
  bool proves_the_set() const override { return proves; }
};

struct MeshAgent : testing::Test {
  VolatileDisk disk;
  ManualClock clock{kNow};
  Scripted source;
  NodeStore store = made();

  NodeStore made() {
    EXPECT_TRUE(disk.make_folder("/mesh", 0755));
    return NodeStore::enrol(disk, "/mesh", "acme", "alpha", example_trust(), {{"ca.crt", "ca"}}, artifacts_at(42), kNow)
        .value();
  }
  Result<SyncOutcome> look() { return sync(store, source, clock, 60'000); }
};

TEST_F(MeshAgent, ANewSetIsConfirmedByReachingTheServerAgain) {
  source.next = Fetched{.news = true, .artifacts = artifacts_at(43)};
  auto first = look();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->what, Synced::changed);
  EXPECT_TRUE(store.state().pending);
  source.next = Fetched();
  EXPECT_EQ(look()->what, Synced::confirmed);
  EXPECT_FALSE(store.state().pending);
  EXPECT_EQ(look()->what, Synced::unchanged);
  EXPECT_EQ(store.state().checked_ms, kNow);
}

TEST_F(MeshAgent, ASetThatCutsTheServerOffIsTakenBack) {
  source.next = Fetched{.news = true, .artifacts = artifacts_at(43)};
  ASSERT_TRUE(look());
  source.next = Error{.code = Code::unavailable, .message = "nobody is there"};
  EXPECT_FALSE(look());
  EXPECT_EQ(store.state().trouble, "nobody is there");
  EXPECT_EQ(store.active_set()->version(), 43U);
  clock.advance_ms(60'000);
  auto back = look();
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->what, Synced::taken_back);
  EXPECT_EQ(store.active_set()->version(), 42U);
  source.next = Fetched();
  EXPECT_EQ(look()->what, Synced::unchanged);
  EXPECT_EQ(store.state().trouble, "version 43 was taken back: nobody confirmed it in time");
  source.next = Fetched{.news = true, .artifacts = artifacts_at(43)};
  EXPECT_EQ(look().error().code, Code::rolled_back) << "a rejected version is remembered";
}

TEST_F(MeshAgent, AFolderProvesNothing) {
  source.proves = false;
  source.next = Fetched{.news = true, .artifacts = artifacts_at(43)};
  ASSERT_TRUE(look());
  source.next = Fetched();
  EXPECT_EQ(look()->what, Synced::unchanged);
  EXPECT_TRUE(store.state().pending);
}

TEST_F(MeshAgent, OnePlaneAloneIsJoinedWithTheOther) {
  json::object newer = examples_at(42)[3];
  newer["version"] = 50;
  source.next = Fetched{.news = true, .artifacts = {signed_artifact(newer)}};
  auto done = look();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(store.state().marks.ctrl.at("rete").version, 50U);
  EXPECT_EQ(store.state().marks.mgmt.version, 42U);
  // A new mgmt version that ctrl has not seen yet waits for it.
  std::vector<Artifact> mgmt = artifacts_at(43);
  mgmt.pop_back();
  source.next = Fetched{.news = true, .artifacts = mgmt};
  EXPECT_THAT(look().error().message, HasSubstr("rule 5"));
  EXPECT_EQ(store.active_set()->version(), 42U);
}

// A config server that has these versions of the two planes; one may be published while it is asked.
struct Publishing final : ServerSource {
  Publishing(Disk& disk, const Clock& clock) : ServerSource(disk, clock, "/mesh/identity/acme", 1'000) {}
  Result<ServerAnswer> ask(const NodeState&, const std::string& method, const std::string& target, const std::string&,
                           const std::vector<http::Header>&) override {
    asked.push_back(method + " " + target);
    const bool of_ctrl = target.starts_with("/artifact/ctrl/");
    const uint64_t version = of_ctrl ? ctrl : mgmt;
    const bool news = version > std::stoull(target.substr(target.find('=') + 1));
    json::array artifacts;
    std::vector<json::object> all = examples_at(version);
    if (of_ctrl) all[3]["plane"] = {{"ctrl", {{"obeys_mgmt_version", std::max(published, mgmt)}}}};
    for (size_t i = 0; i < all.size(); ++i) {
      if ((i == 3) == of_ctrl) artifacts.push_back(signed_artifact(all[i]).tree);
    }
    mgmt = std::max(published, mgmt);
    if (!news) return ServerAnswer{304, ""};
    return ServerAnswer{200, write(json::object{{"artifacts", artifacts}, {"chain", json::array()}})};
  }

  uint64_t mgmt = 42, ctrl = 42;
  uint64_t published = 0;  // what mgmt is after the next answer
  std::vector<std::string> asked;
};

TEST_F(MeshAgent, NewsOfOnePlaneBringTheOther) {
  ASSERT_TRUE(write_atomically(disk, "/mesh/identity/acme/certs/node.alpha.crt", "certificate", 0644));
  ASSERT_TRUE(
      write_atomically(disk, "/mesh/identity/acme/certs/node.alpha.key", example_key("node").to_pem().reveal(), 0600));
  Publishing server(disk, clock);
  // Both planes are published after the node has asked for the first one.
  server.ctrl = server.published = 43;
  auto done = sync(store, server, clock, 60'000);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(server.asked,
            (std::vector<std::string>{"GET /artifact/mgmt/alpha?have=42", "GET /artifact/ctrl/alpha?have=42",
                                      "GET /artifact/mgmt/alpha?have=0"}));
  EXPECT_EQ(store.active_set()->version(), 43U);
  // It is taken back, so the node obeys less than it has accepted. New routes for the same bounds are tried all the
  // same.
  clock.advance_ms(60'000);
  EXPECT_EQ(sync(store, server, clock, 60'000)->what, Synced::taken_back);
  EXPECT_EQ(store.active_set()->version(), 42U);
  server.ctrl = 50;
  done = sync(store, server, clock, 60'000);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(store.active_set()->version(), 43U);
  EXPECT_EQ(store.state().marks.ctrl.at("rete").version, 50U);
}

TEST_F(MeshAgent, WhatAServerSendsIsReadStrictly) {
  const std::string agent = signed_text(example_agent());
  auto served = parse_served("{\"artifacts\":[" + agent + "],\"chain\":[" + agent + "]}");
  ASSERT_TRUE(served) << served.error().message;
  EXPECT_EQ(served->artifacts.size(), 1U);
  EXPECT_EQ(served->chain.size(), 1U);
  EXPECT_FALSE(parse_served("{\"artifacts\":[{}]}"));
  EXPECT_FALSE(parse_served("{\"artifacts\":[],\"more\":1}"));
  EXPECT_FALSE(parse_served("["));
}

TEST_F(MeshAgent, AFolderIsACompiledTree) {
  for (const Artifact& each : artifacts_at(43)) {
    const std::string path = "/tree/alpha/" + set_path(each);
    ASSERT_TRUE(make_folders(disk, folder_of(path), 0755));
    ASSERT_TRUE(write_atomically(disk, path, each.text, 0644));
  }
  FolderSource folder(disk, "/tree");
  auto done = sync(store, folder, clock, 60'000);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->what, Synced::changed);
  EXPECT_EQ(store.active_set()->version(), 43U);
}

}  // namespace agent_test
}  // namespace sluice::mesh
