// What the secrets doctor says: where something looks like a secret, of which kind, and the hash by which a manifest
// can allow it; never the secret.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice::bundle {

struct SecretFinding {
  std::string path;   // "config.txt", or "app.zip!config.txt" inside an archive
  uint32_t line = 0;  // from 1; 0 if the file as a whole is meant
  std::string kind;   // "a private key", "an AWS access key"
  std::string hash;   // "sha256:…" of the kind and the secret, wherever it stands

  bool operator==(const SecretFinding&) const = default;
};

// "config.txt:3: an AWS access key (sha256:…)"
std::string to_string(const SecretFinding& finding);

struct SecretReport {
  std::vector<SecretFinding> findings;         // at most kMaxFindings
  std::vector<SecretFinding> not_looked_into;  // likewise; their kind says why: "an archive of more than … bytes"
  uint64_t files = 0;
  uint64_t allowed = 0;  // findings that the manifest allows
};

constexpr size_t kMaxFindings = 1'000;

// The hash of a finding.
std::string finding_hash(std::string_view kind, std::string_view secret);
// Adds it, unless it is allowed, or is known to be no secret.
void add_finding(SecretReport& report, const std::set<std::string>& allowed, SecretFinding finding);

// The error of a report with findings, or with what was not looked into: exit code 11, one line for each of the first;
// nothing without any.
std::optional<Error> refusal(const SecretReport& report);

}  // namespace sluice::bundle
