// Findings are bounded; so is what is said of them.
#include "bundle/secrets/secret_report.h"

#include <algorithm>
#include <utility>

#include "base/terminal.h"
#include "bundle/secrets/known_keys.h"
#include "crypto/sha256.h"

namespace sluice::bundle {

std::string to_string(const SecretFinding& finding) {
  std::string place = printable(finding.path) + (finding.line == 0 ? "" : ":" + std::to_string(finding.line));
  return place + ": " + finding.kind + " (" + finding.hash + ")";
}

std::string finding_hash(std::string_view kind, std::string_view secret) {
  return crypto::to_string(crypto::sha256("sluice.finding.v1\n" + std::string(kind) + "\n" + std::string(secret)));
}

void add_finding(SecretReport& report, const std::set<std::string>& allowed, SecretFinding finding) {
  if (is_public_test_key(finding.hash)) return;
  if (allowed.contains(finding.hash)) {
    ++report.allowed;
  } else if (report.findings.size() < kMaxFindings) {
    report.findings.push_back(std::move(finding));
  }
}

std::optional<Error> refusal(const SecretReport& report) {
  constexpr size_t kShown = 20;
  const size_t count = report.findings.size(), unknown = report.not_looked_into.size();
  if (count == 0 && unknown == 0) return std::nullopt;
  Error error{.code = Code::verification_failed};
  if (count > 0) {
    error.message = count == 1 ? "there is a secret in it:" : "there are " + std::to_string(count) + " secrets in it:";
    error.next = "take it out, or name its hash under allowed_secrets in bundle.yaml if it is none";
  }
  for (size_t i = 0; i < std::min(count, kShown); ++i) error.message += "\n" + to_string(report.findings[i]);
  if (count > kShown) error.message += "\n… and " + std::to_string(count - kShown) + " more";
  if (unknown > 0) {
    if (count == 0)
      error.next = "leave it out, or name its hash under allowed_secrets in bundle.yaml if you know what is in it";
    error.message += (count == 0 ? "" : "\n") + std::string("this could not be searched for secrets:");
  }
  for (size_t i = 0; i < std::min(unknown, kShown); ++i) error.message += "\n" + to_string(report.not_looked_into[i]);
  if (unknown > kShown) error.message += "\n… and " + std::to_string(unknown - kShown) + " more";
  return error;
}

}  // namespace sluice::bundle
