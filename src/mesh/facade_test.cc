// What a facade may say, and every fault at once, each at its place.
#include "mesh/facade.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "mesh/testing_facade.h"

namespace sluice::mesh {
namespace facade_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

std::vector<std::string> faults(const std::vector<SourceFile>& files) {
  std::vector<std::string> all;
  for (const Error& each : resolve(files, example_signers()).faults) all.push_back(to_string(each));
  return all;
}

// The example with one text replaced by another.
std::vector<std::string> faults_with(std::string_view text, std::string_view other) {
  std::vector<SourceFile> files = example_facade();
  bool found = false;
  for (SourceFile& file : files) {
    if (const size_t at = file.text.find(text); at != std::string::npos && !found) {
      file.text.replace(at, text.size(), other);
      found = true;
    }
  }
  EXPECT_TRUE(found) << text;
  return faults(files);
}

TEST(Facade, TheExamplesHaveNoFaults) {
  EXPECT_THAT(faults(example_facade()), ElementsAre());
  EXPECT_THAT(faults(direct_facade()), ElementsAre());
  const Model model = resolve(example_facade(), example_signers()).model;
  EXPECT_TRUE(model.labelled);
  EXPECT_EQ(model.trust_domain, "acme");
  EXPECT_EQ(model.node("lap1")->links.front().name, "quic") << "the type is the name if there is none";
  std::set<std::string> pairs;
  for (const AllowedPair& each : model.pairs)
    pairs.insert(std::string(each.initiator.name()) + "@" + each.node + ">" +
                 std::string(model.services[each.service].id).substr(14));
  EXPECT_EQ(pairs,
            (std::set<std::string>{"alice@lap1>service/api", "alice@lap1>service/kafka", "api@alpha>service/kafka",
                                   "api@alpha>service/mongodb", "fyodor@lap0>service/config-publisher",
                                   "alpha@alpha>service/config-server", "beta@beta>service/config-server",
                                   "gamma@gamma>service/config-server", "lap0@lap0>service/config-server",
                                   "lap1@lap1>service/config-server", "mgmt01@mgmt01>service/config-server"}));
  EXPECT_FALSE(resolve(direct_facade(), example_signers()).model.labelled);
}

TEST(Facade, Florete25EveryFaultAtOnce) {
  std::vector<SourceFile> files = example_facade();
  files.push_back({"more.yaml", "services:\n  api: { at: beta, addr: 127.0.0.1:1, groups: [api] }\nservies: {}\n"});
  for (SourceFile& file : files) {
    if (const size_t at = file.text.find("fyodor: { roles: [operator],"); at != std::string::npos)
      file.text.replace(at, 28, "fyodor: { roles: [developer],");
  }
  EXPECT_THAT(faults(files),
              ElementsAre("more.yaml:2:3: /services/api: the service \"api\" is there already: access.yaml:4:3",
                          "more.yaml:3:1: /servies: unknown section \"servies\", did you mean \"services\"?",
                          "no user has the role operator: nobody could publish"));
}

TEST(Facade, RulesOfTheFields) {
  EXPECT_THAT(faults_with("addr: 127.0.0.1:8000", "addr: 127.0.0.1"),
              ElementsAre(HasSubstr("access.yaml:4:36: /services/api/addr: ")));
  EXPECT_THAT(faults_with("type: enum", "type: list"),
              ElementsAre(HasSubstr("links.yaml:2:5: /allowed_links/0/type: the type of a rule is \"enum\""),
                          testing::_, testing::_));
  EXPECT_THAT(faults_with("api: , db:", "api: { x: 1 }, db:"), ElementsAre(HasSubstr("a group has no body")));
  EXPECT_THAT(faults_with("  alpha:\n", "  Alpha:\n"), testing::Contains(HasSubstr("\"Alpha\" is not a name")));
  // Two faults of one entry.
  EXPECT_THAT(faults_with("{ at: gamma, via: rete, addr: 127.0.0.1:9092,", "{ at: gamma, vai: rete, addr: 9092, "),
              ElementsAre(HasSubstr("/services/kafka/vai: unknown field"), HasSubstr("/services/kafka/addr")));
}

TEST(Facade, NamesLeadSomewhere) {
  EXPECT_THAT(faults_with("at: beta,", "at: betta,"),
              ElementsAre(HasSubstr("there is no node \"betta\", did you mean \"beta\"?")));
  EXPECT_THAT(faults_with("groups: [db]", "groups: [dbs]"), ElementsAre(HasSubstr("there is no group \"dbs\"")));
  EXPECT_THAT(faults_with("roles: [developer]", "roles: [developers]"),
              ElementsAre(HasSubstr("there is no role \"developers\", did you mean \"developer\"?")));
  EXPECT_THAT(faults_with("uses: [public, internal]", "uses: [public, other]"),
              testing::Contains(HasSubstr("which is no link vertex of this node")));
  EXPECT_THAT(
      faults_with("agent_via: rete\n  beta", "agent_via: public\n  beta"),
      ElementsAre(HasSubstr("the link vertex \"public\" of alpha serves no principals here; candidates: rete")));
  EXPECT_THAT(faults_with("agent_via: rete\n  beta", "agent_via: none\n  beta"),
              ElementsAre(HasSubstr("the node alpha has no vertex \"none\"; candidates: rete")));
}

TEST(Facade, PrincipalsHaveNamesOfTheirOwn) {
  EXPECT_THAT(faults_with("  alice:", "  beta:"),
              testing::Contains(HasSubstr("\"beta\" is already the name of a node")));
  EXPECT_THAT(faults_with("  kafka:", "  nul:"), testing::Contains(HasSubstr("\"nul\" is a reserved word")));
  EXPECT_THAT(faults_with("  kafka:", "  vertex:"), testing::Contains(HasSubstr("\"vertex\" is a reserved word")));
}

TEST(Facade, TheConfigServerIsThere) {
  EXPECT_THAT(faults_with("groups: [config-read]", "groups: [api]"),
              ElementsAre(HasSubstr("the service config-server is in the group config-read")));
  EXPECT_THAT(faults_with("config-publisher: { at: mgmt01", "config-publisher: { at: beta"),
              ElementsAre(HasSubstr("config-server and config-publisher are on one node")));
  EXPECT_THAT(faults_with("node:     { allow: [config-read] }", "node:     { allow: [config-read, db] }"),
              ElementsAre(HasSubstr("the role node allows config-read and nothing else")));
  EXPECT_THAT(faults_with("address: 9.9.9.9:4433", "address: 9.9.9.9:4433, "), ElementsAre());
  EXPECT_THAT(faults_with("type: quic, address: 9.9.9.9:4433", "type: quic"),
              ElementsAre(HasSubstr("needs a link vertex of type quic with an address")));
}

TEST(Facade, LinksJoinWhatCanBeJoined) {
  EXPECT_THAT(faults_with("{ a: alpha, b: gamma, via: internal }", "{ a: alpha, b: alpha, via: internal }"),
              testing::Contains(HasSubstr("a link joins two nodes")));
  EXPECT_THAT(faults_with("{ a: alpha, b: gamma, via: internal }",
                          "{ a: { node: alpha, vertex: public }, b: { node: gamma, vertex: internal } }"),
              ElementsAre(HasSubstr("the ends of a link are of one type")));
  EXPECT_THAT(faults_with("b: { node: beta, vertex: public } }\n      - { a: { node: lap1",
                          "b: { node: lap1, vertex: quic } }\n      - { a: { node: lap1"),
              testing::Contains(HasSubstr("neither end has an address")));
  EXPECT_THAT(faults_with("address: 10.0.0.7:5544", "address: 8.8.8.8:5544"),
              testing::Contains(HasSubstr("a link of type udp is not encrypted")));
  EXPECT_THAT(faults_with("address: 5.6.7.8:4433", "address: 10.6.7.8:4433"),
              testing::Contains(HasSubstr("cannot reach each other: one is public, the other private")));
  EXPECT_THAT(faults_with("- { a: alpha, b: gamma, via: internal }",
                          "- { a: alpha, b: gamma, via: internal }\n      - { a: gamma, b: alpha, via: internal }"),
              ElementsAre(HasSubstr("this link is there twice")));
}

TEST(Facade, PathsFollowLinks) {
  EXPECT_THAT(faults_with("hops: [ { node: beta }, { node: alpha } ]", "hops: [ { node: alpha } ]"),
              ElementsAre(HasSubstr("no allowed link leads from lap1 to alpha")));
  EXPECT_THAT(faults_with("hops: [ { node: beta }, { node: alpha } ]", "hops: [ { node: beta } ]"),
              ElementsAre(HasSubstr("the path ends at beta, and api is at alpha")));
  EXPECT_THAT(faults_with("hops: [ { node: beta }, { node: alpha } ]",
                          "hops: [ { node: beta }, { node: lap1 }, { node: alpha } ]"),
              ElementsAre(HasSubstr("the path comes to lap1 twice")));
  EXPECT_THAT(faults_with("principal: alice, from: lap1", "principal: alice, from: lap0"),
              ElementsAre(HasSubstr("the user alice is not at lap0")));
  EXPECT_THAT(faults_with("principal: alice, from: lap1", "principal: bob, from: lap1"),
              ElementsAre(HasSubstr("there is no user, service or node \"bob\"")));
  EXPECT_THAT(faults_with("- { a: alpha, b: gamma, via: internal }",
                          "- { a: alpha, b: gamma, via: internal }\n      - { a: { node: alpha, vertex: public }, b: { "
                          "node: lap1, vertex: quic } }"),
              ElementsAre());
}

TEST(Facade, WithoutMeshVerticesOthersRulesHold) {
  std::vector<SourceFile> files = direct_facade();
  files[0].text += "allowed_links:\n  - { type: enum, links: [ { a: alpha, b: lap1, via: flor } ] }\n";
  EXPECT_THAT(faults(files), ElementsAre(HasSubstr("links are between mesh vertices, and there are none")));
  files = direct_facade();
  const size_t at = files[0].text.find("{ at: alpha,");
  files[0].text.replace(at, 12, "{ at: lap1, ");
  EXPECT_THAT(faults(files),
              ElementsAre(HasSubstr("the node lap1 has no address, so nobody can reach a service there")));
}

TEST(Facade, SignersAreLookedAt) {
  auto resolved = resolve(direct_facade(), [](const std::string& cert, const SpiffeId& id) -> Result<KeyText> {
    return Error{.code = Code::invalid, .message = cert + " is not of " + id};
  });
  ASSERT_EQ(resolved.faults.size(), 2U);
  EXPECT_THAT(to_string(resolved.faults[0]),
              HasSubstr("/rete/signers/mgmt/keys/0/cert: certs/management-planes/primary.crt is not of "
                        "spiffe://acme/management-plane/primary"));
  EXPECT_THAT(faults({{"a.yaml", "nodes: {}\n"}}), testing::Contains("no file has a section rete"));
  EXPECT_THAT(faults({{"a.yaml", "- 1\n"}}), testing::Contains(HasSubstr("a file of the facade is a map of sections")));
  EXPECT_THAT(faults({{"a.yaml", "a: ["}}), testing::Contains(HasSubstr("a.yaml:")));
}

TEST(Facade, SourcesAreFound) {
  RealDisk disk;
  TestingFolder folder;
  for (const char* name : {"sub", "certs", "compiled", "examples"})
    ASSERT_TRUE(disk.make_folder(folder.path(name), 0755));
  const auto put = [&](const std::string& name, std::string_view text) {
    ASSERT_TRUE(write_atomically(disk, folder.path(name), text, 0644));
  };
  EXPECT_EQ(read_sources(disk, folder.path()).error().code, Code::not_found);
  put("rete.yaml", "source: { exclude: [\"examples/**\"] }\n");
  for (const char* name :
       {"a.yml", "sub/b.yaml", ".hidden.yaml", "certs/c.yaml", "compiled/d.yaml", "examples/e.yaml", "f.txt"})
    put(name, "");
  const auto names = [&] {
    std::vector<std::string> all;
    const auto files = read_sources(disk, folder.path());
    for (const SourceFile& each : files.value()) all.push_back(each.name);
    return all;
  };
  EXPECT_THAT(names(), UnorderedElementsAre("rete.yaml", "a.yml", "sub/b.yaml"));
  put("rete.yaml", "source: { include: [\"*.yml\"] }\n");
  EXPECT_THAT(names(), UnorderedElementsAre("rete.yaml", "a.yml"));
}

}  // namespace facade_test
}  // namespace sluice::mesh
