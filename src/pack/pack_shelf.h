// PackShelf keeps packs from outside in the home, each by the digest of its tree:
//
//   packs/sha256-HEX/      the pack, as it was unpacked; nothing changes it any more
//   pack-data/PATH/        what the pack acme.telemetry.file keeps, whichever version of it runs
//
// A pack is given as a folder or as an archive, with its signatures beside it in PATH.sig.json.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "base/terminal.h"
#include "pack/pack_manifest.h"
#include "process/spawn.h"

namespace sluice::pack {

struct Pack {
  PackManifest manifest;
  std::string digest;        // "sha256:…" of its tree
  std::string folder;        // where it lies
  std::string concept_file;  // the path of its .concept, and its text
  std::string concept_text;
  std::optional<CredentialsManifest> credentials;

  bool operator==(const Pack&) const = default;
};

class PackShelf {
 public:
  // `home` may be empty where there is none: then nothing is kept.
  PackShelf(Disk& disk, std::string home) : disk_(disk), home_(std::move(home)) {}

  // The pack that lies in this folder, with the digest that it really has.
  Result<Pack> read(const std::string& folder) const;
  // A folder or an archive, unpacked into a new folder `into` if it is one.
  Result<Pack> open(const std::string& path, const std::string& into) const;
  // The archive of a pack that lies in a folder: always the same bytes for the same files.
  Result<void> write_archive(const std::string& folder, const std::string& out) const;

  // Unpacks a copy, and looks at the copy alone. Keeping the same again is harmless; what cannot be kept leaves
  // nothing.
  Result<Pack> keep(const std::string& path);
  // Removing what is not there is no error.
  Result<void> remove(const std::string& digest);

  // All that are kept, by kind. One that cannot be read is left out, and told of.
  std::vector<Pack> all(const std::function<void(const std::string&)>& tell) const;
  // `verification_failed` unless what lies there still has its digest.
  Result<void> check(const Pack& pack) const;

  std::string folder() const { return home_ + "/packs"; }

  // How its process is started; the data folder is made. `variables` are those of this process.
  Result<process::SpawnRequest> program_of(const Pack& pack, const Variables& variables) const;

 private:
  Disk& disk_;
  std::string home_;
};

// How a pack's process is started in this data folder.
process::SpawnRequest program_in(const Pack& pack, const std::string& data, const Variables& variables);

}  // namespace sluice::pack
