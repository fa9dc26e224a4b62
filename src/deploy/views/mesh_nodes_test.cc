// What is shown of nodes, by what they have reported.
#include "deploy/views/mesh_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/testing_views.h"
#include "mesh.gen.h"
#include "mesh/config_server.h"
#include "mesh/mesh_folder.h"

namespace sluice::deploy::views {
namespace mesh_nodes_test {

struct MeshNodes : testing::Test {
  void put(const mesh::MeshRecord& record) { mesh::State(rows.rows).put(mesh::MeshId("acme/" + record.node), record); }
  Result<json::value> read(const std::string& name, const json::object& query = {}) {
    for (const lang::View& each : mesh_views()) {
      if (each.name == name) return each.read({.rows = rows, .tools = tools}, query);
    }
    return Error{};
  }
  std::string state(const mesh::MeshRecord& record) {
    put(record);
    return sluice::read<std::vector<MeshNodeView>>(read("mesh").value()).value().at(0).state;
  }

  RowsInMemory rows;
  lang::Tools tools;
};

TEST_F(MeshNodes, AreShownByWhatTheyReported) {
  mesh::MeshRecord record{.mesh = "acme", .node = "web", .version = 2, .served = "{}"};
  EXPECT_EQ(state(record), "unseen");
  record.reported = mesh::MeshReported{.version = 1};
  EXPECT_EQ(state(record), "behind");
  record.reported->version = 2;
  EXPECT_EQ(state(record), "current");
  record.reported->pending = true;
  EXPECT_EQ(state(record), "unconfirmed");
  record.reported->rejected = true;
  EXPECT_EQ(state(record), "rejected");
  record.ctrlVersion = 7;
  EXPECT_EQ(state(record), "behind") << "what it rejected is not what it may have now";
  record.revoked = "lost";
  EXPECT_EQ(state(record), "revoked");
  record.held = mesh::MeshHeld{.version = 3, .after = {"hub"}};
  put(record);
  auto shown = sluice::read<std::vector<MeshNodeView>>(read("mesh", {{"mesh", "acme"}}).value()).value().at(0);
  EXPECT_EQ(*shown.held_version, 3);
  EXPECT_EQ(shown.waits_for, std::vector<std::string>{"hub"});
  EXPECT_EQ(read("mesh", {{"mesh", "other"}}).value(), json::value(json::array()));
}

TEST_F(MeshNodes, WhatANodeGets) {
  EXPECT_EQ(read("mesh-node", {{"mesh", "acme"}, {"node", "web"}}).error().code, Code::not_found);
  put({.mesh = "acme", .node = "web", .version = 2, .served = "{}"});
  mesh::State(rows.rows).put(mesh::MeshMId("acme"), {.authority = "PEM"});
  auto served = sluice::read<ServedNodeView>(read("mesh-node", {{"mesh", "acme"}, {"node", "web"}}).value()).value();
  EXPECT_EQ(served.authority, "PEM");
  EXPECT_EQ(served.version, 2);
  EXPECT_FALSE(served.said);
}

// A folder as sluice mesh init writes it, with keys and signatures.
struct MeshOfThree : MeshNodes {
  RealDisk disk;
  TestingFolder place;
  const std::string folder = place.path("acme");
  const int64_t now_ms = 1'790'000'000'000;

  MeshOfThree() {
    EXPECT_TRUE(::sluice::mesh::begin_folder(disk, folder, "acme"));
    EXPECT_TRUE(::sluice::mesh::make_keys(disk, folder, now_ms));
    auto work = ::sluice::mesh::compile_folder(disk, folder, now_ms);
    EXPECT_TRUE(::sluice::mesh::sign_folder(disk, folder, folder, *work));
  }
  void publish() {
    auto tree = ::sluice::mesh::read_tree(disk, folder + "/compiled").value();
    const std::string text = write(to_json(::sluice::mesh::publication_of(tree).value()));
    auto made = ::sluice::mesh::read_publication(text, [](const std::string&) { return std::nullopt; });
    for (const auto& [node, served] : made->nodes)
      put({.mesh = "acme", .node = node, .version = 1, .served = served.document});
  }
  json::array files() {
    json::array all;
    for (const char* each : {"rete.yaml", "nodes.yaml", "access.yaml", "ledger.json", "certs/ca.crt",
                             "certs/management-planes/primary.crt", "certs/control-planes/primary.crt"})
      all.push_back(json::object{{"path", each}, {"text", read_file(disk, folder + "/" + each, 1 << 20).value()}});
    const auto tree = ::sluice::mesh::read_tree(disk, folder + "/compiled").value();
    for (const auto& [path, text] : tree) all.push_back(json::object{{"path", "compiled/" + path}, {"text", text}});
    return all;
  }
  Result<json::value> plan(json::array all) {
    for (const lang::View& each : mesh_views()) {
      if (each.name == "mesh-plan")
        return each.read({.rows = rows, .tools = tools, .now_ms = now_ms}, {{"files", std::move(all)}});
    }
    return Error{};
  }
};

TEST_F(MeshOfThree, TheMapHasNodesLinksAndTheWaysOfAPair) {
  publish();
  auto map = sluice::read<MeshMap>(read("mesh-map", {{"mesh", "acme"}}).value()).value();
  EXPECT_EQ(map.nodes.size(), 3U);
  EXPECT_EQ(map.links.size(), 2U);
  EXPECT_EQ(map.pairs_in_all, 5);
  EXPECT_EQ(map.pairs.size(), 5U);
  EXPECT_TRUE(map.ways.empty()) << "none was asked for";
  const json::object pair{
      {"mesh", "acme"}, {"initiator", "spiffe://acme/user/alice"}, {"target", "spiffe://acme/service/api"}};
  map = sluice::read<MeshMap>(read("mesh-map", pair).value()).value();
  ASSERT_EQ(map.ways.size(), 1U);
  EXPECT_EQ(map.ways[0].there.size(), 2U);
  EXPECT_EQ(map.ways[0].to, "web");
  EXPECT_TRUE(sluice::read<MeshMap>(read("mesh-map", {{"mesh", "other"}}).value())->nodes.empty());
}

TEST_F(MeshOfThree, APlanSaysWhatSigningWouldChange) {
  json::array all = files();
  auto same = sluice::read<MeshPlanView>(plan(all).value());
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(same->mesh, "acme");
  EXPECT_TRUE(same->plan.empty());
  const auto edit = [&](std::string_view old, std::string_view now) {
    for (json::value& each : all) {
      std::string text(each.at("text").as_string());
      if (const size_t at = text.find(old); each.at("path") == "access.yaml" && at != std::string::npos)
        each.as_object()["text"] = text.replace(at, old.size(), now);
    }
  };
  edit("allow: [api]", "allow: [api, config-read]");
  auto more = sluice::read<MeshPlanView>(plan(all).value()).value();
  ASSERT_EQ(more.plan.gains.size(), 1U);
  EXPECT_EQ(more.plan.gains[0].initiator, "spiffe://acme/user/alice");
  EXPECT_EQ(more.plan.nodes, (std::vector<std::string>{"hub", "laptop"}));
  edit("groups: [api] }", "groups: [apis] }");
  auto wrong = sluice::read<MeshPlanView>(plan(all).value()).value();
  ASSERT_FALSE(wrong.faults.empty());
  EXPECT_THAT(wrong.faults[0], testing::HasSubstr("access.yaml:"));
  EXPECT_TRUE(wrong.plan.empty());
}

TEST_F(MeshOfThree, APlanTakesNoKeys) {
  json::array all = files();
  all.push_back(json::object{{"path", "keys/ca.key"}, {"text", "PEM"}});
  EXPECT_EQ(plan(all).error().message, "keys stay with the operator: leave keys/ca.key out");
  const json::object twice{{"path", "rete.yaml"}, {"text", ""}};
  all = {twice, twice};
  EXPECT_EQ(plan(all).error().code, Code::invalid);
  EXPECT_EQ(plan({}).error().code, Code::not_found);
}

}  // namespace mesh_nodes_test
}  // namespace sluice::deploy::views
