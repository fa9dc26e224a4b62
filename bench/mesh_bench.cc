// The mesh: verifying artifacts beside bare Ed25519, compiling and signing 1,000 nodes beside their signatures alone,
// an edit of one rule beside that, and what bounds add to a load of 100,000 routes.
#include <boost/json.hpp>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "bench/bench.h"
#include "mesh/compile.h"
#include "mesh/facade.h"
#include "mesh/signature.h"
#include "mesh/testing_artifacts.h"
#include "mesh/testing_facade.h"
#include "mesh/tree.h"
#include "router/table/bounds.h"
#include "router/table/table_compile.h"

namespace sluice::mesh {
namespace {

constexpr int64_t kNow = 1'790'000'000'000;
constexpr size_t kNodes = 1'000, kPairs = 20'000;

// A ring with chords: every node has four links. Nineteen services, each reached by every node's user.
std::string large_facade(const std::string& role) {
  std::string text =
      "rete:\n  name: acme\n  ca: { cert: c }\n  signers:\n    mgmt: { keys: [ { name: primary, cert: m } ] }\n"
      "    ctrl: { keys: [ { name: primary, cert: c } ] }\nnodes:\n";
  const auto n = [](size_t i) { return std::to_string(i); };
  for (size_t i = 0; i < kNodes; ++i) {
    text += "  n" + n(i) + ": { vertices: [ { name: lan, kind: link, type: udp, address: 10." + n(i / 250) + "." +
            n(i % 250) + ".1:5544 }, { name: pub, kind: link, type: quic, address: 192.0.2.1:" + n(10'000 + i) +
            " }, { name: rete, kind: mesh, type: quic, uses: [lan, pub] } ] }\n";
  }
  const size_t services = kPairs / kNodes - 1;  // each node's own pair to the config server is one more
  text +=
      "services:\n  config-server: { at: n0, addr: 127.0.0.1:9000, groups: [config-read] }\n"
      "  config-publisher: { at: n0, addr: 127.0.0.1:9001, groups: [config-write] }\n";
  for (size_t s = 0; s < services; ++s)
    text += "  s" + n(s) + ": { at: n" + n(s * 50) + ", addr: 127.0.0.1:" + n(8'000 + s) + ", groups: [g" +
            (s == 0 ? "0" : "1") + "] }\n";
  text +=
      "groups: { config-read: , config-write: , g0: , g1: }\nroles:\n  node: { allow: [config-read] }\n"
      "  operator: { allow: [config-write] }\n  many: { allow: [g0, g1] }\n  one: { allow: [" +
      role + "] }\nusers:\n  op: { roles: [operator], nodes: [ { at: n0 } ] }\n";
  for (size_t i = 0; i < kNodes; ++i)
    text += "  u" + n(i) + ": { roles: [" + (i == 1 ? "one" : "many") + "], nodes: [ { at: n" + n(i) + " } ] }\n";
  text += "allowed_links:\n  - type: enum\n    links:\n";
  for (size_t i = 0; i < kNodes; ++i) {
    text += "      - { a: n" + n(i) + ", b: n" + n((i + 1) % kNodes) + ", via: lan }\n";
    text += "      - { a: n" + n(i) + ", b: n" + n((i + 37) % kNodes) + ", via: pub }\n";
  }
  return text;
}

SigningKeys keys() {
  SigningKeys made;
  made.mgmt.push_back({SpiffeId("spiffe://acme/management-plane/primary"), example_key("management-plane/primary")});
  made.ctrl.push_back({SpiffeId("spiffe://acme/control-plane/primary"), example_key("control-plane/primary")});
  return made;
}

TreeFiles built(const std::string& facade, Ledger& ledger, const TreeFiles& before, const SigningKeys& with) {
  Resolved resolved = resolve({{"rete.yaml", facade}}, example_signers());
  for (const Error& each : resolved.faults) std::fprintf(stderr, "%s\n", to_string(each).c_str());
  CompileResult made = compile(resolved.model, ledger);
  for (const Error& each : made.faults) std::fprintf(stderr, "%s\n", to_string(each).c_str());
  return sign_tree(resolved.model, made.compiled, ledger, before, with, kNow).value();
}

void measure_verifying(bench::Report& report) {
  std::vector<std::string> texts, messages, signatures;
  std::vector<crypto::PublicKey> signers;
  for (const json::object& each : {example_agent(), example_link(), example_mesh(), example_ctrl()}) {
    texts.push_back(signed_text(each));
    const Artifact artifact = parse_artifact(texts.back()).value();
    const std::string id = artifact.envelope.signature.key_id;
    messages.push_back(signed_bytes(artifact.tree, "acme", id).value());
    signatures.push_back(artifact.envelope.signature.value.bytes());
    signers.push_back(
        example_key(artifact.is_ctrl() ? "control-plane/primary" : "management-plane/primary").public_key());
  }
  const Trust trust = example_trust();
  constexpr int kTimes = 250;
  const auto times = bench::medians_s({[&] {
                                         for (int i = 0; i < kTimes; ++i) {
                                           for (const std::string& text : texts) {
                                             auto artifact = parse_artifact(text);
                                             bench::keep(verify(*artifact, trust, kNow));
                                           }
                                         }
                                       },
                                       [&] {
                                         for (int i = 0; i < kTimes; ++i) {
                                           for (size_t j = 0; j < texts.size(); ++j)
                                             bench::keep(signers[j].verify(messages[j], signatures[j]));
                                         }
                                       }},
                                      bench::kRounds, bench::cpu_s);
  report.note("verified artifacts a second", 4 * kTimes / times[0], "/s");
  report.at_least("verifying, parsing included, beside bare Ed25519 (rate)", times[1] / times[0], 0.6, "×");
}

void measure_compiling(bench::Report& report) {
  const SigningKeys with = keys();
  const std::string facade = large_facade("g0, g1"), edited = large_facade("g0");
  Ledger ledger;
  const TreeFiles tree = built(facade, ledger, {}, with);
  std::vector<std::string> messages;
  for (const auto& [path, text] : tree) {
    if (path.find("/chain/") == std::string::npos) messages.push_back(text);
  }
  constexpr int kFew = 5;
  const auto times = bench::medians_s({[&] {
                                         Ledger fresh;
                                         bench::keep(built(facade, fresh, {}, with));
                                       },
                                       [&] {
                                         for (const std::string& each : messages)
                                           bench::keep(with.mgmt.front().key.sign(each));
                                       },
                                       [&] {
                                         Ledger known = ledger;
                                         bench::keep(built(edited, known, tree, with));
                                       }},
                                      kFew, bench::cpu_s);
  report.note("artifacts of 1,000 nodes", static_cast<double>(messages.size()), "");
  report.note("compile and sign", times[0], "s");
  report.at_most("compile and sign, beside the signatures alone", times[0] / times[1], 30, "×");
  report.at_most("an edit of one rule, beside all of it", times[2] / times[0], 1.0 / 3, "×");
}

}  // namespace
}  // namespace sluice::mesh

namespace sluice::router {
namespace {

void measure_bounds(bench::Report& report) {
  TableDocument table{.environment = "prod", .generation = 1};
  for (int i = 0; i < 100'000; ++i) {
    const std::string n = std::to_string(i);
    DeploymentDocument each{.id = "d" + n, .bundle = "b" + std::to_string(i % 1000)};
    each.routes.hosts = {"h" + n + ".shop.example"};
    each.revisions = {{.id = "r" + n, .weight_bps = 10'000, .replicas = {{"tcp:10.0.0.1:80"}}}};
    table.deployments.push_back(std::move(each));
  }
  const std::string text = write(to_json(table));
  BoundsDocument document{.environment = "prod", .version = 1};
  for (int i = 0; i < 1000; ++i) {
    document.deployments.push_back({.bundles = {{.type = "enum", .members = {{"b" + std::to_string(i)}}}},
                                    .hosts = {{.type = "suffix", .suffix = ".shop.example"}},
                                    .prefixes = {{.type = "below", .prefix = "/"}},
                                    .revisions = {{.type = "any"}},
                                    .upstreams = {{.type = "cidr", .network = "10.0.0.0/8"}}});
  }
  const Bounds bounds = Bounds::compile(document).value();
  const auto load = [&](bool bound) {
    SeededRandom random(1);
    TableCompiler compiler(random, [](const SeriesName&) { return 0U; });
    auto read = read_table(text);
    if (bound) {
      bench::keep(bounds.check_settings(read->document));
      bounds.narrow(*read, true);
    }
    bench::keep(compiler.load(*std::move(read), nullptr));
  };
  const auto times = bench::medians_s({[&] { load(false); }, [&] { load(true); }}, bench::kRounds, bench::cpu_s);
  report.at_most("a load of 100,000 routes with bounds, beside one without", times[1] / times[0], 1.05, "×");
}

}  // namespace
}  // namespace sluice::router

int main() {
  sluice::bench::Report report;
  sluice::mesh::measure_verifying(report);
  sluice::mesh::measure_compiling(report);
  sluice::router::measure_bounds(report);
  return report.print();
}
