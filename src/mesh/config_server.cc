// A node learns nothing about another one, not even whether it exists: the certificate is judged first.
#include "mesh/config_server.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <set>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "crypto/base64.h"
#include "crypto/x509.h"
#include "mesh/agent.h"
#include "mesh/proof.h"
#include "mesh/set.h"
#include "mesh/words.h"

namespace sluice::mesh {
namespace config_server {

constexpr size_t kMaxPublication = size_t{64} << 20;

struct Document {
  std::vector<json::value> mgmt, ctrl, chain;
};
BOOST_DESCRIBE_STRUCT(Document, (), (mgmt, ctrl, chain))

Result<Document> read_document(std::string_view text) {
  auto parsed = parse_json(text, "", {.max_depth = 40, .max_bytes = kMaxPublication, .max_nodes = 4'000'000});
  if (!parsed) return parsed.error();
  return read<Document>(*parsed);
}

http::Response refused(int status, std::string_view word, const std::string& message) {
  return {.status = status, .body = write(json::object{{"error", word}, {"message", message}})};
}

// "acme" of "spiffe://acme/node/web"; empty if the certificate says nothing of that kind.
std::string domain_in(std::string_view certificate) {
  auto pem = crypto::from_base64(certificate);
  auto facts = pem ? crypto::read_certificates(*pem) : Result<std::vector<crypto::CertificateFacts>>(pem.error());
  if (!facts || facts->front().uris.size() != 1) return "";
  auto id = JsonScalar<SpiffeId>::parse(facts->front().uris.front());
  return id ? std::string(id->domain()) : "";
}

}  // namespace config_server

Result<Publishing> read_publication(std::string_view text,
                                    const std::function<std::optional<std::string>(const std::string&)>& stored) {
  auto fetched = parse_served(text);
  if (!fetched) return fetched.error();
  struct Parts {
    std::vector<Artifact> mgmt, ctrl, chain;
  };
  std::map<std::string, Parts> parts;
  Publishing made{.whole = false};
  for (Artifact& each : fetched->artifacts) {
    made.whole = made.whole || !each.is_ctrl();
    Parts& node = parts[each.envelope.node];
    (each.is_ctrl() ? node.ctrl : node.mgmt).push_back(std::move(each));
  }
  for (Artifact& each : fetched->chain) parts[each.envelope.node].chain.push_back(std::move(each));
  for (auto& [node, own] : parts) {
    if (auto before = stored(node)) {
      auto known = config_server::read_document(*before);
      if (!known) return known.error();
      const auto fill = [](std::vector<Artifact>& into, const std::vector<json::value>& from) -> Result<void> {
        if (!into.empty()) return {};
        for (const json::value& each : from) {
          auto artifact = parse_artifact(write_pretty(each));
          if (!artifact) return artifact.error();
          into.push_back(*std::move(artifact));
        }
        return {};
      };
      if (own.mgmt.empty()) {
        if (auto filled = fill(own.mgmt, known->mgmt); !filled) return filled.error();
        if (auto filled = fill(own.chain, known->chain); !filled) return filled.error();
      }
      if (auto filled = fill(own.ctrl, known->ctrl); !filled) return filled.error();
    }
    std::vector<Artifact> all = own.mgmt;
    all.insert(all.end(), own.ctrl.begin(), own.ctrl.end());
    auto set = assemble(std::move(all), node);
    if (!set) return set.error();
    ServedNode served{.version = set->version()};
    json::array mgmt, ctrl, chain;
    for (const Artifact& each : set->artifacts) {
      (each.is_ctrl() ? ctrl : mgmt).push_back(each.tree);
      if (each.is_ctrl()) served.ctrl_version = std::max(served.ctrl_version, each.envelope.version);
    }
    std::ranges::stable_sort(own.chain, {}, [](const Artifact& each) { return each.envelope.version; });
    for (const Artifact& each : own.chain) chain.push_back(each.tree);
    served.document =
        write(json::object{{"mgmt", std::move(mgmt)}, {"ctrl", std::move(ctrl)}, {"chain", std::move(chain)}});
    made.nodes.emplace(node, std::move(served));
  }
  return made;
}

Result<void> check_newer(const std::string& node, const ServedNode& before, const ServedNode& after) {
  const auto older = [&](const char* plane, uint64_t had, uint64_t has) {
    return Error{.code = Code::conflict,
                 .message = std::string(plane) + " version " + std::to_string(has) + " of " + node +
                            " is older than version " + std::to_string(had) + ", which is published",
                 .next = "to go back, sign the old sources again: they get a higher version"};
  };
  const auto two = [&](const char* plane, uint64_t version) {
    return Error{.code = Code::conflict,
                 .message = std::string(plane) + " version " + std::to_string(version) + " of " + node +
                            " is published with another content",
                 .next = "find out who signed the same version twice, then compile again"};
  };
  if (before.document.empty() || before.document == after.document) return {};
  auto had = config_server::read_document(before.document);
  if (!had) return had.error();
  auto has = config_server::read_document(after.document);
  if (!has) return has.error();
  if (after.version < before.version) return older("mgmt", before.version, after.version);
  if (after.ctrl_version < before.ctrl_version) return older("ctrl", before.ctrl_version, after.ctrl_version);
  if (after.version == before.version && had->mgmt != has->mgmt) return two("mgmt", after.version);
  if (after.ctrl_version == before.ctrl_version && had->ctrl != has->ctrl) return two("ctrl", after.ctrl_version);
  return {};
}

http::Response answer_node(const http::Request& request, const NodeShelf& shelf, int64_t now_ms) {
  using config_server::refused;
  if (request.path.size() != 3) return refused(404, "not_found", "there is nothing here");
  const std::string& what = request.path[1];
  const std::string& node = request.path[2];
  const bool reports = what == "report";
  if (!reports && what != "mgmt" && what != "ctrl") return refused(404, "not_found", "there is nothing here");
  if (request.method != (reports ? "POST" : "GET")) return refused(405, "invalid", "another method is taken here");
  const std::string* certificate = request.header(kCertificateHeader);
  const std::string* proof = request.header(kProofHeader);
  if (certificate == nullptr || proof == nullptr)
    return refused(401, "unauthenticated", "a node shows its certificate and a proof");
  const std::string mesh = config_server::domain_in(*certificate);
  if (mesh.empty()) return refused(401, "unauthenticated", "the certificate is of no node");
  auto known = shelf.find(mesh, node);
  if (!known) return refused(503, "unavailable", known.error().message);
  // Who is not known is told the same as who is not meant.
  const http::Response not_yours = refused(403, "denied", "a node gets its own artifacts and no others");
  if (!*known) {
    return refused(404, "unknown_node", "nothing is published for this node");
  }
  const Asked asked{.trust_domain = mesh, .method = request.method, .target = request.target, .body = request.body};
  auto who = proved(asked, *certificate, *proof, (*known)->authority, now_ms);
  if (!who) return refused(401, "unauthenticated", who.error().message);
  if (*who != "spiffe://" + mesh + "/node/" + node) return not_yours;
  if (!(*known)->revoked.empty()) return refused(403, "revoked", "this node was revoked: " + (*known)->revoked);
  if (reports) {
    auto parsed = parse_json(request.body, "report");
    auto report = parsed ? read<NodeReport>(*parsed) : Result<NodeReport>(parsed.error());
    if (!report) return refused(400, "invalid", report.error().message);
    if (auto taken = shelf.report(mesh, node, *report); !taken)
      return refused(503, "unavailable", taken.error().message);
    return {.body = "{}"};
  }
  const ServedNode& served = (*known)->served;
  if (served.document.empty()) return refused(404, "unknown_node", "nothing is published for this node");
  uint64_t have = 0;
  if (const std::string* text = request.parameter("have")) {
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), have);
    if (error != std::errc() || end != text->data() + text->size()) return refused(400, "invalid", "have is a version");
  }
  const bool ctrl = what == "ctrl";
  const uint64_t version = ctrl ? served.ctrl_version : served.version;
  if (ctrl && version == 0) return refused(404, "unknown_node", "this node has no ctrl artifacts");
  if (have >= version) return {.status = 304};
  auto document = config_server::read_document(served.document);
  if (!document) return refused(503, "unavailable", document.error().message);
  json::array artifacts, chain;
  for (json::value& each : ctrl ? document->ctrl : document->mgmt) artifacts.push_back(std::move(each));
  if (!ctrl) {
    for (json::value& each : document->chain) chain.push_back(std::move(each));
  }
  return {.body = write(json::object{{"artifacts", std::move(artifacts)}, {"chain", std::move(chain)}})};
}

}  // namespace sluice::mesh
