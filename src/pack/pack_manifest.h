// PackManifest is a pack.yaml, sluice.pack.v1: which pack this is, which slot it serves, what it asks for, and which
// program serves its concept.
//
//   auto pack = parse_pack(text, "file/pack.yaml");
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "bundle/manifest/manifest_values.h"
#include "bundle/manifest/question.h"
#include "pack/descriptor.h"

namespace sluice::pack {

inline constexpr std::string_view kPackFile = "pack.yaml";
inline constexpr std::string_view kPackSchema = "sluice.pack.v1";

// A tool that the pack calls, for `env doctor`.
struct NeededTool {
  std::string name;                    // as on PATH: "kubectl"
  std::optional<std::string> version;  // at least this
  std::string install;                 // what to do when it is missing
  bool operator==(const NeededTool&) const = default;
};
BOOST_DESCRIBE_STRUCT(NeededTool, (), (name, version, install))

// How `pack test` sees that a fixture of the concept did what it says: by a file below the pack's data, or by what a
// process that was started afresh answers to a query.
struct Proof {
  std::string fixture;
  std::optional<bundle::InnerPath> file;
  std::optional<std::string> contains;  // of the file
  std::optional<std::string> query;     // an action of the concept
  std::optional<json::value> input;     // of the query
  std::optional<json::value> answers;   // its fields, or some of them
  bool operator==(const Proof&) const = default;
};
BOOST_DESCRIBE_STRUCT(Proof, (), (fixture, file, contains, query, input, answers))

struct PackManifest {
  std::string schema;
  PackDescriptor kind;
  std::string slot;
  std::string summary;
  bundle::InnerPath concept_;                   // the file with its .concept
  std::vector<std::string> run;                 // the program and its arguments, started in the pack's data folder
  std::vector<bundle::VariableName> variables;  // that the program is given of Sluice's own
  std::vector<bundle::Question> questions;
  std::optional<bundle::InnerPath> credentials;  // credentials.yaml of a deployer
  std::vector<NeededTool> tools;
  std::vector<Proof> proofs;
  static constexpr std::string_view kDefaulted[] = {"summary", "variables", "questions", "tools", "proofs"};
  bool operator==(const PackManifest&) const = default;
};
BOOST_DESCRIBE_STRUCT(PackManifest, (),
                      (schema, kind, slot, summary, concept_, run, variables, questions, credentials, tools, proofs))

// Errors carry the position in the file.
Result<PackManifest> parse_pack(std::string_view text, const std::string& file = std::string(kPackFile));

// credentials.yaml, sluice.deployer-credentials.v1: what a deployer must be able to do, each with how to mend it.
struct Capability {
  std::string capability;  // "standin.roles.create"
  std::string description;
  std::string fix;  // what to do when it is missing
  bool operator==(const Capability&) const = default;
};
BOOST_DESCRIBE_STRUCT(Capability, (), (capability, description, fix))

struct CredentialsManifest {
  std::string schema;
  PackDescriptor deployer_kind;
  std::vector<Capability> requirements;
  bool operator==(const CredentialsManifest&) const = default;
};
BOOST_DESCRIBE_STRUCT(CredentialsManifest, (), (schema, deployer_kind, requirements))

Result<CredentialsManifest> parse_credentials(std::string_view text, const std::string& file);

}  // namespace sluice::pack
