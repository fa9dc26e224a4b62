// Statement says of a bundle what it is and how it came to be: what is signed when a bundle is signed. As JSON it is an
// in-toto Statement v1 whose predicate is SLSA provenance v1; docs/internals/bundle.md has the whole of it.
//
//   Statement statement{.bundle = "shop", .version = "1.2.0", .tree = tree, .archive = archive};
//   auto envelope = crypto::sign_envelope(kStatementType, *write_statement(statement), keys);
//
// It has two subjects. The tree is the bundle's identity: the same folder has the same on every machine. The archive is
// one packing of it, checked where an archive is at hand.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"
#include "base/result.h"
#include "crypto/sha256.h"

namespace sluice::bundle {

inline constexpr std::string_view kStatementType = "application/vnd.in-toto+json";  // the envelope's payload type
inline constexpr std::string_view kBuildType = "https://sluice.dev/bundle/v1";
inline constexpr std::string_view kBuilder = "https://sluice.dev/builder/v1";

// Something that the build used. `digest` is by algorithm, in hex: {"sha256": "…"}.
struct Dependency {
  std::string name;
  std::string uri;
  std::map<std::string, std::string> digest;

  bool operator==(const Dependency&) const = default;
};

struct Statement {
  std::string bundle;   // its name, as in bundle.yaml
  std::string version;  // likewise
  crypto::Sha256 tree{};
  crypto::Sha256 archive{};
  json::object parameters;                             // what else the build was given: argv, format, level
  std::vector<Dependency> dependencies;                // tools and files that it used
  std::string builder = std::string(kBuilder);         // who built it, as a URI
  std::map<std::string, std::string> builder_version;  // {"sluice": "0.1.0"}
  std::string invocation;                              // an id of the build; may be empty
  std::optional<int64_t> started_ms, finished_ms;

  bool operator==(const Statement&) const = default;
};

// Canonical JSON. Fails on what read_statement would refuse.
Result<std::string> write_statement(const Statement& statement);

// Strict: fields that the two specifications do not have, other types and other subjects are errors that name them.
// What the specifications have and Statement has no member for is read over.
Result<Statement> read_statement(std::string_view text);

}  // namespace sluice::bundle
