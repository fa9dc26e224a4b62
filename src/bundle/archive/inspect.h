// All there is to know of an archive, from one reading of it: its tree, its own digest, and its manifest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/disk.h"
#include "base/result.h"
#include "bundle/archive/archive_reader.h"
#include "bundle/archive/tree.h"
#include "bundle/manifest/manifest.h"

namespace sluice::bundle {

struct Inspected {
  ArchiveFormat format = ArchiveFormat::squashfs;
  Tree tree;
  std::string archive_sha256;  // 64 hex digits
  uint64_t archive_bytes = 0;
  std::optional<std::string> manifest_text;  // of bundle.yaml; nothing if the archive has none
};

// Digest and tree are of the same open file, whatever happens to its name meanwhile.
Result<Inspected> inspect_archive(Disk& disk, const std::string& path, const OpenOptions& options = {});

// The manifest of an archive called `path`; errors say where in it. `invalid` if it has none: then it is no bundle.
Result<Manifest> manifest_of(const Inspected& inspected, const std::string& path);

// The manifest of a folder.
Result<Manifest> manifest_of_folder(Disk& disk, const std::string& folder);

}  // namespace sluice::bundle
