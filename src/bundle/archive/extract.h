// Unpacking an archive into a new folder. The folder appears whole, when the last entry and all symlinks have been
// judged and, if a digest was asked for, the tree has it; or it does not appear at all, and nothing is left beside it.
//
// Contents go to a hidden folder beside the new one that only the owner may enter. Every file is opened by a Jail,
// below which no symlink exists yet: those are made after all files. Modes are 0755 and 0644 whatever the umask.
// Nothing is synced: what was unpacked can be unpacked again, and its digest tells whether it is whole.
#pragma once

#include <optional>
#include <string>

#include "base/disk.h"
#include "base/result.h"
#include "bundle/archive/archive_reader.h"
#include "bundle/archive/tree.h"

namespace sluice::bundle {

// What was unpacked. `conflict` if there is something at `into`; `verification_failed` if the digest is another.
Result<Tree> extract(Disk& disk, ArchiveReader& archive, const std::string& into,
                     const std::optional<TreeDigest>& expected = std::nullopt);

}  // namespace sluice::bundle
