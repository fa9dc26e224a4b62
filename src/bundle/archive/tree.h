// Tree is what a bundle consists of: its files, folders and symlinks with the digests of their contents, sorted by
// path. Its digest is the bundle's identity: the same for the folder, for our archive of it and for a tar or zip with
// the same contents, on any machine.
//
// So that this holds, a tree knows no owners and no times, and of the mode only whether the owner may execute a file:
// 0755 or 0644; folders have 0755 and symlinks 0777. The root itself is not in it. A folder above an entry is in it
// even if an archive does not list it. The digest's exact bytes are in docs/internals/bundle.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice::bundle {

enum class EntryKind { file, dir, symlink };

std::string_view to_string(EntryKind kind);

constexpr uint32_t kFileMode = 0644;
constexpr uint32_t kExecutableMode = 0755;
constexpr uint32_t kFolderMode = 0755;
constexpr uint32_t kSymlinkMode = 0777;

struct TreeEntry {
  std::string path;  // relative, "/" between components, no "." or "..", UTF-8
  EntryKind kind = EntryKind::file;
  uint32_t mode = kFileMode;
  uint64_t size = 0;   // of a file
  std::string sha256;  // of a file: 64 hex digits
  std::string target;  // of a symlink, as it is written

  bool operator==(const TreeEntry&) const = default;
};

// 64 lowercase hex digits.
using TreeDigest = std::string;

class Tree {
 public:
  // An entry of a path that is there already replaces it. Folders above it are added.
  void add(TreeEntry entry);

  const std::map<std::string, TreeEntry>& entries() const { return entries_; }  // by path, byte by byte
  const TreeEntry* find(const std::string& path) const;
  uint64_t total_bytes() const;  // of the contents of all files

  TreeDigest digest() const;
  // What the digest is of: canonical JSON (RFC 8785).
  std::string canonical_text() const;

  bool operator==(const Tree&) const = default;

 private:
  std::map<std::string, TreeEntry> entries_;
};

// How one tree differs from another, by path.
struct TreeChange {
  enum class What { added, removed, changed };
  What what = What::changed;
  std::string path;
  std::string detail;  // of a changed entry: "content, 3 to 5 bytes", "mode 0644 to 0755", "file to symlink"

  bool operator==(const TreeChange&) const = default;
};

std::vector<TreeChange> diff(const Tree& before, const Tree& after);

}  // namespace sluice::bundle
