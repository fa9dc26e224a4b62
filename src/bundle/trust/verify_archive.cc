// The file is read whole, then its sidecar is judged.
#include "bundle/trust/verify_archive.h"

#include "bundle/archive/inspect.h"
#include "bundle/trust/sidecar.h"
#include "bundle/trust/verify.h"

namespace sluice::bundle {

namespace {

crypto::Sha256 digest_of_hex(const std::string& hex) { return *crypto::parse_sha256("sha256:" + hex); }

// What a sidecar says of itself. Believed by nobody: it stands in for what an unreadable archive cannot tell, so that
// the verdict is on the signatures and the archive's digest alone.
Statement unproven(const std::optional<std::string>& sidecar) {
  if (!sidecar) return {};
  auto envelope = parse_sidecar(*sidecar);
  if (!envelope) return {};
  auto statement = read_statement(envelope->payload);
  return statement ? *std::move(statement) : Statement();
}

}  // namespace

Result<Verdict> verify_archive(Disk& disk, const std::string& path, const TrustRoot& root,
                               const std::string& environment, int64_t now_ms, const OpenOptions& options) {
  auto sidecar = read_sidecar(disk, sidecar_path(path));
  if (!sidecar) {
    return Verdict(Refusal{Clause::sidecar_unreadable, "the sidecar cannot be read: " + sidecar.error().message});
  }
  Claim claim{.environment = environment};
  auto inspected = inspect_archive(disk, path, options);
  Result<Manifest> manifest = inspected ? manifest_of(*inspected, path) : Result<Manifest>(inspected.error());
  if (manifest) {
    claim.tree = digest_of_hex(inspected->tree.digest());
    claim.archive = digest_of_hex(inspected->archive_sha256);
    claim.bundle = manifest->name.text;
    return verify(root, *sidecar, claim, now_ms);
  }
  auto digest = sha256_of_file(disk, path);
  if (!digest) return digest.error();
  Statement said = unproven(*sidecar);
  claim.tree = said.tree;
  claim.archive = digest_of_hex(*digest);
  claim.bundle = said.bundle.empty() ? sluice::name_of(path) : said.bundle;
  Verdict verdict = verify(root, *sidecar, claim, now_ms);
  if (std::holds_alternative<Refusal>(verdict)) return verdict;
  return Verdict(Refusal{Clause::payload_changed, "what was signed is no bundle: " + to_string(manifest.error())});
}

}  // namespace sluice::bundle
