// BundleShelf keeps the archives that revisions were made of, in the home, by the SHA-256 of their bytes, so that a
// revision is the same whatever happens to the file that somebody staged.
#pragma once

#include <optional>
#include <string>

#include "base/disk.h"
#include "base/result.h"
#include "bundle/manifest.h"

namespace sluice::deploy {

struct ShelvedBundle {
  std::string path;     // where it lies now
  std::string archive;  // "sha256:…" of its bytes
  std::string tree;     // "sha256:…", its identity
  std::string sidecar;  // the text of the sidecar beside the file that was given; empty if there is none
  bundle::Manifest manifest;
};

class BundleShelf {
 public:
  // The folder is made when the first archive is put; the one above must be there.
  BundleShelf(Disk& disk, std::string folder) : disk_(disk), folder_(std::move(folder)) {}

  // Copies, and then looks at the copy alone. `attempt` names unfinished copies; taking the same again is harmless.
  Result<ShelvedBundle> take(const std::string& source, const std::string& attempt);
  // Removing what is not there is no error.
  Result<void> remove(const std::string& archive);
  std::string path_of(const std::string& archive) const;

 private:
  Disk& disk_;
  std::string folder_;
};

// Whether a list of revoked digests, a file of sluice.revocation-list.v1, names one of these: the reason, or none.
Result<std::optional<std::string>> revoked_by(Disk& disk, const std::string& list, const std::string& archive,
                                              const std::string& tree);

}  // namespace sluice::deploy
