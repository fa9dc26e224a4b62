// The rules of a pack.yaml that stand between its fields.
#include "pack/pack_manifest.h"

#include <algorithm>
#include <set>

#include "base/json_reader.h"
#include "base/json_text.h"
#include "base/yaml.h"

namespace sluice::pack {
namespace {

constexpr size_t kMaxPackFileBytes = 1 << 20;
constexpr std::string_view kCredentialsSchema = "sluice.deployer-credentials.v1";

Error broken(const Document& document, const std::string& path, std::string message, std::string next = "") {
  return {.code = Code::invalid,
          .message = std::move(message),
          .next = std::move(next),
          .path = path,
          .position = document.position_of(path)};
}

std::optional<Error> broken_proof(const Document& document, const Proof& proof, const std::string& path) {
  if (proof.file.has_value() == proof.query.has_value()) {
    return broken(document, path, "a proof is either a \"file\" or a \"query\"");
  }
  if (proof.query && !proof.answers) return broken(document, path, "a query proves something by what it \"answers\"");
  return std::nullopt;
}

std::optional<Error> broken_rule(const Document& document, const PackManifest& pack) {
  if (pack.schema != kPackSchema) {
    return broken(document, "/schema", "this is " + json_quoted(pack.schema) + ", not sluice.pack.v1");
  }
  if (!is_slot(pack.slot)) {
    std::string names;
    for (std::string_view each : slots()) names += (names.empty() ? "" : ", ") + std::string(each);
    return broken(document, "/slot", "there is no slot " + json_quoted(pack.slot), "the slots are " + names);
  }
  if (pack.kind.path.starts_with("sluice.")) {
    return broken(document, "/kind", "packs called sluice.… are part of Sluice", "give it a name of your own");
  }
  if (pack.run.empty() || pack.run.front().empty()) return broken(document, "/run", "it names no program");
  if (pack.credentials && pack.slot != "deployer") {
    return broken(document, "/credentials", "only a deployer has credentials");
  }
  if (auto fault = bundle::fault_of(pack.questions, "/questions")) {
    fault->position = document.position_of(fault->path);
    return fault;
  }
  for (size_t i = 0; i < pack.proofs.size(); ++i) {
    if (auto fault = broken_proof(document, pack.proofs[i], "/proofs/" + std::to_string(i))) return fault;
  }
  return std::nullopt;
}

}  // namespace

Result<PackManifest> parse_pack(std::string_view text, const std::string& file) {
  auto document = parse_yaml(text, file, {.max_bytes = kMaxPackFileBytes});
  if (!document) return document.error();
  if (const json::object* fields = document->root.if_object(); fields != nullptr && fields->contains("questions")) {
    if (auto other = bundle::not_asked(fields->at("questions"), "/questions")) {
      other->position = document->position_of(other->path);
      return *std::move(other);
    }
  }
  auto pack = read<PackManifest>(*document);
  if (!pack) return pack;
  if (auto fault = broken_rule(*document, *pack)) return *std::move(fault);
  return pack;
}

Result<CredentialsManifest> parse_credentials(std::string_view text, const std::string& file) {
  auto document = parse_yaml(text, file, {.max_bytes = kMaxPackFileBytes});
  if (!document) return document.error();
  auto credentials = read<CredentialsManifest>(*document);
  if (!credentials) return credentials;
  if (credentials->schema != kCredentialsSchema) {
    return broken(*document, "/schema",
                  "this is " + json_quoted(credentials->schema) + ", not " + std::string(kCredentialsSchema));
  }
  std::set<std::string> names;
  for (size_t i = 0; i < credentials->requirements.size(); ++i) {
    const std::string& name = credentials->requirements[i].capability;
    if (name.empty() || !names.insert(name).second) {
      return broken(*document, "/requirements/" + std::to_string(i) + "/capability",
                    name.empty() ? "a capability has a name" : json_quoted(name) + " is there twice");
    }
  }
  return credentials;
}

}  // namespace sluice::pack
