// BundleShelf keeps what revisions were made of, in the home, so that a revision is the same whatever happens to the
// file that somebody staged. Each has a folder of its own, which goes when it is archived:
//
//   01J…/archive.bundle   a copy of the archive
//   01J…/pack-list.lock   sluice.pack-list-lock.v1: which packs it has, by digest
//   01J…/revision.sig     the sidecar that was beside the archive, if there was one
//
// An archive to take is named by its path, or by the digest under which its bytes were put into the home, in the folder
// `uploads` beside this one: "sha256:…", and "sha256:…,sha256:…" with its sidecar. One that is no blob any more is
// taken from the shelf, if a revision that is kept was made of it. What is archived goes back there, its sidecar beside
// it as HEX.sig, and stays for a while: an environment that was exported before can be applied again.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "bundle/manifest/manifest.h"
#include "migrate/files.h"

namespace sluice::deploy {

struct ShelvedBundle {
  std::string path;     // where it lies now
  std::string archive;  // "sha256:…" of its bytes
  std::string tree;     // "sha256:…", its identity
  std::string sidecar;  // the text of the sidecar beside the file that was given; empty if there is none
  bundle::Manifest manifest;
  std::optional<std::string> paused_page;  // the text of the page that the manifest names
};

// What an archive says of itself.
struct SeenBundle {
  bundle::Manifest manifest;
  std::string manifest_text;
  std::string tree;                    // "sha256:…", its identity
  std::optional<std::string> sidecar;  // the text of it, if there is one
};

// Whether this is "sha256:" and 64 small hexadecimal digits.
bool is_blob_digest(std::string_view text);

class BundleShelf {
 public:
  // The folder is made with the first revision; the one above must be there.
  BundleShelf(Disk& disk, std::string folder) : disk_(disk), folder_(std::move(folder)) {}

  // Copies, and then looks at the copy alone. Taking for the same revision again is harmless; what could not be taken
  // leaves nothing. The revision is one that the engine has named.
  Result<ShelvedBundle> take(const std::string& source, const std::string& revision);
  // Reads it where it lies.
  Result<SeenBundle> look(const std::string& source);
  // The migrations that its manifest speaks of.
  Result<migrate::Migrations> migrations(const std::string& source, const bundle::Migrations& settings);
  // `verification_failed` unless the copy has this digest.
  Result<void> check(const std::string& path, const std::string& archive);
  // Removing what is not there is no error.
  Result<void> remove(const std::string& revision);
  // Keeps bytes as if they were put into the home: `fill` writes them into an empty file, and their digest is returned.
  // `by` tells those apart who do so at the same time.
  Result<std::string> keep(const std::string& by, const std::function<Result<void>(File&)>& fill);
  // The same, but the archive and its sidecar stay in the home for as long as what was just put there.
  Result<void> give_back(const std::string& revision);
  // Takes what a source names, if that was put into the home, for put now.
  void renew(const std::string& source);
  // Removes the blobs that a source names, if it names any. Removing what is not there is no error.
  Result<void> drop(const std::string& source);
  // The digests of what was put into the home, or renewed, at least so long ago.
  Result<std::vector<std::string>> old_uploads(std::chrono::hours age);
  // The revisions that have a folder.
  Result<std::vector<std::string>> revisions();
  // How many bytes the disk has left.
  Result<uint64_t> free_bytes() const;

  // Where the archive of a source and its sidecar lie; there may be no sidecar.
  struct Found {
    std::string archive;
    std::string sidecar;
  };
  Result<Found> find(const std::string& source);

 private:
  Result<std::string> copy_of(const std::string& digest);
  std::string blob_path(const std::string& digest) const;
  std::string papers_of(const std::string& digest) const;
  std::string uploads_folder() const;

  Disk& disk_;
  std::string folder_;
};

// The names of the files beside the copy of an archive.
std::string lock_beside(const std::string& archive_path);
std::string sidecar_beside(const std::string& archive_path);

// Whether a list of revoked digests, a file of sluice.revocation-list.v1, names one of these: the reason, or none.
Result<std::optional<std::string>> revoked_by(Disk& disk, const std::string& list, const std::string& archive,
                                              const std::string& tree);

}  // namespace sluice::deploy
