// Packing a folder into the archive of a bundle: a SquashFS image whose bytes follow from the tree alone.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "bundle/archive/entry_rules.h"
#include "bundle/archive/tree.h"

namespace sluice::bundle {

struct Packed {
  Tree tree;
  TreeDigest tree_digest;
  std::string archive_sha256;  // 64 hex digits
  uint64_t archive_bytes = 0;
};

// Looks on while files are packed, from the thread that packs. An error ends the packing.
class PackWatcher {
 public:
  virtual ~PackWatcher() = default;

  // Each path that is packed, before its content; with what a symlink leads to.
  virtual Result<void> entry(const std::string& path, const std::string& target) {
    (void)path, (void)target;
    return {};
  }
  virtual Result<void> begin_file(const std::string& path) = 0;
  virtual Result<void> content(std::string_view piece) = 0;
  virtual Result<void> end_file() = 0;
  // After the last file, before the archive appears: the last chance to refuse it.
  virtual Result<void> finish() { return {}; }
};

struct PackOptions {
  unsigned workers = 2;  // threads that compress
  ArchiveLimits limits = {};
  PackWatcher* watcher = nullptr;
  std::string called = {};  // what refusals call the folder; its path if empty
};

// Packs these paths below `root` (relative, in any order; folders above them come by themselves) into the file `out`,
// which appears when it is whole and synced, mode 0644. Refused with the words of EntryRules: whatever could not be
// unpacked, symlinks that lead out among them. `conflict` if a file changes its size meanwhile.
Result<Packed> pack(Disk& disk, const std::string& root, std::vector<std::string> paths, const std::string& out,
                    const PackOptions& options = {});

// The tree that pack would make, without an archive.
Result<Tree> tree_of_folder(Disk& disk, const std::string& root, std::vector<std::string> paths,
                            const PackOptions& options = {});

}  // namespace sluice::bundle
