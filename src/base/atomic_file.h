// Files that are replaced whole: a reader, and the machine after a power cut, finds the old contents or the new ones,
// never a mixture.
//
// A replacement is written to a file beside the old one, synced, renamed over it, and the folder is synced. When
// write_atomically returns without an error the new contents are durable.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/disk.h"
#include "base/result.h"

namespace sluice {

// Mode is that of the file afterwards, whatever the umask; until its contents are complete it is 0600. A symlink at
// `path` is replaced, not followed. On failure the old file stays and nothing is left beside it, with one exception:
// if only the last step fails, the sync of the folder, the new contents are in place but a power cut may bring back
// the old ones; the error says so.
Result<void> write_atomically(Disk& disk, const std::string& path, std::string_view bytes, uint32_t mode);

// Removes what crashed writers left in the folder, and says how many files that were. For the owner of the folder at
// its start: a write that is under way elsewhere would lose its file and fail.
Result<size_t> remove_unfinished_writes(Disk& disk, const std::string& folder);

// The whole file, or `limit` if it is larger than max_bytes; then no more than that was read.
Result<std::string> read_file(Disk& disk, const std::string& path, size_t max_bytes);

}  // namespace sluice
