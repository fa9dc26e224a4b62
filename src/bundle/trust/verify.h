// What an archive is, without unpacking it: its tree and its own digest.
#pragma once

#include <string>

#include "base/disk.h"
#include "base/result.h"
#include "bundle/archive/archive_reader.h"
#include "bundle/archive/tree.h"

namespace sluice::bundle {

// Reads the archive to its end.
Result<Tree> tree_of(ArchiveReader& archive);
Result<Tree> tree_of_archive(Disk& disk, const std::string& path, const OpenOptions& options = {});

// SHA-256 of a file: 64 lowercase hex digits.
Result<std::string> sha256_of_file(Disk& disk, const std::string& path);
Result<std::string> sha256_of_file(File& file);

// `verification_failed` unless the archive's tree has the digest; its tree otherwise.
Result<Tree> verify_tree_digest(Disk& disk, const std::string& path, const TreeDigest& expected,
                                const OpenOptions& options = {});

}  // namespace sluice::bundle
