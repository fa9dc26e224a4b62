// EntryRules decides which entries of an archive are fit to be unpacked, whatever format they come from, and counts
// them against the limits. Readers hand it entries as they find them; packing asks it too, so that what is packed can
// be unpacked everywhere.
//
// Refused, each with its own sentence: absolute paths, "..", names that are not UTF-8, that occur twice, or that differ
// from another only in case or in how their accents are composed; hard links, devices, FIFOs and sockets; entries below
// a symlink or a file; symlinks that lead out, looked at with all other symlinks followed; and whatever exceeds the
// limits. Messages begin with the archive's name and are one line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "bundle/archive/tree.h"

namespace sluice::bundle {

// What an archive may at most be unpacked to. All are checked while it is read, before anything is kept.
struct ArchiveLimits {
  uint64_t max_total_bytes = uint64_t{8} << 30;  // contents of all files
  uint64_t max_entries = 250'000;                // folders that are only implied included
  size_t max_depth = 128;                        // components of a path
  size_t max_path_bytes = 1024;                  // of a path, and of a symlink's target
  uint64_t max_name_bytes = uint64_t{64} << 20;  // of all paths together
  // Contents may be this many times the archive's size. The first bytes are free: what is that small is no danger, and
  // a database that was made ahead, or a log, may well be nearly all zeros.
  uint64_t max_ratio = 200;
  uint64_t ratio_free_bytes = uint64_t{512} << 20;
};

// What an archive of so many bytes may unpack to by its ratio.
uint64_t most_by_ratio(uint64_t archive_bytes, const ArchiveLimits& limits);

// An entry as an archive has it.
struct RawEntry {
  enum class Kind { file, dir, symlink, hard_link, device, fifo, socket };
  std::string path;
  Kind kind = Kind::file;
  bool executable = false;
  std::optional<uint64_t> size;  // of a file, if the archive says it
  std::string target;            // of a symlink or hard link
};

// An entry that may be unpacked.
struct ArchiveEntry {
  std::string path;
  EntryKind kind = EntryKind::file;
  uint32_t mode = kFileMode;
  std::optional<uint64_t> size;
  std::string target;

  bool operator==(const ArchiveEntry&) const = default;
};

class EntryRules {
 public:
  // `archive` is the name that messages begin with; archive_bytes is its size, for the ratio, 0 if there is none.
  EntryRules(std::string archive, uint64_t archive_bytes, ArchiveLimits limits = {});

  // The entry with its path in plain form ("a/b" for "./a//b/"); none for the root itself.
  Result<std::optional<ArchiveEntry>> admit(const RawEntry& raw);
  // So many bytes of content of the entry at hand have been read.
  Result<void> count_bytes(const std::string& path, uint64_t bytes);
  // After the last entry: the symlinks, now that all of them are known.
  Result<void> finish();

  // The error of this archive at an entry: "app.tar: \"a/b\": REASON".
  Error refuse(std::string_view path, const std::string& reason, Code code = Code::invalid) const;
  // The error of the archive as a whole: "app.tar: REASON".
  Error refuse_all(const std::string& reason, Code code = Code::invalid) const;

 private:
  struct Node {
    std::string path;
    EntryKind kind = EntryKind::dir;
    bool implied = false;
    std::string target;
  };

  Result<std::string> plain_path(const std::string& path) const;
  Result<void> check_kind(const RawEntry& raw, const std::string& path) const;
  Result<void> add(const std::string& path, EntryKind kind, const std::string& target);
  Result<Node*> insert(const std::string& folded, Node node, const std::string& entry);
  Result<void> check_target(const Node& link, uint64_t& steps) const;
  const Node* find(const std::string& path) const;

  std::string archive_;
  uint64_t max_bytes_by_ratio_;
  ArchiveLimits limits_;
  std::unordered_map<std::string, Node> nodes_;  // by folded path
  uint64_t name_bytes_ = 0;
  uint64_t total_bytes_ = 0;
};

// For messages: in quotes; a long one loses its end, between two characters.
std::string shortened_path(std::string_view path);

// The path as file systems that ignore case and composition see it.
std::string folded(std::string_view path);

}  // namespace sluice::bundle
