// The JSON of the specifications, https://in-toto.io/Statement/v1 and https://slsa.dev/provenance/v1, with all their
// fields: an attestation by another tool may fill those that ours leaves out.
#include "bundle/trust/statement.h"

#include <algorithm>
#include <boost/describe.hpp>

#include "base/canonical_json.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/utc_time.h"
#include "bundle/trust/field_fault.h"
#include "crypto/hex.h"

namespace sluice::bundle {
namespace {

constexpr std::string_view kStatementSchema = "https://in-toto.io/Statement/v1";
constexpr std::string_view kPredicateType = "https://slsa.dev/provenance/v1";
constexpr std::string_view kTreeSubject = "tree";
constexpr std::string_view kArchiveSubject = "archive";
constexpr size_t kMaxBytes = 1 << 20;
constexpr size_t kMaxDepth = 32;
constexpr size_t kMaxNodes = 20'000;
constexpr size_t kMaxNameBytes = 256;

using Digests = std::map<std::string, std::string>;

struct ResourceJson {
  std::optional<std::string> name;
  std::optional<std::string> uri;
  std::optional<Digests> digest;
  std::optional<std::string> content;
  std::optional<std::string> downloadLocation;
  std::optional<std::string> mediaType;
  std::optional<json::value> annotations;
};
BOOST_DESCRIBE_STRUCT(ResourceJson, (), (name, uri, digest, content, downloadLocation, mediaType, annotations))

struct BuildDefinitionJson {
  std::string buildType;
  std::map<std::string, json::value> externalParameters;
  std::optional<json::value> internalParameters;
  std::vector<ResourceJson> resolvedDependencies;
  static constexpr std::string_view kDefaulted[] = {"resolvedDependencies"};
};
BOOST_DESCRIBE_STRUCT(BuildDefinitionJson, (),
                      (buildType, externalParameters, internalParameters, resolvedDependencies))

struct BuilderJson {
  std::string id;
  std::optional<std::map<std::string, std::string>> version;
  std::optional<std::vector<ResourceJson>> builderDependencies;
};
BOOST_DESCRIBE_STRUCT(BuilderJson, (), (id, version, builderDependencies))

struct MetadataJson {
  std::optional<std::string> invocationId;
  std::optional<std::string> startedOn;
  std::optional<std::string> finishedOn;
};
BOOST_DESCRIBE_STRUCT(MetadataJson, (), (invocationId, startedOn, finishedOn))

struct RunDetailsJson {
  BuilderJson builder;
  std::optional<MetadataJson> metadata;
  std::optional<std::vector<ResourceJson>> byproducts;
};
BOOST_DESCRIBE_STRUCT(RunDetailsJson, (), (builder, metadata, byproducts))

struct ProvenanceJson {
  BuildDefinitionJson buildDefinition;
  RunDetailsJson runDetails;
};
BOOST_DESCRIBE_STRUCT(ProvenanceJson, (), (buildDefinition, runDetails))

// `_type` cannot be a member's name in good C++, so the frame is read by hand.
struct FrameJson {
  std::vector<ResourceJson> subject;
  std::string predicateType;
  ProvenanceJson predicate;
};
BOOST_DESCRIBE_STRUCT(FrameJson, (), (subject, predicateType, predicate))

ResourceJson subject(std::string_view name, const crypto::Sha256& digest) {
  return {.name = std::string(name), .digest = Digests{{"sha256", crypto::to_hex(digest)}}};
}

std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

Result<crypto::Sha256> digest_of(const std::vector<ResourceJson>& subjects, std::string_view name) {
  std::optional<crypto::Sha256> found;
  for (size_t i = 0; i < subjects.size(); ++i) {
    if (subjects[i].name != name) continue;
    std::string path = "/subject/" + std::to_string(i);
    if (found) return invalid(path, "there is a subject \"" + std::string(name) + "\" already");
    if (!subjects[i].digest || !subjects[i].digest->contains("sha256")) {
      return invalid(path + "/digest", "expected a digest sha256");
    }
    auto digest = crypto::parse_sha256("sha256:" + subjects[i].digest->at("sha256"));
    if (!digest) return invalid(path + "/digest/sha256", "expected 64 lowercase hex digits");
    found = *digest;
  }
  if (!found) return invalid("/subject", "expected a subject \"" + std::string(name) + "\"");
  return *found;
}

// The name and the version of the bundle are the first of the parameters.
Result<std::string> taken(std::map<std::string, json::value>& parameters, const std::string& name) {
  std::string path = "/predicate/buildDefinition/externalParameters/" + name;
  auto found = parameters.find(name);
  if (found == parameters.end() || !found->second.is_string()) return invalid(path, "expected a string");
  std::string text(found->second.get_string());
  if (text.empty() || text.size() > kMaxNameBytes) return invalid(path, "expected 1 to 256 bytes");
  parameters.erase(found);
  return text;
}

Result<Statement> from_json(FrameJson& json) {
  if (json.predicateType != kPredicateType) {
    return invalid("/predicateType", "expected " + std::string(kPredicateType) + ", found " + json.predicateType);
  }
  BuildDefinitionJson& definition = json.predicate.buildDefinition;
  if (definition.buildType != kBuildType) {
    return invalid("/predicate/buildDefinition/buildType",
                   "expected " + std::string(kBuildType) + ", found " + definition.buildType);
  }
  auto tree = digest_of(json.subject, kTreeSubject);
  if (!tree) return tree.error();
  auto archive = digest_of(json.subject, kArchiveSubject);
  if (!archive) return archive.error();
  if (json.subject.size() != 2) return invalid("/subject", "expected two subjects, a tree and an archive of it");
  auto bundle = taken(definition.externalParameters, "bundle");
  if (!bundle) return bundle.error();
  auto version = taken(definition.externalParameters, "version");
  if (!version) return version.error();

  RunDetailsJson& run = json.predicate.runDetails;
  Statement statement{.bundle = *std::move(bundle),
                      .version = *std::move(version),
                      .tree = *tree,
                      .archive = *archive,
                      .builder = run.builder.id,
                      .builder_version = run.builder.version.value_or(std::map<std::string, std::string>())};
  for (auto& [name, value] : definition.externalParameters) statement.parameters.emplace(name, std::move(value));
  for (ResourceJson& each : definition.resolvedDependencies) {
    statement.dependencies.push_back({.name = each.name.value_or(""),
                                      .uri = each.uri.value_or(""),
                                      .digest = std::move(each.digest).value_or(Digests())});
  }
  if (run.metadata) {
    statement.invocation = run.metadata->invocationId.value_or("");
    auto started = time_of(run.metadata->startedOn, "/predicate/runDetails/metadata/startedOn");
    if (!started) return started.error();
    statement.started_ms = *started;
    auto finished = time_of(run.metadata->finishedOn, "/predicate/runDetails/metadata/finishedOn");
    if (!finished) return finished.error();
    statement.finished_ms = *finished;
  }
  return statement;
}

FrameJson to_frame(const Statement& statement) {
  FrameJson json{.subject = {subject(kTreeSubject, statement.tree), subject(kArchiveSubject, statement.archive)},
                 .predicateType = std::string(kPredicateType)};
  BuildDefinitionJson& definition = json.predicate.buildDefinition;
  definition.buildType = kBuildType;
  for (const auto& each : statement.parameters) definition.externalParameters.emplace(each.key(), each.value());
  definition.externalParameters["bundle"] = json::string(statement.bundle);
  definition.externalParameters["version"] = json::string(statement.version);
  for (const Dependency& each : statement.dependencies) {
    definition.resolvedDependencies.push_back(
        {.name = unless_empty(each.name),
         .uri = unless_empty(each.uri),
         .digest = each.digest.empty() ? std::nullopt : std::optional(each.digest)});
  }
  RunDetailsJson& run = json.predicate.runDetails;
  run.builder = {.id = statement.builder};
  if (!statement.builder_version.empty()) run.builder.version = statement.builder_version;
  MetadataJson metadata{.invocationId = unless_empty(statement.invocation)};
  if (statement.started_ms) metadata.startedOn = utc_text(*statement.started_ms);
  if (statement.finished_ms) metadata.finishedOn = utc_text(*statement.finished_ms);
  if (metadata.invocationId || metadata.startedOn || metadata.finishedOn) run.metadata = std::move(metadata);
  return json;
}

}  // namespace

Result<std::string> write_statement(const Statement& statement) {
  json::object json = to_json(to_frame(statement)).as_object();
  json.emplace("_type", kStatementSchema);
  auto text = canonical(json);
  if (!text) return text.error();
  // What nobody could read again must not be signed.
  if (auto again = read_statement(*text); !again) return again.error();
  return text;
}

Result<Statement> read_statement(std::string_view text) {
  auto document = parse_json(text, "", {.max_depth = kMaxDepth, .max_bytes = kMaxBytes, .max_nodes = kMaxNodes});
  if (!document) return document.error();
  if (!document->root.is_object()) return invalid("", "expected an object");
  json::object& root = document->root.get_object();
  const json::value* type = root.if_contains("_type");
  if (type == nullptr || *type != json::value(kStatementSchema)) {
    return invalid("/_type", "expected " + std::string(kStatementSchema));
  }
  root.erase("_type");
  auto json = read<FrameJson>(document->root);
  if (!json) return json.error();
  return from_json(*json);
}

}  // namespace sluice::bundle
