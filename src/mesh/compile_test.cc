// What a facade is compiled to, and that forwarding by it is what the facade allows: for the examples to the letter,
// for random ones by walking every label.
#include "mesh/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "mesh/join.h"
#include "mesh/survey.h"
#include "mesh/testing_facade.h"

namespace sluice::mesh {
namespace compile_test {

using testing::ElementsAre;
using testing::HasSubstr;

Model model_of(const std::vector<SourceFile>& files) {
  Resolved resolved = resolve(files, example_signers());
  for (const Error& each : resolved.faults) ADD_FAILURE() << to_string(each);
  return resolved.model;
}

std::vector<SourceFile> replaced(std::vector<SourceFile> files, std::string_view text, std::string_view other) {
  for (SourceFile& file : files) {
    if (const size_t at = file.text.find(text); at != std::string::npos) file.text.replace(at, text.size(), other);
  }
  return files;
}

std::string bytes_of(const NodePayloads& node) {
  std::string all = write(to_json(node.agent));
  for (const auto& [name, vertex] : node.vertices) all += name + write(to_json(vertex));
  for (const auto& [name, ctrl] : node.ctrl) all += name + write(to_json(ctrl));
  return all;
}

std::vector<std::string> changed_nodes(const Compiled& before, const Compiled& after) {
  std::vector<std::string> changed;
  for (const auto& [name, node] : after.nodes) {
    const auto old = before.nodes.find(name);
    if (old == before.nodes.end() || bytes_of(old->second) != bytes_of(node)) changed.push_back(name);
  }
  return changed;
}

// Everything that the types cannot say holds, and each ctrl joins with its mgmt.
void expect_valid(const Compiled& compiled) {
  for (const auto& [name, node] : compiled.nodes) {
    EXPECT_TRUE(parse_payload(to_json(node.agent), false, ArtifactKind::agent)) << name;
    for (const auto& [vertex, payload] : node.vertices) {
      auto read = parse_payload(to_json(payload), false, ArtifactKind::vertex);
      EXPECT_TRUE(read) << name << "/" << vertex << ": " << read.error().message;
    }
    for (const auto& [vertex, ctrl] : node.ctrl) {
      EXPECT_TRUE(parse_payload(to_json(ctrl), true, ArtifactKind::vertex)) << name;
      for (const JoinRule& rule : judge_join(node.vertices.at(vertex), 1, ctrl, 1)) {
        EXPECT_TRUE(rule.holds) << name << ": " << (rule.breaches.empty() ? "" : rule.breaches.front());
      }
    }
  }
}

TEST(Compile, TheExampleDoesWhatItSays) {
  const Model model = model_of(example_facade());
  Ledger ledger;
  const CompileResult result = compile(model, ledger);
  EXPECT_TRUE(result.faults.empty());
  expect_valid(result.compiled);
  EXPECT_THAT(walk(result.compiled, model), ElementsAre());
  const NodePayloads& alpha = result.compiled.nodes.at("alpha");
  EXPECT_EQ(alpha.agent.vertices,
            (std::vector<SupervisedVertex>{{Name("public"), VertexKind::link}, {Name("rete"), VertexKind::mesh}}));
  EXPECT_EQ(
      write(to_json(alpha.vertices.at("public").links)),
      R"([{"type":"enum","members":[{"name":"beta","peer":"spiffe://acme/vertex/beta/rete","via":{"type":"udp","adapter":"wire","addr":"5.6.7.8:4433"}}]}])");
  EXPECT_EQ(
      write(to_json(alpha.vertices.at("rete").links)),
      R"([{"type":"enum","members":[{"name":"beta","peer":"spiffe://acme/vertex/beta/rete","via":{"type":"florio","adapter":"public"}},)"
      R"({"name":"gamma","peer":"spiffe://acme/vertex/gamma/rete","via":{"type":"udp","adapter":"internal","addr":"10.0.0.7:5544"}}]}])");
  // gamma has udp alone: no process below its mesh vertex. beta waits to be dialled by laptops.
  EXPECT_EQ(result.compiled.nodes.at("gamma").vertices.size(), 1U);
  EXPECT_THAT(
      write(to_json(result.compiled.nodes.at("beta").vertices.at("public").links)),
      HasSubstr(R"({"name":"lap1","peer":"spiffe://acme/vertex/lap1/rete","via":{"type":"udp","adapter":"wire"}})"));
  EXPECT_TRUE(needs_newer_schema(Payload(result.compiled.nodes.at("beta").vertices.at("public"))));
  EXPECT_FALSE(needs_newer_schema(Payload(alpha.vertices.at("public"))));
  EXPECT_EQ(alpha.ctrl.at("rete").active_links, (std::vector<Name>{Name("beta"), Name("gamma")}));
}

TEST(Compile, ATraceHasHopsLinksAndLabels) {
  const Model model = model_of(example_facade());
  Ledger ledger;
  const CompileResult result = compile(model, ledger);
  std::vector<Traced> kafka;
  for (const Traced& each : trace_all(result.compiled)) {
    if (each.initiator.ends_with("/alice") && each.target.ends_with("/kafka")) kafka.push_back(each);
  }
  ASSERT_EQ(kafka.size(), 1U) << "there is one way only";
  EXPECT_EQ(kafka[0].fault, "");
  EXPECT_EQ(kafka[0].to, "gamma");
  ASSERT_EQ(kafka[0].there.size(), 3U);
  EXPECT_EQ(kafka[0].there[0].node + " " + kafka[0].there[0].link, "lap1 beta");
  EXPECT_EQ(kafka[0].there[1].node + " " + kafka[0].there[1].link, "beta alpha");
  EXPECT_EQ(kafka[0].there[2].node + " " + kafka[0].there[2].link, "alpha gamma");
  EXPECT_EQ(kafka[0].back.size(), 3U);
  EXPECT_GE(kafka[0].there[0].label, 16U);
}

TEST(Compile, DirectLinksNeedNoLabels) {
  const Model model = model_of(direct_facade());
  Ledger ledger;
  const CompileResult result = compile(model, ledger);
  EXPECT_TRUE(result.faults.empty());
  expect_valid(result.compiled);
  EXPECT_THAT(walk(result.compiled, model), ElementsAre());
  const NodePayloads& lap = result.compiled.nodes.at("lap1");
  EXPECT_TRUE(lap.ctrl.empty());
  const Vertex& flor = lap.vertices.at("flor");
  EXPECT_FALSE(flor.ingress);
  EXPECT_FALSE(flor.connection_manager.adapters[0].listen);
  EXPECT_EQ(
      write(to_json(flor.workloads)),
      R"([{"spiffe_id":"spiffe://acme/node/lap1","identity":{"cert_path":"certs/node.lap1.crt","priv_path":"certs/node.lap1.key"},"io":[{"kind":"socks5","listen":"127.0.0.1:1080"}]},)"
      R"({"spiffe_id":"spiffe://acme/user/alice","identity":{"cert_path":"certs/user.alice.crt","priv_path":"certs/user.alice.key"},"io":[{"kind":"socks5","listen":"127.0.0.1:1081"}]},)"
      R"({"spiffe_id":"spiffe://acme/user/fyodor","identity":{"cert_path":"certs/user.fyodor.crt","priv_path":"certs/user.fyodor.key"},"io":[{"kind":"socks5","listen":"127.0.0.1:1082"}]}])");
}

TEST(Compile, APairWithoutAWayIsAFault) {
  const Model model = model_of(replaced(example_facade(), "      - { a: beta,  b: mgmt01, via: public }\n", ""));
  Ledger ledger;
  const CompileResult result = compile(model, ledger);
  ASSERT_FALSE(result.faults.empty());
  EXPECT_EQ(result.faults[0].message,
            "there is no way from alpha to mgmt01, and spiffe://acme/node/alpha may reach "
            "spiffe://acme/service/config-server");
}

TEST(Compile, APathForNobodyIsAFault) {
  const Model model = model_of(
      replaced(example_facade(), "principal: alice, from: lap1, hops: [ { node: beta }, { node: alpha } ], to: api",
               "principal: alice, from: lap1, hops: [ { node: beta } ], to: mongodb"));
  Ledger ledger;
  const CompileResult result = compile(model, ledger);
  ASSERT_EQ(result.faults.size(), 1U);
  EXPECT_THAT(result.faults[0].message, HasSubstr("is for a pair that no role allows"));
}

TEST(Compile, AnEditRenumbersNothingElse) {
  Ledger ledger;
  const Compiled before = compile(model_of(example_facade()), ledger).compiled;
  const Ledger first = ledger;
  EXPECT_THAT(changed_nodes(before, compile(model_of(example_facade()), ledger).compiled), ElementsAre());
  EXPECT_EQ(ledger, first);
  // A service on beta for alice, who comes by beta.
  const auto more = replaced(replaced(example_facade(), "groups: [db] }",
                                      "groups: [db] }\n  aaa: { at: beta, addr: 127.0.0.1:7777, groups: [fresh] }"),
                             "admin: }", "admin: , fresh: }");
  const auto reached =
      replaced(more, "developer: { allow: [api, brokers] }", "developer: { allow: [api, brokers, fresh] }");
  EXPECT_THAT(changed_nodes(before, compile(model_of(more), ledger).compiled), ElementsAre("beta"));
  EXPECT_THAT(changed_nodes(before, compile(model_of(reached), ledger).compiled), ElementsAre("beta", "lap1"));
  // Taken away again, all is as it was but for labels that are not reused at once.
  EXPECT_THAT(changed_nodes(before, compile(model_of(example_facade()), ledger).compiled), ElementsAre());
}

TEST(Compile, ParallelLinksHaveNamesOfTheirOwn) {
  const auto files = replaced(
      replaced(example_facade(), "      - { name: rete,     kind: mesh, type: quic, uses: [public, internal] }\n",
               "      - { name: spare, kind: link, type: quic, address: 1.2.3.5:4433 }\n      - { name: rete,     "
               "kind: mesh, type: quic, uses: [public, internal, spare] }\n"),
      "      - { a: alpha, b: beta,  via: public }\n",
      "      - { a: alpha, b: beta,  via: public }\n      - { a: { node: alpha, vertex: spare }, b: { node: beta, "
      "vertex: public } }\n");
  const Model model = model_of(replaced(
      files, "      - { principal: alice, from: lap1, hops: [ { node: beta }, { node: alpha } ], to: api }\n", ""));
  Ledger ledger;
  const CompileResult result = compile(model, ledger);
  EXPECT_TRUE(result.faults.empty());
  expect_valid(result.compiled);
  EXPECT_THAT(walk(result.compiled, model), ElementsAre());
  EXPECT_EQ(result.compiled.nodes.at("alpha").ctrl.at("rete").active_links,
            (std::vector<Name>{Name("beta"), Name("beta-spare"), Name("gamma")}));
  size_t ways = 0;
  for (const Traced& each : trace_all(result.compiled)) ways += each.initiator == "spiffe://acme/node/alpha" ? 1 : 0;
  EXPECT_EQ(ways, 1U) << "beta to mgmt01 is one link, so there are no two ways without a common link";
  const Compiled surveyed{.nodes = result.compiled.nodes, .joints = joints_of(result.compiled.nodes)};
  EXPECT_EQ(to_json(trace_all(surveyed)), to_json(trace_all(result.compiled)));
}

TEST(Compile, TheWalkFindsWhatIsWrong) {
  const Model model = model_of(example_facade());
  Ledger ledger;
  const Compiled good = compile(model, ledger).compiled;
  Compiled bad = good;
  bad.nodes.at("beta").ctrl.at("rete").forwarding_table.pop_back();
  EXPECT_FALSE(walk(bad, model).empty());
  bad = good;
  bad.nodes.at("beta").ctrl.at("rete").forwarding_table.push_back({{Name("alpha"), 77777}, {Name("lap1"), 5}});
  EXPECT_THAT(walk(bad, model), ElementsAre("label 77777 of link alpha at beta/rete is part of no way"));
  bad = good;
  bad.nodes.at("alpha").vertices.at("rete").ingress->clear();
  EXPECT_THAT(walk(bad, model), testing::Contains(HasSubstr("the target does not let it in")));
  bad = good;
  std::swap(bad.nodes.at("beta").ctrl.at("rete").forwarding_table[0].out,
            bad.nodes.at("beta").ctrl.at("rete").forwarding_table[1].out);
  EXPECT_FALSE(walk(bad, model).empty());
}

TEST(Compile, RandomFacadesForwardWhatTheyAllow) {
  SeededRandom random(28);
  for (int round = 0; round < 1'000; ++round) {
    const std::string text = random_facade(random);
    Resolved resolved = resolve({{"rete.yaml", text}}, example_signers());
    ASSERT_TRUE(resolved.faults.empty()) << to_string(resolved.faults.front()) << text;
    Ledger ledger;
    CompileResult result = compile(resolved.model, ledger);
    ASSERT_TRUE(result.faults.empty()) << result.faults.front().message << text;
    ASSERT_THAT(walk(result.compiled, resolved.model), ElementsAre()) << text;
    ASSERT_EQ(reach_of(trace_all(result.compiled)), reach_of(resolved.model));
    if (round % 20 == 0) {
      expect_valid(result.compiled);
      const Compiled surveyed{.nodes = result.compiled.nodes, .joints = joints_of(result.compiled.nodes)};
      ASSERT_EQ(to_json(trace_all(surveyed)), to_json(trace_all(result.compiled))) << text;
    }
    // A user more, who comes by one node: only that node, those on its ways and the targets' change.
    const std::string edited = text + "";
    const size_t at = edited.find("users:\n") + 7;
    std::string with_user = edited;
    with_user.insert(at, "  newcomer: { roles: [operator], nodes: [ { at: n1 } ] }\n");
    const Model more = resolve({{"rete.yaml", with_user}}, example_signers()).model;
    CompileResult after = compile(more, ledger);
    ASSERT_THAT(walk(after.compiled, more), ElementsAre());
    std::set<std::string> touched;
    for (const Traced& each : trace_all(after.compiled)) {
      if (!each.initiator.ends_with("/newcomer")) continue;
      touched.insert(each.from);
      touched.insert(each.to);
      for (const TracedHop& hop : each.there) touched.insert(hop.node);
    }
    for (const std::string& node : changed_nodes(result.compiled, after.compiled))
      ASSERT_TRUE(touched.contains(node)) << node << text;
  }
}

}  // namespace compile_test
}  // namespace sluice::mesh
