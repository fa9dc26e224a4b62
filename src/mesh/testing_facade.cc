// The random facades are trees with some links more, parallel ones among them.
#include "mesh/testing_facade.h"

#include "mesh/testing_artifacts.h"

namespace sluice::mesh {
namespace {

const char* const kRete = R"(
rete:
  name: acme
  ca: { cert: certs/ca.crt }
  signers:
    mgmt: { keys: [ { name: primary, cert: certs/management-planes/primary.crt } ] }
    ctrl: { keys: [ { name: primary, cert: certs/control-planes/primary.crt } ] }
)";

const char* const kReserved = R"(
roles:
  node: { allow: [config-read] }
  operator: { allow: [config-write] }
)";

}  // namespace

ReadSigner example_signers() {
  return [](const std::string&, const SpiffeId& id) -> Result<KeyText> {
    return KeyText(example_pubkey(std::string(id.kind()) + "/" + std::string(id.name())));
  };
}

std::vector<SourceFile> example_facade() {
  return {{"rete.yaml", kRete},
          {"nodes.yaml", R"(nodes:
  mgmt01: { vertices: [ { name: public, kind: link, type: quic, address: 9.9.9.9:4433 }, { name: rete, kind: mesh, type: quic, uses: [public] } ], agent_via: rete }
  alpha:
    vertices:
      - { name: public,   kind: link, type: quic, address: 1.2.3.4:4433 }
      - { name: internal, kind: link, type: udp,  address: 10.0.0.5:5544 }
      - { name: rete,     kind: mesh, type: quic, uses: [public, internal] }
    agent_via: rete
  beta:  { vertices: [ { name: public, kind: link, type: quic, address: 5.6.7.8:4433 }, { name: rete, kind: mesh, type: quic, uses: [public] } ], agent_via: rete }
  gamma: { vertices: [ { name: internal, kind: link, type: udp, address: 10.0.0.7:5544 }, { name: rete, kind: mesh, type: quic, uses: [internal] } ], agent_via: rete, internal_only: true }
  lap0:  { vertices: [ { name: quic, kind: link, type: quic }, { name: rete, kind: mesh, type: quic, uses: [quic] } ] }
  lap1:  { vertices: [ { kind: link, type: quic }, { name: rete, kind: mesh, type: quic, uses: [quic] } ], agent_via: rete }
)"},
          {"access.yaml", R"(services:
  config-server:    { at: mgmt01, via: rete, addr: 127.0.0.1:9000, groups: [config-read] }
  config-publisher: { at: mgmt01, via: rete, addr: 127.0.0.1:9001, groups: [config-write] }
  api:     { at: alpha, via: rete, addr: 127.0.0.1:8000, socks5_proxy: 127.0.0.1:18000, groups: [api], roles: [api-backend] }
  mongodb: { at: beta,  addr: 127.0.0.1:27017, groups: [db] }
  kafka:   { at: gamma, via: rete, addr: 127.0.0.1:9092, groups: [brokers] }
  ssh:     { at: alpha, via: rete, scope: node, addr: 0.0.0.0:22, groups: [admin] }
groups: { config-read: , config-write: , api: , db: , brokers: , admin: }
roles:
  node:     { allow: [config-read] }
  operator: { allow: [config-write] }
  developer: { allow: [api, brokers] }
  api-backend: { allow: [db, brokers] }
users:
  fyodor: { roles: [operator],  nodes: [ { at: lap0, via: rete } ] }
  alice:  { roles: [developer], nodes: [ { at: lap1, via: rete } ] }
)"},
          {"links.yaml", R"(allowed_links:
  - type: enum
    links:
      - { a: alpha, b: beta,  via: public }
      - { a: alpha, b: gamma, via: internal }
      - { a: beta,  b: mgmt01, via: public }
      - { a: { node: lap0, vertex: quic }, b: { node: beta, vertex: public } }
      - { a: { node: lap1, vertex: quic }, b: { node: beta, vertex: public } }
allowed_paths:
  - type: enum
    paths:
      - { principal: alice, from: lap1, hops: [ { node: beta }, { node: alpha } ], to: api }
      - { principal: api, from: alpha, hops: [ { node: beta, vertex: rete, via: public } ], to: mongodb }
)"}};
}

std::vector<SourceFile> direct_facade() {
  return {{"rete.yaml", std::string(kRete) + kReserved + R"(  developer: { allow: [api] }
nodes:
  mgmt01: { vertices: [ { name: flor, kind: link, type: quic, address: 9.9.9.9:4433 } ] }
  alpha: { vertices: [ { name: flor, kind: link, type: quic, address: 1.2.3.4:4433 } ] }
  lap1: { vertices: [ { name: flor, kind: link, type: quic } ] }
services:
  config-server: { at: mgmt01, addr: 127.0.0.1:9000, groups: [config-read] }
  config-publisher: { at: mgmt01, addr: 127.0.0.1:9001, groups: [config-write] }
  api: { at: alpha, addr: 127.0.0.1:8000, groups: [api] }
groups: { config-read: , config-write: , api: }
users:
  fyodor: { roles: [operator], nodes: [ { at: lap1 } ] }
  alice: { roles: [developer], nodes: [ { at: lap1 } ] }
)"}};
}

std::string random_facade(Random& random) {
  const size_t nodes = 2 + random.below(8);
  const size_t groups = 1 + random.below(3);
  std::string text = kRete;
  text += "nodes:\n";
  for (size_t i = 0; i < nodes; ++i) {
    const std::string n = std::to_string(i);
    const bool dials_only = i > 0 && random.below(4) == 0;
    text += "  n" + n + ": { vertices: [ { name: one, kind: link, type: quic" +
            (dials_only ? "" : ", address: 192.0.2." + n + ":4433") +
            " }, { name: lan, kind: link, type: udp, address: 10.0.0." + n +
            ":5544 }, { name: rete, kind: mesh, type: quic, uses: [one, lan] } ] }\n";
  }
  text += "groups: { config-read: , config-write: ";
  for (size_t g = 0; g < groups; ++g) text += ", g" + std::to_string(g) + ": ";
  text += "}\nroles:\n  node: { allow: [config-read] }\n  operator: { allow: [config-write] }\n";
  const size_t roles = 1 + random.below(3);
  for (size_t r = 0; r < roles; ++r) {
    text += "  r" + std::to_string(r) + ": { allow: [g" + std::to_string(random.below(groups)) +
            (random.below(2) == 0 ? ", config-read" : "") + "] }\n";
  }
  text +=
      "services:\n  config-server: { at: n0, addr: 127.0.0.1:9000, groups: [config-read] }\n  config-publisher: { at: "
      "n0, addr: 127.0.0.1:9001, groups: [config-write] }\n";
  const size_t services = random.below(5);
  for (size_t s = 0; s < services; ++s) {
    text += "  s" + std::to_string(s) + ": { at: n" + std::to_string(random.below(nodes)) +
            ", addr: 127.0.0.1:" + std::to_string(8000 + s) + ", groups: [g" + std::to_string(random.below(groups)) +
            "]" + (random.below(2) == 0 ? ", scope: node" : "") +
            (random.below(2) == 0 ? ", roles: [r" + std::to_string(random.below(roles)) +
                                        "], socks5_proxy: 127.0.0.1:" + std::to_string(18000 + s)
                                  : "") +
            " }\n";
  }
  text += "users:\n  op: { roles: [operator], nodes: [ { at: n0 } ] }\n";
  const size_t users = random.below(4);
  for (size_t u = 0; u < users; ++u) {
    const size_t at = random.below(nodes);
    text += "  u" + std::to_string(u) + ": { roles: [r" + std::to_string(random.below(roles)) + "], nodes: [ { at: n" +
            std::to_string(at) + " }" + (at + 1 < nodes ? ", { at: n" + std::to_string(at + 1) + " }" : "") + " ] }\n";
  }
  text += "allowed_links:\n  - type: enum\n    links:\n";
  // The lan joins all of them to one another in a chain; quic and further lan links come at random.
  for (size_t i = 1; i < nodes; ++i)
    text += "      - { a: n" + std::to_string(random.below(i)) + ", b: n" + std::to_string(i) + ", via: lan }\n";
  for (size_t i = 1; i < nodes; ++i) {
    if (random.below(2) == 0) text += "      - { a: n0, b: n" + std::to_string(i) + ", via: one }\n";
  }
  return text;
}

}  // namespace sluice::mesh
