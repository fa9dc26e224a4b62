// What is shown of nodes, by what they have reported.
#include "deploy/views/mesh_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "deploy/testing_views.h"
#include "mesh.gen.h"

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

}  // namespace mesh_nodes_test
}  // namespace sluice::deploy::views
