// The parser of the four artifacts: examples round-trip, and each rule refuses what it is for.
#include "mesh/artifact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "mesh/testing_artifacts.h"

namespace sluice::mesh {
namespace artifact_test {

using testing::HasSubstr;

// The node at a JSON pointer; the last member is made if it is not there.
json::value& at(json::object& object, std::string_view pointer) {
  json::object* into = &object;
  json::array* list = nullptr;
  while (true) {
    pointer.remove_prefix(1);
    const size_t slash = pointer.find('/');
    const std::string key(pointer.substr(0, slash));
    json::value& node = into != nullptr ? (*into)[key] : list->at(std::stoul(key));
    if (slash == std::string_view::npos) return node;
    pointer.remove_prefix(slash);
    into = node.if_object();
    list = node.if_array();
  }
}

std::string refusal(json::object envelope) {
  auto artifact = parse_artifact(signed_text(std::move(envelope)));
  return artifact ? "" : artifact.error().path + ": " + artifact.error().message;
}

std::string refusal_with(json::object envelope, std::string_view pointer, json::value value) {
  at(envelope, pointer) = std::move(value);
  return refusal(std::move(envelope));
}

TEST(Artifact, TheExamplesRoundTrip) {
  for (json::object example : {example_agent(), example_link(), example_mesh(), example_ctrl()}) {
    auto artifact = parse_artifact(signed_text(example));
    ASSERT_TRUE(artifact) << to_string(artifact.error());
    const json::value again = payload_json(artifact->payload);
    EXPECT_EQ(again, example.at("payload")) << write(again);
    auto without_time = example;
    without_time.erase("generated_at");
    EXPECT_EQ(refusal(without_time), "");
  }
  EXPECT_EQ(signed_artifact(example_ctrl()).identity(), "alpha/ctrl/vertex/rete");
  EXPECT_EQ(set_path(signed_artifact(example_ctrl())), "ctrl/vertices/rete.json");
  EXPECT_EQ(set_path(signed_artifact(example_link())), "mgmt/vertices/public.json");
  EXPECT_EQ(set_path(signed_artifact(example_agent())), "mgmt/agent.json");
}

TEST(Artifact, Florete01AnUnknownFieldIsRefused) {
  EXPECT_THAT(refusal_with(example_agent(), "/extra", 1), HasSubstr("/extra: unknown field"));
  EXPECT_THAT(refusal_with(example_mesh(), "/payload/transport_endpoint/more", 1),
              HasSubstr("/payload/transport_endpoint/more: unknown field"));
  EXPECT_THAT(refusal_with(example_ctrl(), "/payload/label_bindings/0/path", 1), HasSubstr("unknown field"));
}

TEST(Artifact, Florete02TheGateNamesTheUpgrade) {
  auto old_reader = [](std::string_view version) {
    json::object envelope = example_agent();
    envelope["schema_version"] = version;
    return parse_artifact(signed_text(envelope), "", kFirstSchema);
  };
  EXPECT_TRUE(old_reader("1.0"));
  auto newer = old_reader("1.1");
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().message, "schema 1.1 is newer than 1.0, the newest that this program reads");
  EXPECT_EQ(newer.error().next, "upgrade Sluice on this node, then publish again");
  json::object envelope = example_agent();
  envelope["schema_version"] = "1.1";
  EXPECT_EQ(refusal(envelope), "");
  // The gate comes before fields that only the newer schema knows.
  envelope["schema_version"] = "1.2";
  envelope["of_the_future"] = 1;
  EXPECT_EQ(refusal(envelope), "/schema_version: schema 1.2 is newer than 1.1, the newest that this program reads");
  envelope["schema_version"] = "2.0";
  EXPECT_EQ(refusal(envelope),
            "/schema_version: schema 2.0 is another major version than 1.1, which this program reads");
}

TEST(Artifact, WhatSchema11AddsNeedsItsStamp) {
  const auto both = [](json::object envelope, std::string_view pointer, json::value value) {
    at(envelope, pointer) = std::move(value);
    const std::string refused = refusal(envelope);
    envelope["schema_version"] = "1.1";
    EXPECT_EQ(refusal(envelope), "") << pointer;
    return refused;
  };
  const std::string says = ": needs schema_version \"1.1\", and this artifact says \"1.0\"";
  EXPECT_EQ(both(example_agent(), "/expires_at", "2027-01-01T00:00:00Z"), "/expires_at" + says);
  EXPECT_EQ(both(example_agent(), "/payload/trust/mgmt_threshold", 1), "/payload" + says);
  EXPECT_EQ(both(example_agent(), "/payload/trust/ctrl_threshold", 1), "/payload" + says);
  EXPECT_EQ(both(example_link(), "/payload/links/0/members/0/via", {{"type", "udp"}, {"adapter", "wire"}}),
            "/payload" + says);
  EXPECT_EQ(both(example_ctrl(), "/payload/label_bindings/0/out", {{"link", "beta"}, {"label", 3}}), "/payload" + says);
}

TEST(Artifact, Florete17CtrlCarriesNoSigners) {
  EXPECT_THAT(refusal_with(example_ctrl(), "/payload/trust", json::object()),
              HasSubstr("/payload/trust: unknown field"));
  json::object agent = example_agent();
  agent["plane"] = {{"ctrl", {{"obeys_mgmt_version", 1}}}};
  EXPECT_EQ(refusal(agent), "/kind: an agent has no ctrl artifact: its signers and vertices are the operator's alone");
}

TEST(Artifact, Florete18ALinkVertexHasOneUdpAdapter) {
  const std::string says = "/payload/connection_manager/adapters: a link vertex has exactly one adapter, of type udp";
  EXPECT_EQ(
      refusal_with(example_link(), "/payload/connection_manager/adapters",
                   {{{"name", "wire"}, {"type", "udp"}, {"listen", "0.0.0.0:1"}}, {{"name", "more"}, {"type", "udp"}}}),
      says);
  EXPECT_EQ(refusal_with(example_link(), "/payload/connection_manager/adapters", json::array()), says);
}

TEST(Artifact, Florete19AViaIsOfItsAdaptersType) {
  EXPECT_EQ(refusal_with(example_mesh(), "/payload/links/0/members/0/via",
                         {{"type", "udp"}, {"adapter", "via-link"}, {"addr", "1.2.3.4:5"}}),
            "/payload/links/0/members/0/via/type: the adapter \"via-link\" is of another type");
  EXPECT_EQ(refusal_with(example_mesh(), "/payload/links/0/members/0/via/adapter", "none"),
            "/payload/links/0/members/0/via/adapter: there is no adapter \"none\"");
  EXPECT_THAT(refusal_with(example_mesh(), "/payload/links/0/members/0/via/addr", "1.2.3.4:5"),
              HasSubstr("a link of type florio has no address"));
}

TEST(Artifact, Florete20AChannelsKindFixesItsDirection) {
  EXPECT_EQ(refusal_with(example_mesh(), "/payload/workloads/1/io/0", {{"kind", "tcp"}, {"listen", "127.0.0.1:8000"}}),
            "/payload/workloads/1/io/0/listen: a channel of kind tcp has upstream, not listen");
  EXPECT_EQ(refusal_with(example_mesh(), "/payload/workloads/1/io/0", {{"kind", "tcp"}}),
            "/payload/workloads/1/io/0: a channel of kind tcp needs upstream");
  EXPECT_THAT(refusal_with(example_mesh(), "/payload/workloads/1/io/0/direction", "inbound"),
              HasSubstr("/direction: unknown field"));
}

TEST(Artifact, KeysAreUsedOnce) {
  const auto twice = [](json::object envelope, std::string_view pointer) {
    json::array& list = at(envelope, pointer).as_array();
    list.push_back(json::value(list.at(0)));
    return refusal(std::move(envelope));
  };
  EXPECT_EQ(twice(example_mesh(), "/payload/connection_manager/adapters"),
            "/payload/connection_manager/adapters/2: the adapter \"via-link\" is there twice");
  EXPECT_EQ(twice(example_mesh(), "/payload/links/0/members"),
            "/payload/links/0/members/2/name: the link \"beta\" is there twice");
  EXPECT_EQ(twice(example_mesh(), "/payload/links"),
            "/payload/links/1/members/0/name: the link \"beta\" is there twice");
  EXPECT_THAT(twice(example_mesh(), "/payload/workloads"),
              HasSubstr("the workload \"spiffe://acme/node/alpha\" is there twice"));
  EXPECT_THAT(twice(example_mesh(), "/payload/ingress"), HasSubstr("is there twice"));
  EXPECT_THAT(twice(example_mesh(), "/payload/egress"), HasSubstr("is there twice"));
  EXPECT_EQ(twice(example_agent(), "/payload/vertices"), "/payload/vertices/2: the vertex \"public\" is there twice");
  EXPECT_THAT(twice(example_agent(), "/payload/trust/authorized_mgmt_signers"), HasSubstr("is there twice"));
}

TEST(Artifact, SignersAreOfTheirPlane) {
  EXPECT_THAT(
      refusal_with(example_agent(), "/payload/trust/authorized_mgmt_signers/0/spiffe_id", "spiffe://acme/user/alice"),
      HasSubstr("a signer of this plane is a management-plane, not a user"));
  EXPECT_THAT(refusal_with(example_agent(), "/payload/trust/authorized_ctrl_signers/0/pubkey",
                           json::string(example_pubkey("management-plane/primary"))),
              HasSubstr("the planes have keys of their own"));
  EXPECT_THAT(refusal_with(example_agent(), "/payload/trust/authorized_mgmt_signers", json::array()),
              HasSubstr("nobody could publish after this"));
  EXPECT_THAT(refusal_with(example_agent(), "/payload/trust/mgmt_threshold", 2),
              HasSubstr("between 1 and the number of signers, 1"));
}

TEST(Artifact, IdentityIsTotal) {
  EXPECT_THAT(refusal_with(example_agent(), "/name", "other"),
              HasSubstr("an artifact of kind agent is named \"agent\""));
  EXPECT_THAT(refusal_with(example_mesh(), "/name", "agent"), HasSubstr("\"agent\" is the name of the agent alone"));
  EXPECT_THAT(refusal_with(example_mesh(), "/version", 0), HasSubstr("a version is at least 1"));
  EXPECT_THAT(refusal_with(example_mesh(), "/kind", "coordinator"), HasSubstr("/kind"));
  EXPECT_THAT(refusal_with(example_mesh(), "/plane", "data"), HasSubstr("/plane"));
  EXPECT_THAT(refusal_with(example_mesh(), "/payload/kind", "star"), HasSubstr("/payload/kind"));
  EXPECT_THAT(refusal_with(example_ctrl(), "/payload/forwarding_table/0/in/label", 1 << 20),
              HasSubstr("a label has 20 bits"));
  EXPECT_THAT(
      refusal_with(
          example_ctrl(), "/payload/label_bindings/0",
          {{"scope", "ingress"}, {"target", "spiffe://acme/service/api"}, {"initiator", "spiffe://acme/user/alice"}}),
      HasSubstr("a binding of scope ingress needs in"));
}

TEST(Artifact, LaterDraftsAreRefusedByName) {
  auto list = example_mesh();
  at(list, "/payload/links/0/type") = "list";
  auto refused = parse_artifact(signed_text(list));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("list"));
  auto kindless = example_mesh();
  kindless.erase("kind");
  EXPECT_EQ(refusal(kindless), "/kind: missing field, expected one of agent, vertex");
  EXPECT_THAT(refusal_with(example_mesh(), "/payload/schema_version", "1.0"),
              HasSubstr("/payload/schema_version: unknown field"));
  auto workloads = example_agent();
  at(workloads, "/payload/workloads") = json::array();
  EXPECT_THAT(refusal(workloads), HasSubstr("/payload/workloads: unknown field"));
}

TEST(Artifact, ErrorsHaveTheirPlace) {
  json::object envelope = example_agent();
  envelope["extra"] = 1;
  auto artifact = parse_artifact(write_pretty(parse_json_value(signed_text(envelope)).value()), "agent.json");
  ASSERT_FALSE(artifact);
  EXPECT_THAT(to_string(artifact.error()), testing::MatchesRegex("agent.json:[0-9]+:[0-9]+: /extra: unknown field.*"));
  EXPECT_FALSE(parse_artifact("{", "x.json"));
  EXPECT_FALSE(parse_artifact("[]", "x.json"));
}

TEST(Artifact, SchemasAreOfTheTypes) {
  for (const char* name : {"agent", "vertex", "ctrl"}) {
    auto schema = artifact_schema(name);
    ASSERT_TRUE(schema);
    EXPECT_FALSE(schema->at("additionalProperties").as_bool());
    EXPECT_FALSE(schema->at("properties").at("payload").at("additionalProperties").as_bool());
  }
  EXPECT_FALSE(artifact_schema("coordinator"));
}

}  // namespace artifact_test
}  // namespace sluice::mesh
