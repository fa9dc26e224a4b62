// Compiled trees: signed once, kept to the byte, planned before they are signed.
#include "mesh/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "mesh/authority.h"
#include "mesh/testing_artifacts.h"
#include "mesh/testing_facade.h"

namespace sluice::mesh {
namespace tree_test {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kNow = 1'790'000'000'000;

struct Tree : testing::Test {
  Ledger ledger;
  TreeFiles files;
  SigningKeys keys = primary();

  static SigningKeys primary() {
    SigningKeys keys;
    keys.mgmt.push_back({SpiffeId("spiffe://acme/management-plane/primary"), example_key("management-plane/primary")});
    keys.ctrl.push_back({SpiffeId("spiffe://acme/control-plane/primary"), example_key("control-plane/primary")});
    return keys;
  }

  static std::vector<SourceFile> replaced(std::vector<SourceFile> sources, std::string_view text,
                                          std::string_view other) {
    for (SourceFile& file : sources) {
      if (const size_t at = file.text.find(text); at != std::string::npos) file.text.replace(at, text.size(), other);
    }
    return sources;
  }

  // The names of the files that changed.
  std::vector<std::string> build(const std::vector<SourceFile>& sources, int64_t now_ms = kNow) {
    Resolved resolved = resolve(sources, example_signers());
    for (const Error& each : resolved.faults) ADD_FAILURE() << to_string(each);
    CompileResult result = compile(resolved.model, ledger);
    EXPECT_TRUE(result.faults.empty());
    auto made = sign_tree(resolved.model, result.compiled, ledger, files, keys, now_ms);
    EXPECT_TRUE(made) << made.error().message;
    std::vector<std::string> changed;
    for (const auto& [path, text] : *made) {
      if (!files.contains(path) || files.at(path) != text) changed.push_back(path);
    }
    files = *made;
    return changed;
  }

  uint64_t version(const std::string& path) { return parse_artifact(files.at(path)).value().envelope.version; }

  void expect_sets() {
    std::map<std::string, std::vector<Artifact>> nodes;
    for (const auto& [path, text] : files) {
      if (path.find("/chain/") == std::string::npos)
        nodes[path.substr(0, path.find('/'))].push_back(parse_artifact(text).value());
    }
    for (auto& [name, artifacts] : nodes) {
      auto set = assemble(artifacts, name);
      ASSERT_TRUE(set) << set.error().message;
      auto judged = judge(*set, {.trust = example_trust()}, kNow);
      EXPECT_TRUE(judged) << judged.error().message;
    }
  }
};

TEST_F(Tree, Florete21NoChangeChangesNoByte) {
  EXPECT_EQ(build(example_facade()).size(), 6U * 2 + 5 + 6 + 6) << "agents and meshes, links, ctrl, chains";
  expect_sets();
  const Ledger before = ledger;
  EXPECT_THAT(build(example_facade(), kNow + 5'000), ElementsAre());
  EXPECT_EQ(ledger, before);
  EXPECT_EQ(version("alpha/mgmt/agent.json"), 1U);
}

TEST_F(Tree, Florete22OnlyTheTouchedNodeGetsAVersion) {
  build(example_facade());
  const auto more = replaced(replaced(example_facade(), "groups: [db] }",
                                      "groups: [db] }\n  cache: { at: beta, addr: 127.0.0.1:7777, groups: [fresh] }"),
                             "admin: }", "admin: , fresh: }");
  EXPECT_THAT(build(more), ElementsAre("beta/ctrl/vertices/rete.json", "beta/mgmt/agent.json",
                                       "beta/mgmt/vertices/public.json", "beta/mgmt/vertices/rete.json"));
  EXPECT_EQ(version("beta/mgmt/agent.json"), 2U);
  EXPECT_EQ(version("beta/mgmt/vertices/public.json"), 2U);
  EXPECT_EQ(version("beta/ctrl/vertices/rete.json"), 2U);
  EXPECT_EQ(parse_artifact(files.at("beta/ctrl/vertices/rete.json"))->obeys(), 2U);
  EXPECT_EQ(version("alpha/mgmt/agent.json"), 1U);
  expect_sets();
}

TEST_F(Tree, AFileThatTheLedgerIsAheadOfIsSignedAnew) {
  build(example_facade());
  const TreeFiles old = files;
  build(replaced(example_facade(), "127.0.0.1:27017", "127.0.0.1:27018"));
  files = old;  // the ledger was written, the tree was not
  EXPECT_FALSE(build(replaced(example_facade(), "127.0.0.1:27017", "127.0.0.1:27018")).empty());
  EXPECT_EQ(version("beta/mgmt/agent.json"), 3U);
  expect_sets();
}

TEST_F(Tree, GoingBackIsANewVersion) {
  build(example_facade());
  const auto more = replaced(example_facade(), "developer: { allow: [api, brokers] }", "developer: { allow: [api] }");
  build(more);
  build(example_facade());
  EXPECT_EQ(version("lap1/mgmt/agent.json"), 3U);
}

TEST_F(Tree, StampsTheLowestSchema) {
  build(example_facade());
  EXPECT_EQ(parse_artifact(files.at("alpha/mgmt/agent.json"))->envelope.schema_version, (SchemaVersion{1, 0}));
  EXPECT_EQ(parse_artifact(files.at("beta/mgmt/vertices/public.json"))->envelope.schema_version, (SchemaVersion{1, 1}))
      << "it waits to be dialled";
}

TEST_F(Tree, SignersThatChangeAreChained) {
  build(example_facade());
  EXPECT_TRUE(files.contains("alpha/chain/1.json"));
  const auto both = replaced(example_facade(), "mgmt: { keys: [ {",
                             "mgmt: { keys: [ { name: primary, cert: x.crt }, { name: second, cert: y.crt } ] }\n    "
                             "ctrl: { keys: [ { name: primary, cert: z.crt } ] }\n  tls_principals: {} #");
  build(replaced(both, "    ctrl: { keys: [ { name: primary, cert: certs/control-planes/primary.crt } ] }\n", ""));
  EXPECT_TRUE(files.contains("alpha/chain/2.json"));
  std::vector<Artifact> chain = {parse_artifact(files.at("alpha/chain/1.json")).value(),
                                 parse_artifact(files.at("alpha/chain/2.json")).value()};
  auto followed = follow(chain, "alpha", {.trust = example_trust()}, kNow);
  ASSERT_TRUE(followed) << followed.error().message;
  EXPECT_EQ(followed->trust.mgmt_signers.size(), 2U);
}

TEST_F(Tree, ExpiryIsRenewedInTime) {
  const auto brief = replaced(example_facade(), "  ca: { cert: certs/ca.crt }\n",
                              "  ca: { cert: certs/ca.crt }\n  artifacts: { validity_days: 30 }\n");
  build(brief);
  EXPECT_EQ(parse_artifact(files.at("alpha/mgmt/agent.json"))->envelope.expires_at->ms(),
            kNow + 30LL * 24 * 3600 * 1000);
  EXPECT_THAT(build(brief, kNow + 19LL * 24 * 3600 * 1000), ElementsAre());
  EXPECT_FALSE(build(brief, kNow + 21LL * 24 * 3600 * 1000).empty());
  EXPECT_EQ(version("alpha/mgmt/agent.json"), 2U);
}

TEST_F(Tree, WithoutAKeyNothingIsSigned) {
  keys.mgmt.clear();
  const Model model = resolve(example_facade(), example_signers()).model;
  CompileResult result = compile(model, ledger);
  auto made = sign_tree(model, result.compiled, ledger, files, keys, kNow);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("there is no key to sign the mgmt artifacts of alpha"));
}

TEST_F(Tree, ThePlanSaysWhoGainsAndWhatRestarts) {
  const auto payloads = [&](const std::vector<SourceFile>& sources) {
    Ledger copy = ledger;  // each plan begins with what is published
    return compile(resolve(sources, example_signers()).model, copy).compiled.nodes;
  };
  build(example_facade());
  const auto before = payloads(example_facade());
  EXPECT_TRUE(plan_tree(before, before).empty());
  const TreePlan plan = plan_tree(before, payloads(replaced(example_facade(), "developer: { allow: [api, brokers] }",
                                                            "developer: { allow: [api, db] }")));
  ASSERT_EQ(plan.gains.size(), 1U);
  EXPECT_EQ(plan.gains[0].initiator + "@" + plan.gains[0].node + ">" + plan.gains[0].target,
            "spiffe://acme/user/alice@lap1>spiffe://acme/service/mongodb");
  ASSERT_EQ(plan.loses.size(), 1U);
  EXPECT_EQ(plan.loses[0].target, "spiffe://acme/service/kafka");
  EXPECT_THAT(plan.nodes, ElementsAre("alpha", "beta", "gamma", "lap1"));
  for (const VertexChange& each : plan.changes) EXPECT_FALSE(each.restarts) << each.node;
  const TreePlan without =
      plan_tree(before, payloads(replaced(example_facade(), "127.0.0.1:27017", "127.0.0.1:27018")));
  ASSERT_EQ(without.changes.size(), 1U);
  EXPECT_TRUE(without.changes[0].restarts);
  EXPECT_THAT(without.changes[0].parts, ElementsAre("workloads"));
}

TEST_F(Tree, IsReadAndWritten) {
  RealDisk disk;
  TestingFolder folder;
  build(direct_facade());
  const std::string at = folder.path("compiled");
  EXPECT_TRUE(read_tree(disk, at)->empty());
  ASSERT_TRUE(write_tree(disk, at, {}, files));
  EXPECT_EQ(read_tree(disk, at).value(), files);
  EXPECT_EQ(payloads_of(files)->size(), 3U);
  TreeFiles fewer = files;
  fewer.erase("lap1/mgmt/agent.json");
  ASSERT_TRUE(write_tree(disk, at, files, fewer));
  EXPECT_EQ(read_tree(disk, at).value(), fewer);
}

}  // namespace tree_test
}  // namespace sluice::mesh
